"""The state of an exploration as text that fits in an address: what has been chosen, nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal, TypeGuard
from urllib.parse import parse_qsl

from rdma_robust.errors import UsageError
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from rdma_robust.teaching.explorer.run_tree import LONGEST, Choices
from rdma_robust.text import one_line

Side = Literal["sc", "rdma"]
Mode = Literal["follow", "free"]

MODES: dict[str, Mode] = {"follow": "follow", "free": "free"}

LONGEST_TEXT = 20_000
OF_ANOTHER = "this state belongs to another program, to an earlier version of it, or to other options"
_NUMBER = re.compile(r"[0-9]{1,4}", re.ASCII)
_KEYS = {"follow": ("p", "mode", "rdma", "at"), "free": ("p", "mode", "rdma", "at", "sc", "scat")}


class AddressError(UsageError):
    """A text is not a state of this exploration; the message says why, for people."""


@dataclass(frozen=True, slots=True)
class Track:
    """A run and how far along it one is; what comes after `at` can be gone forward to."""

    choices: Choices = ()
    at: int = 0

    @property
    def now(self) -> Choices:
        return self.choices[: self.at]

    def step(self, choice: int) -> Track:
        """Return the track after one more step; the way forward is kept if it begins with this step."""
        if self.choices[self.at : self.at + 1] == (choice,):
            return Track(self.choices, self.at + 1)
        return Track((*self.now, choice), self.at + 1)

    def go(self, at: int) -> Track:
        """Return the track at another of its steps. Raises UsageError if it is not that long."""
        if not 0 <= at <= len(self.choices):
            raise UsageError(f"there is no step {at}: the run has {len(self.choices)}")
        return Track(self.choices, at)


@dataclass(frozen=True, slots=True)
class ExplorerPlace:
    """Where an exploration is. In mode `follow` the SC side is computed from the RDMA side, and `sc` is empty."""

    mode: Mode = "follow"
    rdma: Track = Track()
    sc: Track = Track()

    def track(self, side: Side) -> Track:
        return self.rdma if side == "rdma" else self.sc

    def with_track(self, side: Side, track: Track) -> ExplorerPlace:
        return replace(self, rdma=track) if side == "rdma" else replace(self, sc=track)


def is_number(value: object) -> TypeGuard[int]:
    """Whether a member of a request is a whole number: `true` and `false` are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def program_fingerprint(program: Program, model: Model, await_loops: bool) -> str:
    """Return eight hexadecimal digits that other programs and other options do not have, as good as certainly."""
    return sha256(f"{model.ordered_reads:d}{await_loops:d}\n{canonical_text(program)}".encode()).hexdigest()[:8]


def encode(place: ExplorerPlace, program: str) -> str:
    """Return the text of a place in the program with this fingerprint."""
    parts = [f"p={program}", f"mode={place.mode}", f"rdma={dotted(place.rdma)}", f"at={place.rdma.at}"]
    if place.mode == "free":
        parts += [f"sc={dotted(place.sc)}", f"scat={place.sc.at}"]
    return "&".join(parts)


def decode(text: str, program: str) -> ExplorerPlace:
    """Return the place that :func:`encode` has written as `text`; the empty text is the beginning. Raises AddressError.

    That the machines can run the choices is not looked at.
    """
    if not text:
        return ExplorerPlace()
    pairs = address_parts(text)
    fields = dict(pairs)
    mode = MODES.get(fields.get("mode", ""))
    if mode is None:
        raise AddressError(f"the mode of a state is follow or free, not `{one_line(fields.get('mode', ''))}`")
    if sorted(key for key, _ in pairs) != sorted(_KEYS[mode]):
        raise AddressError(f"a state in mode {mode} has the parts {', '.join(_KEYS[mode])}, each once")
    if fields["p"] != program:
        raise AddressError(OF_ANOTHER)
    sc = track_of(fields["sc"], fields["scat"]) if mode == "free" else Track()
    return ExplorerPlace(mode, track_of(fields["rdma"], fields["at"]), sc)


def address_parts(text: str) -> list[tuple[str, str]]:
    """Return the parts of the text of a place, by name. Raises AddressError if it has none."""
    if len(text) > LONGEST_TEXT:
        raise AddressError(f"this state has {len(text)} characters, and no state has more than {LONGEST_TEXT}")
    try:
        return parse_qsl(text, keep_blank_values=True, strict_parsing=True, max_num_fields=8)
    except ValueError:
        raise AddressError(f"this is not a state of an exploration: `{one_line(text)}`") from None


def dotted(track: Track) -> str:
    """Return the choices of a run as text."""
    return ".".join(map(str, track.choices))


def track_of(choices: str, at: str) -> Track:
    """Return the run that :func:`dotted` has written, and where it is. Raises AddressError."""
    numbers = [_number(each) for each in choices.split(".")] if choices else []
    if len(numbers) > LONGEST:
        raise AddressError(f"a run in this state has {len(numbers)} steps, and none has more than {LONGEST}")
    place = _number(at)
    if place > len(numbers):
        raise AddressError(f"the state is at step {place} of a run of {len(numbers)}")
    return Track(tuple(numbers), place)


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise AddressError(f"a state has small numbers, not `{one_line(text)}`")
    return int(text)
