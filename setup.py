"""The compiled parts. Without Cython or a C compiler the package installs without them and searches in Python.

What a wheel holds decides its tag: with a kernel it is one for this Python and platform, without any it is one for all.

For tests of the kernels only, by the environment: with RDMA_ROBUST_TEST_BUILD requests for memory can be refused, and with
RDMA_ROBUST_SANITIZE what gcc's -fsanitize of that name watches; see .ci/kernels.
"""

import os
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext


def kernels() -> list[Extension]:
    """Every `.pyx` file of the package as an extension module, none without Cython."""
    try:
        from Cython.Build import cythonize  # noqa: PLC0415 - it may be missing
    except ImportError:
        return []
    arguments, linking, macros = ["-O3"], [], []
    if os.environ.get("RDMA_ROBUST_TEST_BUILD"):
        macros = [("RDMA_ROBUST_TEST_BUILD", "1")]
    if watched := os.environ.get("RDMA_ROBUST_SANITIZE"):
        linking = [f"-fsanitize={watched}", f"-fno-sanitize-recover={watched}"]
        arguments = ["-O1", "-g", "-fno-omit-frame-pointer", *linking]
    sources = sorted(path.as_posix() for path in Path("rdma_robust").rglob("*.pyx"))
    extensions = [
        Extension(
            path.removesuffix(".pyx").replace("/", "."),
            [path],
            define_macros=macros,
            extra_compile_args=arguments,
            extra_link_args=linking,
            optional=True,
        )
        for path in sources
    ]
    return cythonize(extensions, build_dir="build")


class build_optional_ext(build_ext):  # noqa: N801 - named as setuptools names commands
    """Goes on where a compiler is missing or fails, however it fails."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or True

    def run(self) -> None:
        super().run()
        self.distribution.ext_modules = [e for e in self.extensions if os.path.exists(self.get_ext_fullpath(e.name))]

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except Exception as error:
            self.warn(f"{ext.name} is not built, searches will run in Python: {error}")


class bdist_wheel_of_what_was_built(bdist_wheel):  # noqa: N801
    """A wheel without a compiled module is for every Python and platform."""

    def run_command(self, command: str) -> None:
        super().run_command(command)
        if command == "build":
            self.root_is_pure = not self.distribution.has_ext_modules()


setup(
    packages=[*find_packages(include=["rdma_robust", "rdma_robust.*"]), "rdma_robust.grammars"],
    ext_modules=kernels(),
    cmdclass={"build_ext": build_optional_ext, "bdist_wheel": bdist_wheel_of_what_was_built},
)
