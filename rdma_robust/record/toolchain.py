"""The compiler around programs that are recorded: `rdma-robust record cc ARGUMENTS` in the place of `cc ARGUMENTS`.

What it compiles calls our hooks (`-fsanitize=thread`), and what it links has them, and our card, instead of libtsan,
libibverbs and librdmacm. The hooks are compiled with each link, by the same compiler and with the same verbs.h.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rdma_robust.errors import UsageError

COMPILERS: Final = {"cc": ("CC", "cc"), "c++": ("CXX", "c++")}
"""The words behind `record` that compile: the environment variable that names the compiler, and what is called else."""

_RUNTIME: Final = Path(__file__).parent / "runtime" / "recorder.h"
_FENCES: Final = _RUNTIME.with_name("fences.h")
_HEADERS: Final = Path(__file__).parent.parent / "c" / "front" / "headers" / "fallback"
_SOURCES: Final = (".c", ".cc", ".cpp", ".cxx", ".C", ".c++", ".i", ".ii", ".s", ".S")
_WITHOUT_LINK: Final = frozenset({"-c", "-S", "-E", "-fsyntax-only", "-M", "-MM"})
_ANSWERED: Final = frozenset({"-libverbs", "-lrdmacm", "-lmlx5", "-lmlx4", "-ltsan"})
_OPTIONS: Final = """
-o -I -D -U -L -x -l -include -imacros -isystem -iquote -idirafter -MF -MT -MQ -Xlinker -Xassembler -Xpreprocessor -u -T
-z -A -G --param -aux-info -B -mllvm -Xclang -target --sysroot -isysroot
"""
_WITH_VALUE: Final = frozenset(_OPTIONS.split())
"""Options whose value may be an argument of its own."""
_COPIES: Final = ("memcpy", "memmove", "memset")
_HOOKS: Final = (
    "-g",
    "-gdwarf-4",
    "-fsanitize=thread",
    *(f"-fno-builtin-{each}" for each in _COPIES),
    *("-include", str(_FENCES)),
    *("-idirafter", str(_HEADERS)),
)
_OF_GCC: Final = ("--param", "tsan-distinguish-volatile=1")
_OF_CLANG: Final = (
    "-Qunused-arguments",
    "-mllvm",
    "-tsan-distinguish-volatile=1",
    "-mllvm",
    "-tsan-instrument-read-before-write=1",
)
"""Volatile accesses have hooks of their own; clang leaves out reads before writes of one word, if it is not told."""


@dataclass(slots=True)
class _CommandLine:
    """The arguments of a compiler: sources and objects apart from options, each with its place; `-o` apart."""

    arguments: list[str]
    sources: list[int] = field(default_factory=list)
    objects: list[int] = field(default_factory=list)
    output: list[int] = field(default_factory=list)

    @property
    def links(self) -> bool:
        """Whether something is linked."""
        return bool(self.sources or self.objects) and not _WITHOUT_LINK.intersection(self.arguments)

    def options(self, without: Sequence[int] = ()) -> list[str]:
        """Return the arguments but files, `-o`, and those that are named."""
        left_out = {*self.sources, *self.objects, *self.output, *without}
        return [each for index, each in enumerate(self.arguments) if index not in left_out]


def compile_recorded(word: str, arguments: Sequence[str]) -> int:
    """Run the compiler for `cc` or `c++` with the arguments of a compiler, and return its exit code.

    Raises UsageError without a compiler, and for options that do not go together with hooks.
    """
    variable, usual = COMPILERS[word]
    command = shlex.split(os.environ.get(variable, "")) or [usual]
    if shutil.which(command[0]) is None:
        raise UsageError(f"there is no compiler `{command[0]}`: install one, or name one with the variable {variable}")
    line = _read(list(arguments))
    hooks = [*_HOOKS, *(_OF_CLANG if "clang" in _output_of([*command, "--version"]) else _OF_GCC)]
    if not line.links:
        return _called([*command, *hooks, *line.arguments])
    with tempfile.TemporaryDirectory(prefix="rdma-robust-record-") as folder:
        return _linked(command, hooks, line, Path(folder))


def _linked(command: list[str], hooks: list[str], line: _CommandLine, folder: Path) -> int:
    """Compile each source and the hooks, and link them."""
    made: dict[int, str] = {}
    for index in line.sources:
        made[index] = str(folder / f"{index}.o")
        if code := _called([*command, *hooks, *line.options(), "-c", line.arguments[index], "-o", made[index]]):
            return code
    runtime = str(folder / "recorder.o")
    include = _include_options(line.arguments)
    flags = ["-O1", "-g", "-fPIC", "-w", *include, "-idirafter", str(_HEADERS), "-x", "c", "-c", str(_RUNTIME)]
    if code := _called([*command, *flags, "-o", runtime]):
        raise UsageError("the hooks of recordings cannot be compiled: the messages above say why")
    placed = [made.get(index, each) for index, each in enumerate(line.arguments) if each not in _ANSWERED]
    wrapped = [f"-Wl,--wrap={each}" for each in _COPIES]
    return _called([*command, *placed, "-x", "none", runtime, *wrapped, "-ldl", "-lpthread"])


def _read(arguments: list[str]) -> _CommandLine:
    line, index = _CommandLine(arguments), 0
    while index < len(arguments):
        each = arguments[index]
        if each.startswith("-fsanitize="):
            raise UsageError(f"{each}: programs that are recorded have hooks of their own; leave it out")
        if each in ("-shared", "-r"):
            raise UsageError(f"{each}: what is recorded is linked as a program; compile with -c, and link all at once")
        if each in _WITH_VALUE:
            if each == "-o":
                line.output += [index, index + 1]
            index += 1
        elif not each.startswith("-"):
            (line.sources if each.endswith(_SOURCES) else line.objects).append(index)
        index += 1
    return line


def _include_options(arguments: list[str]) -> list[str]:
    """Return the options that say where headers are, for they decide which verbs.h a program has."""
    found, index = list[str](), 0
    while index < len(arguments):
        each = arguments[index]
        if each in ("-I", "-isystem", "-iquote", "-idirafter", "--sysroot", "-isysroot"):
            found += arguments[index : index + 2]
            index += 1
        elif each.startswith(("-I", "-isystem", "--sysroot=")):
            found.append(each)
        index += 1
    return found


def _output_of(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"the compiler `{command[0]}` cannot be called: {error}") from None


def _called(command: list[str]) -> int:
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        raise UsageError(f"the compiler `{command[0]}` cannot be called: {error.strerror or error}") from None
