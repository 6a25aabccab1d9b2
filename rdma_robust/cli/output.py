"""Where reports go: standard output, or a file that is replaced in one step."""

from __future__ import annotations

import os
import stat
import sys
from types import TracebackType
from typing import Protocol

from rdma_robust.cli.colour import coloured
from rdma_robust.errors import UsageError
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
    """What is written appears at once. Raises BrokenPipeError when nobody reads it any more."""

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
    if os.path.isdir(path):
        raise UsageError(f"cannot write to {shown}: it is a directory")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise UsageError(f"cannot write to {shown}: its folder does not exist")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise UsageError(f"cannot write to {shown}: it is write-protected")


def replace_file(path: str, text: str) -> None:
    """Write `text` to `path` so that a reader sees the old or the new contents, never a part.

    A symbolic link keeps pointing to its target, an existing file keeps its permissions; what is not a regular file (a
    terminal, `/dev/null`) is written to directly. Raises UsageError.
    """
    replace_bytes(path, text.encode("utf-8"))


def replace_bytes(path: str, data: bytes) -> None:
    """Do what :func:`replace_file` does, with bytes. Raises UsageError."""
    target = os.path.realpath(path)
    try:
        if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):
            with open(target, "wb") as special:
                special.write(data)
            return
        _replace(target, data)
    except OSError as error:
        raise UsageError(f"cannot write to {path}: {error.strerror or error}") from error


def _replace(target: str, data: bytes) -> None:
    import tempfile  # noqa: PLC0415 - loads what makes names random, and few commands write files

    if os.path.exists(target):
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
