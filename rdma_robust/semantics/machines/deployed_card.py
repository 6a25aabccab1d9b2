"""The card in the machine of RDMA as deployed: the events of its queue pairs, with values, locks and messages.

Source: docs/deployed.md, "The machine"; which events may come next is said by :mod:`queues`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Fault, Program, Recv, Step, steps
from rdma_robust.model import Model
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_facts import RMW_ROW, fact_meaning, lacking
from rdma_robust.orders.order_record import MESSAGE, OrderTable
from rdma_robust.semantics.connections import buffers_of, connections, has_choice_of_buffers
from rdma_robust.semantics.kinds import Kind, WordKind, is_relaxed, kind_of_words
from rdma_robust.semantics.like_orders import atomic_rows, unknown_to
from rdma_robust.semantics.machines.inboxes import Inboxes, with_inbox
from rdma_robust.semantics.machines.machine import Action, Move, Verb, with_value
from rdma_robust.semantics.machines.meeting import NO_MEETING, OpenRound
from rdma_robust.semantics.machines.queues import (
    BUFFERED,
    OVER,
    TO_COME,
    PostedRequest,
    Queue,
    buffered_behind,
    events_of_request,
    next_to_be_told,
    ready,
    tidied,
)
from rdma_robust.semantics.machines.requests import NOWHERE, CardRequest, compile_requests, nic_rules
from rdma_robust.semantics.machines.threadcode import Observables, Registers, compile_threads
from rdma_robust.semantics.order_table import receives_of_own
from rdma_robust.semantics.trace import FENCE_TYPES, EventType
from rdma_robust.semantics.values import is_loop_free
from rdma_robust.semantics.waits import messages_wait, no_buffer


class BufferEntry(NamedTuple):
    """An entry of a store buffer, by its command's number: a store with its value; a request with the registers that it
    takes along, the value that the CPU has read for it, and its number (see :class:`PostedRequest`); or a receive."""

    command: int
    env: Registers
    value: int
    number: int = 0


class DeployedThread(NamedTuple):
    """`posted` is how many requests it has posted, 0 where the machine does not number them."""

    point: int
    registers: Registers
    buffer: tuple[BufferEntry, ...]
    queues: tuple[Queue, ...]
    posted: int = 0


class DeployedState(NamedTuple):
    """`inboxes` are those of the machine's connections; `locked` the words that a remote atomic holds, ascending; `meeting`
    the round of a barrier that threads are leaving."""

    threads: tuple[DeployedThread, ...]
    memory: tuple[int, ...]
    inboxes: Inboxes
    locked: tuple[int, ...]
    meeting: OpenRound = NO_MEETING


class EventPlace(NamedTuple):
    """An event of a thread's requests: the number of the queue pair, the request's place in the queue, its own in that."""

    qp: int
    place: int
    event: int


class CardMachine:
    """The queue pairs of all threads of a program; :class:`DeployedMachine` adds the CPUs."""

    def __init__(self, program: Program, model: Model, watched: Observables) -> None:
        self.program = program
        self.model = model
        self.watched = watched
        self.codes = compile_threads(program, watched, model)
        self.requests = [compile_requests(program, code, model) for code in self.codes]
        self.rules = nic_rules(replace(model, cpu="sc"), program.memories)
        self.only_own = receives_of_own(model)
        self.connections = connections(program)
        self._check_order()
        self.placed = {i: kind_of_words(EventType.NRW, cell) for i, cell in enumerate(program.cells) if not cell.plain}
        self._buffers = [[self.program.cells.index(cell) for cell in buffers_of(program, each)] for each in self.connections]
        self._ready: list[dict[tuple[Queue, Kind, int], tuple[tuple[int, int], ...]]] = [{} for _ in self.codes]

    def _check_order(self) -> None:
        """Raise UsageError for a table under which something need not wait for what a compare-and-swap reads, but for what
        it writes if it succeeds: then whether it has to wait is known only later than it happens."""
        table = order_table(self.model.order)
        if table.matching == "any" and (has_choice_of_buffers(self.program) or self._messages_overtake(table)):
            raise UsageError(f"no machine lets a message take any posted receive, as order {self.model.order_name} does")
        if unknown := unknown_to(self.program, table):
            cells = ", ".join(map(" ".join, sorted(unknown)))
            raise UsageError(
                f"order {self.model.order_name} does not say whether it keeps {cells}: `check` decides both ways"
            )
        if RMW_ROW not in lacking(self.model.order, atomics=atomic_rows(self.program)):
            return
        ways = (request.ways for thread in self.requests for request in thread if request is not None)
        writes = ({any(part.type is EventType.NAW for part in way.parts) for way in each} for each in ways)
        if any(len(each) > 1 for each in writes):
            raise UsageError(
                f"no machine runs a compare-and-swap under order {self.model.order_name}, which lacks the fact {RMW_ROW} "
                f"about its table: {fact_meaning(RMW_ROW)} `check` decides the program, if it has no loops"
            )

    def _messages_overtake(self, table: OrderTable) -> bool:
        """Whether a message may take a receive before an earlier one of its connection, which then takes a later one."""
        kept = all(table.cells[a, b] in ("qp", "i") for a in ("nrW", MESSAGE) for b in ("nrW", MESSAGE))
        counts = Counter((sender, t, lane) for t, u in enumerate(self.program.threads) for sender, _, lane in u.posted)
        ops = ((t, step.op) for t, u in enumerate(self.program.threads) for _, _, step in steps(u))
        counts.update((op.sender, t, op.lane) for t, op in ops if isinstance(op, Recv))
        return not kept and (max(counts.values(), default=0) > 1 or (bool(counts) and not is_loop_free(self.program)))

    def nic_moves(self, state: DeployedState, t: int, qp: int) -> list[Move]:
        """Return the successors in which the card serves queue pair `qp` of thread `t`."""
        moves = (self.serve(state, t, EventPlace(qp, *event)) for event in self.ready(state, t, qp))
        return [move for move in moves if move is not None]

    def ready(self, state: DeployedState, t: int, qp: int) -> tuple[tuple[int, int], ...]:
        """Return the events of a queue pair that nothing of its order holds back: see :func:`queues.ready`."""
        queue = state.threads[t].queues[qp]
        fills = self.fills(state, t, queue)
        elsewhere = self._elsewhere(state, t, qp) if self.program.memories else 0
        found = self._ready[t].get((queue, fills, elsewhere))
        if found is None:
            found = tuple(ready(self.requests[t], self.rules, queue, self.placed, fills=fills, elsewhere=elsewhere))
            self._ready[t][queue, fills, elsewhere] = found
        return found

    def _elsewhere(self, state: DeployedState, t: int, qp: int) -> int:
        """What is on its way to memories behind cards from other queue pairs, as kinds."""
        found = 0
        for number, thread in enumerate(state.threads):
            for place, queue in enumerate(thread.queues):
                if queue and (number, place) != (t, qp):
                    found |= buffered_behind(self.requests[number], self.rules, queue, self.placed)
        return found

    def fills(self, state: DeployedState, t: int, queue: Queue) -> Kind:
        """What the next message of a queue pair is. Without a buffer it may take any of the connection's, and is issued as
        if that were a relaxed one if any is; in which memory it is does not matter before."""
        if not self.placed:
            return EventType.NRW
        requests = ((posted, self.request(t, posted.command)) for posted in queue)
        waiting = (r.connection for posted, r in requests if r.connection != NOWHERE and posted.buffer == NOWHERE)
        connection = next(waiting, NOWHERE)
        if connection == NOWHERE:
            return EventType.NRW
        posted = state.inboxes[connection].posted
        if posted:
            return self.placed.get(posted[0], EventType.NRW)
        relaxed = any(is_relaxed(self.placed.get(buffer, EventType.NRW)) for buffer in self._buffers[connection])
        return WordKind(EventType.NRW, relaxed=True) if relaxed else EventType.NRW

    def request(self, t: int, command: int) -> CardRequest:
        request = self.requests[t][command]
        assert request is not None
        return request

    def serve(self, state: DeployedState, t: int, at: EventPlace) -> Move | None:
        """Return the move of an event of the queue pair that is :meth:`ready`; None if a lock, or a missing buffer, holds
        it back."""
        posted = state.threads[t].queues[at.qp][at.place]
        request = self.request(t, posted.command)
        part = events_of_request(request, posted)[at.event]
        if not part.buffered:
            return self._at_once(state, t, at)
        if posted.stages[at.event] == BUFFERED:
            return self._lands(state, t, at)
        inboxes = state.inboxes
        cell = None
        if part.message:
            number = request.connection
            earlier = self.unsent(t, state.threads[t].queues[at.qp][: at.place], number)
            if not inboxes[number].has(earlier, part.unfit):
                return None
            posted = posted._replace(buffer=inboxes[number].posted[earlier])
            cell = self.program.cells[posted.buffer]
            inboxes = with_inbox(inboxes, number, inboxes[number].rest(earlier))
        posted = posted._replace(stages=with_value(posted.stages, at.event, BUFFERED))
        value = self._written(request, posted, at.event)
        action = Action(t, Verb.NIC_WRITE, request.step, None, value, cell=cell, act=part.act, at=at)
        return self._served(state, action, state._replace(inboxes=inboxes), at, posted)

    def unsent(self, t: int, earlier: Queue, connection: int) -> int:
        """Return how many messages of the requests over a connection have taken no buffer yet."""
        found = 0
        for posted in earlier:
            request = self.request(t, posted.command)
            if request.connection == connection:
                stages = zip(events_of_request(request, posted), posted.stages, strict=True)
                found += any(part.message and stage == TO_COME for part, stage in stages)
        return found

    def _written(self, request: CardRequest, posted: PostedRequest, event: int) -> int | None:
        """Return what a write of the card writes; of a message that has no data, its immediate; None for an nO."""
        part = events_of_request(request, posted)[event]
        value = part.value or part.imm
        return None if value is None else value((*posted.env, posted.value), 0)

    def _at_once(self, state: DeployedState, t: int, at: EventPlace) -> Move | None:
        """A read, a fence, or an atomic that excludes every access."""
        posted = state.threads[t].queues[at.qp][at.place]
        request = self.request(t, posted.command)
        part = events_of_request(request, posted)[at.event]
        memory, locked = state.memory, state.locked
        if not part.reads:
            action = Action(t, Verb.FENCE, request.step, act=part.act, at=at)
            posted = posted._replace(stages=with_value(posted.stages, at.event, OVER))
            return self._served(state, action, state, at, posted)
        atomic = part.type in (EventType.NAR, EventType.NA)
        if atomic and part.cell in locked:
            return None
        value = memory[part.cell]
        if part.act.operand:
            env = request.with_operand(posted.env, at.event, value)
            posted = posted._replace(env=env, stages=with_value(posted.stages, at.event, OVER))
            return self._served(state, Action(t, Verb.NIC_READ, request.step, value, act=part.act, at=at), state, at, posted)
        way = request.way(posted.env, value) if posted.way == NOWHERE else posted.way
        chosen = request.ways[way]
        part = chosen.parts[at.event]
        stages = (*posted.stages, *(TO_COME,) * (len(chosen.parts) - len(posted.stages)))
        posted = posted._replace(value=value, way=way, stages=with_value(stages, at.event, OVER))
        written = None
        if part.writes:
            written = self._written(request, posted, at.event)
            assert written is not None
            memory = with_value(memory, part.cell, written)
        elif atomic and any(each.type is EventType.NAW for each in chosen.parts):
            locked = tuple(sorted((*locked, part.cell)))
        action = Action(t, Verb.NIC_READ, request.step, value, written, act=part.act, at=at)
        after = state._replace(memory=memory, locked=locked)
        return self._served(state, action, after, at, posted, faults=() if chosen.fault is None else (chosen.fault,))

    def _lands(self, state: DeployedState, t: int, at: EventPlace) -> Move:
        """A write, or an nO, leaves its buffer."""
        posted = state.threads[t].queues[at.qp][at.place]
        request = self.request(t, posted.command)
        part = events_of_request(request, posted)[at.event]
        value = self._written(request, posted, at.event)
        target = posted.buffer if part.message and part.value is not None else part.cell
        memory = state.memory if target == NOWHERE or value is None else with_value(state.memory, target, value)
        locked = state.locked
        if part.type is EventType.NAW:
            locked = tuple([cell for cell in locked if cell != target])
        posted = posted._replace(stages=with_value(posted.stages, at.event, OVER))
        cell = self.program.cells[posted.buffer] if part.message else None
        verb = Verb.FENCE if part.type in FENCE_TYPES else Verb.FLUSH
        action = Action(t, verb, request.step, None, value, cell=cell, act=part.act, at=at)
        return self._served(state, action, state._replace(memory=memory, locked=locked), at, posted)

    def _served(
        self,
        before: DeployedState,
        action: Action,
        after: DeployedState,
        at: EventPlace,
        posted: PostedRequest,
        *,
        faults: tuple[Fault, ...] = (),
    ) -> Move:
        t = action.thread
        queue = after.threads[t].queues[at.qp]
        after = self.with_queue(after, t, at.qp, (*queue[: at.place], posted, *queue[at.place + 1 :]))
        return self.moved(before, action, after, faults)

    def with_queue(self, state: DeployedState, t: int, qp: int, queue: Queue) -> DeployedState:
        """Return the state with this queue, after receive completions that count now were handed over."""
        requests, inboxes = self.requests[t], state.inboxes
        while (place := next_to_be_told(requests, queue, self.placed, only_own=self.only_own)) != NOWHERE:
            posted = queue[place]
            request = self.request(t, posted.command)
            message = next(part for part in events_of_request(request, posted) if part.message)
            assert message.imm is not None
            inboxes = with_inbox(
                inboxes, request.connection, inboxes[request.connection].told(message.imm((*posted.env, posted.value), 0))
            )
            queue = (*queue[:place], posted._replace(told=True), *queue[place + 1 :])
        thread = state.threads[t]
        queues = (*thread.queues[:qp], tidied(queue), *thread.queues[qp + 1 :])
        return with_thread(state, t, thread._replace(queues=queues))._replace(inboxes=inboxes)

    def moved(self, before: DeployedState, action: Action, after: DeployedState, faults: tuple[Fault, ...] = ()) -> Move:
        """Return a move after which the acting thread is where it was."""
        waiting = tuple(self.waiting(after, action.thread))
        if waiting:
            old = set(self.waiting(before, action.thread))
            faults = (*faults, *(fault for fault in waiting if fault not in old))
        return Move(action, after, faults)

    def waiting(self, state: DeployedState, t: int) -> Iterator[Fault]:
        """Yield what goes wrong for messages of thread `t` that nothing holds back but that no buffer is posted for them;
        nothing if messages may wait."""
        if messages_wait(self.program):
            return iter(())
        name = self.program.threads[t].name
        return (no_buffer(step, name) for step in self.waiting_steps(state, t))

    def waiting_steps(self, state: DeployedState, t: int) -> Iterator[Step]:
        """Yield the steps of messages of thread `t` that wait for a buffer, and for nothing else."""
        if all(sender != t for sender, _, _ in self.connections):
            return
        for qp, queue in enumerate(state.threads[t].queues):
            for place, event in self.ready(state, t, qp):
                request = self.request(t, queue[place].command)
                part = events_of_request(request, queue[place])[event]
                if part.message and queue[place].stages[event] == TO_COME:
                    earlier = self.unsent(t, queue[:place], request.connection)
                    if not state.inboxes[request.connection].has(earlier, part.unfit):
                        yield request.step


def with_thread(state: DeployedState, t: int, thread: DeployedThread) -> DeployedState:
    return state._replace(threads=(*state.threads[:t], thread, *state.threads[t + 1 :]))
