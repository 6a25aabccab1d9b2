"""A sequence chart as a drawing: lifelines side by side, time from the top down, an arrow from each send to its receive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.reports.share.chart import Chart, ChartArrow, ChartBar, ChartRow, WaitLink
from rdma_robust.reports.share.svg import arrow_head, fitted, markup_text, number, pixel_width, svg_image

HEAD: Final = 40
ROW: Final = 32
CHIP: Final = 22
PAD: Final = 14
LINK: Final = 26
LEAST: Final = 120
LONGEST: Final = 32
ASIDE: Final = 12
"""From a lifeline to the chips beside it."""


@dataclass(frozen=True, slots=True)
class _Places:
    """Where lifelines are, by the number of the process."""

    x: dict[int, float]
    width: float
    rows: int

    def y(self, row: int) -> float:
        return HEAD + ROW * (row + 0.75)

    @property
    def bottom(self) -> float:
        return HEAD + ROW * (self.rows + 0.25)


def chart_svg(chart: Chart, *, every: bool = False) -> str:
    """Return the chart as an SVG image. Processes without a part in the run are left out, unless `every` is wanted."""
    lanes = list(range(len(chart.lanes))) if every else chart.part()
    places = _placed(chart, lanes)
    height = places.bottom + (LINK * len(chart.cycle) + PAD if chart.cycle else 0) + PAD
    body = [_lifeline(chart.lanes[lane], places.x[lane], places.bottom) for lane in lanes]
    body += [_bar(bar, places) for bar in chart.bars]
    body += [_arrow(chart, each, places) for each in chart.arrows]
    body += [_row(number_, row, places) for number_, row in enumerate(chart.rows)]
    body += [_link(chart, each, place, places) for place, each in enumerate(chart.cycle)]
    return svg_image(places.width, height, _said(chart), body, "chart")


def _said(chart: Chart) -> str:
    """Return what the drawing shows for those who do not see it: all rows in order."""
    rows = "; ".join(f"{'' if row.line is None else f'line {row.line}: '}{row.text}" for row in chart.rows)
    return f"{chart.title}. {rows}."


def _placed(chart: Chart, lanes: Sequence[int]) -> _Places:
    found: dict[int, float] = {}
    x: float = PAD + 12
    for lane in lanes:
        found[lane] = x
        widest = max((_chip_width(row) for row in chart.rows if row.lane == lane), default=0)
        x += max(LEAST, widest + ASIDE + 2 * PAD, pixel_width(chart.lanes[lane]) + PAD)
    return _Places(found, x + PAD, len(chart.rows))


def _lifeline(name: str, x: float, bottom: float) -> str:
    return (
        f'<text class="rr-head rr-sans" x="{number(x - 8)}" y="22">{markup_text(name)}</text>'
        f'<path class="rr-rule" d="M{number(x)},{HEAD - 8}V{number(bottom)}" stroke-width="1.5"/>'
    )


def _bar(bar: ChartBar, places: _Places) -> str:
    x, top = places.x[bar.lane], places.y(bar.begin) + (CHIP / 2 if bar.begin >= 0 else 0)
    end = places.bottom if bar.for_ever else places.y(bar.end + 1)
    colour = "var(--rr-cycle)" if bar.for_ever else "var(--rr-rule)"
    what = "waits forever" if bar.for_ever else "waits"
    place = f'x="{number(x - 4)}" y="{number(top)}" width="8" height="{number(max(6, end - top))}"'
    return f'<g><title>{what}</title><rect {place} rx="3" style="fill:{colour}"/></g>'


def _arrow(chart: Chart, arrow: ChartArrow, places: _Places) -> str:
    """Return a message, dashed if it only could have come. It begins and ends at chips where these are in its way."""
    (x, y), (to_x, to_y) = _start(chart, arrow, places), _end(chart, arrow, places)
    colour = "var(--rr-muted)" if arrow.possible else "var(--rr-mo)"
    dash = ' stroke-dasharray="5 4"' if arrow.possible else ""
    if arrow.source == arrow.target:
        bow, tip = places.x[arrow.source] - 22, (9.0, 0.0)
        path = (
            f"M{number(x)},{number(y)}C{number(bow)},{number(y)} {number(bow)},{number(to_y)} {number(to_x)},{number(to_y)}"
        )
    else:
        tip = to_x - x, to_y - y
        path = f"M{number(x)},{number(y)}L{number(to_x)},{number(to_y)}"
    kind = " rr-possible" if arrow.possible else ""
    label = fitted(arrow.label, 14) + ("?" if arrow.possible else "")
    part = 0.35 if arrow.possible else 0.5
    return (
        f'<g class="rr-message{kind}"><title>{markup_text(arrow.text)}</title>'
        f'<path class="rr-edge" d="{path}" style="stroke:{colour}"{dash}/>'
        f'<polygon points="{arrow_head(to_x, to_y, *tip, 9)}" style="fill:{colour}"/>'
        f'<text class="rr-label" x="{number(x + (to_x - x) * part)}" y="{number(y + (to_y - y) * part - 4)}" '
        f'text-anchor="middle" style="fill:{colour}">{markup_text(label)}</text></g>'
    )


def _start(chart: Chart, arrow: ChartArrow, places: _Places) -> tuple[float, float]:
    x = places.x[arrow.source]
    if arrow.begin is None:
        return x, places.y(arrow.end) + 6
    begin = min(arrow.begin, arrow.end)
    beside = ASIDE + _chip_width(chart.rows[begin]) if places.x[arrow.target] > x else 0
    return x + beside, places.y(begin)


def _end(chart: Chart, arrow: ChartArrow, places: _Places) -> tuple[float, float]:
    x = places.x[arrow.target]
    beside = ASIDE + _chip_width(chart.rows[arrow.end]) if places.x[arrow.source] > x else 0
    return x + beside, places.y(arrow.end) + (6 if arrow.begin is None else 0)


def _row(at: int, row: ChartRow, places: _Places) -> str:
    x, y = places.x[row.lane], places.y(at)
    marks = "rr-step rr-cycle" if row.bad else "rr-step"
    line = "" if row.line is None else f' data-line="{row.line}" tabindex="0"'
    colour = "var(--rr-cycle)" if row.bad else "var(--rr-mo)" if row.mark in ("send", "take", "match") else "var(--rr-muted)"
    fill = colour if row.mark != "post" else "var(--rr-bg)"
    said = f"{'' if row.line is None else f'line {row.line}: '}{row.text}"
    number_of = "" if row.line is None else f'<tspan class="rr-muted">{row.line} </tspan>'
    return (
        f'<g class="{marks}"{line}><title>{markup_text(said)}</title>'
        f"{_across(row, places, y)}{''.join(_dot(places.x[lane], y, fill, colour) for lane in (row.lane, *row.also))}"
        f'<rect class="rr-chip" x="{number(x + ASIDE)}" y="{number(y - CHIP / 2)}" width="{number(_chip_width(row))}" '
        f'height="{CHIP}" rx="6"/><text x="{number(x + ASIDE + 7)}" y="{number(y + 4)}">{number_of}'
        f"{markup_text(fitted(row.label, LONGEST))}</text></g>"
    )


def _across(row: ChartRow, places: _Places, y: float) -> str:
    """Return the line between lifelines that do the same."""
    if not row.also:
        return ""
    xs = [places.x[lane] for lane in (row.lane, *row.also)]
    return f'<path class="rr-rule" d="M{number(min(xs))},{number(y)}H{number(max(xs))}" stroke-width="1.5"/>'


def _dot(x: float, y: float, fill: str, colour: str) -> str:
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="4.5" style="fill:{fill};stroke:{colour};stroke-width:1.5"/>'


def _chip_width(row: ChartRow) -> float:
    line = "" if row.line is None else f"{row.line} "
    return pixel_width(line + fitted(row.label, LONGEST)) + 14


def _link(chart: Chart, link: WaitLink, place: int, places: _Places) -> str:
    """Return a link of the waiting cycle beneath the lifelines."""
    x, to_x = places.x[link.process], places.x[link.other]
    y = places.bottom + LINK * (place + 0.6)
    said = f"{chart.lanes[link.process]} waits for {chart.lanes[link.other]}"
    if x == to_x:
        at = f'x="{number(x + 10)}" y="{number(y)}"'
        return f'<text class="rr-label" {at} style="fill:var(--rr-cycle)">waits for itself</text>'
    tip = arrow_head(to_x, y, to_x - x, 0, 9)
    return (
        f'<g class="rr-waits"><title>{markup_text(said)}</title>'
        f'<path class="rr-edge" d="M{number(x)},{number(places.bottom)}V{number(y)}H{number(to_x)}" '
        f'style="stroke:var(--rr-cycle);stroke-width:2" stroke-dasharray="5 4"/>'
        f'<polygon points="{tip}" style="fill:var(--rr-cycle)"/><text class="rr-label" x="{number((x + to_x) / 2)}" '
        f'y="{number(y - 4)}" text-anchor="middle" style="fill:var(--rr-cycle)">waits for</text></g>'
    )
