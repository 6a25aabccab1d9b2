"""A sequence chart for the terminal: lifelines at the left, what happens beside them, in ASCII."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.reports.share.chart import Chart, ChartArrow, ChartRow, Mark
from rdma_robust.text import filled, printable, width_of

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
