"""A folder in which nobody but the user can put or change anything, and the key that proves who wrote what is in it."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rdma_robust.files import read_regular

KEY_BYTES: Final = 32
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class UnsafeFolderError(OSError):
    """Others could change what is in a folder; `filename` and `strerror` say which and why."""

    def __init__(self, folder: Path, why: str) -> None:
        super().__init__(errno.EPERM, why, os.fspath(folder))


def make_private(folder: Path) -> None:
    """Make `folder` and what is missing above it, for the user alone. Raises UnsafeFolderError, OSError.

    Refused is a folder that is not the user's or that others may write to, and one above which others could rename or
    replace something: each parent must belong to the user or to root, and be writable for nobody else unless it is sticky.
    Both the path as it is given and the one without symbolic links are looked at.
    """
    folder = Path(os.path.abspath(folder))
    for each in reversed((folder, *folder.parents)):
        with contextlib.suppress(FileExistsError):
            each.mkdir(mode=0o700)
    check_private(folder)


def check_private(folder: Path) -> None:
    """Raise UnsafeFolderError if others could change what is in the folder, see :func:`make_private`."""
    for path in dict.fromkeys((Path(os.path.abspath(folder)), Path(os.path.realpath(folder)))):
        found = os.stat(path)
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "it is not a directory", os.fspath(path))
        if found.st_uid != os.geteuid():
            raise UnsafeFolderError(path, "it belongs to somebody else")
        if found.st_mode & _OTHERS_WRITE:
            raise UnsafeFolderError(path, "others may write to it (chmod go-w)")
        for parent in path.parents:
            _check_parent(parent)


def _check_parent(parent: Path) -> None:
    found = os.stat(parent)
    if found.st_uid not in (0, os.geteuid()):
        raise UnsafeFolderError(parent, "it belongs to somebody else, who could replace what is below it")
    if found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX:
        raise UnsafeFolderError(parent, "others may write to it, and could replace what is below it")


def key_of(folder: Path) -> bytes:
    """Return the key of a private folder, made when it is first asked for. Raises UnsafeFolderError, OSError."""
    path = folder / "key"
    if not path.exists():
        with _temporary(folder, secrets.token_bytes(KEY_BYTES)) as new, contextlib.suppress(FileExistsError):
            os.link(new, path)
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise UnsafeFolderError(path, "it is not a file that only the user may read; remove it")
    key = read_regular(path, KEY_BYTES + 1)
    if len(key) != KEY_BYTES:
        raise UnsafeFolderError(path, "it is no key; remove it")
    return key


@contextlib.contextmanager
def _temporary(folder: Path, data: bytes) -> Iterator[str]:
    handle, path = tempfile.mkstemp(prefix=".new-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        yield path
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


def write_private(path: Path, data: bytes) -> None:
    """Write a file below a private folder, in one step. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _temporary(path.parent, data) as new:
        os.replace(new, path)
