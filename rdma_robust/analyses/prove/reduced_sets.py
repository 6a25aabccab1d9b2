"""RMA with a set of values per remote statement: the encoding of Baumann, Dan, Meshman, Hoefler, Vechev (VMCAI 2018).

Each put or get s has a flag active(s) and a set set(s) of the values that its read may have got. Posting s makes it active
with the value of its source word X as the only element, or adds that if s is active already; a store to X, and a card's
write to it, add the new value to set(s) while s is active. The card of an active s writes any element of set(s) to the
target of s, adds it to the sets of active statements that read the target, and may make s inactive; a flush waits until the
thread's statements towards its node are inactive. (The paper's table forgets the `add` where a flush lets cards write.)

Over-approximated: an active s may write again and again, old values stay in the set, and several instances are one. Sound by
simulation: each instance of s that is under way has active(s) and what it has read, or the word that it is to read, in
set(s). More elements in sets, and statements that became active earlier, only add runs, so a posting may be taken alone
(`lazy_system`). Remote atomics change what they read: they are refused here.

TSO and PSO: a buffer of stores per thread, or per thread and word, with room for `bound` stores.

Exact as long as no buffer overflows, and then valid for buffers of any size (Dan, Meshman, Vechev, Yahav, SAS 2013,
Theorem 1): a run of the model on which no buffer ever holds more than `bound` stores is a run here, and one on which some
does comes, at the first store too many, to a state that has overflowed here. Like stores next to each other are one, where
nobody else writes their word (`store_bounds`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rdma_robust.analyses.prove.compiled_steps import CompiledStep
from rdma_robust.analyses.prove.footprints import NO_TOUCH, SystemMove, WaitCondition, WordUse
from rdma_robust.analyses.prove.placing import PlacedVariable, Valued, expression_of, seen
from rdma_robust.analyses.prove.reduced_system import OVERFLOW, ReducedSystem, State
from rdma_robust.analyses.prove.store_bounds import written_alone
from rdma_robust.analyses.prove.transition_system import (
    Assignment,
    Cause,
    Drop,
    Join,
    SafetyClaim,
    Selection,
    Suppose,
    Transition,
    Update,
)
from rdma_robust.errors import UsageError
from rdma_robust.expr import Const, Name, equals
from rdma_robust.language.flow.cfg import Cas, Flush, MFence, Program, Read, RemoteOp, RemoteRmw, Rmw, Write
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


ONE, SEVERAL = 1, 2

Values = tuple[int, ...] | int
"""The elements of a set, sorted; of one with wide values whether they are :data:`ONE` or :data:`SEVERAL`."""

Active = tuple[tuple[int, Values], ...]
"""The steps that are active with their sets, sorted."""


class RemoteStatement(NamedTuple):
    """A put or get. `constant`: its source is the constant of a put, which is never read by the card."""

    command: CompiledStep
    source: PlacedVariable
    target: PlacedVariable
    slot: str
    touch: WordUse
    constant: bool


class StatementSetSystem(ReducedSystem):
    """RMA with sets. A thread has under way :data:`Active`. The wide values of step `number` of thread T are in
    `T@number.set`, which is folded."""

    def __init__(self, program: Program, claims: tuple[SafetyClaim, ...], narrow: int) -> None:
        self.statements: list[Mapping[int, RemoteStatement]] = []
        super().__init__(program, "rma", claims, narrow)

    def slots(self) -> Iterable[str]:
        self.statements = [
            {c.number: self._statement(t, c) for found in code.values() for c in found if isinstance(c.step.op, RemoteOp)}
            for t, code in enumerate(self.code)
        ]
        return [each.slot for found in self.statements for each in found.values() if each.target.wide]

    def _statement(self, t: int, command: CompiledStep) -> RemoteStatement:
        if isinstance(command.step.op, RemoteRmw):
            where = f"{self.program.file}:{command.step.span.line}"
            raise UsageError(f"--reduction sets has no remote atomics, which {where} uses; use --reduction slots")
        assert command.source is not None and command.target is not None
        read, write = self.words.halves(command)
        slot = f"{self.program.threads[t].name}@{command.number}.set"
        hidden = {str(cell) for cell in self.program.cells if cell.hidden}
        return RemoteStatement(command, command.source, command.target, slot, read | write, command.source.name in hidden)

    def operate(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        if isinstance(command.step.op, RemoteOp):
            return self._post(state, command)
        if isinstance(command.step.op, Flush):
            waits = any(self.awaited_by(command, move) for move in self.system_moves_of(state))
            return () if waits else self.done(state, command)
        return self.access_memory(state, command)

    def awaited_by(self, command: CompiledStep, move: SystemMove) -> bool:
        awaited = self.awaited(command)
        return awaited is not None and awaited.has(move)

    def done(
        self,
        state: State,
        command: CompiledStep,
        value: Valued | None = None,
        writes: Sequence[tuple[PlacedVariable, Valued]] = (),
        **more: Any,
    ) -> list[Transition]:
        """Return the transitions of a step of a CPU, with what it writes added to sets."""
        found = super().done(state, command, value, writes, **more)
        return [self._with_additions(each, writes[0][0]) for each in found] if writes else found

    def _with_additions(self, transition: Transition, word: PlacedVariable) -> Transition:
        """Return a transition after which all active statements that read a word have its value in their sets."""
        after: State = transition.to  # type: ignore[assignment]
        changed = list(after)
        joins: list[Update] = []
        for t, statements in enumerate(self.statements):
            own: Active = after[self.under_way + t]
            if any(statements[number].source is word for number, _ in own):
                changed[self.under_way + t] = tuple(
                    [
                        (n, self._added(values, statements[n], seen(word, after), joins))
                        if statements[n].source is word
                        else (n, values)
                        for n, values in own
                    ]
                )
        exact = transition.exact and not joins
        return transition._replace(to=tuple(changed), updates=(*transition.updates, *joins), exact=exact)

    def _added(self, values: Values, statement: RemoteStatement, value: Valued, joins: list[Update]) -> Values:
        if isinstance(values, int):
            joins.append(Join(statement.slot, expression_of(value)))
            return SEVERAL
        assert isinstance(value, int)
        return tuple(sorted({*values, value}))

    def _post(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        t = command.thread
        statement = self.statements[t][command.number]
        own: dict[int, Values] = dict(state[self.under_way + t])
        value = seen(statement.source, state)
        updates: list[Update] = []
        if command.number in own:
            own[command.number] = self._added(own[command.number], statement, value, updates)
        elif statement.target.wide:
            updates.append(Assignment(statement.slot, expression_of(value)))
            own[command.number] = ONE
        else:
            assert isinstance(value, int)
            own[command.number] = (value,)
        exact = len(own) > len(state[self.under_way + t])
        yield from self.done(state, command, own=tuple(sorted(own.items())), before=tuple(updates), exact=exact)

    def system_moves_of(self, state: State) -> list[SystemMove]:
        """Return for each active statement the move in which its card writes; `key` is its number."""
        return [
            SystemMove(t, number, found[number].command.peer or "", (t, number), None, (found[number].touch,))
            for t, found in enumerate(self.statements)
            for number, _ in state[self.under_way + t]
        ]

    def made(self, state: State, move: SystemMove) -> Iterator[Transition]:
        statement = self.statements[move.thread][move.key]
        own: Active = state[self.under_way + move.thread]
        values = dict(own)[move.key]
        step = statement.command.step
        causes = tuple(Cause(move.thread, verb, step) for verb in (Verb.NIC_READ, Verb.NIC_WRITE)[statement.constant :])
        rest = tuple(each for each in own if each[0] != move.key)
        for left in (rest, own):
            exact = left is rest and values in (ONE,) if isinstance(values, int) else left is rest and len(values) == 1
            for value in (None,) if isinstance(values, int) else values:
                writes = [] if value is None else [(statement.target, value)]
                taken = self._taken(statement, left is rest) if value is None else ()
                for each in self.moved(state, move.thread, causes[0], writes, left, before=taken, exact=exact):
                    yield self._with_additions(each._replace(causes=causes), statement.target)

    def _taken(self, statement: RemoteStatement, leaves: bool) -> tuple[Update, ...]:
        pick = Selection(statement.target.name, statement.slot)
        return (pick, Drop(statement.slot)) if leaves else (pick,)

    def uses(self, command: CompiledStep) -> WordUse:
        return NO_TOUCH if isinstance(command.step.op, RemoteOp) else super().uses(command)

    def awaited(self, command: CompiledStep) -> WaitCondition | None:
        return WaitCondition(command.thread, command.peer) if isinstance(command.step.op, Flush) else None

    def untouched(self, state: State, thread: int, touch: WordUse) -> bool:
        own: Active = state[self.under_way + thread]
        return not any(self.statements[thread][number].touch.meets(touch) for number, _ in own)

    def is_awkward(self, state: State) -> bool:
        return any(isinstance(values, int) for own in state[self.under_way :] for _, values in own)

    def slots_in_use(self, state: State) -> Iterable[str]:
        for t, found in enumerate(self.statements):
            for number, values in state[self.under_way + t]:
                if isinstance(values, int):
                    yield found[number].slot

    def described_under_way(self, _thread: int, under_way: Any) -> dict[str, object]:
        """`active`: a list with, of each active statement, its `step` and its `set`, null if a wide variable has it."""
        active: Active = under_way
        if not active:
            return {}
        return {"active": [{"step": n, "set": None if isinstance(v, int) else list(v)} for n, v in active]}
