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
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rdma_robust.analyses.prove.compiled_steps import CompiledStep
from rdma_robust.analyses.prove.footprints import NO_TOUCH, SystemMove, WaitCondition, WordUse
from rdma_robust.analyses.prove.placing import PlacedVariable, Valued, expression_of, seen
from rdma_robust.analyses.prove.reduced_system import ReducedSystem, State
from rdma_robust.analyses.prove.transition_system import (
    Assignment,
    Cause,
    Drop,
    Join,
    SafetyClaim,
    Selection,
    Transition,
    Update,
)
from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Flush, Program, RemoteOp, RemoteRmw
from rdma_robust.semantics.machines.machine import Verb

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
