"""The operational RDMA machine (docs/model.md, "The machine"): a pipe and two write buffers per queue pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.machines.inboxes import ThreadPlace
from rdma_robust.semantics.machines.machine import (
    Action,
    FinalState,
    Move,
    Verb,
    access,
    arrive,
    describe_parts,
    describe_threads,
    final_state,
    with_value,
)
from rdma_robust.semantics.machines.requests import nic_rules
from rdma_robust.semantics.machines.starts import Start, Starts
from rdma_robust.semantics.machines.threadcode import NOTHING, Command, Observables, Registers, compile_threads, only_fast
from rdma_robust.semantics.order_table import VISIBLE_WHEN_POLLED
from rdma_robust.semantics.trace import EventType

FRESH, READ, ISSUED, DONE = range(4)
"""How far an operation is: in the pipe, in the pipe with its value read, in a write buffer, in memory."""


class QueueEntry(NamedTuple):
    """One operation of a queue pair, by its number among the thread's; `polled` also when no poll of it can come."""

    command: int
    stage: int
    value: int
    polled: bool


Queue = tuple[QueueEntry, ...]
"""The operations of a queue pair that are not over, in issue order.

The pipe are the entries before stage ISSUED. Puts issue their writes in pipe order and so do gets, so the entries at
stage ISSUED are wbR (the puts) and wbL (the gets), oldest first. An entry is dropped when it is both done and polled.
"""


class RdmaThread(NamedTuple):
    point: int
    registers: Registers
    queues: tuple[Queue, ...]


class RdmaState(NamedTuple):
    threads: tuple[RdmaThread, ...]
    memory: tuple[int, ...]


