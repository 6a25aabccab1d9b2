"""From the arguments to the programs: files, directories, globs, standard input and other streams that are open already.

This is where every command reads its inputs: regular files, and of what is none only `-`, `/dev/stdin`, `/dev/fd/N` and
`/proc/self/fd/N`, which this process was given open, and which are read within the limits of the work they are for.
"""

from __future__ import annotations

import difflib
import glob
import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rdma_robust.errors import Diagnostic, LimitReached, RdmaRobustError, UsageError
from rdma_robust.files import LARGEST, read_regular
from rdma_robust.frame import registry
from rdma_robust.frame.shell.stderr import error_line
from rdma_robust.guard import Overrun, guarded_by
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.text import printable
from rdma_robust.value_ranges import Valuation, definition_combinations, file_of, is_option

STDIN = "<stdin>"
OF_FOLDERS: Final = "--c"
"""The option by which folders are searched for files that are read with options too."""

BOM = b"\xef\xbb\xbf"
_STREAM: Final = re.compile(r"(?:/dev/|/proc/self/)fd/([0-9]{1,9})|/dev/stdin")


class UnreadableError(RdmaRobustError):
    """A program's text cannot be had; the message says why, without the file's `name`, which its reader knows as a rule."""

    code = "RR001"

    def __init__(self, reason: str, name: str = "") -> None:
        super().__init__(reason)
        self.name = name


