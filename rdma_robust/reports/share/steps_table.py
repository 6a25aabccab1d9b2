"""The steps of a witness as a table: one lane per CPU and per queue pair, in the order in which they take effect.

A replayed run for people: a table with a lane for each CPU, store buffer and network card, and the state at its end.

Steps that only look at registers are left out unless they go wrong. Of a long run the steps that matter are shown
(:mod:`reorderings`), with `-v` all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.analyses.prove.reorderings import BUFFERED, mattering
from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.frame.formats.columns import PAPER
from rdma_robust.language.flow.cfg import (
    Cas,
    Cell,
    Flush,
    MFence,
    Nondet,
    Poll,
    Program,
    Put,
    Read,
    RemoteOp,
    RemoteRmw,
    RFence,
    Rmw,
    Silent,
    Step,
    Write,
    peer_of,
)
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.reports.check.result import EventView, WitnessView
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.semantics.wording import of_moment
from rdma_robust.text import count, filled, one_line, printable

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


def lane_of(program: Program, action: Action) -> str:
    """Return whose move it is: `T1 CPU on A`, `T1 buffer`, or `T1 NIC to B`; nobody's at the start."""
    if action.thread < 0:
        return ""
    thread = program.threads[action.thread]
    if action.step is None:
        return f"{thread.name} buffer"
    peer = peer_of(action.step.op)
    if action.verb in (Verb.NIC_READ, Verb.NIC_WRITE, Verb.FLUSH, Verb.FENCE) and peer is not None:
        return f"{thread.name} NIC to {peer}"
    return f"{thread.name} CPU on {thread.node}"


def deed_of(program: Program, action: Action, model: AnyModelName) -> str:
    """Return what a move does, without who does it, as in `reads x = 1`."""
    if action.thread < 0:
        return "starts"
    own = program.threads[action.thread].node
    if action.step is None:
        word = "" if action.cell is None else _word(action.cell, own)
        return printable(f"{word} = {action.written} reaches memory")
    return printable(_deed(action, action.step, own, model))


def _deed(action: Action, step: Step, own: str, model: AnyModelName) -> str:
    text = one_line(step.text)
    match step.op:
        case Silent() | MFence() | Flush():
            return text
        case Read(cell) | Cas(cell) | Rmw(cell) if cell.moment:
            return of_moment(cell, action.read, action.written)
        case Read(cell):
            return f"reads {_word(cell, own)} = {action.read}"
        case Write(cell):
            return f"{'buffers' if model in BUFFERED else 'writes'} {_word(cell, own)} = {action.written}"
        case Cas(cell) | Rmw(cell):
            return _atomic(_word(cell, own), action)
        case Nondet():
            return f"draws {action.read} for {text}"
        case Poll(node):
            return f"polls {node}"
        case RFence(node):
            return f"passes rfence {node}"
    return _of_card(action, step, model)


def _of_card(action: Action, step: Step, model: AnyModelName) -> str:
    op = step.op
    assert isinstance(op, RemoteOp)
    match action.verb:
        case Verb.ISSUE:
            return f"posts {one_line(step.text)}"
        case Verb.NIC_READ if op.source.hidden:
            return f"takes the constant {action.read}"
        case Verb.NIC_READ if isinstance(op, RemoteRmw):
            return _atomic(str(op.source), action)
        case Verb.NIC_READ:
            return f"reads {op.source} = {action.read}"
        case Verb.NIC_WRITE if model == "rdma":
            return f"{'sends' if isinstance(op, Put) else 'receives'} {op.target} = {action.written}"
        case _:
            return f"writes {op.target} = {action.written}" + (" in memory" if model == "rdma" else "")


def _atomic(word: str, action: Action) -> str:
    if action.written is None:
        return f"reads {word} = {action.read}"
    return f"changes {word} from {action.read} to {action.written}"


def _word(cell: Cell, own: str) -> str:
    """Return a word as the thread would write it: without the node for its own node."""
    return cell.name if cell.node == own else str(cell)


INDENT: Final = "  "


def safety_run_lines(
    program: Program,
    run: SafetyRun,
    end: Sequence[str],
    width: int | None,
    *,
    full: bool = False,
    claim: SafetyClaim | None = None,
) -> list[str]:
    """Return a run as lines of a table, with the state `end` that it leads to.

    Of a long run in which `claim` fails only the moves that matter are shown, unless all are asked for (`full`).
    """
    moves = [(number, move) for number, move in enumerate(run.moves) if move.action.verb is not Verb.START]
    steps = [(number, move) for number, move in moves if full or not is_quiet(move)]
    rows = []
    places: list[tuple[str, ...]] = []
    for number, move in steps:
        action = move.action
        places.append(() if action.step is None else action.step.span.places)
        what = "; ".join(fault.message for fault in move.faults) or deed_of(program, action, run.model)
        rows.append(StepRow(number, (gutter(number, line_text(places[-1]), False, False), lane_of(program, action), what)))
    shown, note = folded_rows(rows, () if claim is None else mattering(program, run, claim), full=full)
    room = (width or PAPER) - len(INDENT)
    lines = [
        f"{INDENT}{text}".rstrip()
        for text in table(_moving_lanes(program, [m.action for _, m in steps]), shown, room, full=full)
    ]
    lines = lines if rows else []
    hidden = len(moves) - len(steps)
    quiet = f"Not shown: {count(hidden, 'step')} without an access; -v shows all." if hidden and rows else ""
    for remark in (note_of_places(places), note, quiet):
        lines += filled(remark, width or PAPER, INDENT * 2, INDENT * 2) if remark else []
    lines.append("    in the end:" if rows else "    at the start:")
    for text in end:
        lines += filled(printable(text), width or PAPER, " " * 6, "  ")
    return lines


def is_quiet(move: Move) -> bool:
    """Return whether a move only looks at registers of its thread."""
    step = move.action.step
    return step is not None and isinstance(step.op, Silent) and not step.assigns and not move.faults


def _moving_lanes(program: Program, actions: Sequence[Action]) -> list[str]:
    """Return the lanes: those of one thread together, its CPU first; threads in the order of their first move."""
    threads = list(dict.fromkeys(action.thread for action in actions))
    rank = {lane_of(program, a): (threads.index(a.thread), " CPU on " not in lane_of(program, a)) for a in actions}
    return sorted(rank, key=lambda lane: (*rank[lane], lane))
