"""The operational machine of RDMA as deployed: store buffers, remote atomics, messages, completions, weaker orders.

Source: docs/deployed.md, "The machine". Programs that use none of it have a faster machine, :class:`RdmaMachine`.
"""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.model import RDMA, Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.machines.deployed_card import BufferEntry, CardMachine, DeployedState, DeployedThread, with_thread
from rdma_robust.semantics.machines.deployed_reduction import first_move
from rdma_robust.semantics.machines.deployed_words import shown_buffer, shown_inboxes, shown_locks, shown_queue
from rdma_robust.semantics.machines.inboxes import ThreadPlace, at_start, with_inbox
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
from rdma_robust.semantics.machines.meeting import after_leaving, at_barrier, commands_in
from rdma_robust.semantics.machines.queues import (
    TO_COME,
    PostedRequest,
    after_poll,
    completion_count,
    tidied,
    unpolled,
    with_order,
)
from rdma_robust.semantics.machines.requests import NOWHERE
from rdma_robust.semantics.machines.starts import Start, Starts
from rdma_robust.semantics.machines.threadcode import NOTHING, Command, Observables, Seen
from rdma_robust.semantics.order_table import behind_poll
from rdma_robust.semantics.waits import no_room


class DeployedMachine(CardMachine):
    """The semantics of a program under any hardware as a machine; its outcomes are those of the axioms.

    At most `recv_depth` receives of a connection are posted, or filled and not yet polled. If it is `numbered`, the
    states tell the requests of a thread apart, from 1 in the order of posting: for runs, since of a loop they are ever more.
    """

    def __init__(
        self,
        program: Program,
        model: Model = RDMA,
        watched: Observables = NOTHING,
        recv_depth: int = RECV_DEPTH,
        *,
        numbered: bool = False,
    ) -> None:
        super().__init__(program, model, watched)
        self.recv_depth = recv_depth
        self.numbered = numbered
        self.buffers = model.cpu == "tso"
        self.completions_order = behind_poll(model) is not None

    def initial(self) -> Starts:
        return Starts.of(self.codes, self._start)

    def _start(self, places: tuple[Start, ...], action: Action, faults: tuple[Fault, ...]) -> Move:
        memory = tuple(cell.init for cell in self.program.cells)
        inboxes = at_start(self.program, self.connections, self.recv_depth)
        threads = tuple(
            DeployedThread(point, registers, (), ((),) * len(code.remotes))
            for code, (point, registers) in zip(self.codes, places, strict=True)
        )
        state = DeployedState(threads, memory, inboxes, ())
        full = (fault for t in range(len(threads)) for fault in self._full(state, t))
        return Move(action, state, tuple(dict.fromkeys((*faults, *full))))

    def successors(self, state: DeployedState) -> list[Move]:
        if state.meeting.members:
            return self.cpu_moves(state, state.meeting.next)
        moves: list[Move] = []
        for t, thread in enumerate(state.threads):
            moves += self.cpu_moves(state, t)
            if thread.buffer:
                moves.append(self.drain(state, t))
            for qp in range(len(thread.queues)):
                moves += self.nic_moves(state, t, qp)
        return moves

    def cpu_moves(self, state: DeployedState, t: int) -> list[Move]:
        """Return the successors in which the CPU of thread `t` goes on."""
        commands = commands_in(self.codes[t], state.threads[t].point, t, state.meeting)
        return [move for command in commands for move in self.run(state, t, command)]

    def reduced(self, state: DeployedState) -> list[Move]:
        """Enough of the successors, see Machine and :mod:`deployed_reduction`."""
        return (not state.meeting.members and first_move(self, state)) or self.successors(state)

    def run(self, state: DeployedState, t: int, command: Command) -> Iterator[Move]:
        """Yield what the CPU can do with this command."""
        thread = state.threads[t]
        if (command.fences and thread.buffer) or (command.flushes and not self._flushed(t, thread, command.qp)):
            return
        if command.requests:
            yield from self._post(state, t, command)
        elif command.polls:
            queue = after_poll(self.requests[t], thread.queues[command.qp])
            if queue is not None and command.enabled(thread.registers):
                if self.completions_order:
                    queue = with_order(thread.queues[command.qp], queue, self._waiting(state, t, command.qp))
                after = self.with_queue(state, t, command.qp, queue)
                yield from self._go(after, Action(t, Verb.POLL, command.step), command, 0)
        elif command.receives != NOWHERE:
            place = command.receives
            inbox = state.inboxes[place]
            if inbox.room > 0 and command.enabled(thread.registers):
                after = state._replace(inboxes=with_inbox(state.inboxes, place, inbox.reserved()))
                after = self._behind_stores(after, t, BufferEntry(command.number, (), 0))
                yield from self._go(after, Action(t, Verb.RECV, command.step), command, 0)
        elif command.takes != NOWHERE:
            place = command.takes
            inbox = state.inboxes[place]
            if inbox.arrived and command.enabled(thread.registers, inbox.arrived[0]):
                after = state._replace(inboxes=with_inbox(state.inboxes, place, inbox.polled()))
                action = Action(t, Verb.RPOLL, command.step, inbox.arrived[0])
                yield from self._go(after, action, command, inbox.arrived[0])
        elif command.members:
            if command.enabled(thread.registers):
                yield from self._meet(state, t, command)
        else:
            yield from self._access(state, t, command)

    def _meet(self, state: DeployedState, t: int, command: Command) -> Iterator[Move]:
        """Thread `t` leaves a barrier at which all of its threads stand."""

        def stands(other: int) -> bool:
            thread = state.threads[other]
            return at_barrier(self.codes[other], thread.point, thread.registers, command.members) and not thread.buffer

        meeting = after_leaving(command, t, state.meeting, stands)
        if meeting is not None:
            yield from self._go(state._replace(meeting=meeting), Action(t, Verb.ACCESS, command.step), command, 0)

    def _flushed(self, t: int, thread: DeployedThread, qp: int) -> bool:
        """Return whether everything that the thread has posted on a queue pair has taken effect."""
        commands = self.codes[t].commands
        behind_stores = (commands[entry.command] for entry in thread.buffer)
        return all(posted.over for posted in thread.queues[qp]) and not any(c.requests and c.qp == qp for c in behind_stores)

    def _waiting(self, state: DeployedState, t: int, qp: int) -> int:
        """How many requests of a queue pair are in the thread's store buffer."""
        commands = (self.codes[t].commands[entry.command] for entry in state.threads[t].buffer)
        return sum(bool(command.requests) and command.qp == qp for command in commands)

    def _access(self, state: DeployedState, t: int, command: Command) -> Iterator[Move]:
        thread = state.threads[t]
        stores = self.buffers and command.source == NOWHERE != command.target
        seen = self._seen(state, t, command.source) if command.source != NOWHERE else state.memory
        done = access(command, thread.registers, seen)
        if done is None:
            return
        after = state
        if stores:
            assert done.written is not None
            after = self._behind_stores(state, t, BufferEntry(command.number, (), done.written))
        elif command.words or done.written is not None:
            after = state._replace(memory=done.memory)
        yield from self._go(after, done.action(t, command.step), command, done.seen)

    def _seen(self, state: DeployedState, t: int, cell: int) -> tuple[int, ...]:
        """Return the memory with what the thread sees in a word: its own youngest store that is not there yet."""
        commands = self.codes[t].commands
        for entry in reversed(state.threads[t].buffer):
            command = commands[entry.command]
            if command.target == cell and not command.requests:
                return with_value(state.memory, cell, entry.value)
        return state.memory

    def _post(self, state: DeployedState, t: int, command: Command) -> Iterator[Move]:
        """The CPU hands a request to the card, with what it has to read for it."""
        request = self.request(t, command.number)
        registers = state.threads[t].registers
        value = 0
        if request.inline != NOWHERE:
            value = self._seen(state, t, request.inline)[request.inline]
        if command.enabled(registers, value):
            read = None if request.inline == NOWHERE else value
            thread = state.threads[t]
            if self.numbered:
                state = with_thread(state, t, thread := thread._replace(posted=thread.posted + 1))
            entry = BufferEntry(command.number, request.taken(registers), value, thread.posted)
            after = self._behind_stores(state, t, entry)
            yield from self._go(after, Action(t, Verb.ISSUE, command.step, read), command, value)

    def _behind_stores(self, state: DeployedState, t: int, entry: BufferEntry) -> DeployedState:
        """Let a store, request or receive go through the store buffer, if there is one."""
        if not self.buffers:
            return self._out(state, t, entry)
        thread = state.threads[t]
        return with_thread(state, t, thread._replace(buffer=(*thread.buffer, entry)))

    def drain(self, state: DeployedState, t: int) -> Move:
        """Return the move with which the oldest entry leaves the thread's store buffer."""
        thread = state.threads[t]
        entry, *rest = thread.buffer
        command = self.codes[t].commands[entry.command]
        after = self._out(with_thread(state, t, thread._replace(buffer=tuple(rest))), t, entry)
        cell = None if command.requests else self.program.cells[max(command.target, command.buffer)]
        written = entry.value if command.target != NOWHERE and not command.requests else None
        return self.moved(state, Action(t, Verb.DRAIN, command.step, None, written, cell=cell), after)

    def _out(self, state: DeployedState, t: int, entry: BufferEntry) -> DeployedState:
        """Let an entry take effect: a store reaches memory, a request its queue pair, a receive its receive queue."""
        command = self.codes[t].commands[entry.command]
        if command.receives != NOWHERE:
            place = command.receives
            inbox = state.inboxes[place].offered(command.buffer)
            return state._replace(inboxes=with_inbox(state.inboxes, place, inbox))
        if not command.requests:
            return state._replace(memory=with_value(state.memory, command.target, entry.value))
        request = self.request(t, entry.command)
        way = NOWHERE
        if request.decided or request.inline != NOWHERE:
            way = request.way(entry.env, entry.value)
        stages = (TO_COME,) * (len(request.ways[way].parts) if way != NOWHERE else request.opening)
        thread = state.threads[t]
        ahead = self.codes[t].polls_ahead[thread.point][command.qp]
        taken = not (request.signaled and ahead)
        told = request.connection == NOWHERE
        posted = PostedRequest(entry.command, entry.env, entry.value, way, stages, NOWHERE, taken, told, entry.number)
        return self.with_queue(state, t, command.qp, (*thread.queues[command.qp], posted))

    def _go(self, state: DeployedState, action: Action, command: Command, value: Seen) -> Iterator[Move]:
        """Yield the moves in which the acting thread has done the command, for which it read `value`, and then its
        register-only steps."""
        t = action.thread
        code = self.codes[t]
        registers = command.after(state.threads[t].registers, value)
        for settled, full, faults in arrive(code, command, registers, action):
            thread = state.threads[t]
            ahead = code.polls_ahead[settled.point]
            queues = tuple(
                [q if more or not q else tidied(unpolled(q)) for q, more in zip(thread.queues, ahead, strict=True)]
            )
            arrived = DeployedThread(settled.point, settled.registers, thread.buffer, queues, thread.posted)
            after = with_thread(state, t, arrived)
            met = (*faults, *self._full(after, t), *(self.waiting(after, t) if command.requests else ()))
            yield Move(full, after, tuple(dict.fromkeys(met)))

    def _full(self, state: DeployedState, t: int) -> Iterator[Fault]:
        """Yield what goes wrong for receives that the thread can come to next and that find no room."""
        thread = state.threads[t]
        for command in self.codes[t].visible.get(thread.point, ()):
            receives = command.receives != NOWHERE and command.enabled(thread.registers)
            if receives and state.inboxes[command.receives].room <= 0:
                yield no_room(command.step, self.program.threads[t].name)

    def is_final(self, state: DeployedState) -> bool:
        return self.is_drained(state) and all(
            thread.point == code.thread.exit for thread, code in zip(state.threads, self.codes, strict=True)
        )

    def is_drained(self, state: DeployedState) -> bool:
        """Return whether no store or remote operation is under way; completions may be waiting for a poll."""
        return all(
            not thread.buffer and all(posted.over and posted.told for queue in thread.queues for posted in queue)
            for thread in state.threads
        )

    def is_still(self, state: DeployedState) -> bool:
        """Return whether nothing that is under way can go on by itself: what is left waits for messages' buffers."""
        return not state.meeting.members and not any(
            thread.buffer or any(self.nic_moves(state, t, qp) for qp in range(len(thread.queues)))
            for t, thread in enumerate(state.threads)
        )

    def places(self, state: DeployedState) -> tuple[ThreadPlace, ...]:
        """Return where the threads are in a state that :meth:`is_still`."""
        found = []
        for t, thread in enumerate(state.threads):
            stuck = tuple([qp for qp, queue in enumerate(thread.queues) if any(not posted.over for posted in queue)])
            messages = tuple(dict.fromkeys(self.waiting_steps(state, t)))
            unpolled = tuple([completion_count(self.requests[t], queue) for queue in thread.queues])
            found.append(ThreadPlace(thread.point, thread.registers, unpolled, state.inboxes, stuck, messages))
        return tuple(found)

    def under_way(self, state: DeployedState) -> int:
        """Return the most entries of a store buffer, or operations of one queue pair, under way, completions that wait for
        a poll included."""
        return max((len(each) for thread in state.threads for each in (thread.buffer, *thread.queues)), default=0)

    def final(self, state: DeployedState) -> FinalState:
        return final_state(self.program, state.memory, [thread.registers for thread in state.threads])

    def describe(self, state: DeployedState) -> list[str]:
        lines = describe_threads(self.program, [(t.point, t.registers) for t in state.threads], state.memory)
        for t, (thread, code) in enumerate(zip(state.threads, self.codes, strict=True)):
            lines += shown_buffer(self.program, code, self.requests[t], thread.buffer)
            for remote, queue in zip(code.remotes, thread.queues, strict=True):
                lines += shown_queue(self.program, code.thread.name, remote, self.requests[t], queue)
        return [
            *lines,
            *shown_inboxes(self.program, self.connections, state.inboxes),
            *shown_locks(self.program, state.locked),
        ]
