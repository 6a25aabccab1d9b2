"""The answers of `scale` as a page that needs nothing else, and its chart as an image."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from jinja2 import Environment
from markupsafe import Markup

from rdma_robust.reports.check.robustness_view import VERDICTS, expected_word, note
from rdma_robust.reports.scale.growth_wording import growth_sentence
from rdma_robust.reports.scale.scale_record import ScaleRecord
from rdma_robust.reports.share.html_templates import templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, STYLE, page_script
from rdma_robust.reports.share.svg import markup_text, number, pixel_width, svg_image
from rdma_robust.text import count, printable

WIDTH, HEIGHT = 520.0, 300.0
TOP, RIGHT, BOTTOM = 34.0, 20.0, 66.0
LOGARITHMIC: Final = 20.0
"""How many times as large the largest value has to be as the smallest, for an axis of powers of ten."""
STEPS: Final = 60
WORDS: Final = {"robust": "robust", "not-robust": "not robust", "unknown": "unknown"}
INKS: Final = {"robust": "var(--rr-ok)", "not-robust": "var(--rr-cycle)", "unknown": "var(--rr-warn)"}


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A point of the chart; `says` is shown where it is pointed at."""

    number: int
    value: float
    verdict: str
    says: str


@dataclass(frozen=True, slots=True)
class Curve:
    """A law between two numbers, drawn in the colour of a verdict."""

    verdict: str
    first: int
    last: int
    at: Callable[[float], float | None]


@dataclass(frozen=True, slots=True)
class _Axis:
    """Where values are on a line, from 0 to 1, and which of them are written beside it."""

    place: Callable[[float], float]
    ticks: tuple[float, ...]


def growth_chart(title: str, name: str, what: str, marks: Sequence[ChartPoint], curves: Sequence[Curve] = ()) -> str:
    """Return the chart as a complete SVG image; `name` is that of the number, `what` that of the values."""
    up = _axis([mark.value for mark in marks])
    left = 26 + max((pixel_width(_tick(each)) for each in up.ticks), default=0)
    along = _numbers([mark.number for mark in marks])

    def x(value: float) -> float:
        return left + 14 + along.place(value) * (WIDTH - left - 28 - RIGHT)

    def y(value: float) -> float:
        return TOP + (1 - up.place(value)) * (HEIGHT - TOP - BOTTOM)

    body = [f'<text class="rr-head rr-sans" x="4" y="18">{markup_text(what)}</text>']
    for tick in up.ticks:
        body += [
            f'<path class="rr-rule" d="M{number(left)},{number(y(tick))}H{number(WIDTH - RIGHT)}"/>',
            _label(left - 6, y(tick) + 4, _tick(tick), "end"),
        ]
    floor = HEIGHT - BOTTOM
    for tick in along.ticks:
        body.append(_label(x(tick), floor + 20, f"{tick:.0f}", "middle"))
    body.append(
        f'<text class="rr-head" x="{number((left + WIDTH - RIGHT) / 2)}" y="{number(floor + 38)}" text-anchor="middle">'
        f"{markup_text(name)}</text>"
    )
    body += [_line(curve, x, y) for curve in curves]
    body += [_shape(mark, x(mark.number), y(mark.value)) for mark in marks]
    body += _legend([mark.verdict for mark in marks], bool(curves))
    return svg_image(WIDTH, HEIGHT, title, body, "chart")


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="rr-muted" x="{number(x)}" y="{number(y)}" text-anchor="{anchor}">{text}</text>'


def _axis(values: Sequence[float]) -> _Axis:
    """Return the axis of values: of powers of ten if they differ by much, else from 0 on."""
    most, least = max(values, default=1.0), min((each for each in values if each > 0), default=1.0)
    if most > LOGARITHMIC * least:
        low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
        zero = any(not each for each in values)
        bottom = low - 1 if zero else low
        every = 1 + (high - low) // 7

        def place(value: float) -> float:
            return ((math.log10(value) if value > 0 else bottom) - bottom) / (high - bottom)

        powers = tuple(10.0**power for power in range(low, high + 1, every))
        return _Axis(place, ((0.0,) if zero else ()) + powers)
    step = _step(most)
    top = step * max(1, math.ceil(most / step))
    return _Axis(lambda value: value / top, tuple(step * k for k in range(round(top / step) + 1)))


def _step(most: float) -> float:
    """Return a round number that divides `most` into about five."""
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most / 5))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= most / 5 * 0.999)


def _numbers(values: Sequence[int]) -> _Axis:
    """Return the axis of the numbers, from the first one to the last."""
    first, last = min(values, default=0), max(values, default=0)
    span = (last - first) or 1
    every = max(1, math.ceil(len(set(values)) / 16))
    return _Axis(lambda value: (value - first) / span if last > first else 0.5, tuple(sorted(set(values))[::every]))


