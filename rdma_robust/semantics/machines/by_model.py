"""The stepwise machine of each memory model, by its name, and that of sequential consistency itself.

The machines of tso and pso: one buffer of stores per thread, or one per thread and word.

Source: docs/theory-safety.md, "Machines"; Dan, Meshman, Vechev, Yahav (SAS 2013).

The machine of model rma: what a thread has posted is one unordered multiset.

Source: docs/theory-safety.md, "Machines"; Baumann, Dan, Meshman, Hoefler, Vechev (VMCAI 2018), without in-order
routing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Flush, Poll, Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.semantics.machines.machine import Action, Move, Verb, with_value
from rdma_robust.semantics.machines.pipes import PipesMachine
from rdma_robust.semantics.machines.stepcode import NOWHERE, StepCommand
from rdma_robust.semantics.machines.stepping import Choose, Passed, StepMachine, StepState, few, no_such
from rdma_robust.semantics.machines.threadcode import Registers


class PendingOperation(NamedTuple):
    """A remote operation under way, by the number of its command, which gives its peer and its words.

    To be read: `value` is None, and `registers` are those that its atomic uses, as they were when it was posted. To be
    written: `value`, which has been read.
    """

    command: int
    registers: Registers
    value: int | None


Pending = tuple[PendingOperation, ...]
"""A multiset, sorted."""


def _order(posted: PendingOperation) -> tuple[int, bool, int, Registers]:
    return posted.command, posted.value is None, posted.value or 0, posted.registers


class OneSidedMachine(StepMachine):
    """Model rma: the card serves what is pending in any order; a flush waits for all of the thread's with its peer."""

    model = "rma"

    def nothing(self, _t: int) -> Pending:
        return ()

    def passes(self, t: int, own: Pending, command: StepCommand) -> Passed | None:
        if not isinstance(command.step.op, Flush):
            raise no_such(self.model, command)
        commands = self.codes[t].commands
        waits = any(commands[posted.command].peer == command.peer for posted in own)
        return None if waits else (Verb.ACCESS, own)

    def posts(self, state: StepState, t: int, command: StepCommand) -> Iterator[Move]:
        """Post the operation; the constant of a put is read already."""
        thread = state.threads[t]
        read = state.memory[command.source] if command.constant else None
        used = () if command.new is None else thread.registers
        kept = tuple([value if i in command.needs else 0 for i, value in enumerate(used)])
        own = _sorted((*thread.own, PendingOperation(command.number, kept, read)))
        yield self.goes(state, Action(t, Verb.ISSUE, command.step), command, own, state.memory)

    def system(self, state: StepState, t: int) -> Iterator[Move]:
        own: Pending = state.threads[t].own
        for place, posted in enumerate(own):
            if place and posted == own[place - 1]:
                continue
            rest = (*own[:place], *own[place + 1 :])
            yield self._read(state, t, posted, rest) if posted.value is None else self._write(state, t, posted, rest)

    def _read(self, state: StepState, t: int, posted: PendingOperation, rest: Pending) -> Move:
        command = self.codes[t].commands[posted.command]
        read = state.memory[command.source]
        written = command.replacing(posted.registers, read)
        memory = state.memory if written is None else with_value(state.memory, command.source, written)
        own = _sorted((*rest, PendingOperation(posted.command, (), read)))
        return self.moved(state, Action(t, Verb.NIC_READ, command.step, read, written), own, memory)

    def _write(self, state: StepState, t: int, posted: PendingOperation, rest: Pending) -> Move:
        command = self.codes[t].commands[posted.command]
        assert posted.value is not None
        memory = with_value(state.memory, command.target, posted.value)
        return self.moved(state, Action(t, Verb.NIC_WRITE, command.step, None, posted.value), rest, memory)

    def drained(self, own: Pending) -> bool:
        return not own

    def length(self, own: Pending) -> int:
        """Return the most operations under way that are alike, each as far as the others."""
        return max((sum(_alike(a, b) for b in own) for a in own), default=0)

    def shown(self, t: int, own: Pending) -> Iterable[str]:
        if own:
            texts = [
                self.codes[t].commands[p.command].step.text + ("" if p.value is None else f" (read {p.value})") for p in own
            ]
            yield f"{self.codes[t].thread.name} pending: {{{', '.join(texts)}}}"


def _alike(a: PendingOperation, b: PendingOperation) -> bool:
    return a.command == b.command and (a.value is None) == (b.value is None)


def _sorted(posted: Iterable[PendingOperation]) -> Pending:
    return tuple(sorted(posted, key=_order))


class BufferedStore(NamedTuple):
    """A store that is not in memory yet: the number of its word, and the value."""

    cell: int
    value: int


Stores = tuple[BufferedStore, ...]
"""tso: all of a thread, oldest first. pso: those of each word together, oldest first, in the order of the words."""


