"""The compiled parts. Without Cython or a C compiler the package installs without them and searches in Python."""

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

try:
    from Cython.Build import cythonize
except ImportError:
    extensions = []
else:
    kernels = [
        Extension(
            f"rdma_robust.{room}.kernel.{name}",
            [f"rdma_robust/{room}/kernel/{name}.pyx"],
            extra_compile_args=["-O3"],
            optional=True,
        )
        for room, name in (("counters", "_kernel"), ("petri", "_net_kernel"), ("petri", "_net_forest"))
    ]
    extensions = cythonize(kernels, build_dir="build")


class build_optional_ext(build_ext):  # noqa: N801 - named as setuptools names commands
    """Goes on where a compiler is missing or fails, however it fails."""

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except Exception as error:
            self.warn(f"{ext.name} is not built, searches will run in Python: {error}")


setup(ext_modules=extensions, cmdclass={"build_ext": build_optional_ext})
