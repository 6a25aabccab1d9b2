"""The answers for the instances of one program, by the value of a constant, and what follows from all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rdma_robust.frame.answer import Counts
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.scale.growth_law import Law, law_of

WORDS: Final = {"robust": "robust", "not-robust": "not robust", "unknown": "unknown", "error": "in error"}
MOST_LISTED: Final = 3


@dataclass(frozen=True, slots=True)
class Stretch:
    """Numbers that follow one another among those that were asked about, with one verdict."""

    verdict: str
    numbers: tuple[int, ...]


def stretches(verdicts: Sequence[tuple[int, str]]) -> list[Stretch]:
    """Return the stretches of one verdict, as long as they can be, by growing numbers."""
    found: list[Stretch] = []
    for number, verdict in sorted(verdicts):
        if found and found[-1].verdict == verdict:
            found[-1] = Stretch(verdict, (*found[-1].numbers, number))
        else:
            found.append(Stretch(verdict, (number,)))
    return found


def changes_sentence(name: str, found: Sequence[Stretch]) -> str:
    """Return the sentence about all stretches of the constant `name`; nothing if there is none."""
    if not found:
        return ""
    asked = [number for each in found for number in each.numbers]
    if len(found) == 1:
        number = _listed(name, asked)
        said = f"{WORDS[found[0].verdict]} for {'every ' if 'from' in number else ''}{number}"
    elif len(found) == 2:
        first, second = found
        said = f"{WORDS[first.verdict]} up to {name} = {first.numbers[-1]}, "
        said += f"{WORDS[second.verdict]} from {name} = {second.numbers[0]}"
    else:
        said = "; ".join(f"{WORDS[each.verdict]} for {_listed(name, each.numbers)}" for each in found)
    gaps = [(a.numbers[-1], b.numbers[0]) for a, b in pairwise(found) if b.numbers[0] > a.numbers[-1] + 1]
    if gaps:
        between = " and ".join(f"{low} and {high}" for low, high in gaps)
        said += f" (between {between} nothing was asked)"
    return f"{said[0].upper()}{said[1:]}."


def _listed(name: str, numbers: Sequence[int]) -> str:
    """Return `N = 2`, `N = 2, 4, 8`, or `N from 2 to 8` where no number between them was left out."""
    first, last = numbers[0], numbers[-1]
    if len(numbers) > MOST_LISTED or (len(numbers) > 2 and last - first == len(numbers) - 1):
        left_out = last - first >= len(numbers)
        return f"{name} from {first} to {last}{' that was asked' if left_out else ''}"
    return f"{name} = {', '.join(map(str, numbers))}"


ANY: Final = "any"
"""How the row about any number of copies is called."""
COUNTED: Final = ("states", "transitions")
DECIDED: Final = ("robust", "not-robust")
"""A search that was cut counts what a limit let it, and says nothing about growth; those of the two verdicts are apart, for
one is over when everything was seen, and the other when a counterexample is."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The law of what was counted in the searches with one verdict, and the points it is the law of."""

    of: str
    verdict: str
    points: tuple[tuple[int, int], ...]
    law: Law


@dataclass(frozen=True, slots=True)
class ScaleRecord:
    """The answers by growing value of `constant`, and the totals; `tool` and `options` say how they were found.

    `any_number` is the answer for any number of copies, where `constant` is a crowd.
    """

    file: str
    constant: str
    answers: tuple[tuple[int, Result], ...]
    any_number: Result | None
    summary: Counts
    tool: Mapping[str, object]
    options: Mapping[str, object]

    @property
    def program(self) -> str:
        """The name of the program, that of the file if no instance could be read."""
        return next((result.program for _, result in self.answers if result.program), self.file)

    @property
    def rows(self) -> list[tuple[str, Result]]:
        """What was answered, by how it is called."""
        rows = [(f"{value}", result) for value, result in self.answers]
        return rows if self.any_number is None else [*rows, (ANY, self.any_number)]

    @property
    def changes(self) -> list[Stretch]:
        return stretches([(value, result.verdict) for value, result in self.answers])

    @property
    def sentence(self) -> str:
        """Where the verdict changes, and what it is for any number."""
        said = changes_sentence(self.constant, self.changes)
        if self.any_number is not None and self.any_number.verdict in DECIDED:
            reason = self.any_number.reason
            said += f" {reason[0].upper()}{reason[1:]}."
        return said.strip()

    def growth(self, of: str, verdict: str) -> Growth:
        """Return how what is called `of` grows over the instances with a verdict."""
        points = tuple((value, getattr(result, of)) for value, result in self.answers if result.verdict == verdict)
        return Growth(of, verdict, points, law_of(points))

    @property
    def growths(self) -> list[Growth]:
        """The growths of two points or more: one alone does not grow."""
        found = [self.growth(of, verdict) for of in COUNTED for verdict in DECIDED]
        return [each for each in found if len(each.points) > 1]