class _BufferMachine(StepMachine):
    """A machine with store buffers: a thread sees its own newest store; atomics and `mfence` wait for all of them."""

    def nothing(self, _t: int) -> Stores:
        return ()

    def load(self, own: Stores, memory: tuple[int, ...], cell: int) -> int:
        return next((store.value for store in reversed(own) if store.cell == cell), memory[cell])

    def stored(self, own: Stores) -> bool:
        return not own

    def passes(self, _t: int, _own: Stores, command: StepCommand) -> Passed | None:
        raise no_such(self.model, command)

    def posts(self, _state: StepState, _t: int, command: StepCommand) -> Iterator[Move]:
        raise no_such(self.model, command)

    def lands(self, state: StepState, t: int, place: int) -> Move:
        """Return the move in which the store at this place of thread `t` reaches memory."""
        own: Stores = state.threads[t].own
        cell, value = own[place]
        action = Action(t, Verb.FLUSH, None, None, value, cell=self.cell(cell))
        return self.moved(state, action, (*own[:place], *own[place + 1 :]), with_value(state.memory, cell, value))

    def drained(self, own: Stores) -> bool:
        return not own

    def shown(self, t: int, own: Stores) -> Iterable[str]:
        if own:
            stores = ", ".join(f"{self.cell(store.cell)} = {store.value}" for store in own)
            yield f"{self.codes[t].thread.name} buffer: [{stores}]"


class TsoMachine(_BufferMachine):
    """Model tso: the oldest store of a thread's buffer goes to memory at any time."""

    model = "tso"

    def store(self, own: Stores, memory: tuple[int, ...], cell: int, value: int) -> tuple[Stores, tuple[int, ...]]:
        return (*own, BufferedStore(cell, value)), memory

    def system(self, state: StepState, t: int) -> Iterator[Move]:
        if state.threads[t].own:
            yield self.lands(state, t, 0)

    def length(self, own: Stores) -> int:
        return len(own)


class PsoMachine(_BufferMachine):
    """Model pso: the oldest store of each word goes to memory at any time."""

    model = "pso"

    def store(self, own: Stores, memory: tuple[int, ...], cell: int, value: int) -> tuple[Stores, tuple[int, ...]]:
        older = [store for store in own if store.cell <= cell]
        return (*older, BufferedStore(cell, value), *own[len(older) :]), memory

    def system(self, state: StepState, t: int) -> Iterator[Move]:
        own: Stores = state.threads[t].own
        for place, store in enumerate(own):
            if not place or own[place - 1].cell != store.cell:
                yield self.lands(state, t, place)

    def length(self, own: Stores) -> int:
        cells = [store.cell for store in own]
        return max(map(cells.count, cells), default=0)


class OpenOperation(NamedTuple):
    """The operation whose first step is done, by its command's number, -1 for none, with the value that it has read.

    `unpolled` counts, per queue pair, the completions that a poll may still take (0 where no poll can come).
    """

    command: int
    value: int
    unpolled: tuple[int, ...]


class InOrderMachine(StepMachine):
    """Model sc: a put, get or remote atomic is two steps, for which its thread waits.

    `flush` and `mfence` wait for nothing.
    """

    model = "sc"

    def nothing(self, t: int) -> OpenOperation:
        return OpenOperation(NOWHERE, 0, (0,) * len(self.codes[t].peers))

    def busy(self, own: OpenOperation) -> bool:
        return own.command != NOWHERE

    def passes(self, _t: int, own: OpenOperation, command: StepCommand) -> Passed | None:
        op = command.step.op
        if isinstance(op, Poll):
            left = own.unpolled[command.qp] - 1
            return None if left < 0 else (Verb.POLL, own._replace(unpolled=with_value(own.unpolled, command.qp, left)))
        return (Verb.ACCESS if isinstance(op, Flush) else Verb.FENCE), own

    def posts(self, state: StepState, t: int, command: StepCommand) -> Iterator[Move]:
        thread = state.threads[t]
        read = state.memory[command.source]
        written = command.replacing(thread.registers, read)
        memory = state.memory if written is None else with_value(state.memory, command.source, written)
        own = thread.own._replace(command=command.number, value=read)
        yield self.moved(state, Action(t, Verb.NIC_READ, command.step, read, written), own, memory)

    def system(self, state: StepState, t: int) -> Iterator[Move]:
        own: OpenOperation = state.threads[t].own
        if not self.busy(own):
            return
        command = self.codes[t].commands[own.command]
        unpolled = with_value(own.unpolled, command.qp, own.unpolled[command.qp] + 1)
        action = Action(t, Verb.NIC_WRITE, command.step, None, own.value)
        after = with_value(state.memory, command.target, own.value)
        yield self.goes(state, action, command, OpenOperation(NOWHERE, 0, unpolled), after)

    def forgotten(self, t: int, point: int, own: OpenOperation) -> OpenOperation:
        ahead = self.codes[t].polls_ahead[point]
        return own._replace(unpolled=tuple([n if more else 0 for n, more in zip(own.unpolled, ahead, strict=True)]))

    def drained(self, own: OpenOperation) -> bool:
        return own.command == NOWHERE

    def length(self, own: OpenOperation) -> int:
        return max(own.unpolled, default=0)

    def shown(self, t: int, own: OpenOperation) -> Iterable[str]:
        if self.busy(own):
            step = self.codes[t].commands[own.command].step
            yield f"{self.codes[t].thread.name} carries {own.value} of {step.text}"


STEPWISE: Final[Mapping[AnyModelName, type[StepMachine]]] = {
    "sc": InOrderMachine,
    "tso": TsoMachine,
    "pso": PsoMachine,
    "rma": OneSidedMachine,
    "rdma": PipesMachine,
}


def stepwise_machine(program: Program, model: AnyModelName, choose: Choose = few) -> StepMachine:
    """Return the machine on which every step of `program` is a move. Raises UsageError for a model that has none."""
    if model not in STEPWISE:
        raise UsageError(f"no stepwise machine runs model {model}; there are those of {', '.join(STEPWISE)}")
    return STEPWISE[model](program, choose)
