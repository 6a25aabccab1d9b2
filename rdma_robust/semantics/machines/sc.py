"""The sequentially consistent machine: every event takes effect at once, in program order.

A remote atomic is one step for everybody, its answer a second one; a message waits for its posted receive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.model import RDMA, Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.connections import connections
from rdma_robust.semantics.machines.deployed_words import shown_inboxes
from rdma_robust.semantics.machines.inboxes import Inboxes, ThreadPlace, at_start, with_inbox
from rdma_robust.semantics.machines.machine import (
    Action,
    FinalState,
    Move,
    Verb,
    access,
    arrive,
    describe_threads,
    final_state,
    with_value,
)
from rdma_robust.semantics.machines.meeting import NO_MEETING, OpenRound, after_leaving, at_barrier, commands_in
from rdma_robust.semantics.machines.requests import NOWHERE, WHOLE, CardEvent, CardRequest, compile_requests
from rdma_robust.semantics.machines.starts import Start, Starts
from rdma_robust.semantics.machines.threadcode import NOTHING, Command, Observables, Registers, Seen, compile_threads
from rdma_robust.semantics.trace import FENCE_TYPES, EventType
from rdma_robust.semantics.waits import no_buffer, no_room

_MOST_KEPT: Final = 1 << 15
"""Moves of threads that are kept at a time, about 20 MB. If each was asked for only once or twice by then, as a lone thread
does, looking costs more than it saves."""


class InFlight(NamedTuple):
    """A request that the thread has begun, by its command's number: the way that it goes, the number of its next event,
    and what was read last; `registers` are those that it has taken along, None where its thread still stands at it, and
    `operands` what was read of those in memory."""

    command: int
    way: int
    event: int
    value: int
    registers: Registers | None = None
    operands: Registers = ()


class ScThread(NamedTuple):
    """`carried` are the requests that are half done, in order: one at most, unless messages wait
    (:mod:`~rdma_robust.semantics.machines.waiting_sc`). `unpolled` counts, per queue pair, the completions that a
    poll may still consume (0 where no poll can come)."""

    point: int
    registers: Registers
    carried: tuple[InFlight, ...]
    unpolled: tuple[int, ...]


class ScState(NamedTuple):
    """`meeting` is the round of a barrier that threads are leaving."""

    threads: tuple[ScThread, ...]
    memory: tuple[int, ...]
    inboxes: Inboxes
    meeting: OpenRound = NO_MEETING


class ScMachine:
    """The SC semantics of a program: a put or get is two steps with a value in between (docs/model.md, "Events").

    Under a `model` with store buffers a fence is a step, though it waits for nothing: a run can be followed step by step.
    """

    def __init__(
        self, program: Program, watched: Observables = NOTHING, recv_depth: int = RECV_DEPTH, model: Model = RDMA
    ) -> None:
        self.program = program
        self.watched = watched
        self.recv_depth = recv_depth
        self.codes = compile_threads(program, watched, model)
        self.requests = [compile_requests(program, code, WHOLE) for code in self.codes]
        self.connections = connections(program)
        self._known: dict[tuple[object, ...], list[Move]] = {}
        self._asked = 0
        self._is_worth_keeping = len(self.codes) > 1

    def initial(self) -> Starts:
        return Starts.of(self.codes, self._start)

    def _start(self, places: tuple[Start, ...], action: Action, faults: tuple[Fault, ...]) -> Move:
        memory = tuple(cell.init for cell in self.program.cells)
        inboxes = at_start(self.program, self.connections, self.recv_depth)
        threads = tuple(
            ScThread(point, registers, (), (0,) * len(code.remotes))
            for code, (point, registers) in zip(self.codes, places, strict=True)
        )
        state = ScState(threads, memory, inboxes)
        waiting = (fault for t in range(len(threads)) for fault in self._waiting(state, t))
        return Move(action, state, tuple(dict.fromkeys((*faults, *waiting))))

    def successors(self, state: ScState) -> list[Move]:
        if state.meeting.members or not self._is_worth_keeping:
            return [move for t in range(len(state.threads)) for move in self.moves_of(state, t)]
        threads, shared, found = state.threads, state[1:], list[Move]()
        self._asked += len(threads)
        for t, thread in enumerate(threads):
            if (known := self._known.get((t, thread, shared))) is None:
                found += self._made(state, t)
                continue
            for action, after, faults in known:
                moved = (*threads[:t], after.threads[t], *threads[t + 1 :])
                found.append(Move(action, ScState(moved, after.memory, after.inboxes, after.meeting), faults))
        return found

    def _made(self, state: ScState, t: int) -> list[Move]:
        """Return every move of one thread, and keep it by all that it depends on: others seldom change any of that. A
        barrier depends on other threads."""
        moves, thread = list(self.moves_of(state, t)), state.threads[t]
        if not any(command.members for command in self.codes[t].visible.get(thread.point, ())):
            if len(self._known) == _MOST_KEPT:
                self._is_worth_keeping, self._asked = self._asked >= 2 * _MOST_KEPT, 0
                self._known.clear()
            self._known[t, thread, state[1:]] = moves
        return moves

    def moves_of(self, state: ScState, t: int) -> Iterable[Move]:
        """Return every move of one thread."""
        thread = state.threads[t]
        if thread.carried:
            return () if state.meeting.members else self._next(state, t, thread.carried[0], 0)
        commands = commands_in(self.codes[t], thread.point, t, state.meeting)
        return [move for command in commands for move in self._begin(state, t, command)]

    def reduced(self, state: ScState) -> list[Move]:
        """Enough of the successors, see Machine: a step of a thread alone, which only it can see, comes first.

        The first event of a request is one if it reads a word that nobody writes, and so is a fence. A thread that comes to
        a message, or a receive, earlier finds no more buffers, and no more room, than one that comes later: faults are kept.
        """
        for t, thread in enumerate(() if state.meeting.members else state.threads):
            command = None if thread.carried else self.codes[t].only_command(thread.point, thread.registers)
            if command is not None and command.eager and (not command.requests or _unseen(command)):
                moves = list(self._begin(state, t, command))
                if moves:
                    return moves
        return self.successors(state)

    def request(self, t: int, command: int) -> CardRequest:
        request = self.requests[t][command]
        assert request is not None
        return request

    def _begin(self, state: ScState, t: int, command: Command) -> Iterable[Move]:
        thread = state.threads[t]
        if command.requests:
            return self._request(state, t, command)
        if command.polls:
            if thread.unpolled[command.qp] and command.enabled(thread.registers):
                unpolled = with_value(thread.unpolled, command.qp, thread.unpolled[command.qp] - 1)
                return self._go(state, Action(t, Verb.POLL, command.step), command, 0, unpolled)
        elif command.receives != NOWHERE:
            place = command.receives
            inbox = state.inboxes[place]
            if inbox.room > 0 and command.enabled(thread.registers):
                inboxes = with_inbox(state.inboxes, place, inbox.reserved().offered(command.buffer))
                after = state._replace(inboxes=inboxes)
                return self._go(after, Action(t, Verb.RECV, command.step), command, 0, thread.unpolled)
        elif command.takes != NOWHERE:
            place = command.takes
            inbox = state.inboxes[place]
            if inbox.arrived and command.enabled(thread.registers, inbox.arrived[0]):
                after = state._replace(inboxes=with_inbox(state.inboxes, place, inbox.polled()))
                action = Action(t, Verb.RPOLL, command.step, inbox.arrived[0])
                return self._go(after, action, command, inbox.arrived[0], thread.unpolled)
        elif command.members:
            if command.enabled(thread.registers):
                return self._meet(state, t, command)
        elif (done := access(command, thread.registers, state.memory)) is not None:
            after = _with_memory(state, done.memory)
            return self._go(after, done.action(t, command.step), command, done.seen, thread.unpolled)
        return ()

    def is_busy(self, state: ScState, t: int) -> bool:
        """Return whether a request of the thread comes before its next step."""
        return bool(state.threads[t].carried)

    def _meet(self, state: ScState, t: int, command: Command) -> Iterable[Move]:
        """Thread `t` leaves a barrier at which all of its threads stand."""

        def stands(other: int) -> bool:
            thread = state.threads[other]
            at = at_barrier(self.codes[other], thread.point, thread.registers, command.members)
            return at and not self.is_busy(state, other)

        meeting = after_leaving(command, t, state.meeting, stands)
        if meeting is None:
            return ()
        after = state._replace(meeting=meeting)
        return self._go(after, Action(t, Verb.ACCESS, command.step), command, 0, state.threads[t].unpolled)

    def _request(self, state: ScState, t: int, command: Command) -> Iterable[Move]:
        """The first event of a request: a read of the CPU, or one of the card."""
        thread = state.threads[t]
        request = self.request(t, command.number)
        if request.inline == NOWHERE:
            if not command.enabled(thread.registers):
                return ()
            return self.posted(state, t, InFlight(command.number, 0 if request.decided else NOWHERE, 0, 0))
        value = state.memory[request.inline]
        if not command.enabled(thread.registers, value):
            return ()
        way = request.way(thread.registers, value)
        action = Action(t, Verb.ACCESS, command.step, value)
        return (self._carrying(state, action, InFlight(command.number, way, 0, value), len(thread.carried)),)

    def posted(self, state: ScState, t: int, request: InFlight) -> Iterable[Move]:
        """Return the first move of a request of which the CPU reads nothing."""
        return self._next(state, t, request, 0)

    def _next(self, state: ScState, t: int, carried: InFlight, place: int) -> Iterable[Move]:
        """Return the move of the next event of a request, none if it waits. It is, or would be, at that place of those that
        are half done."""
        request = self.request(t, carried.command)
        number, way, event, value, registers, operands = carried
        taken = state.threads[t].registers if registers is None else registers
        parts = request.ways[max(way, 0)].parts
        part = parts[event]
        fault = read = written = None
        if part.act.operand:
            read = state.memory[part.cell]
            operands = (*operands, read)
        elif part.reads:
            value = read = state.memory[part.cell]
            way = request.way((*taken, *operands), value) if way == NOWHERE else way
            parts, fault = request.ways[way].parts, request.ways[way].fault
            part = parts[event]
        after = state
        if part.message:
            sent = self._sent(state, t, request, part, (*taken, *operands, value))
            if sent is None:
                return ()
            after, action = sent
        else:
            if part.writes:
                assert part.value is not None
                written = part.value((*taken, *operands, value), 0)
                after = _with_memory(state, with_value(state.memory, part.cell, written))
            verb = Verb.NIC_READ if read is not None else Verb.NIC_WRITE if part.writes else Verb.FENCE
            action = Action(t, verb, request.step, read, written, act=part.act)
        faults = () if fault is None else (fault,)
        if event + 1 < len(parts):
            begun = InFlight(number, way, event + 1, value, registers, operands)
            return (self._carrying(after, action, begun, place, faults),)
        return self._done(after, action, number, value if request.inline != NOWHERE else 0, place, faults=faults)

    def _done(
        self, state: ScState, action: Action, number: int, value: int, place: int, *, faults: tuple[Fault, ...]
    ) -> Iterable[Move]:
        """Return the moves with which the last event of a request happens, the one at `place`, or of a new one."""
        t = action.thread
        thread, command = state.threads[t], self.codes[t].commands[number]
        signaled = self.request(t, number).signaled
        unpolled = with_value(thread.unpolled, command.qp, thread.unpolled[command.qp] + 1) if signaled else thread.unpolled
        rest = (*thread.carried[:place], *thread.carried[place + 1 :])
        if place == len(thread.carried) or thread.carried[place].registers is None:
            return self._go(state, action, command, value, unpolled, faults=faults, carried=rest)
        kept = self._kept(t, thread.point, unpolled)
        return (Move(action, _with_thread(state, t, thread._replace(carried=rest, unpolled=kept)), faults),)

    def _sent(
        self, state: ScState, t: int, request: CardRequest, part: CardEvent, env: Registers
    ) -> tuple[ScState, Action] | None:
        """A message fills the oldest posted buffer, None if there is none."""
        place = request.connection
        inbox = state.inboxes[place]
        if not inbox.has(0, part.unfit):
            return None
        assert part.imm is not None
        value = (part.value or part.imm)(env, 0)
        cell = inbox.posted[0]
        memory = state.memory if part.value is None else with_value(state.memory, cell, value)
        inboxes = with_inbox(state.inboxes, place, inbox.rest().told(part.imm(env, 0)))
        action = Action(t, Verb.NIC_WRITE, request.step, None, value, cell=self.program.cells[cell], act=part.act)
        return state._replace(memory=memory, inboxes=inboxes), action

    def _carrying(
        self, state: ScState, action: Action, request: InFlight, place: int, faults: tuple[Fault, ...] = ()
    ) -> Move:
        t = action.thread
        thread = state.threads[t]
        carried = (*thread.carried[:place], request, *thread.carried[place + 1 :])
        after = _with_thread(state, t, ScThread(thread.point, thread.registers, carried, thread.unpolled))
        return Move(action, after, self._met(after, t, faults) if self.connections else faults)

    def _go(
        self,
        state: ScState,
        action: Action,
        command: Command,
        value: Seen,
        unpolled: tuple[int, ...],
        *,
        faults: tuple[Fault, ...] = (),
        carried: tuple[InFlight, ...] | None = None,
    ) -> Iterator[Move]:
        """Yield the moves in which the acting thread has done the command, for which its CPU read `value`, and then its
        register-only steps."""
        t = action.thread
        half_done = state.threads[t].carried if carried is None else carried
        registers = command.after(state.threads[t].registers, value)
        for settled, full, more in arrive(self.codes[t], command, registers, action):
            kept = self._kept(t, settled.point, unpolled) if any(unpolled) else unpolled
            after = _with_thread(state, t, ScThread(settled.point, settled.registers, half_done, kept))
            met = (*faults, *more)
            yield Move(full, after, self._met(after, t, met) if met or self.connections else met)

    def _kept(self, t: int, point: int, unpolled: tuple[int, ...]) -> tuple[int, ...]:
        """Return the completions that the thread may still poll at a program point."""
        return tuple([n if more else 0 for n, more in zip(unpolled, self.codes[t].polls_ahead[point], strict=True)])

    def _met(self, state: ScState, t: int, faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
        """Return what goes wrong with a move of a thread: these faults, and what it cannot do next."""
        return tuple(dict.fromkeys((*faults, *self._waiting(state, t))))

    def _waiting(self, state: ScState, t: int) -> Iterator[Fault]:
        """Yield what goes wrong where the thread's next event is a message without a buffer, or a receive without room."""
        thread = state.threads[t]
        if thread.carried:
            carried = thread.carried[0]
            request = self.request(t, carried.command)
            if carried.way != NOWHERE:
                yield from self._unposted(state, t, request, request.ways[carried.way].parts[carried.event])
            return
        for command in self.codes[t].visible.get(thread.point, ()):
            if (command.receives == NOWHERE and not command.requests) or not command.may_run(thread.registers):
                continue
            if not command.requests:
                if state.inboxes[command.receives].room <= 0:
                    yield no_room(command.step, self.program.threads[t].name)
                continue
            request = self.request(t, command.number)
            if request.inline == NOWHERE:
                yield from self._unposted(state, t, request, request.ways[0].parts[0])

    def _unposted(self, state: ScState, t: int, request: CardRequest, part: CardEvent) -> Iterator[Fault]:
        if part.message and not state.inboxes[request.connection].has(0, part.unfit):
            yield no_buffer(request.step, self.program.threads[t].name)

    def is_final(self, state: ScState) -> bool:
        return all(t.point == code.thread.exit and not t.carried for t, code in zip(state.threads, self.codes, strict=True))

    def is_drained(self, state: ScState) -> bool:
        """Return whether no thread is between two events of a request."""
        return not any(thread.carried for thread in state.threads)

    def is_still(self, state: ScState) -> bool:
        """Return whether no thread can go on with a request that it has begun: those that have wait for buffers."""
        return not state.meeting.members and not any(
            any(True for _ in self.moves_of(state, t)) for t, thread in enumerate(state.threads) if thread.carried
        )

    def places(self, state: ScState) -> tuple[ThreadPlace, ...]:
        """Return where the threads are in a state that :meth:`is_still`."""
        found = []
        for thread in state.threads:
            held = thread.carried[0].command if thread.carried else NOWHERE
            found.append(ThreadPlace(thread.point, thread.registers, thread.unpolled, state.inboxes, held=held))
        return tuple(found)

    def under_way(self, state: ScState) -> int:
        """Return the most completions of one queue pair that wait for a poll."""
        return max((n for thread in state.threads for n in thread.unpolled), default=0)

    def final(self, state: ScState) -> FinalState:
        return final_state(self.program, state.memory, [thread.registers for thread in state.threads])

    def describe(self, state: ScState) -> list[str]:
        lines = describe_threads(self.program, [(t.point, t.registers) for t in state.threads], state.memory)
        return [*lines, *shown_inboxes(self.program, self.connections, state.inboxes)]


def _unseen(command: Command) -> bool:
    """Whether the first event of a request touches nothing that anyone changes or sees."""
    first = command.nic[0]
    return first in FENCE_TYPES or (first in (EventType.NLR, EventType.NRR) and command.constant and not command.inline)


def _with_thread(state: ScState, t: int, thread: ScThread) -> ScState:
    threads = (*state.threads[:t], thread, *state.threads[t + 1 :])
    return ScState(threads, state.memory, state.inboxes, state.meeting)  # faster than _replace, and each move makes one


def _with_memory(state: ScState, memory: tuple[int, ...]) -> ScState:
    return ScState(state.threads, memory, state.inboxes, state.meeting)