class RdmaMachine:
    """The RDMA semantics of a program as a machine; its outcomes are those of the axioms (docs/model.md)."""

    def __init__(self, program: Program, model: Model = RDMA, watched: Observables = NOTHING) -> None:
        self.program = program
        self.model = model
        self.watched = watched
        self.codes = compile_threads(program, watched)
        only_fast(self.codes, model)
        rules = nic_rules(model)
        self._waits = [[tuple([rules[event] for event in c.nic]) for c in code.commands] for code in self.codes]
        self._ready_cache: list[dict[Queue, tuple[int, ...]]] = [{} for _ in self.codes]

    def initial(self) -> Starts:
        return Starts.of(self.codes, self._start)

    def _start(self, places: tuple[Start, ...], action: Action, faults: tuple[Fault, ...]) -> Move:
        memory = tuple(cell.init for cell in self.program.cells)
        threads = tuple(
            RdmaThread(point, registers, ((),) * len(code.remotes))
            for code, (point, registers) in zip(self.codes, places, strict=True)
        )
        return Move(action, RdmaState(threads, memory), faults)

    def successors(self, state: RdmaState) -> list[Move]:
        moves: list[Move] = []
        for t, thread in enumerate(state.threads):
            moves += self.cpu_moves(state, t)
            for qp in range(len(thread.queues)):
                moves += self.nic_moves(state, t, qp)
        return moves

    def cpu_moves(self, state: RdmaState, t: int) -> list[Move]:
        """Return the successors in which the CPU of thread `t` moves."""
        moves: list[Move] = []
        for command in self.codes[t].visible.get(state.threads[t].point, ()):
            self._run(moves, state, t, command)
        return moves

    def nic_moves(self, state: RdmaState, t: int, qp: int) -> list[Move]:
        """Return the successors in which the NIC serves queue pair `qp` of thread `t`, in the order of its operations."""
        return [self._serve(state, t, qp, i) for i in self._ready(t, state.threads[t].queues[qp])]

    def reduced(self, state: RdmaState) -> list[Move]:
        """Enough of the successors, see Machine: a step that only enables others, and that nobody sees, comes first."""
        if not self.model.is_of_paper:
            # What commutes was argued for the one order table.
            return self.successors(state)
        moves: list[Move] = []
        for t, thread in enumerate(state.threads):
            code = self.codes[t]
            command = code.only_command(thread.point, thread.registers)
            if command is not None and command.eager:
                self._run(moves, state, t, command)
                if moves:
                    return moves
            for qp, queue in enumerate(thread.queues):
                for i in self._ready(t, queue):
                    if self._only_enables(t, thread.point, queue, i):
                        return [self._serve(state, t, qp, i)]
        return self.successors(state)

    def _only_enables(self, t: int, point: int, queue: Queue, i: int) -> bool:
        """Whether the next step of this operation commutes with whatever else can happen before it.

        A fence does. So does a read of a word that nobody writes any more. So does a put's write entering the buffer: later
        gets wait for it anyway, unless an earlier get is still to read, which then has to wait for the flush.
        """
        code = self.codes[t]
        command = code.commands[queue[i].command]
        if len(command.nic) == 1:
            return not self.watched.drained
        if queue[i].stage == FRESH:
            return command.constant or (command.own and command.source not in code.writes_ahead[point])
        if queue[i].stage != READ or command.nic[1] is not EventType.NRW:
            return False
        earlier = (code.commands[entry.command].nic for entry in queue[:i] if entry.stage == FRESH)
        return not any(EventType.NRR in nic for nic in earlier)

    def _run(self, moves: list[Move], state: RdmaState, t: int, command: Command) -> None:
        """Append what the CPU can do with this command: access memory, hand an operation to the NIC, or poll."""
        thread = state.threads[t]
        registers = thread.registers
        if command.qp < 0:
            done = access(command, registers, state.memory)
            if done is not None:
                action, memory = done.action(t, command.step), done.memory
                after = command.after(registers, done.seen)
                moves += self._go(RdmaState(state.threads, memory), action, command, after, thread.queues)
            return
        if not command.enabled(registers):
            return
        queue = thread.queues[command.qp]
        if command.flushes:
            if not has_landed(queue):
                return
            action = Action(t, Verb.ACCESS, command.step)
        elif command.polls:
            polled = self._poll(t, queue)
            if polled is None:
                return
            queue, action = polled, Action(t, Verb.POLL, command.step)
        else:
            entry = QueueEntry(command.number, FRESH, 0, not command.completes)
            queue, action = (*queue, entry), Action(t, Verb.ISSUE, command.step)
        queues = (*thread.queues[: command.qp], queue, *thread.queues[command.qp + 1 :])
        moves += self._go(state, action, command, command.after(registers), queues)

    def _poll(self, t: int, queue: Queue) -> Queue | None:
        """Consume the oldest completion: of a put once it is issued, of a get once its write is in memory."""
        for i, entry in enumerate(queue):
            if not entry.polled:
                if entry.stage < complete_at(self.codes[t].commands[entry.command]):
                    return None
                return _advanced(queue, i, entry.stage, entry.value, True)
        return None

    def _serve(self, state: RdmaState, t: int, qp: int, i: int) -> Move:
        """Return the next step of this operation, which must be ready."""
        thread = state.threads[t]
        queue = thread.queues[qp]
        entry = queue[i]
        command = self.codes[t].commands[entry.command]
        memory, value = state.memory, entry.value
        if len(command.nic) == 1:
            after, action = (*queue[:i], *queue[i + 1 :]), Action(t, Verb.FENCE, command.step)
        elif entry.stage == FRESH:
            value = memory[command.source]
            after = _advanced(queue, i, READ, value, entry.polled)
            action = Action(t, Verb.NIC_READ, command.step, value)
        elif entry.stage == READ:
            after = _advanced(queue, i, ISSUED, value, entry.polled)
            action = Action(t, Verb.NIC_WRITE, command.step, None, value)
        else:
            memory = with_value(memory, command.target, value)
            after = _advanced(queue, i, DONE, 0, entry.polled)
            action = Action(t, Verb.FLUSH, command.step, None, value)
        queues = (*thread.queues[:qp], after, *thread.queues[qp + 1 :])
        threads = (*state.threads[:t], RdmaThread(thread.point, thread.registers, queues), *state.threads[t + 1 :])
        return Move(action, RdmaState(threads, memory))

    def _ready(self, t: int, queue: Queue) -> tuple[int, ...]:
        """Return the operations that can take their next step, by their place in the queue."""
        found = self._ready_cache[t].get(queue)
        if found is None:
            found = self._ready_cache[t][queue] = tuple(self._rules(t, queue))
        return found

    def _rules(self, t: int, queue: Queue) -> Iterator[int]:
        """Which entries can go on, by the order tables: see :class:`requests.WaitRule`."""
        waits = [self._waits[t][entry.command] for entry in queue]
        buffered = unissued = undone = 0
        for events, entry in zip(waits, queue, strict=True):
            if entry.stage == ISSUED:
                buffered |= events[-1].bit
        for i, (events, entry) in enumerate(zip(waits, queue, strict=True)):
            stage = entry.stage
            if stage == DONE:
                continue
            bit, issued, done, flushed, *_ = events[0 if stage == FRESH else -1]
            if stage == FRESH:
                held = issued & unissued or done & undone or flushed & buffered
                for event in events:
                    bit |= event.bit
            else:
                held = issued & unissued if stage == READ else done & undone
            if not held:
                yield i
            undone |= bit
            if stage != ISSUED:
                unissued |= bit

    def _go(
        self,
        state: RdmaState,
        action: Action,
        command: Command,
        registers: Registers,
        queues: tuple[Queue, ...],
    ) -> Iterator[Move]:
        """Yield the moves in which the acting thread has done the command and then its register-only steps."""
        t = action.thread
        for settled, full, faults in arrive(self.codes[t], command, registers, action):
            ahead = self.codes[t].polls_ahead[settled.point]
            kept = tuple([q if more or not q else _unpolled(q) for q, more in zip(queues, ahead, strict=True)])
            threads = (
                *state.threads[:t],
                RdmaThread(settled.point, settled.registers, kept),
                *state.threads[t + 1 :],
            )
            yield Move(full, RdmaState(threads, state.memory), faults)

    def is_final(self, state: RdmaState) -> bool:
        return all(
            thread.point == code.thread.exit and not any(thread.queues)
            for thread, code in zip(state.threads, self.codes, strict=True)
        )

    def is_drained(self, state: RdmaState) -> bool:
        """Return whether no remote operation is under way; completions may be waiting for a poll."""
        return all(has_landed(queue) for thread in state.threads for queue in thread.queues)

    def is_still(self, state: RdmaState) -> bool:
        """Return whether nothing is under way that goes on by itself."""
        return self.is_drained(state)

    def places(self, state: RdmaState) -> tuple[ThreadPlace, ...]:
        """Return where the threads are in a state that :meth:`is_still`."""
        unpolled = [tuple([sum(not e.polled for e in queue) for queue in t.queues]) for t in state.threads]
        return tuple([ThreadPlace(t.point, t.registers, n) for t, n in zip(state.threads, unpolled, strict=True)])

    def under_way(self, state: RdmaState) -> int:
        """Return the most operations of one queue pair under way, completions that wait for a poll included."""
        return max((len(queue) for thread in state.threads for queue in thread.queues), default=0)

    def final(self, state: RdmaState) -> FinalState:
        return final_state(self.program, state.memory, [thread.registers for thread in state.threads])

    def describe(self, state: RdmaState) -> list[str]:
        lines = describe_threads(self.program, [(t.point, t.registers) for t in state.threads], state.memory)
        for thread, code in zip(state.threads, self.codes, strict=True):
            for remote, queue in zip(code.remotes, thread.queues, strict=True):
                shown = [(code.commands[entry.command], entry) for entry in queue]
                pipe = [
                    f"{c.step.text} (read {e.value})" if e.stage == READ else c.step.text
                    for c, e in shown
                    if e.stage < ISSUED
                ]
                buffered = [
                    (c.nic[-1], f"{self.program.cells[c.target]} = {e.value}") for c, e in shown if e.stage == ISSUED
                ]
                right = [text for write, text in buffered if write is EventType.NRW]
                left = [text for write, text in buffered if write is EventType.NLW]
                unpolled = [c.step.text for c, e in shown if not e.polled]
                parts = {"pipe": pipe, "wbR": right, "wbL": left, "unpolled": unpolled}
                lines += describe_parts(f"{code.thread.name} -> {remote}", parts)
        return lines


def has_landed(queue: Queue) -> bool:
    """Return whether everything on a queue pair has taken effect; completions may be waiting for a poll."""
    return all(entry.stage == DONE for entry in queue)


def complete_at(command: Command) -> int:
    """Return the stage from which on a poll can take the completion of an operation."""
    return DONE if command.nic[-1] in VISIBLE_WHEN_POLLED else ISSUED


def _advanced(queue: Queue, i: int, stage: int, value: int, polled: bool) -> Queue:
    if stage == DONE and polled:
        return (*queue[:i], *queue[i + 1 :])
    return (*queue[:i], QueueEntry(queue[i].command, stage, value, polled), *queue[i + 1 :])


def _unpolled(queue: Queue) -> Queue:
    """Forget the completions of a queue pair that nobody can poll any more."""
    return tuple([QueueEntry(e.command, e.stage, e.value, True) for e in queue if e.stage != DONE])