@dataclass(frozen=True, slots=True)
class WarningChoice:
    """Codes of warnings that are shown besides, and those that are not; who is in both is shown."""

    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()

    def shown(self, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return the diagnostics that are shown."""
        left_out = self.disabled - self.enabled
        return tuple(each for each in found if each.code not in left_out)


EVERYTHING = WarningChoice()


@dataclass(frozen=True, slots=True)
class Source:
    """One program to read, by its `name` for the user. A stream has no `path` but a `descriptor`, and `data` once read.

    `certificate` is the file into which the certificate of its verdict goes, None if none is wanted. `define` are values of
    constants instead of those in the text, as `NAME=VALUE`, and `instance` those of them that tell several instances of one
    program apart. `warnings` are those that are shown of it. `in_folder` says that nobody named the file, but a folder that
    it is in.
    """

    name: str
    path: str | None
    data: bytes | None = None
    descriptor: int = 0
    certificate: str | None = None
    define: tuple[str, ...] = ()
    instance: str = ""
    warnings: WarningChoice = EVERYTHING
    in_folder: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """An argument that stands for no program, and why; `cut` if a limit ended the reading."""

    name: str
    reason: str
    cut: bool = False

    def message(self) -> str:
        """Return what to say on standard error."""
        said = f"unknown: {self.reason}" if self.cut else error_line(self.reason, UnreadableError.code)
        return f"{printable(self.name)}: {said}"


Item = Source | Missing


def expand(
    arguments: Sequence[str],
    commands: Sequence[str] = (),
    suffixes: tuple[str, ...] = (),
    define: Sequence[str] | None = None,
    named: tuple[str, ...] = (),
) -> list[Item]:
    """Return what `arguments` stand for, in their order, each file once; those without a program are kept as Missing.

    A directory stands for every file below it with one of `suffixes`, sorted, those that the registry falls back to if there
    are none; an argument that names no file is a glob if it
    can be, and `dir/**` stands for what `dir` does. A link in a directory stands for a file only if that would count too.
    Files with a suffix of `named` are read where an argument names them.
    `commands` are what a mistyped first argument may have meant. `define` are the definitions of :attr:`Source.define`; with
    ranges among them every program is there once for each combination of values (see `value_ranges.py`). Options among them
    are for files of front ends that take some, and one of them, `--c`, has those looked for in folders too.
    Raises UsageError for a range of no values, and for options that no input takes.
    """
    options = [each for each in define or () if is_option(each)]
    chosen = definition_combinations([each for each in define or () if each != OF_FOLDERS])
    plain = definition_combinations([each for each in define or () if not is_option(each)])
    optioned = registry.optioned_suffixes() if options else ()
    suffixes = (*(suffixes or registry.fallback_suffixes()), *(optioned if OF_FOLDERS in options else ()))
    items: list[Item] = []
    seen: set[str] = set()
    for argument in arguments:
        for item in _expand(argument, commands, suffixes, named):
            key = os.path.realpath(item.path) if isinstance(item, Source) and item.path else item.name
            if key not in seen:
                seen.add(key)
                given = chosen if item.name.endswith(optioned) or _is_stream(item) else plain
                items += [_instance(item, each) for each in given] if isinstance(item, Source) else [item]
    if options and not any(file_of(each.name).endswith(optioned) or _is_stream(each) for each in items):
        option = options[0].partition("=")[0]
        raise UsageError(f"{option} is an option of {' or '.join(optioned)} files, and none of them is given")
    return items


def _is_stream(item: Item) -> bool:
    return isinstance(item, Source) and item.path is None


def _instance(source: Source, instance: Valuation) -> Source:
    return replace(source, name=instance.named(source.name), define=instance.define, instance=instance.shown)


def _expand(argument: str, commands: Sequence[str], suffixes: tuple[str, ...], named: tuple[str, ...]) -> Iterator[Item]:
    if (stream := stream_of(argument)) is not None:
        yield stream
    elif os.path.isdir(argument):
        yield from _directory(argument, suffixes)
    elif os.path.lexists(argument):
        reason = registry.elsewhere(argument, (*suffixes, *named))
        yield Missing(argument, reason) if reason else Source(argument, argument)
    elif glob.has_magic(argument):
        yield from _matching(argument, suffixes)
    else:
        near = [] if os.sep in argument or "." in argument else difflib.get_close_matches(argument, commands, 1)
        hint = f" (did you mean the command `{near[0]}`? It comes first)" if near else ""
        yield Missing(argument, f"no such file or directory{hint}")


def stream_of(argument: str) -> Source | None:
    """Return the stream that `argument` names, None if it names none."""
    if argument == "-":
        return Source(STDIN, None)
    found = _STREAM.fullmatch(argument)
    return None if found is None else Source(argument, None, descriptor=int(found[1] or 0))


def source_of(argument: str) -> Source:
    """Return the stream or file that `argument` names, whether it is there or not."""
    return stream_of(argument) or Source(argument, argument)


def _matching(pattern: str, suffixes: tuple[str, ...]) -> Iterator[Item]:
    """Yield what a glob stands for; if it does not say how names end, only files with a suffix and those in directories."""
    ending = os.path.splitext(pattern)[1]
    anything = not ending or glob.has_magic(ending)
    found = 0
    for path in sorted(glob.glob(pattern, recursive=True)):
        if os.path.isdir(path):
            inside = [each for each in _directory(path, suffixes) if isinstance(each, Source) or each.name != path]
        else:
            kind = suffixes if anything else (ending,)
            inside = [_found(path, fixed_part(pattern), kind, False)] if path.endswith(kind) else []
        found += len(inside)
        yield from inside
    if not found:
        what = f"{' or '.join(suffixes)} file" if anything else "file"
        yield Missing(pattern, f"no {what} matches this pattern")


def fixed_part(pattern: str) -> str:
    """Return the folder of a glob pattern that says no more than a name."""
    folder = os.path.dirname(pattern)
    while glob.has_magic(folder):
        folder = os.path.dirname(folder)
    return folder or "."


def _directory(directory: str, suffixes: tuple[str, ...]) -> Iterator[Item]:
    found = [
        os.path.join(parent, name) for parent, _, names in os.walk(directory) for name in names if name.endswith(suffixes)
    ]
    if not found:
        yield Missing(directory, f"no {' or '.join(suffixes)} file in this directory")
    for path in sorted(found, key=lambda p: Path(p).parts):
        yield _found(path, directory, suffixes)


def _found(path: str, directory: str, suffixes: tuple[str, ...], in_folder: bool = True) -> Item:
    """Return the file that was found below a directory. Nobody has named it, so it may be a link that a checkout of somebody
    else has brought, to what is not theirs to see and would stand in reports."""
    there = os.path.realpath(path)
    inside = there.endswith(suffixes) and there.startswith(os.path.join(os.path.realpath(directory), ""))
    if os.path.islink(path) and os.path.exists(path) and not inside:
        return Missing(path, f"it is a link that leads out of {directory}, or to no program; name it to have it read")
    return Source(path, path, in_folder=in_folder)


def loaded(source: Source, limits: Limits = NO_LIMITS, largest: int = LARGEST) -> Item:
    """Return `source` with its bytes if it is a stream, read within `limits`: only this process can read those, and once."""
    if source.path is not None or source.data is not None:
        return source
    try:
        with guarded_by(limits):
            return replace(source, data=_stream(source.descriptor, largest + 1))
    except OSError as error:
        return Missing(source.name, error.strerror or str(error))
    except (LimitReached, Overrun) as error:
        if limits is NO_LIMITS:
            raise
        return Missing(source.name, str(error), cut=True)


def all_loaded(items: Sequence[Item], limits: Callable[[], Limits], largest: int = LARGEST) -> Iterator[Item]:
    """Yield each item as :func:`loaded` returns it; several instances of one stream share what is read of it."""
    streams: dict[int, Item] = {}
    for item in items:
        if isinstance(item, Missing) or item.path is not None:
            yield item
            continue
        read = streams.setdefault(item.descriptor, item)
        if isinstance(read, Source) and read.data is None:
            read = streams[item.descriptor] = loaded(read, limits(), largest)
        yield replace(item, data=read.data) if isinstance(read, Source) else replace(read, name=item.name)


def _stream(descriptor: int, most: int) -> bytes:
    if descriptor == 0:
        if sys.stdin is None:
            raise OSError(0, "standard input is closed")
        return sys.stdin.buffer.read(most)
    with open(os.dup(descriptor), "rb") as stream:
        return stream.read(most)


def read_bytes(source: Source, largest: int = LARGEST) -> bytes:
    """Return what is in `source`, at most one byte more than `largest`. Raises UnreadableError."""
    try:
        if source.path is not None:
            return read_regular(source.path, largest + 1)
    except OSError as error:
        raise UnreadableError(error.strerror or str(error), source.name) from error
    item = loaded(source, largest=largest)
    if isinstance(item, Missing):
        raise UnreadableError(item.reason, source.name)
    return item.data or b""


def read_source(source: Source, *, any_bytes: bool = False, largest: int = LARGEST) -> str:
    """Return the text of `source`, without a byte order mark, with the values that it defines.

    With `any_bytes`, bytes that are not UTF-8 become lone surrogates: a format of ASCII words allows them in its comments.
    Raises UnreadableError, and UsageError for a definition that does not fit.
    """
    data = read_bytes(source, largest)
    if len(data) > largest:
        what = "program" if largest == LARGEST else "report"
        raise UnreadableError(f"larger than {largest // 1024 // 1024} MiB, which no {what} is", source.name)
    skip = len(BOM) if data.startswith(BOM) else 0
    try:
        text = data[skip:].decode("utf-8", "surrogateescape" if any_bytes else "strict")
    except UnicodeDecodeError as error:
        at = skip + error.start
        line = data.count(b"\n", 0, at) + 1
        said = f"not UTF-8: byte 0x{data[at]:02x} at byte offset {at} (line {line})"
        raise UnreadableError(said, source.name) from error
    if not source.define:
        return text
    front_end = registry.front_end_of(text, file_of(source.name))
    return text if front_end.defined is None else front_end.defined(text, source.define, file_of(source.name))


def states_of_parts(text: str, file: str) -> dict[str, str]:
    """Return what the further files are now that a text is made of: a digest of each, or why it has none."""
    parts = registry.front_end_of(text, file_of(file)).parts
    return {} if parts is None else {each: _state(each) for each in parts(text, file)}


def _state(path: str) -> str:
    try:
        return hashlib.sha256(read_regular(path, LARGEST)).hexdigest()
    except OSError as error:
        return error.strerror or str(error)
