"""The compiled parts. Without Cython or a C compiler the package installs without them and searches in Python."""

from setuptools import Extension, setup

try:
    from Cython.Build import cythonize
except ImportError:
    extensions = []
else:
    kernel = Extension(
        "rdma_robust.vass._kernel", ["rdma_robust/vass/_kernel.pyx"], extra_compile_args=["-O3"], optional=True
    )
    extensions = cythonize([kernel], build_dir="build")

setup(ext_modules=extensions)
