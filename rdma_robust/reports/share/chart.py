"""A sequence chart as plain data: lifelines, rows in the order of time, arrows from sends to the waits of receives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

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
