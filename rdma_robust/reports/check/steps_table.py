"""The steps of a witness as a table: one lane per CPU and per queue pair, in the order in which they take effect."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rdma_robust.reports.check.witness_view import EventView, WitnessView

LEAST_LANE = 14
MOST_LANE = 30


Row = tuple[str, str, str]
"""What stands left of a row, the lane in which its step is, and what the step does."""

HEAD = "    step line  "


def timeline(witness: WitnessView, width: int) -> list[str]:
    """Return the lines of the timeline, at most `width` characters wide where that is possible.

    Steps are numbered from 1; `+` marks events of the SC cycle, `*` the pivot. With too many lanes for the width the
    lanes become one column that names the lane.
    """
    by_id = {e.id: e for e in witness.events}
    order = [by_id[i] for i in witness.order]
    on_cycle = {i for edge in witness.cycle for i in (edge.source, edge.target)}
    rows = [(gutter(k, e.line, e.id == witness.pivot, e.id in on_cycle), _lane(e), e.label) for k, e in enumerate(order, 1)]
    return table(_lanes(order), rows, width)


def table(lanes: Sequence[str], rows: Sequence[Row], width: int) -> list[str]:
    """Return a table with a column for each of `lanes`, or for what lane a row is in where that would be too wide."""
    lane_width = min(MOST_LANE, (width - len(HEAD)) // max(1, len(lanes)) - 2)
    if lane_width < LEAST_LANE:
        column = max((len(lane) for _, lane, _ in rows), default=0)
        return [f"{HEAD}{'where':{column}}  what", *(f"{left}{lane:{column}}  {label}" for left, lane, label in rows)]
    lines = _wrapped(HEAD, lanes, lane_width)
    for left, where, label in rows:
        lines += _wrapped(left, [label if where == lane else "" for lane in lanes], lane_width)
    return lines


def gutter(step: int, line: int | None, pivot: bool, on_cycle: bool) -> str:
    """Return what stands left of step `step`: its mark, its number, and its source line."""
    mark = "*" if pivot else "+" if on_cycle else " "
    return f"  {mark} {step:4} {line if line is not None else '':>4}  "


def _lane(event: EventView) -> str:
    if event.agent == "nic":
        return f"{event.thread} NIC to {event.remote}"
    return f"{event.thread} CPU on {event.node}"


def _lanes(order: Sequence[EventView]) -> list[str]:
    """Return the lanes: those of one thread together, its CPU first; threads in the order of their first step."""
    threads = list(dict.fromkeys(e.thread for e in order))
    rank = {_lane(e): (threads.index(e.thread), e.agent == "nic", e.remote or "") for e in order}
    return sorted(rank, key=rank.__getitem__)


def _wrapped(left: str, texts: Sequence[str], width: int) -> list[str]:
    """Return one table row, each text wrapped inside its column of `width` characters."""
    columns = [textwrap.wrap(t, width) or [""] for t in texts]
    lines = []
    for k in range(max(map(len, columns), default=0)):
        cells = [c[k] if k < len(c) else "" for c in columns]
        lead = left if k == 0 else " " * len(left)
        lines.append((lead + "  ".join(f"{c:{width}}" for c in cells)).rstrip())
    return lines
