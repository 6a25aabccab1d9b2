"""TSO and PSO: a buffer of stores per thread, or per thread and word, with room for `bound` stores.

Exact as long as no buffer overflows, and then valid for buffers of any size (Dan, Meshman, Vechev, Yahav, SAS 2013,
Theorem 1): a run of the model on which no buffer ever holds more than `bound` stores is a run here, and one on which some
does comes, at the first store too many, to a state that has overflowed here. Like stores next to each other are one, where
nobody else writes their word (`store_bounds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rdma_robust.analyses.prove.compiled_steps import CompiledStep
from rdma_robust.analyses.prove.footprints import NO_TOUCH, SystemMove, WaitCondition, WordUse
from rdma_robust.analyses.prove.placing import PlacedVariable, Valued, expression_of, seen
from rdma_robust.analyses.prove.reduced_system import OVERFLOW, ReducedSystem, State
from rdma_robust.analyses.prove.store_bounds import written_alone
from rdma_robust.analyses.prove.transition_system import Assignment, Cause, Drop, SafetyClaim, Suppose, Transition, Update
from rdma_robust.expr import Const, Name, equals
from rdma_robust.language.flow.cfg import Cas, MFence, Program, Read, Rmw, Write
from rdma_robust.semantics.machines.machine import Verb

Store = tuple[int, int | None]
"""The number of a word and the value, None if the wide variable of its slot holds it."""

Stores = tuple[Store, ...]
"""tso: oldest first. pso: those of each word together, oldest first, in the order of the words."""


class StoreBufferSystem(ReducedSystem):
    """TSO or PSO, reduced. A thread has under way :data:`Stores`. The wide value of the i-th store of thread T is the
    variable `T#i` (tso), or `T#A.x#i` for the i-th to word A.x (pso)."""

    def __init__(self, program: Program, claims: tuple[SafetyClaim, ...], narrow: int, bound: int, per_word: bool) -> None:
        self.bound = bound
        self.per_word = per_word
        super().__init__(program, "pso" if per_word else "tso", claims, narrow)
        self._number = {str(cell): i for i, cell in enumerate(program.cells)}
        self._alone = {self._number[str(cell)] for cell in written_alone(program)}

    def slots(self) -> Iterable[str]:
        for t, code in enumerate(self.code):
            written = {c.target.name for found in code.values() for c in found if isinstance(c.step.op, Write) and c.target}
            wide = [i for i, v in enumerate(self.placing.words) if v.name in written and v.wide]
            for place in range(self.bound if wide else 0):
                yield from dict.fromkeys(self._slot(t, cell, place) for cell in wide)

    def _slot(self, t: int, cell: int, place: int) -> str:
        """Return the wide variable of the store at this place, from 0, among those of the buffer."""
        word = f"#{self.placing.words[cell].name}" if self.per_word else ""
        return f"{self.program.threads[t].name}{word}#{place + 1}"

    def operate(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        stores: Stores = state[self.under_way + command.thread]
        match command.step.op:
            case MFence() | Cas() | Rmw() if stores:
                return ()
            case Write():
                return self._store(state, command, stores)
            case Read() if command.source is not None:
                return self.done(state, command, self._load(state, command.thread, stores, command.source))
            case _:
                return self.access_memory(state, command)

    def _load(self, state: State, t: int, stores: Stores, word: PlacedVariable) -> Valued:
        """Return the newest store to the word, else what is in memory."""
        cell = self._number[word.name]
        for place in range(len(stores) - 1, -1, -1):
            if stores[place][0] == cell:
                value = stores[place][1]
                return Name(self._slot(t, cell, self._place(stores, place))) if value is None else value
        return seen(word, state)

    def _place(self, stores: Stores, index: int) -> int:
        """Return the place of a store in its buffer."""
        return sum(cell == stores[index][0] for cell, _ in stores[:index]) if self.per_word else index

    def _store(self, state: State, command: CompiledStep, stores: Stores) -> Iterable[Transition]:
        assert command.target is not None and command.new is not None
        cell, wide = self._number[command.target.name], command.target.wide
        before = [store for store in stores if store[0] <= cell] if self.per_word else list(stores)
        place = sum(other == cell for other, _ in before) if self.per_word else len(before)
        if not command.may_pass(state, None):
            return
        value = command.new(state, None)
        if before and not wide and cell in self._alone and before[-1] == (cell, value):
            yield from self.done(state, command)
            return
        if place >= self.bound:
            yield Transition(command.causes, (), OVERFLOW)
            return
        t = command.thread
        if wide:
            let = Assignment(self._slot(t, cell, place), expression_of(value))
            own = (*before, (cell, None), *stores[len(before) :])
            yield from self.done(state, command, own=own, before=(let,))
        elif isinstance(value, int):
            yield from self.done(state, command, own=(*before, (cell, value), *stores[len(before) :]))
        else:
            for each in command.target.values:
                own = (*before, (cell, each), *stores[len(before) :])
                yield from self.done(state, command, own=own, before=(Suppose(equals(value, Const(each))),))

    def system_moves_of(self, state: State) -> list[SystemMove]:
        """Return for each buffer the move in which its oldest store, at `key` of the thread's stores, reaches memory."""
        found = []
        for t in range(len(self.code)):
            stores: Stores = state[self.under_way + t]
            for index, (cell, _) in enumerate(stores):
                if index == 0 or (self.per_word and stores[index - 1][0] != cell):
                    ahead = tuple([WordUse(0, 1 << c) for c, _ in stores if not self.per_word or c == cell])
                    link = (t, cell if self.per_word else -1)
                    found.append(SystemMove(t, index, "", link, link, ahead))
        return found

    def made(self, state: State, move: SystemMove) -> Iterable[Transition]:
        t, index = move.thread, move.key
        stores: Stores = state[self.under_way + t]
        cell, value = stores[index]
        word = self.placing.words[cell]
        rest = (*stores[:index], *stores[index + 1 :])
        written = Name(self._slot(t, cell, 0)) if value is None else value
        cause = Cause(t, Verb.FLUSH, None, self.program.cells[cell])
        return self.moved(state, t, cause, [(word, written)], rest, after=tuple(self._shifted(t, stores, index)))

    def uses(self, command: CompiledStep) -> WordUse:
        return NO_TOUCH if isinstance(command.step.op, Write) else super().uses(command)

    def awaited(self, command: CompiledStep) -> WaitCondition | None:
        return WaitCondition(command.thread, None) if isinstance(command.step.op, MFence | Cas | Rmw) else None

    def _shifted(self, t: int, stores: Stores, index: int) -> Iterator[Update]:
        """Yield what moves the wide values of a buffer forward by one."""
        cell = stores[index][0]
        buffer = [store for store in stores if store[0] == cell] if self.per_word else stores
        for place, (other, value) in enumerate(buffer):
            slot = self._slot(t, other, place)
            if place and value is None:
                yield Assignment(self._slot(t, other, place - 1), Name(slot))
            if value is None and (place + 1 == len(buffer) or buffer[place + 1][1] is not None):
                yield Drop(slot)

    def slots_in_use(self, state: State) -> Iterable[str]:
        for t in range(len(self.code)):
            stores: Stores = state[self.under_way + t]
            for index, (cell, value) in enumerate(stores):
                if value is None:
                    yield self._slot(t, cell, self._place(stores, index))

    def described_under_way(self, _thread: int, under_way: Any) -> dict[str, object]:
        """`stores`: a list of the word and the value of each, oldest first; the value is null if a wide variable has it."""
        stores: Stores = under_way
        return {"stores": [[self.placing.words[cell].name, value] for cell, value in stores]} if stores else {}
