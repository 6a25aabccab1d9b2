"""Checkpoints: what all parts of a search have, in a folder, from where it goes on when a part is lost, or in another run.

A checkpoint is a file of each part and, when all are written, one that lists them with their digests; it replaces that of
the checkpoint before. So what is half written is no checkpoint. Two digests say whose it is: that of the plan of the search,
and that of the code that the search had by then. States that were found depend on nothing else, so no other search takes
them for its own.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, BinaryIO, Final

from rdma_robust.counters.parts.lost_parts import CheckpointError
from rdma_robust.counters.parts.storage import storage
from rdma_robust.errors import UsageError
from rdma_robust.fingerprint import fingerprint

if TYPE_CHECKING:
    from rdma_robust.counters.kernel.search_plan import SearchPlan
    from rdma_robust.counters.kernel.workers import KernelText

EVERY_S = 60.0
"""Between two checkpoints, at least."""
_QUESTION: Final = "question.json"
_FORMAT: Final = "rdma-robust/checkpoint"
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class SavedStates:
    """A checkpoint: how states belong to parts, as the plan says, what was compiled by then, in order, the digest of that
    code, and the file of each part with its digest."""

    masks: list[int]
    owners: list[int]
    asked: list[tuple[int, int]]
    text: str
    files: list[tuple[str, str]]
    states: int


class Checkpoint:
    """The checkpoints of one search in a folder. Raises UsageError if one is there that is damaged."""

    def __init__(
        self, place: str, plan: SearchPlan, values: list[int], text: KernelText, asked: Sequence[tuple[int, int]]
    ) -> None:
        """`text` is the code with which the search begins, at `values`; `asked`, which grows, what is compiled later."""
        self.place, self.asked = place, asked
        self._key = _digest(fingerprint(), replace(plan, masks=[], owners=[]), values, digest_of_text(text))[:16]
        self._list = f"{self._key}.json"
        self._files = storage(place)
        self._last = time.monotonic()
        self.saved: SavedStates | None = None
        try:
            self._files.make()
            if self._list in self._files.names():
                with closing(self._files.open(self._list, "rb")) as file:
                    self.saved = _read(json.load(file))
                self._look(self.saved)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise damaged(place, str(error)) from error

    def _look(self, saved: SavedStates) -> None:
        there = set(self._files.names())
        for number, (name, digest) in enumerate(saved.files):
            if name not in there:
                raise ValueError(f"the file of part {number + 1} is missing")
            with closing(self._files.open(name, "rb")) as file:
                if digest_of(file) != digest:
                    raise ValueError(f"the file of part {number + 1} is not what was written")

    def begin(self, text: KernelText) -> None:
        """Forget the checkpoint if it is of a search with other code: that found other states."""
        if self.saved is not None and self.saved.text != digest_of_text(text):
            self.saved = None

    @property
    def due(self) -> bool:
        return time.monotonic() - self._last >= EVERY_S

    def names(self, parts: int) -> list[str]:
        """Return the names of new files, one for each part."""
        token = secrets.token_hex(4)
        return [f"{self._key}-{token}-{part}.states" for part in range(parts)]

    def keep(self, saved: SavedStates) -> None:
        """Have this one in place of the last one. Raises CheckpointError."""
        content = {"format": _FORMAT, "version": 1, "code": fingerprint(), **asdict(saved)}
        try:
            self._files.replace(self._list, json.dumps(content).encode())
        except Exception as error:
            self.clean()
            raise not_written(self.place, error) from error
        self.saved = saved
        self.clean()
        self._last = time.monotonic()

    def clean(self) -> None:
        """Remove files of this search that belong to no checkpoint, if that can be."""
        kept = set() if self.saved is None else {name for name, _ in self.saved.files}
        with suppress(Exception):
            for name in self._files.names():
                if name.startswith((f"{self._key}-", f"{self._list}.")) and name not in kept:
                    self._files.remove(name)


def _read(content: dict[str, object]) -> SavedStates:
    if (content["format"], content["version"]) != (_FORMAT, 1):
        raise ValueError("it has another format")
    kept = {name: content[name] for name in SavedStates.__slots__}
    saved = SavedStates(**kept)  # type: ignore[arg-type]
    if not saved.files or not all(isinstance(each, int) for each in (*saved.masks, saved.states)):
        raise ValueError("its list of files is none")
    if not saved.owners or not all(each in range(len(saved.files)) for each in saved.owners):
        raise ValueError("its states belong to parts that there are not")
    return replace(
        saved, asked=[(int(p), int(at)) for p, at in saved.asked], files=[(str(n), str(d)) for n, d in saved.files]
    )


def damaged(place: str, why: str) -> UsageError:
    return UsageError(f"the checkpoint in {place} cannot be read: {why}; remove that folder, or name another one")


def not_written(place: str, error: BaseException) -> CheckpointError:
    why = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return CheckpointError(
        f"no checkpoint can be written in {place}: {why}; make room or name another folder, and run it again"
    )


def _digest(*content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()


def digest_of_text(text: KernelText) -> str:
    """Return the digest of code of the kernel, and of what processes do where."""
    return _digest(text.code, text.places, text.targets)


def new_digest() -> hashlib.blake2b:
    """Return the digest of nothing yet, for the content of a file."""
    return hashlib.blake2b(digest_size=16)


def digest_of(file: BinaryIO) -> str:
    """Return the digest of what is left of a file."""
    found = new_digest()
    while piece := file.read(_PIECE):
        found.update(piece)
    return found.hexdigest()


def claim_folder(place: str, names: Sequence[str], asked: str) -> None:
    """Say in a folder which question its checkpoints are of, or see that it is this one.

    `asked` is all that the answer depends on, `names` are for people. Raises UsageError for a folder that has anything else,
    or cannot be written.
    """
    files = storage(place)
    question = {"format": _FORMAT, "version": 1, "code": fingerprint(), "asked": _digest(asked), "of": list(names)}
    try:
        files.make()
        there = files.names()
        if not there:
            files.replace(_QUESTION, json.dumps(question).encode())
            return
        if _QUESTION not in there:
            raise UsageError(f"--checkpoint {place}: that folder has other files: name an empty one, or a new one")
        with closing(files.open(_QUESTION, "rb")) as file:
            found = json.load(file)
        if (found["format"], found["version"], found["code"]) != (_FORMAT, 1, fingerprint()):
            what = f"another version of rdma-robust ({found['code']}, this is {fingerprint()})"
        elif found["asked"] != question["asked"]:
            what = f"another program, or other options ({', '.join(map(str, found['of']))})"
        else:
            return
    except OSError as error:
        raise UsageError(f"--checkpoint {place}: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(place, f"{_QUESTION}: {error}") from error
    raise UsageError(f"--checkpoint {place}: the checkpoints there are of {what}: name another folder, or remove that one")
