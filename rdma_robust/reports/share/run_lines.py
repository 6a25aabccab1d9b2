"""A replayed run for people: a table with a lane for each CPU, store buffer and NIC, and the state at its end.

Steps that only look at registers are left out unless they go wrong. Of a long run the steps that matter are shown
(:mod:`reorderings`), with `-v` all. Apart from `steps_table`, which every report loads, as it needs what `prove` does.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from rdma_robust.reports.share.steps_table import StepRow, folded_rows, gutter, line_text, note_of_places, table
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.semantics.wording import of_moment
from rdma_robust.text import count, filled, one_line, printable


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
    width: int | None,
    *,
    full: bool = False,
    claim: SafetyClaim | None = None,
) -> list[str]:
    """Return a run as lines of a table, with the state that it leads to.

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
    for text in run.end:
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
