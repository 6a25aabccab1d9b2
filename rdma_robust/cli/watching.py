"""`--watch`: run the same command again whenever a file that it reads has changed, until Ctrl-C."""

from __future__ import annotations

import glob
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Final

from rdma_robust.errors import RdmaRobustError, UsageError
from rdma_robust.foreign import own_command
from rdma_robust.frame import registry
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.registry import front_end_of
from rdma_robust.frame.shell.inputs import OF_FOLDERS, Source, expand, fixed_part, read_source, stream_of
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.frame.shell.stop import Stopped, asked_to_stop, check
from rdma_robust.text import count, printable
from rdma_robust.value_ranges import file_of

FLAG: Final = "--watch"
PAUSE_MS: Final = 200
"""Milliseconds between two looks whether the command has ended."""
ENDING_S: Final = 5.0
"""Seconds that a command has to end after it was told to."""
SETTINGS: Final = frozenset({"rdma-robust.toml", "pyproject.toml"})
CLEAR: Final = "\x1b[2J\x1b[H"


def need_watchfiles() -> None:
    """Raise UsageError unless watchfiles is installed."""
    if find_spec("watchfiles") is None:
        raise UsageError(f"{FLAG} needs watchfiles, which is not installed here: pip install watchfiles")


class WatchedFiles:
    """The files that the arguments of a command stand for: files, folders in which every program counts, and the further
    files that programs are made of, with the definitions and options `define`."""

    def __init__(self, arguments: Sequence[str], define: Sequence[str] = ()) -> None:
        """Raises UsageError for a stream, which is read only once, and as :func:`expand`."""
        self.folders: set[str] = set()
        self.suffixes = (*registry.folder_suffixes(), *(registry.optioned_suffixes() if OF_FOLDERS in define else ()))
        named = list[str]()
        for argument in arguments:
            if stream_of(argument) is not None:
                raise UsageError(f"{FLAG} needs files: {printable(argument)} can be read only once")
            if os.path.isdir(argument):
                self.folders.add(os.path.realpath(argument))
            elif os.path.lexists(argument) or not glob.has_magic(argument):
                named.append(argument)
            else:
                self.folders.add(os.path.realpath(fixed_part(argument)))
        programs = (each for each in expand(arguments, define=define) if isinstance(each, Source))
        named += (part for program in programs for part in _parts(program))
        self.files = {path for each in named for path in (os.path.abspath(each), os.path.realpath(each))}

    def places(self) -> Iterator[str]:
        """Yield the folders to look at. Raises UsageError if one does not exist."""
        for folder in sorted(self.folders | {os.path.dirname(path) for path in self.files}):
            if not os.path.isdir(folder):
                raise UsageError(f"{FLAG} cannot look at {printable(folder)}: it is not a directory")
            yield folder

    def counts(self, _change: object, path: str) -> bool:
        """Return whether a change of `path` is a reason to run again."""
        if path in self.files or os.path.basename(path) in SETTINGS:
            return True
        return path.endswith(self.suffixes) and any(path.startswith(folder + os.sep) for folder in self.folders)


def _parts(program: Source) -> Iterator[str]:
    """Yield the further files that a program is made of; who runs it says what is wrong with it."""
    with suppress(RdmaRobustError, OSError):
        text, file = read_source(program), file_of(program.name)
        parts = front_end_of(text, file).parts
        yield from () if parts is None else parts(text, file)


def changes_of(file: str, define: Sequence[str] = ()) -> Iterator[object]:
    """Yield after every change of one program; for a thread, which ends with the process. Raises UsageError."""
    from watchfiles import watch  # noqa: PLC0415 - an extra

    while True:
        watched = WatchedFiles([file], define)
        changes = watch(*watched.places(), watch_filter=watched.counts, recursive=False, raise_interrupt=False)
        yield next(changes)


def run_watching(arguments: Sequence[str], files: Sequence[str], define: Sequence[str] = ()) -> Exit:
    """Run the command line `arguments`, without FLAG, now and after every change of `files`, until Ctrl-C.

    A run that a change makes useless is ended, and of which files programs are made is looked up again after each change.
    Raises UsageError.
    """
    need_watchfiles()
    from watchfiles import watch  # noqa: PLC0415 - an extra

    command = own_command(_without_flag(arguments))
    while True:
        watched = WatchedFiles(files, define)
        changes = watch(
            *watched.places(),
            watch_filter=watched.counts,
            rust_timeout=PAUSE_MS,
            yield_on_timeout=True,
            recursive=bool(watched.folders),
        )
        next(changes)  # it looks from here on, so that no change is lost while the command runs
        process = _begin(command)
        try:
            _until_change(process, changes, len(watched.files) + len(watched.folders))
        except KeyboardInterrupt as stop:
            # watchfiles turns what a signal raises into a KeyboardInterrupt of its own.
            _end(process)
            if not isinstance(stop, Stopped):
                stop = asked_to_stop() or stop
            if isinstance(stop, Stopped) and stop.exit is not Exit.INTERRUPTED:
                raise stop from None
            return Exit.OK


def _until_change(process: subprocess.Popen[bytes], changes: Iterator[object], number: int) -> None:
    """Return once something has changed; the process has ended then, or is ended."""
    said = False
    for change in changes:
        check()
        if change:
            break
        if process.poll() is not None and not said:
            warn(f"watching {count(number, 'place')}; Ctrl-C ends it")
            said = True
    if process.poll() is None:
        process.terminate()
    _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process that was told to end."""
    try:
        process.wait(ENDING_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _begin(command: Sequence[str]) -> subprocess.Popen[bytes]:
    if sys.stdout.isatty():
        sys.stdout.write(CLEAR)
        sys.stdout.flush()
    return subprocess.Popen(command, stdin=subprocess.DEVNULL)


def _without_flag(arguments: Sequence[str]) -> list[str]:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return [a for a in arguments[:end] if a != FLAG] + list(arguments[end:])
