"""A sequence chart as plain data: lifelines, rows in the order of time, arrows from sends to the waits of receives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from markupsafe import Markup

from rdma_robust.frame.exits import Exit
from rdma_robust.reports.share.html_templates import Language, SourceLine, source_listing
from rdma_robust.text import lines_of

Mark = Literal[
    "send", "post", "take", "match", "grant", "choice", "enter", "exit", "false", "fault", "stop", "stuck", "leak"
]
"""What a row tells: a send or a receive is issued; a receive has its message, at its wait or, if nothing waits for it, at
its match; the runtime buffers a message; a choice; a function with a contract is entered or left; a false assertion, a
fault, a false assumption; a process waits for ever; an operation is left over."""

BAD: Final[frozenset[Mark]] = frozenset({"false", "fault", "stuck"})


@dataclass(frozen=True, slots=True)
class ChartRow:
    """What one process does at one moment. `line` and `column` are None for what the text of the program does not say;
    `label` is `text` in few words, beside the lifeline of the process. The lanes `also` do the same, one after the other."""

    lane: int
    mark: Mark
    text: str
    line: int | None = None
    label: str = ""
    also: tuple[int, ...] = ()
    column: int | None = None

    @property
    def bad(self) -> bool:
        return self.mark in BAD


@dataclass(frozen=True, slots=True)
class ChartArrow:
    """A message, from the row and lane of its send to those where its receive has it.

    `possible` messages did not come in this run and could have. `begin` is None for one that is sent in another run only.
    """

    source: int
    target: int
    begin: int | None
    end: int
    label: str
    text: str
    possible: bool = False


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A process waits behind the row `begin`, to the row `end`; `for_ever` to the end of the chart. -1 is the start."""

    lane: int
    begin: int
    end: int
    for_ever: bool = False


@dataclass(frozen=True, slots=True)
class WaitLink:
    """A link of a waiting cycle: a process, and one that would have to go on before it can."""

    process: int
    other: int


@dataclass(frozen=True, slots=True)
class Chart:
    """A run. `lanes` are the names of the processes, `cycle` the processes that wait for one another, in a circle."""

    title: str
    lanes: tuple[str, ...]
    rows: tuple[ChartRow, ...]
    arrows: tuple[ChartArrow, ...] = ()
    bars: tuple[ChartBar, ...] = ()
    cycle: tuple[WaitLink, ...] = field(default=())

    def part(self) -> list[int]:
        """Return the processes that have a part in the run, all if there is none."""
        rows = {lane for row in self.rows for lane in (row.lane, *row.also)}
        found = rows | {each.source for each in self.arrows} | {bar.lane for bar in self.bars}
        return sorted(found) or list(range(len(self.lanes)))

    def arrows_at(self, row: int) -> tuple[ChartArrow, ...]:
        """Return the arrows that end at a row, those of this run first."""
        return tuple(sorted((each for each in self.arrows if each.end == row), key=lambda each: each.possible))

    def waiting(self, lane: int, row: int) -> ChartBar | None:
        """Return the bar that a lifeline has at a row."""
        return next((bar for bar in self.bars if bar.lane == lane and bar.begin < row <= bar.end), None)


KINDS: Final = {Exit.OK: "robust", Exit.NOT_ROBUST: "not-robust"}
"""The kinds of pages by the exit codes of what they tell; all else is unknown."""
BADGES: Final[dict[Mark, str]] = {
    "false": "false",
    "fault": "goes wrong",
    "stuck": "waits for ever",
    "leak": "left over",
    "take": "takes a message",
    "send": "sends",
}
"""What is said at the end of the lines of a run, the most important first."""


def marked_lines(source: str, rows: Sequence[ChartRow], language: Language, style: str = "") -> Markup:
    """Return the listing of a program with marks at the lines of a run."""
    lines = lines_of(source)
    marked = (_line(number, text, [row for row in rows if row.line == number]) for number, text in enumerate(lines, 1))
    return source_listing(marked, style, language)


def _line(number: int, text: str, rows: Sequence[ChartRow]) -> SourceLine:
    marks = {row.mark for row in rows}
    badges = [badge for mark, badge in BADGES.items() if mark in marks]
    kinds = ("cycle",) if any(row.bad for row in rows) else ("fault",) if "leak" in marks else ()
    return SourceLine(number, text, kinds, ", ".join(badges[:2]), "; ".join(dict.fromkeys(row.text for row in rows)))
