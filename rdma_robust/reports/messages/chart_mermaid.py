"""A sequence chart in the language of Mermaid: `sequenceDiagram`, which many wikis draw."""

from __future__ import annotations

from rdma_robust.reports.messages.chart import Chart, ChartRow
from rdma_robust.text import printable


def chart_mermaid(chart: Chart) -> str:
    """Return the chart as a Mermaid file: an arrow for each message where it is taken, notes for the rest."""
    lines = ["sequenceDiagram", *(f"  participant p{lane} as {_said(chart.lanes[lane])}" for lane in chart.part())]
    for number, row in enumerate(chart.rows):
        arrows = chart.arrows_at(number)
        for arrow in arrows:
            line, label = ("--x", f"{arrow.label}?") if arrow.possible else ("->>", arrow.label)
            lines.append(f"  p{arrow.source}{line}p{arrow.target}: {_said(label)}")
        if row.mark != "send" and not any(not each.possible for each in arrows):
            lines.append(f"  Note over {_over(row)}: {_said(_placed(row))}")
    lines += [f"  Note over p{link.process},p{link.other}: {_said(chart.lanes[link.process])} waits" for link in chart.cycle]
    return "\n".join(lines) + "\n"


def _over(row: ChartRow) -> str:
    """Return what a note is over: one process, or the first and the last of several."""
    lanes = (row.lane, *row.also)
    return f"p{min(lanes)}" + (f",p{max(lanes)}" if row.also else "")


def _placed(row: ChartRow) -> str:
    return row.text if row.line is None else f"line {row.line}: {row.text}"


def _said(text: str) -> str:
    """Return a text as Mermaid takes it: `;` and `#` would end it or begin a code."""
    return printable(text).replace("#", "#35;").replace(";", "#59;") or " "
