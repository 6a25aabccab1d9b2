"""RMA: what a thread has posted is an unordered multiset; like elements are counted up to `bound`, more are `many`.

An element is a step of the thread that posted it (the first of those with one operation), whether it is to be read or
to be written, and its small values: the one that has been read, or the operands of an atomic. What may be wide is in
variables: `T@number` for the value read by step `number` of thread T, `T@number.r` for the operand register r. With
several like elements such a variable is folded: it stands for the values of all of them. Exact while nothing is `many`
and nothing folded. Source: docs/theory-safety.md, "Pending operations as counts".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rdma_robust.analyses.prove.compiled_steps import CompiledStep
from rdma_robust.analyses.prove.footprints import NO_TOUCH, SystemMove, WaitCondition, Ways, WordUse, private_words
from rdma_robust.analyses.prove.placing import PlacedVariable, Valued, Valuer, expression_of, seen, valuer
from rdma_robust.analyses.prove.reduced_system import OVERFLOW, ReducedSystem, State
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
from rdma_robust.digraph import reachable
from rdma_robust.expr import VALUE, Expr, Name, names, negate, substitute
from rdma_robust.language.flow.cfg import Flush, Get, Op, Program, Put, RemoteOp, RemoteRmw, Thread, peer_of, steps
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.semantics.machines.waiting_points import preceding

Element = tuple[int, bool, tuple[int, ...]]
"""The number of the step, whether the value has been read, and the small values."""

Pending = tuple[tuple[Element, int], ...]
"""Elements with their counts, sorted; `bound` + 1 is `many`."""


@dataclass(frozen=True)
class PostingStep:
    """A step that posts: its command, and of an atomic the operands: the small ones, which are in elements, and the wide
    ones as pairs of register and slot. What it writes and when is over the small ones, what was taken of slots, VALUE."""

    command: CompiledStep
    source: PlacedVariable
    target: PlacedVariable
    slot: str
    small: tuple[PlacedVariable, ...] = ()
    wide: tuple[tuple[PlacedVariable, str], ...] = ()
    new: Valuer | None = None
    when: Valuer | None = None
    touches: tuple[WordUse, ...] = ()


class PendingSetSystem(ReducedSystem):
    """RMA, reduced. A thread has under way :data:`Pending`."""

    def __init__(
        self, program: Program, claims: tuple[SafetyClaim, ...], narrow: int, bound: int, *, many: bool = True
    ) -> None:
        self.bound = bound
        self.many = many
        self.postings: list[Mapping[int, PostingStep]] = []
        self.alike: list[Mapping[int, int]] = []
        super().__init__(program, "rma", claims, narrow)
        self.private = private_words(self.placing, self.words, claims, at_once=False)
        self.flushed = [flushed_from(thread) for thread in program.threads]
        self.ends = any(claim.final for claim in claims)

    def _alike(self, t: int) -> dict[int, int]:
        """Return for each step that posts the first with the same operation, whose elements stand for its own."""
        first: dict[Op, int] = {}
        return {
            n: first.setdefault(step.op, n)
            for n, (_, _, step) in enumerate(steps(self.program.threads[t]))
            if isinstance(step.op, RemoteOp)
        }

    def slots(self) -> Iterable[str]:
        self.alike = [self._alike(t) for t in range(len(self.code))]
        self.postings = [
            {c.number: self._posting(t, c) for found in code.values() for c in found if c.number in self.alike[t].values()}
            for t, code in enumerate(self.code)
        ]
        for postings in self.postings:
            for posting in postings.values():
                if posting.target.wide:
                    yield posting.slot
                for _, slot in posting.wide:
                    yield from (slot, _taken(slot))

    def _posting(self, t: int, command: CompiledStep) -> PostingStep:
        assert command.source is not None and command.target is not None
        slot = f"{self.program.threads[t].name}@{command.number}"
        op = command.step.op
        touches = self.words.halves(command)
        if not isinstance(op, RemoteRmw):
            return PostingStep(command, command.source, command.target, slot, touches=touches)
        used = dict.fromkeys(n for e in (op.new, op.when) for n in names(e) if n != VALUE.name)
        operands = {name: self.placing.register(t, name) for name in used}
        small = tuple(v for v in operands.values() if not v.wide)
        wide = tuple((v, f"{slot}.{name}") for name, v in operands.items() if v.wide)
        code = {v.name: f"s[{i}]" for i, v in enumerate(small)}
        renamed: dict[str, Expr] = {n: Name(_taken(f"{slot}.{n}") if v.wide else v.name) for n, v in operands.items()}
        new = valuer(substitute(op.new, renamed), code, not command.source.wide)
        when = valuer(substitute(op.when, renamed), code, not command.source.wide)
        return PostingStep(command, command.source, command.target, slot, small, wide, new, when, touches)

    def weight(self, state: Any) -> int:
        return sum(count * (2 - read) for own in state[self.under_way :] for (_, read, _), count in own)

    def uses(self, command: CompiledStep) -> WordUse:
        return NO_TOUCH if isinstance(command.step.op, RemoteOp) else super().uses(command)

    def awaited(self, command: CompiledStep) -> WaitCondition | None:
        return WaitCondition(command.thread, command.peer) if isinstance(command.step.op, Flush) else None

    def untouched(self, state: State, thread: int, touch: WordUse) -> bool:
        own: Pending = state[self.under_way + thread]
        postings = self.postings[thread]
        return not any(each.meets(touch) for (n, read, _), _ in own for each in postings[n].touches[read:])

    def is_dead(self, state: Sequence[Any], t: int, word: PlacedVariable, ways: Ways) -> bool:
        postings = self.postings[t]
        written: set[str | None] = set()
        for (number, read, _), _ in state[self.under_way + t]:
            posting = postings[number]
            if not read and posting.source is word:
                return False
            if posting.target is word:
                written.add(posting.command.peer)
        return all(not written.isdisjoint(way) for way in ways)

    def is_awkward(self, state: State) -> bool:
        for t, postings in enumerate(self.postings):
            for (number, _, _), count in state[self.under_way + t]:
                if count > self.bound and (postings[number].target.wide or postings[number].wide):
                    return True
        return False

    def operate(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        match command.step.op:
            case Put() | Get() | RemoteRmw():
                return self._post(state, command)
            case Flush():
                return () if self.waits(state, command) else self.done(state, command)
            case _:
                return self.access_memory(state, command)

    def waits(self, state: State, command: CompiledStep) -> bool:
        """Return whether something is under way that a flush waits for."""
        postings = self.postings[command.thread]
        pending: Pending = state[self.under_way + command.thread]
        return any(postings[number].command.peer == command.peer for (number, _, _), _ in pending)

    def _post(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        """Post; the constant of a put is read already."""
        t = command.thread
        posting = self.postings[t][self.alike[t][command.number]]
        pending: Pending = state[self.under_way + t]
        before: list[Update] = []
        if command.source is not None and self.program.cells[self._cell(posting.source)].hidden:
            element, before = self._to_write(pending, posting, seen(posting.source, state))
        else:
            element = (posting.command.number, False, tuple(state[v.place] for v in posting.small))
            several = any(e[0] == element[0] and not e[1] for e, _ in pending)
            for register, slot in posting.wide:
                before.append(Join(slot, Name(register.name)) if several else Assignment(slot, Name(register.name)))
        own = self._added(pending, element)
        if not self.many and dict(own)[element] > self.bound:
            if command.may_pass(state, None):
                yield Transition(command.causes, (), OVERFLOW)
            return
        yield from self.done(state, command, own=own, before=tuple(before), exact=not _joins(before))

    def _cell(self, variable: PlacedVariable) -> int:
        return self.placing.words.index(variable)

    def _to_write(self, pending: Pending, posting: PostingStep, value: Valued) -> tuple[Element, list[Update]]:
        """Return the element that is to write a value, and what keeps a wide one."""
        number = posting.command.number
        if not posting.target.wide:
            assert isinstance(value, int)
            return (number, True, (value,)), []
        element: Element = (number, True, ())
        expr = expression_of(value)
        several = any(e == element for e, _ in pending)
        return element, [Join(posting.slot, expr) if several else Assignment(posting.slot, expr)]

    def _added(self, pending: Pending, element: Element) -> Pending:
        counts = dict(pending)
        counts[element] = min(counts.get(element, 0) + 1, self.bound + 1)
        return tuple(sorted(counts.items()))

    def _without(self, pending: Pending, element: Element) -> list[Pending]:
        """Return what is left when one is taken: of `many`, still many or `bound`."""
        count = dict(pending)[element]
        left = [count, count - 1] if count > self.bound else [count - 1]
        rest = [counted for counted in pending if counted[0] != element]
        return [tuple(sorted([*rest, (element, n)])) if n else tuple(rest) for n in left]

    def system_moves_of(self, state: State) -> list[SystemMove]:
        """Return a move for each pending element, which is its `key`."""
        found = []
        for t, postings in enumerate(self.postings):
            for element, _ in state[self.under_way + t]:
                number, read, _ = element
                posting = postings[number]
                if read:
                    link, leads, ahead = (t, element), None, posting.touches[1:]
                else:
                    value = () if posting.target.wide else (state[posting.source.place],)
                    link, leads, ahead = (t, element), (t, (number, True, value)), posting.touches
                found.append(SystemMove(t, element, posting.command.peer or "", link, leads, ahead))
        return found

    def made(self, state: State, move: SystemMove) -> Iterable[Transition]:
        t, element = move.thread, move.key
        pending: Pending = state[self.under_way + t]
        several = dict(pending)[element] > 1
        for rest in self._without(pending, element)[: 1 if self._stays(state, t, element) else None]:
            if element[1]:
                yield from self._write(state, t, element, rest, several)
            else:
                yield from self._read(state, t, element, rest, several)

    def _stays(self, state: State, t: int, element: Element) -> bool:
        """Return whether it is enough that `many` stay many: if nobody ever waits for them to end, more can only do more."""
        return self._many(state, t, element) and (
            not self.ends and self.postings[t][element[0]].command.peer not in self.flushed[t][state[t]]
        )

    def _write(self, state: State, t: int, element: Element, rest: Pending, several: bool) -> Iterator[Transition]:
        posting = self.postings[t][element[0]]
        cause = Cause(t, Verb.NIC_WRITE, posting.command.step)
        target = posting.target
        if not target.wide:
            yield from self.moved(state, t, cause, [(target, element[2][0])], rest, exact=not self._many(state, t, element))
            return
        gone = all(e != element for e, _ in rest)
        taken: tuple[Update, ...]
        if several:
            taken = (Selection(target.name, posting.slot), *((Drop(posting.slot),) if gone else ()))
        else:
            taken = (Assignment(target.name, Name(posting.slot)), Drop(posting.slot))
        yield from self.moved(state, t, cause, [], rest, before=taken, exact=not several)

    def _many(self, state: State, t: int, element: Element) -> bool:
        pending: Pending = state[self.under_way + t]
        return dict(pending)[element] > self.bound

    def _read(self, state: State, t: int, element: Element, rest: Pending, several: bool) -> Iterator[Transition]:
        posting = self.postings[t][element[0]]
        cause = Cause(t, Verb.NIC_READ, posting.command.step)
        value = seen(posting.source, state)
        made, keep = self._to_write(rest, posting, value)
        own = self._added(rest, made)
        others = several or any(e[0] == element[0] and not e[1] and e != element for e, _ in rest)
        operands, after = self._operands(posting, others, any(e[0] == element[0] and not e[1] for e, _ in rest))
        if not self.many and dict(own)[made] > self.bound:
            yield Transition((cause,), (), OVERFLOW)
            return
        exact = not (others and posting.wide) and not self._many(state, t, element) and not _joins(keep)
        for writes, also in self._effect(posting, element, value):
            yield from self.moved(state, t, cause, writes, own, before=(*operands, *also, *keep), after=after, exact=exact)

    def _operands(self, posting: PostingStep, others: bool, left: bool) -> tuple[tuple[Update, ...], tuple[Update, ...]]:
        """Return what takes the wide operands of one element out of their slots, and what forgets them.

        `others`: there are like elements, so that the slots are folded; `left`: there are still some after.
        """
        slots = [slot for _, slot in posting.wide]
        takes = tuple(Selection(_taken(s), s) if others else Assignment(_taken(s), Name(s)) for s in slots)
        gone = () if left else tuple(Drop(s) for s in slots)
        return takes, (*(Drop(_taken(s)) for s in slots), *gone)

    def _effect(
        self, posting: PostingStep, element: Element, value: Valued
    ) -> Iterator[tuple[list[tuple[PlacedVariable, Valued]], tuple[Update, ...]]]:
        """Yield what an atomic writes to its source (nothing, if it is none), and what that supposes."""
        if posting.new is None or posting.when is None:
            yield [], ()
            return
        when = posting.when(element[2], value)
        if when != 0:
            written = [(posting.source, posting.new(element[2], value))]
            yield written, () if isinstance(when, int) else (Suppose(when),)
        if not isinstance(when, int):
            yield [], (Suppose(negate(when)),)
        elif when == 0:
            yield [], ()

    def slots_in_use(self, state: State) -> Iterable[str]:
        for t, postings in enumerate(self.postings):
            for (number, read, _), _ in state[self.under_way + t]:
                posting = postings[number]
                if not read:
                    yield from (slot for _, slot in posting.wide)
                elif posting.target.wide:
                    yield posting.slot

    def described_under_way(self, thread: int, under_way: Any) -> dict[str, object]:
        """`pending`: a list with, of each element, its `step`, `count` (or "many"), and either the `value` that it has read
        (null if a wide variable has it) or the small `operands` by register."""
        pending: Pending = under_way
        return {"pending": [self._told(thread, element, count) for element, count in pending]} if pending else {}

    def _told(self, thread: int, element: Element, count: int) -> dict[str, object]:
        number, read, values = element
        told: dict[str, object] = {"step": number, "count": "many" if count > self.bound else count}
        if read:
            return told | {"value": values[0] if values else None}
        names_ = (v.name.partition(".")[2] for v in self.postings[thread][number].small)
        return told | {"operands": dict(zip(names_, values, strict=True))}


def flushed_from(thread: Thread) -> dict[int, frozenset[str]]:
    """Return the queue pairs that a thread may still flush, by program point."""
    before = preceding(thread)
    found: dict[int, set[str]] = {point: set() for point in thread.points}
    flushes = {(source, peer_of(step.op) or "") for source, _, step in thread.edges if isinstance(step.op, Flush)}
    for source, pair in flushes:
        for point in reachable([source], before):
            found[point].add(pair)
    return {point: frozenset(pairs) for point, pairs in found.items()}


def _taken(slot: str) -> str:
    """Return the wide variable for a value while it is taken from a slot, within one transition."""
    return f"{slot}'"


def _joins(updates: Iterable[Update]) -> bool:
    """Return whether a slot becomes one for several values, so that it is no longer known which is whose."""
    return any(isinstance(each, Join) for each in updates)
