"""The small explicit program on which a crowd runs: of each template two copies, the *hero* and the *mover*.

The hero is the thread of the pivot, where its class is one of the template. The mover lends its place, its program point,
registers and marks, to one copy of the crowd after the other. Classes are those of named threads and of heroes: what can be
a pivot in one copy can be one in every copy.

A crowd is more than the two: its copies conflict with one another. Of the reductions of the pivot search those are used
that know it: `filter`, and what of `relevance` looks at one thread alone. A copy that is not of the pivot's thread never
stops behind the read of a remote read-modify-write. With the write at the end of the run the trace is RDMA-consistent and
has the same cycle; if the write may also come next to its read, the copy did not stop, else there is a cycle through the two
and other events without the pivot, so a violation with fewer events, whose pivot is that write.

Which fields of the lowered instance every thread shares, and which belong to one thread, bit by bit.

A control state of the instance is a tuple of numbers, one for each field; some are sets, as bits. What belongs to the
mover of a template is the local state of a copy. Each *slot* is a field, or some bits of one, of one thread; those of two
copies of a template correspond one by one. A field that is not known is an error: shared by mistake, it would let copies
change each other's registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rdma_robust.counters.lower import LoweredProgram, lower
from rdma_robust.counters.program import pc
from rdma_robust.errors import InternalError, UsageError
from rdma_robust.expr import TRUE, Expr
from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.model import Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.robustness.behind_cards import Behind
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import EventLabel, InstrumentationFrame, PivotClass, QueuePair
from rdma_robust.robustness.marks import ALPHA_VALUE, POISON_CARRIED, POISON_TAKEN, MarkSet
from rdma_robust.robustness.pivot import PivotInstrumentation
from rdma_robust.robustness.pivot_classes import CLASS, Continuation, PivotClasses, classes_of, every_start
from rdma_robust.robustness.receiving import CLOSED
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.robustness.reductions.relevance import Relevance
from rdma_robust.robustness.remote_atomics import with_prefixes
from rdma_robust.robustness.rules import CPU_BETA, STORE_BETA
from rdma_robust.robustness.static_filter import Pivots

HERO, MOVER = 1, 2
"""The numbers of the two copies of each template."""


class CrowdRelevance(Relevance):
    """The part of `relevance` that looks at one thread alone: others may be anywhere, and tainted."""

    @property
    def needs_taint(self) -> bool:
        return False

    def start_ahead(self, _edge: EventEdge) -> Expr:
        return TRUE


def two_copies(
    program: Program, model: Model, limits: Limits = NO_LIMITS, recv_depth: int = RECV_DEPTH
) -> InstrumentationFrame:
    """Return the frame of P(2). Raises UsageError for a program without templates, or a model without a normal form."""
    if not program.crowds:
        raise UsageError("there is no thread of which there is any number")
    two = copies_of(program, {thread.name: MOVER for thread in program.crowds})
    return with_prefixes(InstrumentationFrame.to_instrument(two, model, limits, recv_depth))


def pivots_of(program: Program, frame: InstrumentationFrame, reductions: frozenset[str]) -> Pivots:
    """Return the classes of named threads and of heroes; with `filter` only those on a critical cycle of some P(n)."""
    movers = frozenset(_threads(program, frame.program, MOVER))
    cycles = CriticalCycles(frame, movers)
    allowed = cycles.may_start if "filter" in reductions else every_start
    tried = tuple(c for c in classes_of(frame, allowed) if c.thread not in movers)
    return Pivots(PivotClasses(frame, tried, allowed), cycles, reductions & {"filter", "relevance", "dead-ends"})


@dataclass(frozen=True)
class TwoCopyInstance:
    """The program with two copies of each template, instrumented, for `original`, the program with templates."""

    original: Program
    pivot: PivotInstrumentation
    cycles: CriticalCycles
    reductions: frozenset[str]

    @staticmethod
    def of(
        program: Program,
        model: Model,
        reductions: frozenset[str] = frozenset(),
        limits: Limits = NO_LIMITS,
        recv_depth: int = RECV_DEPTH,
    ) -> TwoCopyInstance:
        """Return the instance of a program with templates. Raises UsageError under a model without a normal form."""
        frame = two_copies(program, model, limits, recv_depth)
        return TwoCopyInstance.with_pivots(program, pivots_of(program, frame, reductions))

    @staticmethod
    def with_pivots(program: Program, pivots: Pivots) -> TwoCopyInstance:
        """Return the instance that tries these classes, as :func:`pivots_of` gives them."""
        relevant = "relevance" in pivots.reductions
        onward = CrowdRelevance(pivots.classes, pivots.cycles) if relevant else Continuation(pivots.classes)
        return TwoCopyInstance(
            program, PivotInstrumentation.of(pivots.frame, pivots.classes, onward), pivots.cycles, pivots.reductions
        )

    @property
    def frame(self) -> InstrumentationFrame:
        return self.pivot.frame

    @property
    def program(self) -> Program:
        """The explicit program."""
        return self.frame.program

    @property
    def classes(self) -> tuple[PivotClass, ...]:
        return self.pivot.classes.tried

    @cached_property
    def lowered(self) -> LoweredProgram[EventLabel]:
        return lower(self.pivot.build())

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """The counters without a bound that are named threads', as numbers in those of the lowered instance."""
        names = self.counters(self.named)
        return tuple(i for i, name in enumerate(self.lowered.unbounded) if name in names)

    @cached_property
    def uncounted(self) -> tuple[QueuePair, ...]:
        """The queue pairs of heroes whose completions have no bound: those of copies are not counted."""
        frame, rules = self.frame, self.pivot.rules
        unbounded = set(self.lowered.unbounded)
        of_heroes = (qp for qp in frame.polled if qp[0] in self.heroes)
        return tuple(qp for qp in of_heroes if unbounded.intersection(rules.counters_of(qp)))

    def counters(self, threads: tuple[int, ...]) -> frozenset[str]:
        """The names of the counters of these threads, with a bound or without."""
        rules, frame = self.pivot.rules, self.frame
        mine = (qp for qp in frame.polled if qp[0] in threads)
        return frozenset(name for qp in mine for name in rules.counters_of(qp))

    @cached_property
    def heroes(self) -> tuple[int, ...]:
        """The hero of each template, as a thread of the instance."""
        return _threads(self.original, self.program, HERO)

    @cached_property
    def movers(self) -> tuple[int, ...]:
        """The mover of each template."""
        return _threads(self.original, self.program, MOVER)

    @cached_property
    def named(self) -> tuple[int, ...]:
        """The threads that are no copies."""
        copies = {*self.heroes, *self.movers}
        return tuple(t for t in range(len(self.program.threads)) if t not in copies)

    def owner(self, cell: Cell) -> int | None:
        """The copy whose private word this is, None for a word that threads share."""
        return self._owners.get(cell.node)

    @cached_property
    def _owners(self) -> dict[str, int]:
        """The nodes of copies that have one of their own."""
        many = set(self.original.many_nodes)
        templates = [k for k, thread in enumerate(self.original.crowds) if thread.node in many]
        copies = [t for k in templates for t in (self.heroes[k], self.movers[k])]
        return {self.program.threads[t].node: t for t in copies}

    def __post_init__(self) -> None:
        for hero, mover in zip(self.heroes, self.movers, strict=True):
            shapes = [[(e.source, e.target, e.type) for e in self.frame.graphs[t].edges] for t in (hero, mover)]
            if shapes[0] != shapes[1]:
                raise InternalError(f"two copies of {self.program.threads[hero].name} differ")


