"""An explanation for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rdma_robust.explain.model import Explanation, Lane, Pair, Timeline
from rdma_robust.reports.escape import printable
from rdma_robust.reports.timeline import gutter, table

LEGEND = (
    "A remote operation is posted by the CPU, read and written by the NIC later. + on the cycle below; * the pivot: without "
    "this step the run is sequentially consistent."
)
GROUPS = {
    "kept": "Kept in order by polls and remote fences:",
    "no-race": "May be reordered, and nobody can tell:",
    "no-cycle": "May be reordered, and no conflicts lead back:",
    "filter": "May be reordered, and the static filter finds no cycle:",
    "search": "May be reordered, and the search closed no cycle:",
    "cycle": "Reordered by the counterexample:",
    "open": "May be reordered, and nothing excludes a cycle:",
}


def explanation_text(explanation: Explanation, width: int = 100) -> list[str]:
    """Return the explanation as lines, at most `width` characters wide where possible."""
    blocks = [_fill(explanation.headline, width)]
    blocks += [_fill(p, width) for p in explanation.paragraphs]
    if explanation.timeline is not None:
        blocks.append(["The run:", *run_table(explanation.timeline, width), *_fill(LEGEND, width, "  ")])
        blocks.append(_cycle(explanation, width))
    if explanation.verdict != "not-robust":
        blocks += [_group(head, why, explanation.pairs, width) for why, head in GROUPS.items()]
    if explanation.faults:
        head = "Reachable faults:" if explanation.faults_exact else "Faults that may be reachable (the search did not end):"
        blocks.append(
            [
                head,
                *(line for f in explanation.faults for line in _fill(f"line {f.line}: {f.kind}: {f.message}", width, "  ")),
            ]
        )
    if explanation.checked_by:
        blocks.append(_fill(f"Checked by: {', '.join(explanation.checked_by)}.", width))
    lines: list[str] = []
    for block in (b for b in blocks if b):
        lines += ["", *block] if lines else block
    return lines


def run_table(run: Timeline, width: int) -> list[str]:
    """Return the steps of the machine run, one column for each lane."""
    names = {lane.id: _title(lane) for lane in run.lanes}
    rows = [(gutter(s.number, s.line, s.pivot, s.on_cycle), names[s.lane], printable(s.label)) for s in run.steps]
    return table(list(names.values()), rows, width)


def _title(lane: Lane) -> str:
    return f"{lane.thread} CPU on {lane.node}" if lane.kind == "cpu" else f"{lane.thread} NIC to {lane.remote}"


def _cycle(explanation: Explanation, width: int) -> list[str]:
    assert explanation.timeline is not None
    step = {s.event: s.number for s in explanation.timeline.steps if s.event is not None}
    lines = ["The cycle (steps of the table in brackets):"]
    for edge in explanation.cycle:
        lines += _fill(f"{edge.text} [{step.get(edge.source, 0)} -> {step.get(edge.target, 0)}]", width, "  ")
    return lines


def _group(head: str, why: str, pairs: Sequence[Pair], width: int) -> list[str]:
    """Return the pairs of one kind, those with the same accesses and reason on one line."""
    mine = [p for p in pairs if (p.why or "kept") == why]
    lines = _fill(head, width) if mine else []
    for pair in mine:
        lines += _fill(f"{pair.thread}: {pair.earlier.text}, then {pair.later.text}: {pair.reason}", width, "  ")
    return lines


def _fill(text: str, width: int, indent: str = "") -> list[str]:
    shown = printable(text)
    return textwrap.wrap(
        shown,
        width,
        initial_indent=indent,
        subsequent_indent=indent + indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
