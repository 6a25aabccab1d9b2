"""Where reports go: standard output, or a file that is replaced in one step; and how wide that is."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from types import TracebackType
from typing import Final, Protocol

from rdma_robust.errors import UsageError
from rdma_robust.frame.shell.colour import coloured
from rdma_robust.text import printable


class Output(Protocol):
    """A place for the lines of a report; leaving the `with` block without an error makes the report final.

    What is said is for people, and has colour where the place has it; other lines are for machines, or programs.
    """

    def line(self, text: str) -> None: ...

    def say(self, text: str) -> None: ...

    def __enter__(self) -> Output: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class StandardOutput:
    """Standard output, on which what is written appears at once. Raises BrokenPipeError when nobody reads it any more."""

    def line(self, text: str) -> None:
        self.write(text + "\n")

    def say(self, text: str) -> None:
        self.write(coloured(text, sys.stdout) + "\n")

    def write(self, text: str) -> None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            drop_output()
            raise UsageError(f"cannot write to standard output: {error.strerror}") from error

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def drop_output() -> None:
    """Give what could not be written to nobody, so that the interpreter does not try again at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


class FileOutput:
    """Lines are kept and written by :func:`replace_file`."""

    def __init__(self, path: str) -> None:
        must_be_writable(path)
        self._path = path
        self._lines: list[str] = []

    def line(self, text: str) -> None:
        self._lines.append(text)

    say = line

    def __enter__(self) -> Output:
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None) -> None:
        if kind is None:
            replace_file(self._path, "".join(f"{line}\n" for line in self._lines))


def output(path: str | None) -> Output:
    return StandardOutput() if path in (None, "-") else FileOutput(str(path))


def must_be_writable(path: str) -> None:
    """Find out before the work whether a file can be written. Raises UsageError."""
    shown = printable(path)
    if not path:
        raise UsageError("cannot write to '': it is no name of a file; without it the report goes to standard output")
    if os.path.isdir(path):
        raise UsageError(f"cannot write to {shown}: it is a directory")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise UsageError(f"cannot write to {shown}: its folder does not exist")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise UsageError(f"cannot write to {shown}: it is write-protected")
    if is_special(path) and not os.path.exists(os.path.realpath(path)):
        return  # a pipe of this process, `/dev/stdout` or the `>(...)` of a shell: somebody reads it
    if os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode):
        raise UsageError(f"cannot write to {shown}: it is a named pipe, which may have no reader; use `| tee` or `>(...)`")


def make_folder(path: str) -> None:
    """Make the folder `path` and what is missing above it.

    Raises UsageError, also where it is a link: a checkout may have brought it, and it may lead anywhere.
    """
    if os.path.islink(path.rstrip("/")):
        leads = printable(os.path.realpath(path))
        raise UsageError(f"cannot write into {printable(path)}: it is a link; name the folder that it leads to, {leads}")
    if not path:
        raise UsageError("cannot make the folder '': it has no name")
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {printable(path)}: {error.strerror or error}") from error


def replace_file(path: str, text: str, *, through_links: bool = True) -> None:
    """Write `text` to `path` so that a reader sees the old or the new contents, never a part.

    A symbolic link keeps pointing to its target, or is replaced if it is not to be followed. An existing file keeps its
    permissions; what is not a regular file (a terminal, `/dev/null`) is written to directly. Raises UsageError.
    """
    replace_bytes(path, text.encode("utf-8"), through_links=through_links)


def replace_bytes(path: str, data: bytes, *, through_links: bool = True) -> None:
    """Do what :func:`replace_file` does, with bytes. Raises UsageError."""
    target = os.path.realpath(path) if through_links else os.path.abspath(path)
    try:
        if through_links and is_special(path):
            with open(path, "wb") as special:
                special.write(data)
            return
        _replace(target, data)
    except OSError as error:
        raise UsageError(f"cannot write to {printable(path)}: {error.strerror or error}") from error


def is_special(path: str) -> bool:
    """Whether there is something at `path` that is no regular file: a terminal, a pipe, `/dev/null`."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def _replace(target: str, data: bytes) -> None:
    import tempfile  # noqa: PLC0415 - loads what makes names random, and few commands write files

    if os.path.isfile(target) and not os.path.islink(target):
        if not os.access(target, os.W_OK):
            raise PermissionError(13, "it is write-protected")
        mode = stat.S_IMODE(os.stat(target).st_mode)
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    handle, temporary = tempfile.mkstemp(prefix=".rdma-robust-", dir=os.path.dirname(target))
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


NARROWEST: Final = 40
FALLBACK: Final = (80, 24)


def width_of_output(path: str | None = None) -> int | None:
    """Return the width of text written to the file `path` (None or `-`: standard output), None if it has none.

    A terminal has one, and everything has the one that `COLUMNS` in the environment says. Other files and pipes have none:
    what is written to them is the same in every window.
    """
    here = path in (None, "-") and sys.stdout is not None and sys.stdout.isatty()
    said = os.environ.get("COLUMNS", "")
    if not here and not (said.isdigit() and int(said)):
        return None
    return max(NARROWEST, shutil.get_terminal_size(FALLBACK).columns)
