"""Dead ends: control states of an instrumented program from which no target can be reached, found thread by thread.

The test follows every process alone from where it stands. A move is *free* if it can still be part of alpha, a process is
*open* while it has made no barred move, one that cannot be passed without leaving alpha for good. An open process reaches
what leads there along passable moves: neither barred, nor reading a value that is not there now and that no free move of
an open process that was reached writes. Then what taint can still reach among the free moves is closed under program
order, conflicts, and pairs of moves of which the later may overtake the earlier. It is a dead end if the pivot's process is
not open, or reaches no pivot, or if the cycle is not closed and nothing tainted closes it.

It is sound if (a) bars are never lifted, (b) a barred move that is no :attr:`Move.passes` and every further move of its
process are no longer free, and whatever such moves write bars the moves that read it, and (c) what `conflicting`, `after`
and `overtaking` say covers all ways of taint. For take a run from the state, and in it the first move of an open process
that is not passable as above: it is not barred, so its guard failed at first and something has written its cell since;
by (b) that was a free move of an open process, which then was reached, since no earlier move is not passable.

Source: thread-modular over-approximation (Flanagan and Qadeer 2003), for docs/theory-search.md, "The search".
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.counters.program import LookAheadTables

Marks = tuple[tuple[str, int], ...]
"""Variables that are bit sets, each with bits of which one is looked for."""

WIDTH = 64


@dataclass(frozen=True, slots=True)
class GuardValues:
    """Values from `least` on, bit i of `allowed` for least + i; values outside of the 64 bits are allowed."""

    least: int
    allowed: int

    def holds(self, value: int) -> bool:
        return not 0 <= value - self.least < WIDTH or bool(self.allowed >> (value - self.least) & 1)


@dataclass(frozen=True, slots=True)
class GuardedMove:
    """A command as the test sees it. Sets of moves are bit masks over their numbers.

    `order` and `access` are its bars; a pivot minds only those of `order`. `passes` if a barred move leaves its process
    open. `cell` is the variable whose value `guard` is about. `counts` if it can be tainted, `taints` are the marks that
    make it tainted now, and the moves in `overtaking` may be free although it is not.
    """

    process: int
    source: int
    target: int
    order: Marks
    access: Marks
    passes: bool
    cell: str | None
    guard: GuardValues | None
    writes: bool
    counts: bool
    taints: Marks
    overtaking: int
    after: int
    conflicting: int


@dataclass(frozen=True, slots=True)
class PivotNeeds:
    """The needs of a class of pivots: its process, the moves that can be one, and those of others that close the cycle.

    A `guard` is on the value of `cell`: the one in `frozen` where a bit of `written` is set, else that of now, or any if a
    free move writes it.
    """

    process: int
    sites: int
    meeting: int
    guard: Mapping[int, GuardValues]
    cell: str
    written: Marks


@dataclass(frozen=True)
class DeadEnds:
    """The test as data: a :class:`~rdma_robust.counters.program.Pruner`.

    `current` is the variable with the number of the class, from 1 on; where it is 0 no state is a dead end. `locations` has
    the names of the program points, `closed` is non-zero where the cycle is closed, `left` is the set of processes that are
    not open, `frozen` the value that the pivot reads, `tainted[p]` the mark that process p is tainted.
    """

    moves: tuple[GuardedMove, ...]
    pivots: tuple[PivotNeeds, ...]
    locations: tuple[str, ...]
    current: str
    closed: str
    left: str
    frozen: str
    tainted: tuple[Marks, ...]

    def test(self, fields: Sequence[str]) -> Callable[[Sequence[int]], bool]:
        """Return the test for control states with these fields."""
        column = {name: i for i, name in enumerate(fields)}
        return lambda state: StateLook(self, column, state).dead()

    def tables(self, fields: Sequence[str]) -> LookAheadTables:
        """Return the test as the tables of a look ahead: kinds are classes, goals sites, ends what meets the pivot."""
        made = _Tables({name: i for i, name in enumerate(fields)}, -(-len(self.moves) // WIDTH))
        header = [made.column[name] for name in (self.current, self.closed, self.left, self.frozen)]
        for marks in self.tainted:
            header += [made.end(), made.end(marks)]
        moves = array("q", (number for m in self.moves for number in made.move(m)))
        kinds = array("q", (number for p in self.pivots for number in made.pivot(p)))
        pairs, guards, rows = array("q", made.pairs), array("q", made.guards), array("Q", made.rows)
        return LookAheadTables(array("q", header), moves, pairs, kinds, guards, rows)

    @cached_property
    def of_process(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the moves of each process."""
        numbered = list(enumerate(self.moves))
        return tuple(tuple(i for i, m in numbered if m.process == p) for p in range(len(self.locations)))


