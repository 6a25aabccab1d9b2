"""A sequence chart in the languages of Graphviz and Mermaid, which other tools and many wikis draw."""

from __future__ import annotations

from itertools import pairwise

from rdma_robust.reports.share.chart import Chart, ChartRow
from rdma_robust.text import printable

RED = "#dc2626"
BLUE = "#1d4ed8"
GREY = "#6b7280"


def chart_dot(chart: Chart) -> str:
    """Return the chart as a DOT file: processes as boxes, their rows in order, messages as edges between them."""
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
