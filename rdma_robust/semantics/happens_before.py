"""Happens-before in sequentially consistent executions, and their data races (docs/races.md).

Happens-before is observed-before of what a program says of order itself: without what only follows from which accesses of
data came first (rb, mo, nfo, rao), and with rf of synchronising words alone. So every order table, store buffer, message and
barrier takes part in it as in the axioms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from rdma_robust.expr import FALSE
from rdma_robust.language.flow.cfg import (
    Cas,
    Cell,
    InlinePut,
    Program,
    Put,
    Read,
    RemoteRmw,
    Rmw,
    Section,
    Step,
    Write,
    steps,
)
from rdma_robust.language.flow.looking import waits_for_value
from rdma_robust.model import Model
from rdma_robust.semantics.axioms import ob
from rdma_robust.semantics.trace import CPU_TYPES, WRITE_TYPES, Event, EventType, Relation, Trace

RacingPair = tuple[Event, Event]
"""Two accesses of one word that nothing orders, in the order of the execution."""


ANY_KIND: Final = "any"
"""What an access is that synchronises with all that do."""
_CARRIES: Final = frozenset({EventType.NLR, EventType.NLW})
"""What a card does with words at hand, which are not those that its request is about."""


@dataclass(frozen=True, slots=True)
class Synchronising:
    """The accesses by which threads tell each other something: all of some `words`, and of others those whose step says so
    (`Step.synchronises`). Atomics that are not atomic with each other, as those of two types, are of two kinds."""

    words: frozenset[Cell]
    others: frozenset[Cell] = frozenset()

    def kind(self, event_type: EventType, cell: Cell | None, step: Step | None) -> str:
        """Return among which accesses one synchronises, nothing if it does not."""
        if cell in self.words:
            return ANY_KIND
        is_said = step is not None and cell in self.others and event_type not in _CARRIES
        return step.synchronises if is_said and step is not None else ""

    def of(self, event: Event) -> str:
        """Return among which accesses an event synchronises, nothing if it does not. Initial values do with all."""
        if event.type is EventType.INIT:
            return ANY_KIND if event.cell in self.words or event.cell in self.others else ""
        return self.kind(event.type, event.cell, event.step)


def are_of_one_kind(one: str, other: str) -> bool:
    """Return whether two accesses synchronise with each other."""
    return bool(one and other) and (one == other or ANY_KIND in (one, other))


def synchronising_accesses(program: Program) -> Synchronising:
    """Return the accesses by which threads tell each other something: those that steps say, beside the words that are
    declared `sync`, or, if no step says so, those of :func:`synchronising_words`."""
    said = frozenset(
        cell for thread in program.threads for _, _, step in steps(thread) if step.synchronises for cell in _words_of(step)
    )
    if not said:
        return Synchronising(synchronising_words(program))
    words = frozenset(cell for cell in program.cells if cell.sync or cell.moment)
    return Synchronising(words, said - words)


def _words_of(step: Step) -> Iterator[Cell]:
    """The word that a step is about."""
    match step.op:
        case Put(target=cell) | InlinePut(target=cell) | RemoteRmw(source=cell):
            yield cell
        case Read(cell=cell) | Write(cell=cell) | Cas(cell=cell) | Rmw(cell=cell):
            yield cell


def synchronising_words(program: Program) -> frozenset[Cell]:
    """Return the words by which threads tell each other something: those that are declared `sync`, or, if none is, those
    that a thread waits for and those of atomics. The start and the end of a thread are always among them."""
    declared = frozenset(cell for cell in program.cells if cell.sync)
    always = frozenset(cell for cell in program.cells if cell.moment)
    return always | (declared or frozenset(_used_to_synchronise(program)))


def _used_to_synchronise(program: Program) -> Iterator[Cell]:
    for thread in program.threads:
        for _, _, step in steps(thread):
            match step.op:
                case Cas(cell=cell) | Rmw(cell=cell) | RemoteRmw(source=cell):
                    yield cell
                case Section(cells=cells):
                    yield from cells
                case op if waits_for_value(step) and not step.aside:
                    yield op.cell  # type: ignore[union-attr] # what waits is a read


def may_write(event: Event) -> bool:
    """Return whether an access counts as a write: it writes, or is an atomic that does so for other values."""
    if event.type in WRITE_TYPES:
        return True
    match event.step.op if event.step is not None else None:
        case Cas(cell=cell):
            return event.cell == cell
        case Rmw(cell=cell, when=when) | RemoteRmw(source=cell, when=when):
            return event.cell == cell and event.type in (EventType.LR, EventType.NAR, EventType.NA) and when != FALSE
    return False


def happens_before(trace: Trace, model: Model, synchronising: Synchronising) -> Relation:
    """Return (oppo + [nlW];pf + [Inst];ib' + sw)+ of a trace, where ib' = (ippo + pf + sw)+ and sw has message edges, starts
    and ends of threads, rounds of barriers, and rf of accesses that synchronise with each other."""

    def tells(write: Event, read: Event) -> bool:
        return are_of_one_kind(synchronising.of(write), synchronising.of(read))

    n = len(trace.events)
    nothing = Relation.of(n, ())
    told = Relation.of(n, ((w, r) for w, r in trace.rf if tells(trace.events[w], trace.events[r])))
    return ob(replace(trace, rf=told, mo=nothing, nfo=nothing, rao=None), model)


def races_of(trace: Trace, model: Model, synchronising: Synchronising) -> Iterator[RacingPair]:
    """Yield the pairs of accesses of a sequentially consistent trace that race: they conflict, they do not synchronise with
    each other, and neither happens before the other."""
    ordered = happens_before(trace, model, synchronising)
    accesses: dict[Cell, list[Event]] = {}
    for event in trace.events:
        if event.thread >= 0 and event.cell is not None and event.cell not in synchronising.words:
            accesses.setdefault(event.cell, []).append(event)
    for mine in accesses.values():
        for one, other in combinations(mine, 2):
            a, b = one.index, other.index
            if are_of_one_kind(synchronising.of(one), synchronising.of(other)):
                continue
            if conflicting(one, other) and (a, b) not in ordered and (b, a) not in ordered:
                yield one, other


def conflicting(one: Event, other: Event) -> bool:
    """Return whether two accesses of one word conflict: one writes, and they are not both of one CPU, which reads its own
    stores, whether these have left its store buffer or not."""
    of_one_cpu = one.thread == other.thread and {one.type, other.type} <= CPU_TYPES
    return not of_one_cpu and (may_write(one) or may_write(other))
