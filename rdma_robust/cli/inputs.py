"""From the arguments to the programs: files, directories, globs and standard input."""

from __future__ import annotations

import difflib
import glob
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rdma_robust.errors import RdmaRobustError

STDIN = "<stdin>"
SUFFIX = ".rdma"
LARGEST = 16 * 1024 * 1024
BOM = b"\xef\xbb\xbf"


class UnreadableError(RdmaRobustError):
    """A program's text cannot be had; the message says why, without the file's name."""


@dataclass(frozen=True, slots=True)
class Source:
    """One program to read. `name` is what the user calls it; for standard input `path` is None and `data` its bytes.

    `certificate` is the file into which the certificate of its verdict goes, None if none is wanted.
    """

    name: str
    path: str | None
    data: bytes | None = None
    certificate: str | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """An argument that stands for no program, and why."""

    name: str
    reason: str


Item = Source | Missing


def expand(arguments: Sequence[str], commands: Sequence[str] = (), suffixes: tuple[str, ...] = (SUFFIX,)) -> list[Item]:
    """Return what `arguments` stand for, in their order, each file once; those without a program are kept as Missing.

    A directory stands for every file below it with one of `suffixes`, sorted; an argument that names no file is a glob if it
    can be, and `dir/**` stands for what `dir` does.
    `commands` are what a mistyped first argument may have meant.
    """
    items: list[Item] = []
    seen: set[str] = set()
    for argument in arguments:
        for item in _expand(argument, commands, suffixes):
            key = os.path.realpath(item.path) if isinstance(item, Source) and item.path else item.name
            if key not in seen:
                seen.add(key)
                items.append(item)
    return items


def _expand(argument: str, commands: Sequence[str], suffixes: tuple[str, ...]) -> Iterator[Item]:
    if argument == "-":
        yield Source(STDIN, None)
    elif os.path.isdir(argument):
        yield from _directory(argument, suffixes)
    elif os.path.lexists(argument):
        yield Source(argument, argument)
    elif glob.has_magic(argument):
        yield from _matching(argument, suffixes)
    else:
        near = [] if os.sep in argument or "." in argument else difflib.get_close_matches(argument, commands, 1)
        hint = f" (did you mean the command `{near[0]}`? It comes first)" if near else ""
        yield Missing(argument, f"no such file or directory{hint}")


def _matching(pattern: str, suffixes: tuple[str, ...]) -> Iterator[Item]:
    """Yield what a glob stands for; if it does not say how names end, only files with a suffix and those in directories."""
    ending = os.path.splitext(pattern)[1]
    anything = not ending or glob.has_magic(ending)
    found = 0
    for path in sorted(glob.glob(pattern, recursive=True)):
        if os.path.isdir(path):
            inside = [s for s in _directory(path, suffixes) if isinstance(s, Source)]
        else:
            inside = [Source(path, path)] if path.endswith(suffixes) or not anything else []
        found += len(inside)
        yield from inside
    if not found:
        what = f"{' or '.join(suffixes)} file" if anything else "file"
        yield Missing(pattern, f"no {what} matches this pattern")


def _directory(directory: str, suffixes: tuple[str, ...]) -> Iterator[Item]:
    found = [
        os.path.join(parent, name) for parent, _, names in os.walk(directory) for name in names if name.endswith(suffixes)
    ]
    if not found:
        yield Missing(directory, f"no {' or '.join(suffixes)} file in this directory")
    for path in sorted(found, key=lambda p: Path(p).parts):
        yield Source(path, path)


def loaded(source: Source, largest: int = LARGEST) -> Item:
    """Return `source` with the bytes of standard input, if that is what it is: only this process can read those."""
    if source.path is not None or source.data is not None:
        return source
    if sys.stdin is None:
        return Missing(source.name, "standard input is closed")
    try:
        return replace(source, data=sys.stdin.buffer.read(largest + 1))
    except OSError as error:
        return Missing(source.name, error.strerror or str(error))


def read_source(source: Source, *, any_bytes: bool = False, largest: int = LARGEST) -> str:
    """Return the text of `source`, without a byte order mark. Raises UnreadableError.

    With `any_bytes`, bytes that are not UTF-8 become lone surrogates: a format of ASCII words allows them in its comments.
    """
    try:
        if source.path is None:
            item = loaded(source, largest)
            if isinstance(item, Missing):
                raise UnreadableError(item.reason)
            data = item.data or b""
        else:
            with open(source.path, "rb") as stream:
                if stat.S_ISDIR(os.fstat(stream.fileno()).st_mode):
                    raise UnreadableError("it is a directory")
                data = stream.read(largest + 1)
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from error
    if len(data) > largest:
        what = "program" if largest == LARGEST else "report"
        raise UnreadableError(f"larger than {largest // 1024 // 1024} MiB, which no {what} is")
    skip = len(BOM) if data.startswith(BOM) else 0
    try:
        return data[skip:].decode("utf-8", "surrogateescape" if any_bytes else "strict")
    except UnicodeDecodeError as error:
        at = skip + error.start
        line = data.count(b"\n", 0, at) + 1
        raise UnreadableError(f"not UTF-8: byte 0x{data[at]:02x} at byte offset {at} (line {line})") from error
