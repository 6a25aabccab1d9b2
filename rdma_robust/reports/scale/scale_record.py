"""The answers for the instances of one program, by the value of a constant, and what follows from all of them together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rdma_robust.analyses.scaling.growth_law import Law, law_of
from rdma_robust.analyses.scaling.verdict_changes import Stretch, stretches, told
from rdma_robust.frame.answer import Counts
from rdma_robust.reports.check.result import Result

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
        said = told(self.constant, self.changes)
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
