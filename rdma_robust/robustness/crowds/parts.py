"""Which fields of the lowered instance every thread shares, and which belong to one thread, bit by bit.

A control state of the instance is a tuple of numbers, one for each field; some are sets, as bits. What belongs to the
mover of a template is the local state of a copy. Each *slot* is a field, or some bits of one, of one thread; those of two
copies of a template correspond one by one. A field that is not known is an error: shared by mistake, it would let copies
change each other's registers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rdma_robust.counters.program import pc
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.robustness.crowds.instance import TwoCopyInstance
from rdma_robust.robustness.frame import QueuePair
from rdma_robust.robustness.marks import ALPHA_VALUE, POISON_CARRIED, MarkSet
from rdma_robust.robustness.pivot_classes import CLASS
from rdma_robust.robustness.receiving import CLOSED
from rdma_robust.robustness.rules import CPU_BETA, STORE_BETA

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
        yield frame.carried(thread), WHOLE, thread
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
    yield from ((name, 1 << thread, thread) for name in (CPU_BETA, STORE_BETA, POISON_CARRIED))
    yield from _bits(seen.tainted, seen.marks.thread(thread), thread)


def of_queue_pair(instance: TwoCopyInstance, qp: QueuePair) -> Iterator[Owned]:
    """Yield what is remembered of a queue pair."""
    frame, rules = instance.frame, instance.pivot.rules
    for name in (frame.unpolled, rules.early, rules.beta, rules.forced, rules.fenced, rules.received):
        yield name(qp), WHOLE, qp[0]
    for told in rules.landings(qp):
        yield rules.ahead(qp, told), WHOLE, qp[0]
        yield rules.settled(qp, told), WHOLE, qp[0]


def of_cell(instance: TwoCopyInstance, cell: Cell) -> Iterator[Owned]:
    """Yield the marks of a word."""
    seen, owner = instance.pivot.seen, instance.owner(cell)
    read, written = instance.frame.bit(cell), seen.marks.written(cell)
    for marks, bits in ((seen.accessed, read), (seen.accessed, written), (seen.tainted, read), (seen.tainted, written)):
        yield from _bits(marks, bits, owner)
    yield from _bits(seen.poison, read, owner)
    if cell in instance.pivot.atomics.words:
        yield from _of_atomics(instance, cell)


def _of_atomics(instance: TwoCopyInstance, cell: Cell) -> Iterator[Owned]:
    """Yield the marks of atomics of a word, which need not be one that is written: a fetch reads only."""
    atomics = instance.pivot.atomics
    for marks in (atomics.in_beta, atomics.open):
        yield from _bits(marks, 1 << atomics.words[cell], instance.owner(cell))


def _bits(marks: MarkSet, mask: int, owner: int | None) -> Iterator[Owned]:
    for name, bits in marks.parts(mask):
        yield name, bits, owner
