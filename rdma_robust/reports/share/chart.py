"""A sequence chart as plain data: lifelines, rows in the order of time, arrows from sends to the waits of receives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from markupsafe import Markup

from rdma_robust.frame.exits import Exit
from rdma_robust.reports.share.html_templates import Language, SourceLine, source_listing
from rdma_robust.text import filled, lines_of, printable, width_of

Mark = Literal[
    "send", "post", "take", "match", "grant", "choice", "enter", "exit", "false", "fault", "stop", "stuck", "leak"
]
"""What a row tells: a send or a receive is issued; a receive has its message, at its wait or, if nothing waits for it, at
its match; the runtime buffers a message; a choice; a function with a contract is entered or left; a false assertion, a
fault, a false assumption; a process waits forever; an operation is left over."""

BAD: Final[frozenset[Mark]] = frozenset({"false", "fault", "stuck"})


@dataclass(frozen=True, slots=True)
class ChartRow:
    """The step of one process at one moment. `line` and `column` are None for what the text of the program does not say;
    `label` is `text` in few words, beside the lifeline of the process. The lanes `also` do the same, one after the
    other."""

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
    "stuck": "waits forever",
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


MARKS: Final[dict[Mark, str]] = {
    "send": "o",
    "post": "?",
    "take": "#",
    "match": "*",
    "grant": "b",
    "choice": ":",
    "enter": "[",
    "exit": "]",
    "false": "X",
    "fault": "X",
    "stop": "x",
    "stuck": "#",
    "leak": "!",
}
LEGEND: Final = "o send   ? receive posted   # waits   --> message   - -> other message it could take   X goes wrong"
WIDEST_NAME: Final = 12
LEAST_TEXT: Final = 30
"""Places that the words keep."""
GAPS: Final = (14, 12, 10, 8, 6, 5, 4, 3)
WIDEST_NUMBERED: Final = 5
NUMBER: Final = 5
MOST_ROWS: Final = 60
KEPT_FIRST: Final = 15


def chart_text(chart: Chart, width: int = 80, *, full: bool = True) -> list[str]:
    """Return the chart as lines of at most `width` characters, unless that is too narrow for its lifelines.

    Lifelines have the names of their processes where these fit, else numbers, which are said first, and there are none where
    these do not fit. Those without a part in the run are left out. Without `full` so is the middle of a long run.
    """
    layout = _laid_out(chart, width)
    lines = [*layout.key(), *layout.head()]
    left_out = len(chart.rows) - MOST_ROWS if not full else 0
    for number, row in enumerate(chart.rows):
        if left_out > 0 and number == KEPT_FIRST:
            lines.append(f"{'':{NUMBER}}  ... {left_out} rows left out; -v shows them")
        if left_out <= 0 or number < KEPT_FIRST or number >= KEPT_FIRST + left_out:
            lines += layout.row(number, row)
    return [line.rstrip() for line in lines]


@dataclass(frozen=True)
class _Layout:
    """Where lifelines are: `lanes` are the processes that have one, `gap` places apart, `named` if by their names."""

    chart: Chart
    lanes: tuple[int, ...]
    gap: int
    named: bool
    width: int

    @property
    def words(self) -> int:
        """Where the words begin."""
        return NUMBER + 2 + (self.gap * (len(self.lanes) - 1) + 4 if self.lanes else 0)

    def key(self) -> Iterator[str]:
        """Yield which process has which number."""
        if not self.named:
            told = ", ".join(f"{lane} {printable(self.chart.lanes[lane])}" for lane in self.lanes)
            yield from filled(f"processes: {told}", self.width, "", "  ")

    def head(self) -> list[str]:
        """Return the line of names or numbers."""
        line = " line" + "  "
        for place, lane in enumerate(self.lanes):
            name = printable(self.chart.lanes[lane]) if self.named else str(lane)
            start = NUMBER + 2 + place * self.gap
            line += " " * (start - width_of(line)) + name
        return [line]

    def row(self, number: int, row: ChartRow) -> Iterator[str]:
        """Yield the lines of a row: that with the arrow of a message, then one for each that could be there instead."""
        arrows = self.chart.arrows_at(number)
        taken = next((each for each in arrows if not each.possible), None)
        yield from self._lines(self._lifelines(number, row, taken), row.line, row.text)
        for each in arrows:
            if each.possible:
                yield from self._lines(self._lifelines(number, None, each), None, each.text)

    def _lines(self, left: str, line: int | None, text: str) -> Iterator[str]:
        first, *more = filled(printable(text), max(LEAST_TEXT, self.width - self.words), "", "  ") or [""]
        yield f"{'' if line is None else line:>{NUMBER}}  {left}{first}"
        for each in more:
            yield f"{'':{NUMBER}}  {'':{len(left)}}{each}"

    def _lifelines(self, number: int, row: ChartRow | None, arrow: ChartArrow | None) -> str:
        if not self.lanes:
            return ""
        cells = [" "] * (self.gap * (len(self.lanes) - 1) + 1)
        for place, lane in enumerate(self.lanes):
            cells[place * self.gap] = "#" if self.chart.waiting(lane, number) is not None else "|"
        if arrow is not None and arrow.source != arrow.target:
            self._draw(cells, arrow)
        if row is not None:
            for lane in (row.lane, *row.also):
                cells[self.lanes.index(lane) * self.gap] = MARKS[row.mark]
        elif arrow is not None:
            cells[self.lanes.index(arrow.target) * self.gap] = "|"
        return f"{''.join(cells)}   "

    def _draw(self, cells: list[str], arrow: ChartArrow) -> None:
        source, target = (self.lanes.index(each) * self.gap for each in (arrow.source, arrow.target))
        step = 1 if source < target else -1
        for place in range(source + step, target, step):
            if cells[place] == " ":
                cells[place] = "-" if not arrow.possible or (place - target) % 2 else " "
        cells[target - step] = ">" if step > 0 else "<"


def _laid_out(chart: Chart, width: int) -> _Layout:
    """Return the layout: names if they fit, else numbers, and without any lifelines where even these leave no room."""
    lanes = tuple(chart.part())
    longest = max((width_of(printable(chart.lanes[lane])) for lane in lanes), default=0)
    room = width - NUMBER - 5 - LEAST_TEXT
    for gap in GAPS:
        if gap * (len(lanes) - 1) + 1 > room:
            continue
        if longest < gap and longest <= WIDEST_NAME:
            return _Layout(chart, lanes, min(gap, max(longest + 2, 4)), True, width)
        if gap <= WIDEST_NUMBERED:
            return _Layout(chart, lanes, gap, False, width)
    return _Layout(chart, (), 1, True, width)


def legend(rows: Sequence[ChartRow]) -> str:
    """Return what the signs mean, '' for a chart without rows."""
    return LEGEND if rows else ""
