"""The steps of a witness as a table: one lane per CPU and per queue pair, in the order in which they take effect."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from rdma_robust.reports.check.result import EventView, WitnessView
from rdma_robust.text import count, filled

LEAST_LANE = 14
MOST_LANE = 30


Row = tuple[str, str, str]
"""What stands left of a row, the lane in which its step is, and what the step does."""

HEAD = "    step line  "


FOLDED_FROM = 25
"""Runs of fewer steps are shown as a whole."""


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step of a run: its number, and its row."""

    number: int
    row: Row


def folded_rows(steps: Sequence[StepRow], matter: Collection[int], *, full: bool) -> tuple[list[Row], str]:
    """Return the rows of the steps that matter, with a row for those left out between them, and how many those are in all.

    A short run, one in which nearly all steps matter, and with `full` any run is shown as a whole.
    """
    out = len(steps) - sum(step.number in matter for step in steps)
    if full or len(steps) < FOLDED_FROM or not matter or out * 4 < len(steps):
        return [step.row for step in steps], ""
    rows: list[Row] = []
    gap = 0
    for step in steps:
        if step.number not in matter:
            gap += 1
            continue
        rows += [_gap(gap), step.row] if gap else [step.row]
        gap = 0
    rows += [_gap(gap)] if gap else []
    return rows, f"Folded: {out} of {count(len(steps), 'step')}, on which the others do not depend; -v shows them."


def _gap(steps: int) -> Row:
    return f"    ... {count(steps, 'step')}", "", ""


def witness_timeline(witness: WitnessView, width: int, *, full: bool = False) -> list[str]:
    """Return the lines of the timeline, at most `width` characters wide where that is possible.

    Steps are numbered from 1; `+` marks events of the SC cycle, `*` the pivot. With too many lanes for the width the
    lanes become one column that names the lane. Of a long run the steps that matter are shown, with `full` all, and the
    names of their events.
    """
    by_id = {e.id: e for e in witness.events}
    order = [by_id[i] for i in witness.order]
    on_cycle = {i for edge in witness.cycle for i in (edge.source, edge.target)}
    rows = [
        StepRow(
            e.id,
            (
                gutter(k, line_text(e.places), e.id == witness.pivot, e.id in on_cycle),
                _lane(e),
                _label(e, full),
            ),
        )
        for k, e in enumerate(order, 1)
    ]
    shown, note = folded_rows(rows, witness.matter, full=full)
    expanded = note_of_places(e.places for e in order)
    notes = [line for text in (expanded, note) if text for line in filled(text, width, "  ", "  ")]
    return table(_lanes(order), shown, width, full=full) + notes


def line_text(places: Sequence[str]) -> str:
    """Return a line as it stands left of a row: `5<21` is line 5 as it was expanded from line 21."""
    return "<".join(places)


def note_of_places(places: Iterable[Sequence[str]]) -> str:
    """Return what such a line means, if there is one among the places of a table."""
    found = next((each for each in places if len(each) > 1), ())
    if not found:
        return ""
    line, *origins = found
    return f"Line {line_text(found)}: line {line}, expanded from line {', from line '.join(origins)}."


def _label(event: EventView, full: bool) -> str:
    values = [str(each) for each in (event.cell or event.remote, event.read, event.written) if each is not None]
    return f"{event.label}  {event.type}({', '.join(values)})" if full else event.label


def table(lanes: Sequence[str], rows: Sequence[Row], width: int, *, full: bool = False) -> list[str]:
    """Return a table with a column for each of `lanes`, or for what lane a row is in where that would be too wide, as it is
    with the names of events (`full`)."""
    room = max((len(HEAD), *(len(left) for left, where, _ in rows if where)))
    rows = [(left.ljust(room) if where else left, where, label) for left, where, label in rows]
    lane_width = min(MOST_LANE, (width - room) // max(1, len(lanes)) - 2)
    if full or lane_width < max(LEAST_LANE, _longest_word([*lanes, *(label for _, _, label in rows)])):
        return _one_column(rows, width, room)
    lines = _wrapped(HEAD.ljust(room), lanes, lane_width)
    for left, where, label in rows:
        lines += _wrapped(left, [label if where == lane else "" for lane in lanes], lane_width)
    return lines


def _one_column(rows: Sequence[Row], width: int, room: int) -> list[str]:
    column = max((len(lane) for _, lane, _ in rows), default=0)
    lines = [f"{HEAD:{room}}{'where':{column}}  what"]
    for left, lane, label in rows:
        before = f"{left}{lane:{column}}  " if lane else left
        first, *more = filled(label, max(LEAST_LANE, width - len(before))) or [""]
        lines += [f"{before}{first}", *(" " * len(before) + line for line in more)]
    return lines


def _longest_word(texts: Iterable[str]) -> int:
    """Return the length of the longest word, which no column breaks; one that fits in no column does not count."""
    words = (len(word) for text in texts for word in text.split())
    return max((length for length in words if length <= MOST_LANE), default=0)


def gutter(step: int, line: int | str | None, pivot: bool, on_cycle: bool) -> str:
    """Return what stands left of step `step`: its mark, its number, and its source line, or :func:`line_text`."""
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
    columns = [filled(t, width) or [""] for t in texts]
    lines = []
    for k in range(max(map(len, columns), default=0)):
        cells = [c[k] if k < len(c) else "" for c in columns]
        lead = left if k == 0 else " " * len(left)
        lines.append((lead + "  ".join(f"{c:{width}}" for c in cells)).rstrip())
    return lines
