"""Enough of the moves of the machine of RDMA as deployed: one that only enables others, and that nobody sees, comes first.

Such a move is enabled whatever happens before it, commutes with all that can, and disables nothing:

- a CPU step that touches nothing that others change or see (:attr:`Command.eager`). What it hands to the card is behind all
  that the card has already, and holds back nothing of that; a poll takes what nobody else can take;
- a request at the head of its store buffer goes to its queue pair: as before. So does a store to a word that only this
  thread's CPU uses: it sees its own store either way;
- a remote fence passes, and a read of a word that nobody writes any more, when it may: what takes effect at once never holds
  another event back once it is over;
- a write is issued, if no read that nfo puts in an order with it may still come before it lands. Nobody sees it yet, and
  it makes later events possible. A message that has a buffer takes one that no other could take.

A message that comes earlier finds no more buffers, and a receive no more room, than one that comes later: no fault is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rdma_robust.semantics.kinds import Kind
from rdma_robust.semantics.machines.deployed_card import DeployedState, EventPlace
from rdma_robust.semantics.machines.machine import Move
from rdma_robust.semantics.machines.queues import BUFFERED, TO_COME, Queue, events_of_request, kind_now
from rdma_robust.semantics.machines.requests import NOWHERE, CardEvent, WaitRule
from rdma_robust.semantics.trace import EventType

if TYPE_CHECKING:
    from rdma_robust.semantics.machines.deployed import DeployedMachine


def first_move(machine: DeployedMachine, state: DeployedState) -> list[Move]:
    """Return the moves of one step that comes first, none if no step is known to."""
    for t, thread in enumerate(state.threads):
        code = machine.codes[t]
        command = code.only_command(thread.point, thread.registers)
        if command is not None and command.eager:
            moves = list(machine.run(state, t, command))
            if moves:
                return moves
        if thread.buffer:
            head = code.commands[thread.buffer[0].command]
            if head.requests or (head.eager and head.receives == NOWHERE):
                return [machine.drain(state, t)]
        for qp in range(len(thread.queues)):
            for place, event in machine.ready(state, t, qp):
                at = EventPlace(qp, place, event)
                if _only_enables(machine, state, t, at):
                    move = machine.serve(state, t, at)
                    if move is not None:
                        return [move]
    return []


def _only_enables(machine: DeployedMachine, state: DeployedState, t: int, at: EventPlace) -> bool:
    thread = state.threads[t]
    posted = thread.queues[at.qp][at.place]
    if posted.way == NOWHERE or posted.stages[at.event] == BUFFERED:
        return False
    part = events_of_request(machine.request(t, posted.command), posted)[at.event]
    if part.buffered:
        queue = thread.queues[at.qp]
        kind = kind_now(posted, part, machine.placed, machine.fills(state, t, queue))
        return flushes_nothing(machine.rules, kind) and not _read_before(machine, t, queue[: at.place + 1], part)
    if not part.reads:
        return not machine.watched.drained
    if part.writes or part.type is EventType.NAR:
        return False
    command = machine.codes[t].commands[posted.command]
    if command.constant:
        return True
    stores = (machine.codes[t].commands[entry.command] for entry in thread.buffer)
    return (
        command.own
        and command.source not in machine.codes[t].writes_ahead[thread.point]
        and not any(store.target == command.source and not store.requests for store in stores)
    )


def flushes_nothing(rules: Mapping[Kind, WaitRule], written: Kind) -> bool:
    """Return whether every later event that pushes a write of this kind out of its buffer waits for it anyway: of a memory
    behind a card the reads of puts do not."""
    bit = rules[written].bit
    return all(waits.done & bit for waits in rules.values() if waits.flushed & bit)


def _read_before(machine: DeployedMachine, t: int, earlier: Queue, part: CardEvent) -> bool:
    """Whether an earlier event that would have to push the write out of its buffer is still to come."""
    bit = machine.rules[part.kind].bit
    pushing = sum(waits.bit for waits in machine.rules.values() if waits.flushed & bit)
    for posted in earlier:
        request = machine.request(t, posted.command)
        if posted.way == NOWHERE and request.union & pushing:
            return True
        for each, stage in zip(events_of_request(request, posted), posted.stages, strict=False):
            if stage == TO_COME and machine.rules[each.kind].bit & pushing and not each.buffered:
                return True
    return False
