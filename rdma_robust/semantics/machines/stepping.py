"""Common parts of the stepwise machines: threads that take one step at a time, and a place for what is under way.

They are for questions that look at every state: no step is merged with another. What a thread has under way beside its
registers (a store buffer, remote operations, a value that is carried) is each machine's own business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Final, NamedTuple

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Cas, Cell, Flush, Get, MFence, Nondet, Poll, Program, Put, RemoteRmw, RFence, Rmw
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.semantics.machines.machine import Action, FinalState, Move, Verb, describe_threads, final_state, with_value
from rdma_robust.semantics.machines.stepcode import NOWHERE, StepCommand, compile_steps
from rdma_robust.semantics.machines.threadcode import Registers

UnderWay = Any
"""What a thread has under way: hashable, otherwise the machine's own business."""

Choose = Callable[[int | None, int | None], Iterable[int]]
"""Which values a `nondet` is given, by the ends of what it draws from, None for an end that is open."""

WHOLE: Final = 64
"""Ranges with at most so many values are drawn from as a whole."""

_NEAR: Final = 3


def few(low: int | None, high: int | None) -> Iterable[int]:
    """Return all values of a small range, and of others those next to 0 and to the ends."""
    if low is not None and high is not None and high - low < WHOLE:
        return range(low, high + 1)
    found = set(range(-_NEAR, _NEAR + 1))
    found |= set() if low is None else set(range(low, low + _NEAR + 1))
    found |= set() if high is None else set(range(high - _NEAR, high + 1))
    return [v for v in sorted(found) if (low is None or low <= v) and (high is None or v <= high)]


class StepThread(NamedTuple):
    point: int
    registers: Registers
    own: UnderWay


class StepState(NamedTuple):
    threads: tuple[StepThread, ...]
    memory: tuple[int, ...]


Passed = tuple[Verb, UnderWay]
"""How a thread passes a wait, a poll or a fence, and what it has under way after."""


