"""Where checkpoints are: a folder of this machine, or whatever fsspec has an address for.

Everything raises OSError, or what the library of an object store raises.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from rdma_robust.errors import UsageError


class Storage(Protocol):
    """Files by their names, all in one folder."""

    def make(self) -> None:
        """Make the folder if it is not there."""
        ...

    def names(self) -> list[str]: ...

    def open(self, name: str, mode: str) -> BinaryIO:
        """Open a file: `rb`, or `wb` for one that is not there yet."""
        ...

    def replace(self, name: str, content: bytes) -> None:
        """Write a file so that whoever reads it finds all of the old one or all of the new one."""
        ...

    def remove(self, name: str) -> None: ...


class _Disk:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def make(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)

    def names(self) -> list[str]:
        return sorted(each.name for each in self._folder.iterdir())

    def open(self, name: str, mode: str) -> BinaryIO:
        return cast(BinaryIO, (self._folder / name).open(mode))

    def replace(self, name: str, content: bytes) -> None:
        new = self._folder / f"{name}.new"
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._folder / name)

    def remove(self, name: str) -> None:
        (self._folder / name).unlink(missing_ok=True)


class _Elsewhere:
    """Files that fsspec reaches. Object stores show a file when it is complete."""

    def __init__(self, address: str) -> None:
        try:
            from fsspec.core import url_to_fs  # noqa: PLC0415 - an extra, and slow
        except ImportError as error:
            why = f"--checkpoint {address} needs the package fsspec: pip install fsspec"
            raise UsageError(why) from error
        try:
            self._files, self._folder = url_to_fs(address)
        except (ImportError, ValueError) as error:
            raise UsageError(f"--checkpoint {address}: {error}") from error

    def _place(self, name: str) -> str:
        return f"{self._folder}/{name}"

    def make(self) -> None:
        self._files.makedirs(self._folder, exist_ok=True)

    def names(self) -> list[str]:
        self._files.invalidate_cache()
        return sorted(str(each).rsplit("/", 1)[-1] for each in self._files.ls(self._folder, detail=False))

    def open(self, name: str, mode: str) -> BinaryIO:
        return cast(BinaryIO, self._files.open(self._place(name), mode))

    def replace(self, name: str, content: bytes) -> None:
        self._files.pipe_file(self._place(name), content)

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self._files.rm_file(self._place(name))


def storage(place: str) -> Storage:
    """Return the folder at a path or an address. Raises UsageError for an address that nothing here knows."""
    return _Elsewhere(place) if "://" in place else _Disk(Path(place))
