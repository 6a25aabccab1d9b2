"""What `.spec` text consists of, and what can be wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from rdma_robust.diagnose import quote

MAX_DIGITS: Final = 1000
"""Python prints numbers of up to 4300 digits; those of a net grow along a run, but not by so much."""


class Word(NamedTuple):
    """A name or a number, and its offset in the file."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Constraint:
    """`place = low`, `place >= low` or `place in [low,high]`; the operator is `=`, `>=` or `in`."""

    place: Word
    operator: str
    low: Word
    high: Word | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """`place' =` the sum of `terms` plus or minus `amount`; the text ends at `end`."""

    place: Word
    terms: tuple[Word, ...]
    sign: str
    amount: Word | None
    end: int


@dataclass(frozen=True, slots=True)
class Rule:
    guards: tuple[Constraint, ...]
    updates: tuple[Update, ...]


class SpecSyntaxError(Exception):
    """What is wrong with the text from offset `at` to `end`, what was expected, and what to do."""

    def __init__(self, message: str, at: int, end: int, expected: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.at, self.end, self.expected, self.hint = at, end, expected, hint


def show_at(text: str, at: int) -> str:
    """Return what stands at an offset, in words."""
    while at < len(text) and text[at] in " \t\r\n\f\v":
        at += 1
    if at >= len(text):
        return "end of the file"
    end = at + 1
    while end < len(text) and text[at].isalnum() and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return quote(text[at:end])
