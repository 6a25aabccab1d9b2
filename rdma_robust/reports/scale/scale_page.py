"""The answers of `scale` as a page that needs nothing else, and its chart as an image."""

from __future__ import annotations

from functools import cache
from typing import Final

from jinja2 import Environment
from markupsafe import Markup

from rdma_robust.reports.check.robustness_view import VERDICTS, expected_word, note
from rdma_robust.reports.scale.growth_chart import INKS, ChartPoint, Curve, growth_chart
from rdma_robust.reports.scale.growth_wording import growth_sentence
from rdma_robust.reports.scale.scale_record import ScaleRecord
from rdma_robust.reports.share.html_templates import templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, STYLE, page_script
from rdma_robust.text import count, printable

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
