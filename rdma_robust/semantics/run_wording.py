"""Moves of the machines in words, the same wherever a run is shown; `wording.py` has those for events."""

from __future__ import annotations

from rdma_robust.language.flow.cfg import Program
from rdma_robust.semantics.event_table import remote_of
from rdma_robust.semantics.machines.effects import event_of, events_of_section
from rdma_robust.semantics.machines.machine import Action, Verb, act_of
from rdma_robust.semantics.trace import FENCE_TYPES
from rdma_robust.semantics.wording import SENT, Words
from rdma_robust.text import one_line

_BY_CPU = (Verb.ACCESS, Verb.ISSUE, Verb.POLL, Verb.RECV, Verb.RPOLL, Verb.DRAIN)


def deed(program: Program, action: Action, *, sc: bool = False) -> str:
    """Return what a move does, without who does it, as in `sends B.y = 1`; `sc` if a NIC write takes effect at once."""
    if action.step is None:
        return "starts"
    act = act_of(action)
    if action.verb is Verb.DRAIN:
        return _drained(program, action)
    if act is None:
        text = one_line(action.step.text)
        return f"posts {text}" if action.verb is Verb.ISSUE else text
    if action.verb is Verb.NIC_WRITE and not sc:
        if act.type in FENCE_TYPES:
            return f"issues {one_line(action.step.text)}"
        if act.cell is None:
            return f"{SENT[act.type]} {action.written} to {act.peer}"
        return f"{SENT[act.type]} {act.cell} = {action.written}"
    if action.words:
        return ", ".join(Words(program).label(event) for event in events_of_section(action))
    label = Words(program).label(event_of(action, act.type))
    return f"{label} in memory" if action.verb is Verb.FLUSH and act.peer is None else label


def _drained(program: Program, action: Action) -> str:
    """Return what leaves a store buffer: a store, a request, or a receive."""
    assert action.step is not None
    if action.written is None:
        return f"{one_line(action.step.text)} leaves the store buffer"
    own = action.cell is not None and action.cell.node == program.threads[action.thread].node
    name = action.cell.name if own and action.cell is not None else str(action.cell)
    return f"writes {name} = {action.written} in memory"


def lane(program: Program, action: Action) -> str:
    """Return whose move it is: `T1 CPU on A`, or `T1 NIC to B` for a queue pair; nobody's at the start."""
    if action.step is None:
        return ""
    thread = program.threads[action.thread]
    remote = remote_of(action.step.op)
    if action.verb in _BY_CPU or remote is None:
        return f"{thread.name} CPU on {thread.node}"
    return f"{thread.name} NIC to {remote}"


def event_name(action: Action) -> str:
    """Return the event that a move is about as in the theory, such as `nlR(A.x, 1)`; "" if there is none."""
    act = act_of(action)
    if act is None or action.step is None:
        return ""
    if action.words:
        return ", ".join(map(str, events_of_section(action)))
    return str(event_of(action, act.type))
