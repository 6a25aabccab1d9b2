"""A sequence chart in the language of Graphviz: processes as boxes, their rows in order, messages as edges between them."""

from __future__ import annotations

from itertools import pairwise

from rdma_robust.reports.messages.chart import Chart
from rdma_robust.text import printable

RED = "#dc2626"
BLUE = "#1d4ed8"
GREY = "#6b7280"


def chart_dot(chart: Chart) -> str:
    """Return the chart as a DOT file."""
    lines = ["digraph chart {", f"  label={_quoted(chart.title)}; labelloc=t; fontname=Helvetica; newrank=true;"]
    lines += [
        '  node [shape=box, style="rounded", fontname=Helvetica, fontsize=11];',
        "  edge [fontname=Helvetica, fontsize=10];",
    ]
    for lane, name in enumerate(chart.lanes):
        rows = [number for number, row in enumerate(chart.rows) if lane in (row.lane, *row.also)]
        if not rows and not any(lane in (link.process, link.other) for link in chart.cycle):
            continue
        lines += [f"  subgraph cluster_{lane} {{", f"    label={_quoted(name)}; color={_quoted(GREY)};"]
        lines.append(f"    p{lane} [label={_quoted(name)}, shape=plaintext];")
        for number in (each for each in rows if chart.rows[each].lane == lane):
            row = chart.rows[number]
            place = "" if row.line is None else f"{row.line}: "
            red = f", color={_quoted(RED)}, fontcolor={_quoted(RED)}" if row.bad else ""
            lines.append(f"    r{number} [label={_quoted(place + row.label)}{red}];")
        chain = [f"p{lane}", *(f"r{number}" for number in rows)]
        lines += [f"    {a} -> {b} [color={_quoted(GREY)}, arrowhead=none];" for a, b in pairwise(chain)]
        lines.append("  }")
    for arrow in chart.arrows:
        start = f"p{arrow.source}" if arrow.begin is None else f"r{arrow.begin}"
        look = f"color={_quoted(GREY)}, style=dashed, constraint=false" if arrow.possible else f"color={_quoted(BLUE)}"
        lines.append(f"  {start} -> r{arrow.end} [label={_quoted(arrow.label)}, {look}];")
    for link in chart.cycle:
        ends = f"p{link.process} -> p{link.other}"
        lines.append(f'  {ends} [label="waits for", color={_quoted(RED)}, style=dashed, constraint=false];')
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
