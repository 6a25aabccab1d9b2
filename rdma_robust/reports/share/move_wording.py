"""Moves of the stepwise machines in words: who moves, and what that does. `semantics/run_wording.py` has those of events."""

from __future__ import annotations

from rdma_robust.analyses.prove.reorderings import BUFFERED
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
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.semantics.wording import of_moment
from rdma_robust.text import one_line, printable


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
