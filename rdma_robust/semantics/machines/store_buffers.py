"""The machines of tso and pso: one buffer of stores per thread, or one per thread and word.

Source: docs/theory-safety.md, "Machines"; Dan, Meshman, Vechev, Yahav (SAS 2013).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rdma_robust.semantics.machines.machine import Action, Move, Verb, with_value
from rdma_robust.semantics.machines.stepcode import StepCommand
from rdma_robust.semantics.machines.stepping import Passed, StepMachine, StepState, no_such


class BufferedStore(NamedTuple):
    """A store that is not in memory yet: the number of its word, and the value."""

    cell: int
    value: int


Stores = tuple[BufferedStore, ...]
"""tso: all of a thread, oldest first. pso: those of each word together, oldest first, in the order of the words."""


class _BufferMachine(StepMachine):
    """What both have in common: a thread sees its own newest store; atomics and `mfence` wait for all of them."""

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