def _threads(original: Program, program: Program, number: int) -> tuple[int, ...]:
    """The copies of this number, one for each template."""
    index = {thread.family: t for t, thread in enumerate(program.threads)}
    return tuple(index[thread.name, number] for thread in original.crowds)


WHOLE: Final = -1
"""The bits of a field that is no set."""

NOBODY: Final = -1
"""In the place of the hero: nobody is it."""

Slot = tuple[int, int]
"""A field by its number, and bits of it."""

State = tuple[int, ...]
Local = tuple[int, tuple[int, ...]]
"""A template by its number, and what the slots of its mover hold, in order."""


Owned = tuple[str, int, int | None]
"""The name of a field, bits of it, and the thread to which they belong, None if it is shared."""


@dataclass(frozen=True)
class Parts:
    """The slots of each thread of an instance, in an order that is the same for two copies of a template."""

    fields: tuple[str, ...]
    initial: State
    slots: tuple[tuple[Slot, ...], ...]

    @staticmethod
    def of(instance: TwoCopyInstance) -> Parts:
        """Return the parts of the instance. Raises InternalError for a field of which nobody knows whose it is."""
        lowered = instance.lowered
        number = {name: i for i, name in enumerate(lowered.fields)}
        found: list[list[Slot]] = [[] for _ in instance.frame.graphs]
        known = dict.fromkeys(_shared(instance), WHOLE)
        for name, bits, thread in _owned(instance):
            known[name] = known.get(name, 0) | bits
            if thread is not None and name in number:
                found[thread].append((number[name], bits))
        sizes = dict(lowered.program.sizes)
        for name in lowered.fields:
            if known.get(name, 0) not in (WHOLE, (1 << sizes.get(name, 0)) - 1):
                raise InternalError(f"nobody knows whose the field {name} is, or some bits of it")
        for hero, mover in zip(instance.heroes, instance.movers, strict=True):
            if [bits == WHOLE for _, bits in found[hero]] != [bits == WHOLE for _, bits in found[mover]]:
                raise InternalError(f"two copies of {instance.program.threads[hero].name} have other fields")
        return Parts(lowered.fields, lowered.initial, tuple(map(tuple, found)))

    def places(self, thread: int, of: Iterable[Owned]) -> dict[int, int]:
        """Return the places of these among the slots of a thread, with what they hold at first."""
        at = {slot: place for place, slot in enumerate(self.slots[thread])}
        wanted = [(self.fields.index(name), bits) for name, bits, _ in of if name in self.fields]
        return {at[field, bits]: self.initial[field] if bits == WHOLE else 0 for field, bits in wanted}

    def taken_out(self, state: State, thread: int) -> tuple[tuple[int, ...], State]:
        """Return what the slots of a thread hold, and the state with its first values in them."""
        left, held, first = list(state), [], self.initial
        for field, bits in self.slots[thread]:
            value = state[field]
            if bits == WHOLE:
                held.append(value)
                left[field] = first[field]
            else:
                held.append(value & bits)
                left[field] &= ~bits
        return tuple(held), tuple(left)

    def put_in(self, state: State, thread: int, held: tuple[int, ...]) -> State:
        """Return the state with these values in the slots of a thread, which hold its first ones."""
        filled = list(state)
        for (field, bits), value in zip(self.slots[thread], held, strict=True):
            if bits == WHOLE:
                filled[field] = value
            else:
                filled[field] |= value
        return tuple(filled)

    def moved(self, held: tuple[int, ...], source: int, thread: int) -> tuple[int, ...]:
        """Return for another copy what the slots of `source` hold: every slot of bits is one bit."""
        pairs = zip(self.slots[source], self.slots[thread], held, strict=True)
        return tuple(value if bits == WHOLE else (value and there) for (_, bits), (_, there), value in pairs)


