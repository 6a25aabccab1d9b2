"""Reading files that somebody else has named: only regular ones, so that nobody waits for a pipe, or for a device's end."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Mapping
from typing import Final

LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a program or net at most."""

KINDS: Final[Mapping[str, Callable[[int], bool]]] = {
    "a directory": stat.S_ISDIR,
    "a named pipe": stat.S_ISFIFO,
    "a device": lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode),
    "a socket": stat.S_ISSOCK,
}


def read_regular(path: str | os.PathLike[str], most: int) -> bytes:
    """Return the first `most` bytes of a regular file, or of the one that a symbolic link leads to.

    Raises OSError with a reason in `strerror`, also for anything that is no regular file, and for what can be no name of a
    file (names come from documents, too: zero bytes, lone surrogates). It is looked at once it is open,
    and opening does not wait, so that no exchange in between matters.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except ValueError as error:
        raise OSError(errno.EINVAL, "no file can have this name") from error
    except OSError as error:
        if error.errno == errno.ENXIO:
            refuse(os.stat(path).st_mode, path)
        raise
    with open(descriptor, "rb") as stream:
        refuse(os.fstat(descriptor).st_mode, path)
        return stream.read(most)


def refuse(mode: int, path: str | os.PathLike[str]) -> None:
    """Raise OSError unless `mode` is that of a regular file."""
    if not stat.S_ISREG(mode):
        what = next((name for name, is_one in KINDS.items() if is_one(mode)), "something else")
        raise OSError(errno.EINVAL, f"it is {what}, not a file", os.fspath(path))
