"""The sequentially consistent machine: one memory, every event takes effect at once, in program order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rdma_robust.language.flow.cfg import Fault, Program
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
from rdma_robust.semantics.machines.starts import Start, Starts
from rdma_robust.semantics.machines.threadcode import NOTHING, Command, Observables, Registers, compile_threads, only_fast


class ScThread(NamedTuple):
    """`carried` is the put or get (its command's number) whose NIC read is done, with the value; else empty.

    `unpolled` counts, per queue pair, the completions that a poll may still consume (0 where no poll can come).
    """

    point: int
    registers: Registers
    carried: tuple[int, ...]
    unpolled: tuple[int, ...]


class ScState(NamedTuple):
    threads: tuple[ScThread, ...]
    memory: tuple[int, ...]


class ScMachine:
    """The SC semantics of a program: a put or get is two steps with a carried value (docs/model.md, "Events")."""

    def __init__(self, program: Program, watched: Observables = NOTHING) -> None:
        self.program = program
        self.codes = compile_threads(program, watched)
        only_fast(self.codes)

    def initial(self) -> Starts:
        return Starts.of(self.codes, self._start)

    def _start(self, places: tuple[Start, ...], action: Action, faults: tuple[Fault, ...]) -> Move:
        memory = tuple(cell.init for cell in self.program.cells)
        threads = tuple(
            ScThread(point, registers, (), (0,) * len(code.remotes))
            for code, (point, registers) in zip(self.codes, places, strict=True)
        )
        return Move(action, ScState(threads, memory), faults)

    def successors(self, state: ScState) -> list[Move]:
        moves: list[Move] = []
        for t in range(len(state.threads)):
            self._add_moves(moves, state, t)
        return moves

    def moves_of(self, state: ScState, t: int) -> list[Move]:
        """Return every move of one thread."""
        moves: list[Move] = []
        self._add_moves(moves, state, t)
        return moves

    def _add_moves(self, moves: list[Move], state: ScState, t: int) -> None:
        thread = state.threads[t]
        if thread.carried:
            self._finish(moves, state, t)
        else:
            for command in self.codes[t].visible.get(thread.point, ()):
                self._begin(moves, state, t, command)

    def reduced(self, state: ScState) -> list[Move]:
        """Enough of the successors, see Machine; an SC put or get is no local step, unless its source is constant."""
        for t, thread in enumerate(state.threads):
            command = None if thread.carried else self.codes[t].only_command(thread.point, thread.registers)
            if command is not None and command.eager and (command.constant or len(command.nic) < 2):
                moves: list[Move] = []
                self._begin(moves, state, t, command)
                if moves:
                    return moves
        return self.successors(state)

    def _begin(self, moves: list[Move], state: ScState, t: int, command: Command) -> None:
        thread = state.threads[t]
        registers, unpolled = thread.registers, thread.unpolled
        if command.qp < 0:
            done = access(command, registers, state.memory)
            if done is not None:
                action, memory = done.action(t, command.step), done.memory
                after = command.after(registers, done.seen)
                moves += self._go(ScState(state.threads, memory), action, command, after, unpolled)
        elif not command.enabled(registers):
            pass
        elif command.flushes or len(command.nic) == 1:
            action = Action(t, Verb.ACCESS if command.flushes else Verb.FENCE, command.step)
            moves += self._go(state, action, command, command.after(registers), unpolled)
        elif command.nic:
            value = state.memory[command.source]
            waiting = ScThread(thread.point, registers, (command.number, value), unpolled)
            threads = (*state.threads[:t], waiting, *state.threads[t + 1 :])
            moves.append(Move(Action(t, Verb.NIC_READ, command.step, value), ScState(threads, state.memory)))
        elif unpolled[command.qp]:
            unpolled = with_value(unpolled, command.qp, unpolled[command.qp] - 1)
            moves += self._go(state, Action(t, Verb.POLL, command.step), command, command.after(registers), unpolled)

    def _finish(self, moves: list[Move], state: ScState, t: int) -> None:
        """The second half of a put or get: write the value carried."""
        thread = state.threads[t]
        number, value = thread.carried
        command = self.codes[t].commands[number]
        unpolled = with_value(thread.unpolled, command.qp, thread.unpolled[command.qp] + command.completes)
        after = ScState(state.threads, with_value(state.memory, command.target, value))
        action = Action(t, Verb.NIC_WRITE, command.step, None, value)
        moves += self._go(after, action, command, command.after(thread.registers), unpolled)

    def _go(
        self,
        state: ScState,
        action: Action,
        command: Command,
        registers: Registers,
        unpolled: tuple[int, ...],
    ) -> Iterator[Move]:
        """Yield the moves in which the acting thread has done the command and then its register-only steps."""
        t = action.thread
        for settled, full, faults in arrive(self.codes[t], command, registers, action):
            ahead = self.codes[t].polls_ahead[settled.point]
            kept = tuple([n if more else 0 for n, more in zip(unpolled, ahead, strict=True)])
            thread = ScThread(settled.point, settled.registers, (), kept)
            threads = (*state.threads[:t], thread, *state.threads[t + 1 :])
            yield Move(full, ScState(threads, state.memory), faults)

    def is_final(self, state: ScState) -> bool:
        return all(t.point == code.thread.exit and not t.carried for t, code in zip(state.threads, self.codes, strict=True))

    def is_drained(self, state: ScState) -> bool:
        """Return whether no thread is between the two halves of a put or get."""
        return not any(thread.carried for thread in state.threads)

    def under_way(self, state: ScState) -> int:
        """Return the most completions of one queue pair that wait for a poll."""
        return max((n for thread in state.threads for n in thread.unpolled), default=0)

    def final(self, state: ScState) -> FinalState:
        return final_state(self.program, state.memory, [thread.registers for thread in state.threads])

    def describe(self, state: ScState) -> list[str]:
        return describe_threads(self.program, [(t.point, t.registers) for t in state.threads], state.memory)
