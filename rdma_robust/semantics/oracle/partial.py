"""A trace under construction, for the oracle: rf, mo and nfo decided so far, with ib and ob transitively closed.

ob only grows as decisions are added, so a branch ends as soon as ob is cyclic. Source: Definitions 2 and 3 of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rdma_robust.semantics.linearise import (
    in_threads,
    nfo_pairs,
    pf_of_positions,
    po_of_positions,
    rao_of_order,
    relations_of_messages,
)
from rdma_robust.semantics.oracle.candidate import INITIAL, CandidateExecution
from rdma_robust.semantics.trace import Event, EventType, Relation, Trace


class Partial:
    """A trace under construction: closed ib and ob (with their inverses), sc edges into each event, and known values.

    `mo_after[w]` are the writes already decided to be mo-later than w; `source[r]` is the write r reads from, None while
    undecided. A method that adds something answers False when no RDMA-consistent trace can have it; the object is then
    of no further use.
    """

    __slots__ = (
        "base",
        "ib_after",
        "ib_before",
        "known_reads",
        "known_writes",
        "mo_after",
        "ob_after",
        "ob_before",
        "sc_before",
        "source",
        "values",
        "written",
    )

    def __init__(self, base: CandidateExecution) -> None:
        self.base = base
        self.ib_after = base.ib()
        self.ob_after = base.ob()
        self.ib_before = _inverse(self.ib_after)
        self.ob_before = _inverse(self.ob_after)
        self.sc_before = [0] * base.n
        self.mo_after = [0] * base.n
        self.source: list[int | None] = [None] * base.n
        self.values = [0] * base.n
        self.written = list(base.written)
        self.known_reads = 0
        self.known_writes = base.known_writes

    def copy(self) -> Partial:
        new = Partial.__new__(Partial)
        new.base = self.base
        new.ib_after = self.ib_after[:]
        new.ib_before = self.ib_before[:]
        new.ob_after = self.ob_after[:]
        new.ob_before = self.ob_before[:]
        new.sc_before = self.sc_before[:]
        new.mo_after = self.mo_after[:]
        new.source = self.source[:]
        new.values = self.values[:]
        new.written = self.written[:]
        new.known_reads = self.known_reads
        new.known_writes = self.known_writes
        return new

    def connect(self) -> bool:
        """Add what is settled beforehand: what messages take and tell."""
        base = self.base
        for a, b in base.in_turn:
            self.sc_before[b] |= 1 << a
        if not all(map(self._meet, base.rounds)) or not self._tell(base.across) or not self._tell(base.behind):
            return False
        for poll, message in base.told.items():
            self.source[poll] = message
            if base.events[message].cell is not None:
                immediate = 0
            elif self.known_writes >> message & 1:
                immediate = self.written[message]
            else:
                continue
            if not self.set_read(poll, immediate):
                return False
        return True

    def _meet(self, members: list[int]) -> bool:
        """Make a round of a barrier one vertex: what is before or after one of its events is so for all.

        What [Inst];ib gains by it goes through one of them, which is instantaneous.
        """
        for e in members:
            arriving = 1 << e - 1 if e > self.base.offsets[self.base.thread[e]] else 0
            for other in members:
                self.sc_before[other] |= arriving if other != e else 0
            for after, before in ((self.ib_after, self.ib_before), (self.ob_after, self.ob_before)):
                edges = [(a, e) for a in _positions(before[e])] + [(e, b) for b in _positions(after[e])]
                if not all(self._add(after, before, a, b) for a, b in edges):
                    return False
        return True

    def add_all(self, edges: Iterable[tuple[int, int]]) -> bool:
        return all(self.add_ib(a, b) for a, b in edges)

    def _tell(self, edges: Iterable[tuple[int, int]]) -> bool:
        """Add edges of sm and rpf, where what an RP tells of may not have taken effect."""
        return all(self.add_ib(a, b, observed=a not in self.base.unseen) for a, b in edges)

    def add_ob(self, a: int, b: int) -> bool:
        return self._add(self.ob_after, self.ob_before, a, b)

    def _add(self, after: list[int], before: list[int], a: int, b: int) -> bool:
        """Add an edge to ob or ib: of a section or a round, which happen at one moment, to or from all of its events."""
        at_once = self.base.at_once
        if not at_once or (a not in at_once and b not in at_once):
            return _add(after, before, a, b)
        pairs = ((x, y) for x in at_once.get(a, (a,)) for y in at_once.get(b, (b,)))
        return all(_add(after, before, x, y) for x, y in pairs)

    def add_ib(self, a: int, b: int, *, observed: bool = True) -> bool:
        """Add an edge of rf, nfo, rao, sm or rpf: to ib, to ob if it is `observed`, and to ob what [Inst];ib gains by it.

        Every ib cycle passes through an instantaneous event, so a cyclic ib makes ob cyclic: no edges among delayed events
        alone close a cycle. Of the new ib pairs only those between an instantaneous source nearest to a, and the target
        nearest to b from which ob continues by itself, need to be added one by one.
        """
        sources, targets = self.ib_before[a] | 1 << a, self.ib_after[b] | 1 << b
        if not self._add(self.ib_after, self.ib_before, a, b) or (observed and not self.add_ob(a, b)):
            return False
        delayed = self.base.delayed
        if not delayed >> b & 1:
            targets = 0
            if not delayed >> a & 1:
                return True
        while targets:
            low = targets & -targets
            if not self.add_ob(a, low.bit_length() - 1):
                return False
            targets ^= low
        sources &= ~delayed
        if delayed >> a & 1:
            while sources:
                low = sources & -sources
                if not self.add_ob(low.bit_length() - 1, b):
                    return False
                sources ^= low
        return True

    def read_from(self, read: int, write: int) -> bool:
        """Decide rf(write, read), with the rb edges that follow; `write` may be INITIAL."""
        base = self.base
        cell = base.events[read].cell
        assert cell is not None
        self.source[read] = write
        if write == INITIAL:
            overtaken = base.rivals[read]
        else:
            overtaken = self.mo_after[write] & ~(1 << read)
            self.sc_before[read] |= 1 << write
            # Out of the own store buffer: no edge of ob, and one of ib that program order gives already.
            if base.tso and base.forwards(write, read):
                if write > read:
                    return False
            elif not self.add_ib(write, read):
                return False
        while overtaken:
            low = overtaken & -overtaken
            if not self._read_before(read, low.bit_length() - 1):
                return False
            overtaken ^= low
        if write == INITIAL:
            return self.set_read(read, cell.init)
        return not self.known_writes >> write & 1 or self.set_read(read, self.written[write])

    def modify_before(self, first: int, second: int) -> bool:
        """Decide mo(first, second), with the rb edges from the readers of `first`."""
        self.mo_after[first] |= 1 << second
        self.sc_before[second] |= 1 << first
        if not self.add_ob(first, second):
            return False
        for read in self.base.readers[first]:
            if self.source[read] == first and read != second and not self._read_before(read, second):
                return False
        return True

    def _read_before(self, read: int, write: int) -> bool:
        """Add rb(read, write). It is also in ib for a store of the reading CPU's own, which must then be a later one."""
        if write < read and self.base.tso and self.base.forwards(write, read):
            return False
        self.sc_before[write] |= 1 << read
        return self.add_ob(read, write)

    def set_read(self, read: int, value: int) -> bool:
        """Fix the value of a read, and what follows from it."""
        base = self.base
        if value not in base.allowed[read]:
            return False
        self.values[read] = value
        self.known_reads |= 1 << read
        for guard in base.guards[read]:
            if not guard.support & ~self.known_reads and not _holds(guard.term.of, self.values, guard.offset):
                return False
        if not all(self.set_written(write, value) for write in base.carried[read]):
            return False
        for c in base.computed[read]:
            if not c.support & ~self.known_reads and not self.known_writes >> c.write & 1:
                try:
                    result = c.term.of(self.values, c.offset)
                except ZeroDivisionError:
                    # Only on paths whose guards fail.
                    return False
                if not self.set_written(c.write, result):
                    return False
        return True

    def set_written(self, write: int, value: int) -> bool:
        self.written[write] = value
        self.known_writes |= 1 << write
        return all(self.source[r] != write or self.set_read(r, value) for r in self.base.readers[write])

    def is_sc(self) -> bool:
        """Return whether po + the sc edges so far are acyclic, by running the threads greedily in an order that fits.

        The naW of a read-modify-write waits with its naR and for nothing more, so it follows at once; so do the events of a
        section with the first of them.
        """
        base = self.base
        position = list(base.offsets)
        ends = [offset + block.size for offset, block in zip(base.offsets, base.blocks, strict=True)]
        before = self.sc_before
        if base.naw:
            before = before[:]
            for r, w in base.naw.items():
                before[r], before[w] = (before[r] | before[w]) & ~(1 << r | 1 << w), 0
        if base.sections:
            before = before[:]
            for members in {tuple(each) for each in base.sections.values()}:
                first, *rest = members
                for e in rest:
                    before[first], before[e] = before[first] | before[e], 0
        done = 0
        progress = True
        while progress:
            progress = False
            for t, end in enumerate(ends):
                e = position[t]
                while e < end and not before[e] & ~done:
                    done |= 1 << e
                    e += 1
                    progress = True
                position[t] = e
        return done == (1 << base.n) - 1

    def trace(self) -> Trace:
        """Return the finished trace: initial writes first, then the events thread by thread."""
        base = self.base
        first = len(base.program.cells)
        events = [Event(i, EventType.INIT, cell=c, written=c.init) for i, c in enumerate(base.program.cells)]
        for i, e in enumerate(base.events):
            t = base.thread[i]
            has_read = i in base.sources or (i in base.told and base.events[base.told[i]].cell is None)
            events.append(
                Event(
                    first + i,
                    e.type,
                    t,
                    i - base.offsets[t],
                    e.remote,
                    e.cell,
                    self.values[i] if has_read else None,
                    self.written[i] if base.is_write(i) else None,
                    e.step,
                    unsignaled=e.completing and not e.completes,
                    completing=e.completing,
                    peer=e.peer,
                    joined=e.joined,
                    members=e.members,
                    takes=e.takes,
                )
            )
        initial = {cell: i for i, cell in enumerate(base.program.cells)}
        rf = []
        for r in base.reads:
            write = self.source[r]
            cell = base.events[r].cell
            assert write is not None and cell is not None
            rf.append((initial[cell] if write == INITIAL else first + write, first + r))
        mo = [(initial[cell], first + w) for cell, ws in base.writes.items() for w in ws]
        mo += [(first + a, first + b) for a, row in enumerate(self.mo_after) for b in range(base.n) if row >> b & 1]
        nfo = [(a, b) for a, b in nfo_pairs(events, base.model) if self.ob_after[a - first] >> (b - first) & 1]
        n = len(events)
        threads = in_threads(base.program, events)
        observed = sorted(events[first:], key=lambda e: -self.ob_after[e.index - first].bit_count())
        return Trace(
            tuple(events),
            po_of_positions(events),
            pf_of_positions(events),
            Relation.of(n, rf),
            Relation.of(n, mo),
            Relation.of(n, nfo),
            rao_of_order(observed, threads, base.model, n),
            **relations_of_messages(base.program, events, threads),
        )


def _holds(of: Callable[[list[int], int], int], values: list[int], offset: int) -> bool:
    try:
        return bool(of(values, offset))
    except ZeroDivisionError:
        # Only where an earlier guard of the path fails.
        return False


def _positions(bits: int) -> list[int]:
    return [p for p in range(bits.bit_length()) if bits >> p & 1]


def _inverse(rows: list[int]) -> list[int]:
    return list(Relation(tuple(rows)).inverse().rows)


def _add(after: list[int], before: list[int], a: int, b: int) -> bool:
    """Add the edge (a, b) to a closed relation and its inverse; False if that makes it cyclic."""
    if after[a] >> b & 1:
        return True
    if a == b or after[b] >> a & 1:
        return False
    later = after[b] | 1 << b
    sources = earlier = before[a] | 1 << a
    while sources:
        low = sources & -sources
        after[low.bit_length() - 1] |= later
        sources ^= low
    while later:
        low = later & -later
        before[low.bit_length() - 1] |= earlier
        later ^= low
    return True
