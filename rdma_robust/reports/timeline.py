"""The steps of a witness as a table: one lane per CPU and per queue pair, in the order in which they take effect."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rdma_robust.reports.witness_view import EventView, WitnessView

LEAST_LANE = 14
MOST_LANE = 30


def timeline(witness: WitnessView, width: int) -> list[str]:
    """Return the lines of the timeline, at most `width` characters wide where that is possible.

    Steps are numbered from 1; `+` marks events of the SC cycle, `*` the pivot. With too many lanes for the width the
    lanes become one column that names the lane.
    """
    by_id = {e.id: e for e in witness.events}
    order = [by_id[i] for i in witness.order]
    lanes = _lanes(order)
    on_cycle = {i for edge in witness.cycle for i in (edge.source, edge.target)}
    gutters = [_gutter(k, e, witness.pivot, on_cycle) for k, e in enumerate(order, 1)]
    head = "    step line  "
    lane_width = min(MOST_LANE, (width - len(head)) // max(1, len(lanes)) - 2)
    if lane_width < LEAST_LANE:
        names = [_lane(e) for e in order]
        column = max(map(len, names), default=0)
        rows = [f"{g}{n:{column}}  {e.label}" for g, n, e in zip(gutters, names, order, strict=True)]
        return [f"{head}{'where':{column}}  what", *rows]
    lines = _wrapped(head, lanes, lane_width)
    for gutter, event in zip(gutters, order, strict=True):
        lines += _wrapped(gutter, [event.label if _lane(event) == lane else "" for lane in lanes], lane_width)
    return lines


def _lane(event: EventView) -> str:
    if event.agent == "nic":
        return f"{event.thread} NIC to {event.remote}"
    return f"{event.thread} CPU on {event.node}"


def _lanes(order: Sequence[EventView]) -> list[str]:
    """Return the lanes: those of one thread together, its CPU first; threads in the order of their first step."""
    threads = list(dict.fromkeys(e.thread for e in order))
    rank = {_lane(e): (threads.index(e.thread), e.agent == "nic", e.remote or "") for e in order}
    return sorted(rank, key=rank.__getitem__)


def _gutter(step: int, event: EventView, pivot: int | None, on_cycle: set[int]) -> str:
    mark = "*" if event.id == pivot else "+" if event.id in on_cycle else " "
    return f"  {mark} {step:4} {event.line if event.line is not None else '':>4}  "


def _wrapped(gutter: str, texts: Sequence[str], width: int) -> list[str]:
    """Return one table row, each text wrapped inside its column of `width` characters."""
    columns = [textwrap.wrap(t, width) or [""] for t in texts]
    lines = []
    for k in range(max(map(len, columns), default=0)):
        cells = [c[k] if k < len(c) else "" for c in columns]
        lead = gutter if k == 0 else " " * len(gutter)
        lines.append((lead + "  ".join(f"{c:{width}}" for c in cells)).rstrip())
    return lines