class _Tables:
    """The numbers of a look ahead, written down move by move; see :class:`~rdma_robust.counters.program.LookAheadTables`."""

    def __init__(self, column: Mapping[str, int], words: int) -> None:
        self.column, self.words = column, words
        self.pairs: list[int] = []
        self.guards: list[int] = []
        self.rows: list[int] = []

    def end(self, marks: Marks = ()) -> int:
        """Add pairs; return how many there are."""
        for name, bits in marks:
            self.pairs += (self.column[name], bits)
        return len(self.pairs) // 2

    def add_rows(self, *sets: int) -> None:
        self.rows += [moves >> WIDTH * k & (1 << WIDTH) - 1 for moves in sets for k in range(self.words)]

    def move(self, m: GuardedMove) -> tuple[int, ...]:
        self.add_rows(m.overtaking, m.after, m.conflicting)
        bars = self.end(), self.end(m.order), self.end(m.access), self.end(m.taints)
        cell = -1 if m.cell is None else self.column[m.cell]
        reads = cell, m.guard is not None, *_signed(m.guard)
        return (m.process, m.source, m.target, *bars, m.passes, *reads, m.writes, m.counts, -1)

    def pivot(self, p: PivotNeeds) -> tuple[int, ...]:
        self.add_rows(p.sites, p.meeting)
        first = len(self.guards) // 3
        for site, guard in p.guard.items():
            self.guards += (site, *_signed(guard))
        return (p.process, self.column[p.cell], self.end(), self.end(p.written), first, len(self.guards) // 3)


def _signed(guard: GuardValues | None) -> tuple[int, int]:
    if guard is None:
        return 0, 0
    return guard.least, guard.allowed - (1 << WIDTH) if guard.allowed >> WIDTH - 1 else guard.allowed


class StateLook:
    """One state looked at; the reference for the compiled test."""

    def __init__(self, ends: DeadEnds, column: Mapping[str, int], state: Sequence[int]) -> None:
        self.ends, self.column, self.state = ends, column, state

    def value(self, name: str) -> int:
        return self.state[self.column[name]]

    def marked(self, marks: Marks) -> bool:
        return any(self.value(name) & bits for name, bits in marks)

    def dead(self) -> bool:
        current = self.value(self.ends.current)
        if not current:
            return False
        pivot = self.ends.pivots[current - 1]
        self.start(self.value(self.ends.left))
        if pivot.process not in self.open:
            return True
        self.taken = self.free = 0
        self.written: set[str] = set()
        while self.follow():
            pass
        sites = sum(1 << i for i in self.ends.of_process[pivot.process] if pivot.sites >> i & 1 and self.possible(pivot, i))
        return not sites or not (self.value(self.ends.closed) or self.closes(pivot, sites))

    def start(self, left: int) -> None:
        """Set where the processes stand that are open, those not in `left`."""
        self.open = [p for p in range(len(self.ends.locations)) if not left >> p & 1]
        self.reached = {(p, self.value(self.ends.locations[p])) for p in self.open}

    def is_tainted(self, process: int) -> bool:
        return self.marked(self.ends.tainted[process])

    def follow(self) -> bool:
        """Take every passable move that has been reached; return whether there was one."""
        before = self.taken
        for p in self.open:
            for i in self.ends.of_process[p]:
                move = self.ends.moves[i]
                if self.taken >> i & 1 or (p, move.source) not in self.reached:
                    continue
                free = not self.marked(move.order) and not self.marked(move.access)
                if not free and not move.passes:
                    continue
                if not self.passable(move):
                    continue
                self.taken |= 1 << i
                self.reached.add((p, move.target))
                if free:
                    self.free |= 1 << i
                    if move.writes and move.cell is not None:
                        self.written.add(move.cell)
        return self.taken != before

    def passable(self, move: GuardedMove) -> bool:
        """Whether the value that the move reads can be there."""
        if move.guard is None or move.cell is None or move.cell in self.written:
            return True
        return move.guard.holds(self.value(move.cell))

    def possible(self, pivot: PivotNeeds, site: int) -> bool:
        """Whether the move can be reached as the pivot."""
        move, guard = self.ends.moves[site], pivot.guard.get(site)
        if (pivot.process, move.source) not in self.reached or self.marked(move.order):
            return False
        if guard is None:
            return True
        if self.marked(pivot.written):
            return guard.holds(self.value(self.ends.frozen))
        return pivot.cell in self.written or guard.holds(self.value(pivot.cell))

    def closes(self, pivot: PivotNeeds, sites: int) -> bool:
        """Whether taint can close the cycle."""
        found = mine = 0
        for p in self.open:
            tainted = self.is_tainted(p)
            for i in self.ends.of_process[p]:
                move = self.ends.moves[i]
                counts = self.free >> i & 1 and move.counts
                mine |= (p == pivot.process) << i
                if counts and tainted:
                    found |= 1 << i
                if counts and self.marked(move.taints):
                    found |= 1 << i | move.after
                if self.taken >> i & 1:
                    if p == pivot.process and move.overtaking & sites:
                        return True
                    found |= move.overtaking
        found &= self.free
        todo = found
        while todo:
            move = self.ends.moves[(todo & -todo).bit_length() - 1]
            todo &= todo - 1
            new = (move.after | move.conflicting) & self.free & ~found
            found |= new
            todo |= new
        return bool(found & (pivot.meeting | mine))