def _tick(value: float) -> str:
    if value and value < 1:
        return f"{value:.3g}"
    return f"{value:,.0f}" if value < 1e6 else f"{value:.0e}".replace("e+0", "e").replace("e+", "e")


def _line(curve: Curve, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    points = []
    for k in range(STEPS + 1):
        at = curve.first + (curve.last - curve.first) * k / STEPS
        value = curve.at(at)
        if value is not None and value >= 0:
            points.append(f"{number(x(at))},{number(min(max(y(value), TOP - 8), HEIGHT - BOTTOM))}")
    ink = INKS[curve.verdict]
    return f'<polyline class="rr-edge" points="{" ".join(points)}" stroke-dasharray="5 4" style="stroke:{ink}"/>'


def _shape(mark: ChartPoint, x: float, y: float) -> str:
    return f'<g class="rr-mark"><title>{markup_text(mark.says)}</title>{_symbol(mark.verdict, x, y)}</g>'


def _symbol(verdict: str, x: float, y: float) -> str:
    """Return a full circle for robust, a cross for not robust, an open triangle for unknown: shapes, not only colours."""
    ink = INKS[verdict]
    if verdict == "robust":
        return f'<circle cx="{number(x)}" cy="{number(y)}" r="4.5" style="fill:{ink}"/>'
    if verdict == "not-robust":
        d = f"M{number(x - 4.5)},{number(y - 4.5)}l9,9m0,-9l-9,9"
        return f'<path d="{d}" style="stroke:{ink};stroke-width:2.5;fill:none"/>'
    d = f"M{number(x)},{number(y - 5.5)}l5.5,10h-11z"
    return f'<path d="{d}" style="stroke:{ink};stroke-width:2;fill:none"/>'


def _legend(verdicts: Sequence[str], curves: bool) -> list[str]:
    parts, x, y = [], 10.0, HEIGHT - 12
    for verdict, word in WORDS.items():
        if verdict in verdicts:
            word += " (cut by a limit)" if verdict == "unknown" else ""
            parts += [_symbol(verdict, x, y - 4), f'<text x="{number(x + 12)}" y="{number(y)}">{word}</text>']
            x += 34 + pixel_width(word)
    if curves:
        parts.append(f'<path class="rr-call" d="M{number(x)},{number(y - 4)}h22" stroke-dasharray="5 4"/>')
        parts.append(f'<text x="{number(x + 30)}" y="{number(y)}">law</text>')
    return parts


_PACKAGE: Final = "rdma_robust.reports.scale"
_OWN: Final = (
    ".number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    "td .verdict{display:inline-block;white-space:nowrap}"
)
_OPTIONS: Final = ("timeout", "memory", "max_states", "cpu", "atomics", "order", "ordered_reads", "await_loops", "engine")


def states_chart(record: ScaleRecord) -> str:
    """Return the chart of the states that were stored, as SVG."""
    growths = [each for each in record.growths if each.of == "states"]
    curves = [
        Curve(each.verdict, each.points[0][0] if each.law.first is None else each.law.first, each.points[-1][0], each.law.at)
        for each in growths
        if each.law.kind not in ("none", "too-few") and len(each.points) > 1
    ]
    title = f"States of {printable(record.program)} by {record.constant}"
    return growth_chart(title, record.constant, "States", _marks(record, "states"), curves)


def times_chart(record: ScaleRecord) -> str:
    """Return the chart of the times of the searches, as SVG."""
    title = f"Time for {printable(record.program)} by {record.constant}"
    return growth_chart(title, record.constant, "Seconds", _marks(record, "time_s"))


def _marks(record: ScaleRecord, of: str) -> list[ChartPoint]:
    marks = []
    for value, result in record.answers:
        if result.engine is not None and result.verdict in INKS:
            found = getattr(result, of)
            shown = f"{found:.2f} s" if of == "time_s" else count(found, "state")
            marks.append(
                ChartPoint(value, found, result.verdict, f"{record.constant} = {value}: {VERDICTS[result.verdict]}, {shown}")
            )
    return marks


def scale_html(record: ScaleRecord) -> str:
    """Return the page."""
    marked = bool(_marks(record, "states"))
    return (
        _templates()
        .get_template("scale.html.j2")
        .render(
            record=record,
            title=f"{record.program}: {record.constant} from {record.answers[0][0]} to {record.answers[-1][0]}"
            if record.answers
            else record.program,
            words=VERDICTS,
            sentences=[growth_sentence(each, record.constant) for each in record.growths],
            expected=[expected_word(result) for _, result in record.rows],
            notes=[note(result) for _, result in record.rows],
            states=Markup(states_chart(record)) if marked else "",
            times=Markup(times_chart(record)) if marked else "",
            options=[(name.replace("_", " "), record.options[name]) for name in _OPTIONS if record.options.get(name)],
            style=PAGE_STYLE + STYLE + _OWN,
            script=page_script(),
        )
    )


@cache
def _templates() -> Environment:
    return templates(_PACKAGE)