def _shared(instance: TwoCopyInstance) -> Iterator[str]:
    """The fields that no thread has for itself."""
    frame = instance.frame
    yield from (CLASS, CLOSED, ALPHA_VALUE)
    yield from (name for name, _ in frame.messages.variables())


def _owned(instance: TwoCopyInstance) -> Iterator[Owned]:
    """Yield the other fields, bit by bit where they are sets, with the thread to which they belong, None for shared words.

    Of two copies of a template in the same order.
    """
    frame, pivot = instance.frame, instance.pivot
    for thread, graph in enumerate(frame.graphs):
        yield pc(thread), WHOLE, thread
        yield from ((register, WHOLE, thread) for register, _ in graph.registers)
        yield from ((name, WHOLE, thread) for name in (frame.carried(thread), *frame.operands(thread)))
        yield from of_thread(instance, thread)
        for qp in (qp for qp in frame.types if qp[0] == thread):
            yield from of_queue_pair(instance, qp)
    for (thread, _), pair in pivot.buffers.pairs.items():
        yield from _bits(pivot.buffers.marks, 1 << pair, thread)
    for cell in frame.cells:
        yield str(cell), WHOLE, instance.owner(cell)
        yield from of_cell(instance, cell)
    unwritten = (cell for cell in pivot.atomics.words if cell not in frame.cells)
    for cell in unwritten:
        yield from _of_atomics(instance, cell)


def of_thread(instance: TwoCopyInstance, thread: int) -> Iterator[Owned]:
    """Yield the marks of a thread."""
    seen = instance.pivot.seen
    behind = (part.threads for part in _behind(instance))
    yield from ((name, 1 << thread, thread) for name in (CPU_BETA, STORE_BETA, POISON_CARRIED, POISON_TAKEN, *behind))
    yield from _bits(seen.tainted, seen.marks.thread(thread), thread)


def of_queue_pair(instance: TwoCopyInstance, qp: QueuePair) -> Iterator[Owned]:
    """Yield what is remembered of a queue pair."""
    frame, rules = instance.frame, instance.pivot.rules
    for name in (frame.unpolled, rules.early, rules.beta, rules.holding, rules.forced, rules.fenced, rules.received):
        yield name(qp), WHOLE, qp[0]
    for told in rules.landings(qp):
        yield rules.ahead(qp, told), WHOLE, qp[0]
        yield rules.settled(qp, told), WHOLE, qp[0]
    yield from ((memory.written(qp), WHOLE, qp[0]) for memory in rules.memories)
    for part in _behind(instance):
        yield from ((name, WHOLE, qp[0]) for name in (part.of(qp), part.ahead(qp)))


def of_cell(instance: TwoCopyInstance, cell: Cell) -> Iterator[Owned]:
    """Yield the marks of a word."""
    seen, owner = instance.pivot.seen, instance.owner(cell)
    read, written = instance.frame.bit(cell), seen.marks.written(cell)
    for marks in (seen.accessed, seen.tainted, *(part.words for part in _behind(instance))):
        yield from (each for bits in (read, written) for each in _bits(marks, bits, owner))
    yield from _bits(seen.poison, read, owner)
    if cell in instance.pivot.atomics.words:
        yield from _of_atomics(instance, cell)


def _of_atomics(instance: TwoCopyInstance, cell: Cell) -> Iterator[Owned]:
    """Yield the marks of atomics of a word, which need not be one that is written: a fetch reads only."""
    atomics = instance.pivot.atomics
    for marks in (atomics.in_beta, atomics.open):
        yield from _bits(marks, 1 << atomics.words[cell], instance.owner(cell))


def _behind(instance: TwoCopyInstance) -> Iterator[Behind]:
    """Yield what is remembered of each memory behind a card, in either part of the run."""
    return (part for memory in instance.pivot.rules.memories for part in (memory.issued, memory.read))


def _bits(marks: MarkSet, mask: int, owner: int | None) -> Iterator[Owned]:
    for name, bits in marks.parts(mask):
        yield name, bits, owner
