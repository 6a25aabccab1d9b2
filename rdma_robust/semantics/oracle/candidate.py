"""One choice of thread paths for the oracle: its events, and what the order table alone says about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.model import Model
from rdma_robust.semantics.oracle.thread_paths import Path, PathEvent
from rdma_robust.semantics.order_table import NFO_PAIRS, VISIBLE_WHEN_POLLED, ippo_scope, oppo_scope
from rdma_robust.semantics.relation import Relation
from rdma_robust.semantics.terms import Term
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, READ_TYPES, WRITE_TYPES, EventType

INITIAL = -1
"""Stands for the initial write of the cell in question; it is before everything, so no cycle passes through it."""


@dataclass(frozen=True)
class Block:
    """One thread's path with the closures of its static order, as bit rows over its positions."""

    path: Path
    model: Model

    @cached_property
    def size(self) -> int:
        return len(self.path.events)

    @cached_property
    def ib(self) -> list[int]:
        """(ippo + pf)+"""
        return _closed([a | b for a, b in zip(self._preserved(True), self._polls(None), strict=True)])

    @cached_property
    def ob(self) -> list[int]:
        """(oppo + [nlW];pf + [Inst];ib)+"""
        polled = self._polls(VISIBLE_WHEN_POLLED)
        instant = [0 if e.type in NIC_WRITE_TYPES else row for e, row in zip(self.path.events, self.ib, strict=True)]
        return _closed([a | b | c for a, b, c in zip(self._preserved(False), polled, instant, strict=True)])

    @cached_property
    def nfo(self) -> list[tuple[int, int]]:
        """The pairs that nfo must order and the static order does not, in ib and ob alike."""
        events = self.path.events
        return [
            (a, b)
            for a in range(self.size)
            for b in range(a + 1, self.size)
            if events[a].remote == events[b].remote
            and frozenset({events[a].type, events[b].type}) in NFO_PAIRS
            and not (self.ib[a] & self.ob[a]) >> b & 1
        ]

    def _preserved(self, issue: bool) -> list[int]:
        scope = ippo_scope if issue else oppo_scope
        rows = []
        for a, first in enumerate(self.path.events):
            row = 0
            for b, second in enumerate(self.path.events[a + 1 :], a + 1):
                kept = scope(first.type, second.type, self.model)
                if kept == "all" or (kept == "qp" and first.remote == second.remote):
                    row |= 1 << b
            rows.append(row)
        return rows

    def _polls(self, types: frozenset[EventType] | None) -> list[int]:
        """pf, of completing events of these types or (None) of all."""
        rows = [0] * self.size
        unpolled: dict[str | None, list[int]] = {}
        for i, e in enumerate(self.path.events):
            if e.completes:
                unpolled.setdefault(e.remote, []).append(i)
            elif e.type is EventType.P:
                write = unpolled[e.remote].pop(0)
                if types is None or self.path.events[write].type in types:
                    rows[write] |= 1 << i
        return rows


@dataclass(frozen=True, slots=True)
class Condition:
    """A guard: bits of the events it depends on, the term, and the offset of its thread."""

    support: int
    term: Term
    offset: int


@dataclass(frozen=True, slots=True)
class Computed:
    """A CPU write (a successful compare-and-swap is one) whose value depends on the reads in `support`."""

    write: int
    support: int
    term: Term
    offset: int


class Candidate:
    """The events of all threads, numbered thread by thread, with everything the search looks up.

    `sources` are the writes a read may read from as far as values known beforehand tell; `impossible` is set when a read
    has none, and `readers` are the reads by write. `rivals` are the other writes of an event's cell, as bits; `carried` are
    the writes that store just what an event has read.
    """

    def __init__(self, program: Program, blocks: Sequence[Block]) -> None:
        self.program = program
        self.blocks = tuple(blocks)
        self.offsets = [sum(b.size for b in blocks[:i]) for i in range(len(blocks))]
        self.events: list[PathEvent] = [e for block in blocks for e in block.path.events]
        self.n = len(self.events)
        self.thread = [i for i, block in enumerate(blocks) for _ in range(block.size)]
        self.types = [e.type for e in self.events]
        self.nic_writes = _bits(i for i, t in enumerate(self.types) if t in NIC_WRITE_TYPES)
        self.writes: dict[Cell, list[int]] = {cell: [] for cell in program.cells}
        self.reads: list[int] = []
        for i, e in enumerate(self.events):
            if e.cell is not None and e.type in WRITE_TYPES:
                self.writes[e.cell].append(i)
            if e.type in READ_TYPES:
                self.reads.append(i)
        self.rivals = [_bits(self.writes[e.cell]) & ~(1 << i) if e.cell else 0 for i, e in enumerate(self.events)]
        self.allowed = [values for block in blocks for values in block.path.allowed]
        self._place_values()
        self.sources = {r: self._sources(r) for r in self.reads}
        self.readers = [[r for r in self.reads if w in self.sources[r]] for w in range(self.n)]
        self.impossible = not all(self.sources.values())

    def _place_values(self) -> None:
        self.written = [0] * self.n
        self.known_writes = 0
        self.carried: list[list[int]] = [[] for _ in self.events]
        self.guards: list[list[Condition]] = [[] for _ in self.events]
        self.computed: list[list[Computed]] = [[] for _ in self.events]
        for block, offset in zip(self.blocks, self.offsets, strict=True):
            for term in block.path.guards:
                for p in _positions(term.support):
                    self.guards[offset + p].append(Condition(term.support << offset, term, offset))
            for i, e in enumerate(block.path.events, offset):
                if e.copied:
                    self.carried[i - e.copied].append(i)
                elif e.written is not None and e.written.const is not None:
                    self.written[i] = e.written.const
                    self.known_writes |= 1 << i
                elif e.written is not None:
                    for p in _positions(e.written.support):
                        self.computed[offset + p].append(Computed(i, e.written.support << offset, e.written, offset))

    def _sources(self, read: int) -> list[int]:
        """The writes a read may read from as far as values known beforehand tell."""
        cell = self.events[read].cell
        assert cell is not None
        allowed = self.allowed[read]
        found = [INITIAL] if cell.init in allowed else []
        for w in self.writes[cell]:
            written = self.events[w].written
            value = None if written is None else written.const
            if w != read and (value is None or value in allowed):
                found.append(w)
        return found

    def is_write(self, event: int) -> bool:
        return self.types[event] in WRITE_TYPES

    @property
    def nfo(self) -> list[tuple[int, int]]:
        return [(a + o, b + o) for block, o in zip(self.blocks, self.offsets, strict=True) for a, b in block.nfo]

    def ib(self) -> list[int]:
        return [row << o for block, o in zip(self.blocks, self.offsets, strict=True) for row in block.ib]

    def ob(self) -> list[int]:
        return [row << o for block, o in zip(self.blocks, self.offsets, strict=True) for row in block.ob]


def _bits(members: Iterable[int]) -> int:
    return sum(1 << i for i in members)


def _positions(bits: int) -> list[int]:
    return [p for p in range(bits.bit_length()) if bits >> p & 1]


def _closed(rows: list[int]) -> list[int]:
    return list(Relation(tuple(rows)).closure().rows)
