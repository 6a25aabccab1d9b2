"""Which remote operation a move of the RDMA machine is about. The machine's state does not number operations."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.errors import InternalError
from rdma_robust.semantics.event_table import remote_of
from rdma_robust.semantics.machines.machine import Move, Verb
from rdma_robust.semantics.machines.rdma import DONE, ISSUED, RdmaMachine, RdmaState

Numbers = tuple[tuple[tuple[int, ...], ...], ...]
"""For each thread and queue pair the numbers of the operations in the machine's queue, in its order."""

NUMBERLESS: Numbers = ()


def about(machine: RdmaMachine, before: RdmaState, move: Move) -> tuple[int, int, int] | None:
    """Return (thread, queue pair, place in the queue) of the operation that the NIC serves or a poll takes, else None."""
    action = move.action
    step = action.step
    if step is None or action.verb in (Verb.START, Verb.ACCESS, Verb.ISSUE):
        return None
    thread = action.thread
    commands = machine.codes[thread].commands
    queues = before.threads[thread].queues
    if action.verb is Verb.POLL:
        qp = machine.codes[thread].remotes.index(remote_of(step.op) or "")
        return thread, qp, next(i for i, e in enumerate(queues[qp]) if not e.polled)
    for qp, (old, new) in enumerate(zip(queues, move.state.threads[thread].queues, strict=True)):
        if old == new:
            continue
        if action.verb is Verb.FENCE:
            return thread, qp, next(i for i, e in enumerate(old) if len(commands[e.command].nic) == 1)
        if action.verb is Verb.FLUSH:
            kind = type(step.op)
            first = (i for i, e in enumerate(old) if e.stage == ISSUED and isinstance(commands[e.command].step.op, kind))
            return thread, qp, next(first)
        return thread, qp, next(i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)
    raise AssertionError("a move of the NIC changes a queue")


def renumbered(machine: RdmaMachine, before: RdmaState, move: Move, numbers: Numbers, posted: int) -> Numbers:
    """Return the numbers after `move`; `posted` is the number of the operation that it posts, if it posts one."""
    thread = move.action.thread
    place = about(machine, before, move)
    step = move.action.step
    posts_to = remote_of(step.op) if step is not None and move.action.verb is Verb.ISSUE else None
    rows = []
    for qp, (old, new) in enumerate(zip(before.threads[thread].queues, move.state.threads[thread].queues, strict=True)):
        mine = numbers[thread][qp]
        if machine.codes[thread].remotes[qp] == posts_to:
            mine = (*mine, posted)
        done = {number for number, entry in zip(mine, old, strict=False) if entry.stage == DONE}
        if place is not None and place[1] == qp:
            served = mine[place[2]]
            if move.action.verb in (Verb.FLUSH, Verb.FENCE):
                done.add(served)
            if len(mine) > len(new) and served in done:
                mine = tuple(n for n in mine if n != served)
        if len(mine) > len(new):
            # Nobody can poll this queue pair any more, so the machine has forgotten what is done.
            mine = tuple(n for n in mine if n not in done)
        if len(mine) != len(new):
            raise InternalError("the operations in the machine's queue are not those expected")
        rows.append(mine)
    return (*numbers[:thread], tuple(rows), *numbers[thread + 1 :])


@dataclass(frozen=True, slots=True)
class Numbered:
    """A run's move and what is known after it: `operation` is the number (from 1, in the order of posting) of the remote
    operation that the move is about, None if it is about none; `posted` so many are posted; `numbers` are in the queues."""

    move: Move
    operation: int | None
    posted: int
    numbers: Numbers

    @property
    def state(self) -> RdmaState:
        after: RdmaState = self.move.state
        return after


def start(machine: RdmaMachine, move: Move) -> Numbered:
    """Return the first move of a run, numbered."""
    return Numbered(move, None, 0, tuple(((),) * len(code.remotes) for code in machine.codes))


def following(machine: RdmaMachine, before: Numbered, move: Move) -> Numbered:
    """Return the move after `before`, numbered."""
    posted = before.posted + (move.action.verb is Verb.ISSUE)
    place = about(machine, before.state, move)
    here = None if place is None else before.numbers[place[0]][place[1]][place[2]]
    operation = posted if move.action.verb is Verb.ISSUE else here
    return Numbered(move, operation, posted, renumbered(machine, before.state, move, before.numbers, posted))
