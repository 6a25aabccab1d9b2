"""Sets of marks as variables of one machine word each: sets of any size, tested and changed by bit operations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rdma_robust.expr import Binary, Const, Expr, Ite, Name, disj
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import InstrumentationFrame, has_bit

ALPHA_VALUE = "alpha_value"
"""What the pivot reads, once beta has written its cell."""

POISON_CARRIED = "poison_carried"
"""The set of threads that carry a value which depends on the pivot."""

POISON_TAKEN = "poison_taken"
"""The set of threads with an operand that depends on the pivot, behind its read."""

WORD: Final = 60
"""Marks in one variable: the search kernel packs numbers of up to 62 bits."""


@dataclass(frozen=True, slots=True)
class MarkSet:
    """A set of the numbers below `bits`; subsets are given as bit masks."""

    name: str
    bits: int

    def variables(self) -> tuple[tuple[str, int], ...]:
        """Return the variables and how many bits each has."""
        count = max(1, -(-self.bits // WORD))
        return tuple((f"{self.name}{k or ''}", min(WORD, self.bits - k * WORD)) for k in range(count))

    def parts(self, mask: int) -> Iterator[tuple[str, int]]:
        """Yield for each variable that has a number of `mask` its name and which of its bits they are."""
        for k, (name, _) in enumerate(self.variables()):
            part = mask >> k * WORD & (1 << WORD) - 1
            if part:
                yield name, part

    def meets(self, mask: int) -> Expr:
        """Non-zero iff the set and `mask` have a number in common."""
        return disj(*(has_bit(name, part) for name, part in self.parts(mask)))

    def some(self) -> Expr:
        """Non-zero iff the set is not empty."""
        return disj(*(Name(name) for name, _ in self.variables()))


@dataclass(frozen=True, slots=True)
class AccessMarks:
    """Numbers for what accesses leave behind: that a cell was read, that it was written, and the thread that did so."""

    frame: InstrumentationFrame

    @property
    def of_cells(self) -> int:
        """How many marks are of cells; those of threads follow."""
        return 2 * len(self.frame.cells)

    def written(self, cell: Cell | None) -> int:
        return self.frame.bit(cell) << len(self.frame.cells)

    def thread(self, thread: int) -> int:
        return 1 << self.of_cells + thread

    def threads(self, edge: EventEdge) -> int:
        """The marks of the threads that the event is one of."""
        return sum(map(self.thread, edge.threads))

    def left_by(self, edge: EventEdge) -> int:
        """The marks that the access leaves on its cell."""
        return self.frame.read_by(edge) | self.frame.written_by(edge) << len(self.frame.cells)

    def conflicting(self, edge: EventEdge) -> int:
        """The marks of accesses that conflict with this one."""
        return self.frame.written_by(edge) | self.frame.touched_by(edge) << len(self.frame.cells)


@dataclass(frozen=True, slots=True)
class AccessMemory:
    """The memory of accesses in phase 2, as sets of marks; initially all empty."""

    marks: AccessMarks
    accessed: MarkSet
    """What events of beta have accessed (F2)."""
    tainted: MarkSet
    """What tainted events have accessed, and their threads."""
    poison: MarkSet
    """The cells whose value depends on the pivot."""

    @staticmethod
    def of(frame: InstrumentationFrame) -> AccessMemory:
        marks = AccessMarks(frame)
        cells, threads = len(frame.cells), len(frame.graphs)
        tainted = MarkSet("tainted", marks.of_cells + threads)
        return AccessMemory(marks, MarkSet("accessed_in_beta", marks.of_cells), tainted, MarkSet("poison", cells))

    def variables(self) -> tuple[tuple[str, int], ...]:
        """Return the variables and how many bits each has."""
        return (*self.accessed.variables(), *self.tainted.variables(), *self.poison.variables())


def marked_if(condition: Expr, marks: int) -> Expr:
    """`marks` where `condition` holds, else none."""
    match condition:
        case Const(holds):
            return Const(marks if holds else 0)
        case _:
            return Ite(condition, Const(marks), Const(0))


def union(one: Expr, other: Expr) -> Expr:
    """Both sets of marks together."""
    match one, other:
        case Const(a), Const(b):
            return Const(a | b)
        case Const(0), _:
            return other
        case _, Const(0):
            return one
        case Ite(test, Const(a), Const(0)), Ite(again, Const(b), Const(0)) if test == again:
            return marked_if(test, a | b)
        case _:
            return Binary("|", one, other)


def copy_bit(source: str, source_bit: int, target: str, target_bit: int) -> Expr:
    """`target` with `target_bit` set or cleared as `source_bit` is in `source`."""
    return Ite(
        has_bit(source, source_bit),
        Binary("|", Name(target), Const(target_bit)),
        Binary("&~", Name(target), Const(target_bit)),
    )
