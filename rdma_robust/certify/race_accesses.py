"""The accesses of a program as races have them: which synchronise, and which count as writes, by its statements.

Source: docs/races.md, "What races".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from rdma_robust.certify.hardware import CPU, READS, WRITES, EventKind
from rdma_robust.certify.thread_events import ThreadEvent
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

EVERY: Final = "any"
"""What an access is that synchronises with all that do."""

_AT_HAND: Final = frozenset({EventKind.PUT_READS, EventKind.GET_WRITES})
"""What a card does with words at hand: these never synchronise by what a step says."""
_LOOKS: Final = frozenset({EventKind.LOCAL_READ, EventKind.ATOMIC_READS, EventKind.ATOMIC})


class RaceAccess(NamedTuple):
    """An access of a cell: by which thread, by its CPU or its card, whether it counts as a write, and among which accesses
    it synchronises, '' if among none."""

    thread: int
    cell: Cell
    by_cpu: bool
    writes: bool
    synchronises: str

    def conflicts(self, other: RaceAccess) -> bool:
        """Return whether two accesses are of one cell, not both of one CPU, one of them writes, and they do not synchronise
        with each other."""
        of_one_cpu = self.thread == other.thread and self.by_cpu and other.by_cpu
        if self.cell != other.cell or of_one_cpu or not (self.writes or other.writes):
            return False
        return not alike(self.synchronises, other.synchronises)


def alike(one: str, other: str) -> bool:
    """Return whether two accesses of these kinds synchronise with each other."""
    return bool(one and other) and (one == other or EVERY in (one, other))


@dataclass(frozen=True)
class RaceAccesses:
    """The accesses of a program, as its statements have them."""

    program: Program

    def of(self, event: ThreadEvent, step: Step) -> Iterator[RaceAccess]:
        """Yield the accesses of an event of a step: one, none, or of a locked section one for each of its cells."""
        by_cpu = event.kind in CPU
        for cell, writes in event.words:
            yield RaceAccess(event.thread, cell, by_cpu, writes, self.kind(event.kind, cell, step))
        if event.cell is not None and event.kind in READS | WRITES:
            writes = event.kind in WRITES or counts_as_write(event, step)
            yield RaceAccess(event.thread, event.cell, by_cpu, writes, self.kind(event.kind, event.cell, step))

    def kind(self, event: EventKind, cell: Cell, step: Step) -> str:
        """Return among which accesses that of a cell by an event of a step synchronises, '' if among none."""
        if cell in self.words:
            return EVERY
        return step.synchronises if event not in _AT_HAND and self.may_tell(cell) else ""

    def may_tell(self, cell: Cell) -> bool:
        """Return whether accesses of a word may synchronise; its initial value does so with all of them."""
        return cell in self.words or cell in self._said_of

    @cached_property
    def words(self) -> frozenset[Cell]:
        """The words of which all accesses synchronise."""
        declared = {cell for cell in self.program.cells if cell.sync}
        used = set[Cell]() if declared or self._said else {cell for step in self._all() for cell in _waited_or_atomic(step)}
        return frozenset({*(cell for cell in self.program.cells if cell.moment), *declared, *used})

    @cached_property
    def _said(self) -> list[Step]:
        return [step for step in self._all() if step.synchronises and named_words(step)]

    @cached_property
    def _said_of(self) -> frozenset[Cell]:
        return frozenset(cell for step in self._said for cell in named_words(step))

    def _all(self) -> Iterator[Step]:
        return (step for thread in self.program.threads for _, _, step in steps(thread))


def counts_as_write(event: ThreadEvent, step: Step) -> bool:
    """Return whether an event that reads is that of an atomic which may write, here or for other values."""
    if event.cell not in named_words(step):
        return False
    match step.op:
        case Cas():
            return True
        case Rmw(when=when) | RemoteRmw(when=when):
            return event.kind in _LOOKS and when != FALSE
    return False


def named_words(step: Step) -> tuple[Cell, ...]:
    """Return the word that a step is about, not those at hand of its request."""
    match step.op:
        case Put(target=cell) | InlinePut(target=cell) | RemoteRmw(source=cell):
            return (cell,)
        case Read(cell=cell) | Write(cell=cell) | Cas(cell=cell) | Rmw(cell=cell):
            return (cell,)
    return ()


def _waited_or_atomic(step: Step) -> tuple[Cell, ...]:
    match step.op:
        case Cas(cell=cell) | Rmw(cell=cell) | RemoteRmw(source=cell):
            return (cell,)
        case Section(cells=cells):
            return cells
        case Read(cell=cell) if waits_for_value(step) and not step.aside:
            return (cell,)
    return ()
