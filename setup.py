"""The compiled parts. Without Cython or a C compiler the package installs without them and searches in Python."""

from setuptools import Extension, setup

try:
    from Cython.Build import cythonize
except ImportError:
    extensions = []
else:
    kernels = [
        Extension(f"rdma_robust.vass.{name}", [f"rdma_robust/vass/{name}.pyx"], extra_compile_args=["-O3"], optional=True)
        for name in ("_kernel", "_net_kernel")
    ]
    extensions = cythonize(kernels, build_dir="build")

setup(ext_modules=extensions)