class StepMachine(ABC):
    """A model of docs/theory-safety.md, "Machines", as a :class:`Machine`.

    A model says how words are reached and what waits.

    Every step of a thread's graph is a move, and so is every step of what a thread has in flight, which follow the threads'
    moves. `choose` gives the values of `nondet`. The methods below take what a thread has `own` under way and the memory;
    words are numbered as `Program.cells`.
    """

    model: ClassVar[AnyModelName]

    def __init__(self, program: Program, choose: Choose = few) -> None:
        self.program = program
        self.choose = choose
        self.codes = [compile_steps(program, thread) for thread in program.threads]

    @abstractmethod
    def nothing(self, t: int) -> UnderWay:
        """Return what thread `t` has under way at the start."""

    def busy(self, _own: UnderWay) -> bool:
        """Return whether the thread must wait whatever its next step is."""
        return False

    def load(self, _own: UnderWay, memory: tuple[int, ...], cell: int) -> int:
        """Return the value that the thread sees in a word."""
        return memory[cell]

    def store(self, own: UnderWay, memory: tuple[int, ...], cell: int, value: int) -> tuple[UnderWay, tuple[int, ...]]:
        """Return what is under way, and the memory, after a store of the thread."""
        return own, with_value(memory, cell, value)

    def stored(self, _own: UnderWay) -> bool:
        """Return whether all stores of the thread are in memory."""
        return True

    @abstractmethod
    def passes(self, t: int, own: UnderWay, command: StepCommand) -> Passed | None:
        """Return how thread `t` passes a flush, poll or remote fence, None if it must wait."""

    @abstractmethod
    def posts(self, state: StepState, t: int, command: StepCommand) -> Iterator[Move]:
        """Yield the moves with which thread `t` starts an enabled put, get or remote atomic."""

    @abstractmethod
    def system(self, state: StepState, t: int) -> Iterator[Move]:
        """Yield the moves of what thread `t` has under way."""

    def forgotten(self, _t: int, _point: int, own: UnderWay) -> UnderWay:
        """Return what is under way without what nobody can ask for from this program point on."""
        return own

    @abstractmethod
    def drained(self, own: UnderWay) -> bool:
        """Return whether nothing is under way."""

    def length(self, _own: UnderWay) -> int:
        """Return how many stores or operations are under way, in the longest of several queues."""
        return 0

    def shown(self, _t: int, _own: UnderWay) -> Iterable[str]:
        """Return lines for people on what thread `t` has under way."""
        return ()

    def initial(self) -> list[Move]:
        threads = (StepThread(c.thread.entry, c.initial, self.nothing(t)) for t, c in enumerate(self.codes))
        memory = tuple(cell.init for cell in self.program.cells)
        return [Move(Action(-1, Verb.START, None), StepState(tuple(threads), memory))]

    def successors(self, state: StepState) -> list[Move]:
        moves: list[Move] = []
        for t in range(len(self.codes)):
            moves += self.moves_of(state, t, self.choose)
        return moves

    def reduced(self, state: StepState) -> list[Move]:
        """Return all moves: claims may look at every state."""
        return self.successors(state)

    def moves_of(self, state: StepState, t: int, choose: Choose) -> Iterator[Move]:
        """Yield the moves of thread `t` and of what it has under way, with the values of `choose` for `nondet`."""
        thread = state.threads[t]
        if not self.busy(thread.own):
            for command in self.codes[t].at.get(thread.point, ()):
                yield from self._command(state, t, command, choose)
        yield from self.system(state, t)

    def _command(self, state: StepState, t: int, command: StepCommand, choose: Choose) -> Iterator[Move]:
        thread = state.threads[t]
        op = command.step.op
        match op:
            case Put() | Get() | RemoteRmw():
                if command.enabled(thread.registers):
                    yield from self.posts(state, t, command)
            case Flush() | Poll() | RFence():
                if command.enabled(thread.registers):
                    yield from self._wait(state, t, command)
            case Nondet():
                yield from self._draw(state, t, command, choose)
            case MFence() | Cas() | Rmw() if not self.stored(thread.own):
                pass
            case _:
                yield from self._access(state, t, command)

    def _wait(self, state: StepState, t: int, command: StepCommand) -> Iterator[Move]:
        passed = self.passes(t, state.threads[t].own, command)
        if passed is not None:
            verb, own = passed
            yield self.goes(state, Action(t, verb, command.step), command, own, state.memory)

    def _draw(self, state: StepState, t: int, command: StepCommand, choose: Choose) -> Iterator[Move]:
        thread = state.threads[t]
        env = (*thread.registers, 0)
        try:
            low = None if command.low is None else command.low(env, 0)
            high = None if command.high is None else command.high(env, 0)
        except ZeroDivisionError:
            return  # the step of that fault is another one
        for value in choose(low, high):
            if (low is None or low <= value) and (high is None or value <= high) and command.enabled(env[:-1], value):
                action = Action(t, Verb.ACCESS, command.step, value)
                yield self.goes(state, action, command, thread.own, state.memory)

    def _access(self, state: StepState, t: int, command: StepCommand) -> Iterator[Move]:
        """Read a word, write one, or do neither, at once."""
        thread = state.threads[t]
        own, memory = thread.own, state.memory
        read = None if command.source == NOWHERE else self.load(own, memory, command.source)
        if not command.enabled(thread.registers, read or 0):
            return
        written = command.replacing(thread.registers, read or 0)
        if written is not None and read is None:
            own, memory = self.store(own, memory, command.target, written)
        elif written is not None:
            memory = with_value(memory, command.target, written)
        action = Action(t, Verb.ACCESS, command.step, read, written)
        yield self.goes(state, action, command, own, memory)

    def goes(self, state: StepState, action: Action, command: StepCommand, own: UnderWay, memory: tuple[int, ...]) -> Move:
        """Return the move with which the acting thread has done its command."""
        t = action.thread
        registers = command.after(state.threads[t].registers, action.read or 0)
        after = StepThread(command.to, registers, self.forgotten(t, command.to, own))
        fault = command.step.fault
        return Move(action, _with(state, t, after, memory), () if fault is None else (fault,))

    def moved(self, state: StepState, action: Action, own: UnderWay, memory: tuple[int, ...]) -> Move:
        """Return a move after which the acting thread is where it was."""
        t = action.thread
        here = state.threads[t]
        after = StepThread(here.point, here.registers, self.forgotten(t, here.point, own))
        return Move(action, _with(state, t, after, memory))

    def is_final(self, state: StepState) -> bool:
        """Return whether all threads have ended and nothing is under way."""
        return all(t.point == code.thread.exit for t, code in zip(state.threads, self.codes, strict=True)) and (
            self.is_drained(state)
        )

    def is_drained(self, state: StepState) -> bool:
        return all(self.drained(thread.own) for thread in state.threads)

    def under_way(self, state: StepState) -> int:
        return max((self.length(thread.own) for thread in state.threads), default=0)

    def final(self, state: StepState) -> FinalState:
        return final_state(self.program, state.memory, [thread.registers for thread in state.threads])

    def describe(self, state: StepState) -> list[str]:
        lines = describe_threads(self.program, [(t.point, t.registers) for t in state.threads], state.memory)
        for t, thread in enumerate(state.threads):
            lines += self.shown(t, thread.own)
        return lines

    def cell(self, number: int) -> Cell:
        return self.program.cells[number]


def _with(state: StepState, t: int, thread: StepThread, memory: tuple[int, ...]) -> StepState:
    return StepState((*state.threads[:t], thread, *state.threads[t + 1 :]), memory)


def no_such(model: AnyModelName, command: StepCommand) -> InternalError:
    """Return the error for an operation that the model does not have: programs with it are refused before."""
    return InternalError(f"model {model} has no {type(command.step.op).__name__}")
