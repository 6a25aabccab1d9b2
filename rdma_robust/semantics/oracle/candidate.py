"""One choice of thread paths for the oracle: its events, and what the order table alone says about them.

More than 400 lines: what is static of a thread and of all threads is looked up by the same numbers of events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import combinations
from operator import or_

from rdma_robust.language.flow.cfg import Cell, Program, named_lane
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.connections import Connections, connect
from rdma_robust.semantics.kinds import Kind, kinds_of, memory_of
from rdma_robust.semantics.oracle.thread_paths import PathEvent, ThreadPath
from rdma_robust.semantics.order_table import (
    Scope,
    behind_poll,
    delayed_types,
    includes,
    ippo_scope,
    nfo_between,
    nfo_pairs_of,
    oppo_scope,
    receives_of_own,
    tells_of,
    visible_when_polled,
)
from rdma_robust.semantics.terms import Term
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, READ_TYPES, WRITE_TYPES, EventType, Relation
from rdma_robust.semantics.vertices import data_and_messages, read_and_writes, read_modify_writes, rounds_of

INITIAL = -1
"""Stands for the initial write of the cell in question; it is before everything, so no cycle passes through it."""


Edges = list[tuple[int, int]]

Scopes = dict[tuple[Kind, Kind], tuple[Scope, Scope]]
"""How far ippo and oppo keep events of two kinds in order."""


@dataclass(frozen=True)
class PathOrder:
    """One thread's path with the closures of its static order, as bit rows over its positions.

    `scopes` is what was looked up in the order table under `model`; blocks may share it.
    """

    path: ThreadPath
    model: Model
    scopes: Scopes = field(default_factory=dict)

    @cached_property
    def size(self) -> int:
        return len(self.path.events)

    @cached_property
    def kinds(self) -> list[Kind]:
        return kinds_of(self.path.events)

    @cached_property
    def ib(self) -> list[int]:
        """(ippo + pf)+, where pf also has what else a poll tells"""
        return self._at_once([a | b for a, b in zip(self._preserved(True), self._polls(), strict=True)])

    @cached_property
    def ob(self) -> list[int]:
        """(oppo + [nlW];pf + [Inst];ib)+, under tso also with [lW];oppo;pf: all completions behind a store"""
        polled = self._polls(visible=True)
        delayed = delayed_types(self.model)
        instant = [0 if e.type in delayed else row for e, row in zip(self.path.events, self.ib, strict=True)]
        rows = [a | b | c for a, b, c in zip(self._preserved(False), polled, instant, strict=True)]
        for a, b in self._behind_polls():
            rows[a] |= 1 << b
        if EventType.LW in delayed:
            told = self._polls()
            for i, e in enumerate(self.path.events):
                if e.type is EventType.LW:
                    rows[i] |= reduce(or_, told[i + 1 :], 0)
        return self._at_once(rows)

    @cached_property
    def sections(self) -> list[int]:
        """The events of each locked section, as bits: they happen at one moment."""
        found: list[int] = []
        for i, e in enumerate(self.path.events):
            if e.joined and (i == 0 or not self.path.events[i - 1].joined):
                found.append(1 << i - 1)
            if e.joined:
                found[-1] |= 1 << i
        return found

    def _at_once(self, rows: list[int]) -> list[int]:
        """The closure, where what is before or after one event of a section is so for all of them."""
        for members in self.sections:
            rows = [row | members if row & members else row for row in rows]
            after = reduce(or_, (rows[i] for i in _positions(members))) & ~members
            rows = [after if members >> i & 1 else row for i, row in enumerate(rows)]
        return _closed(rows)

    @cached_property
    def nfo(self) -> list[tuple[int, int]]:
        """The pairs that nfo must order and the static order does not, in ib and ob alike."""
        events, kinds = self.path.events, self.kinds
        return [
            (a, b)
            for a in range(self.size if nfo_pairs_of(self.model) else 0)
            for b in range(a + 1, self.size)
            if events[a].remote == events[b].remote
            and nfo_between(kinds[a], kinds[b], self.model)
            and not (self.ib[a] & self.ob[a]) >> b & 1
        ]

    @cached_property
    def together(self) -> list[tuple[int, int]]:
        """The reads and writes of one operation, which no table takes apart."""
        return list(read_and_writes(self.path.events))

    def _preserved(self, issue: bool) -> list[int]:
        rows = []
        for a, first in enumerate(self.path.events):
            row = 0
            for b, second in enumerate(self.path.events[a + 1 :], a + 1):
                key = self.kinds[a], self.kinds[b]
                if key not in self.scopes:
                    self.scopes[key] = ippo_scope(*key, self.model), oppo_scope(*key, self.model)
                near, word = first.remote == second.remote, first.cell == second.cell
                if includes(self.scopes[key][not issue], same_queue=near, same_word=word):
                    row |= 1 << b
            rows.append(row)
        for a, b in self.together:
            rows[a] |= 1 << b
        return rows

    def _behind_polls(self) -> Iterator[tuple[int, int]]:
        """What oppo also keeps: an event of a card before those of its queue pair behind the first poll that takes the
        completion of its operation, or of a later one."""
        ordered, events = behind_poll(self.model), self.path.events
        told = self._polls() if ordered else []
        for a, first in enumerate(events if ordered else ()):
            mine = (told[c] for c in range(a, self.size) if events[c].remote == first.remote)
            poll = min((_positions(polls)[0] for polls in mine if polls), default=self.size)
            for b in range(poll + 1, self.size):
                if events[b].remote == first.remote and oppo_scope(self.kinds[a], self.kinds[b], ordered or RDMA) == "qp":
                    yield a, b

    def _polls(self, *, visible: bool = False) -> list[int]:
        """pf and what else a poll tells, of all completing events or of those that it makes `visible`: the oldest
        completion, and what is older than that and has none."""
        rows = [0] * self.size
        unpolled: dict[str | None, list[int]] = {}
        for i, e in enumerate(self.path.events):
            if e.completing:
                unpolled.setdefault(e.remote, []).append(i)
            elif e.type is EventType.P:
                told = False
                while not told:
                    write = unpolled[e.remote].pop(0)
                    told = self.path.events[write].completes
                    if not visible or visible_when_polled(self.kinds[write], self.model):
                        rows[write] |= 1 << i
        return rows


@dataclass(frozen=True, slots=True)
class PathCondition:
    """A guard: bits of the events it depends on, the term, and the offset of its thread."""

    support: int
    term: Term
    offset: int


@dataclass(frozen=True, slots=True)
class ComputedWrite:
    """A CPU write (a successful compare-and-swap is one) whose value depends on the reads in `support`."""

    write: int
    support: int
    term: Term
    offset: int


class CandidateExecution:
    """The events of all threads, numbered thread by thread, with everything the search looks up.

    `sources` are the writes a read may read from as far as values known beforehand tell; `impossible` is set when a read
    has none, and `readers` are the reads by write. `rivals` are the other writes of an event's cell, as bits; `carried` are
    the writes that store just what an event has read. `delayed` are the events that are not instantaneous.

    `told` are the messages that RPs poll, by RP; `across` the edges between threads that are part of ib, `behind` what else
    RPs are told; both are part of ob too, but those whose source is in `unseen`. `in_turn` is what sc has of `across`.
    `impossible` is also set when a message has no receive or an RP no message, or a thread is said to be stuck before one
    that is there. `naw` is the naW of every naR that has one, and `rao` are the two ways in which rao may order each pair of
    read-modify-writes of one word. `sections` are the events of the section to which an event belongs, where it does,
    `rounds` those of each round of a barrier, and `at_once` has both.
    """

    def __init__(self, program: Program, blocks: Sequence[PathOrder], model: Model = RDMA) -> None:
        self.program = program
        self.model = model
        self.blocks = tuple(blocks)
        self.offsets = [sum(b.size for b in blocks[:i]) for i in range(len(blocks))]
        self.events: list[PathEvent] = [e for block in blocks for e in block.path.events]
        self.n = len(self.events)
        self.thread = [i for i, block in enumerate(blocks) for _ in range(block.size)]
        self.types = [e.type for e in self.events]
        self.tso = model.cpu == "tso"
        self.sections = {
            i + offset: [j + offset for j in _positions(members)]
            for block, offset in zip(blocks, self.offsets, strict=True)
            for members in block.sections
            for i in _positions(members)
        }
        self.delayed = _bits(i for i, t in enumerate(self.types) if t in delayed_types(model))
        self._connect()
        self._meet()
        self._atomics(model)
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
        for poll, message in self.told.items():
            if self.events[message].cell is None:
                self.readers[message].append(poll)
        self.impossible = not self.connected or not all(self.sources.values())

    def _connect(self) -> None:
        """Match messages with receives and RPs, and place their writes."""
        self.told: dict[int, int] = {}
        self.across: list[tuple[int, int]] = []
        self.in_turn: list[tuple[int, int]] = []
        self.behind: list[tuple[int, int]] = []
        self.unseen: set[int] = set()
        self.connected = True
        threads = [block.path.events for block in self.blocks]
        if not any(e.peer is not None for e in self.events) and not any(block.path.unheard for block in self.blocks):
            return
        found = connect(self.program, threads)
        self.connected = found.complete and not self._goes_on(threads, found)
        self._place([(m.message, m.buffer) for m in found.matched if m.buffer is not None and not m.buffer.plain])
        kinds = [kind for block in self.blocks for kind in block.kinds]
        self.unseen = {i for i, kind in enumerate(kinds) if self.types[i] in NIC_WRITE_TYPES and memory_of(kind)}
        for match in found.matched:
            message = self._number(match.message)
            if self.events[message].data:
                self.events[message] = replace(self.events[message], cell=match.buffer)
            if match.receive is not None:
                self.across.append((self._number(match.receive), message))
            if match.turn is not None:
                self.in_turn.append((self._number(match.turn), message))
            if match.poll is not None:
                poll = self._number(match.poll)
                self.told[poll] = message
                self.across.append((message, poll))
                self.in_turn.append((message, poll))
                self.behind += ((e, poll) for e in self._received_before(message))

    def _place(self, messages: Sequence[tuple[tuple[int, int], Cell]]) -> None:
        """Order anew what is before and behind messages that fill words which are not plain."""
        blocks = list(self.blocks)
        for (thread, place), buffer in messages:
            path = blocks[thread].path
            if path.events[place].data:
                placed = replace(path.events[place], cell=buffer)
                events = (*path.events[:place], placed, *path.events[place + 1 :])
                blocks[thread] = replace(blocks[thread], path=replace(path, events=events))
        self.blocks = tuple(blocks)

    def _meet(self) -> None:
        """Find the rounds of barriers: each is one vertex, and there only if all of its threads have come to it."""
        found = rounds_of([block.path.events for block in self.blocks])
        self.connected = self.connected and all(each.complete for each in found)
        self.rounds = [[self._number(place) for place in each.places] for each in found]
        self.at_once = self.sections | {i: members for members in self.rounds for i in members}

    def _number(self, place: tuple[int, int]) -> int:
        return self.offsets[place[0]] + place[1]

    def _received_before(self, message: int) -> Iterable[int]:
        """What the receive completion of a message tells of besides, and what may land behind the message."""
        first, sent = self.offsets[self.thread[message]], self.events[message]
        if receives_of_own(self.model):
            own = {later: first + data for data, later in data_and_messages(self.events[first : message + 1])}
            return (own[message - first],) if message - first in own else ()
        kinds = self.blocks[self.thread[message]].kinds
        told = [
            i for i, kind in enumerate(kinds[: message - first], first) if tells_of(kind, kinds[message - first], self.model)
        ]
        return (i for i in told if self.events[i].remote == sent.remote)

    def _goes_on(self, threads: Sequence[Sequence[PathEvent]], found: Connections) -> bool:
        """Whether a thread whose path ends where it may be stuck is not: what it waits for is there."""
        names = [thread.name for thread in self.program.threads]

        def count(thread: int, types: EventType, peer: str, lane: str) -> int:
            return sum(e.type is types and (e.peer, named_lane(e.step.op)) == (peer, lane) for e in threads[thread])

        for t, block in enumerate(self.blocks):
            for receiver, lane, filling in block.path.unheard:
                left = found.left.get((t, names.index(receiver), lane), ())
                if left and not (filling and left[0].void):
                    return True
            for sender, lane in block.path.unsent:
                s = names.index(sender)
                if count(s, EventType.NRW, names[t], lane) > count(t, EventType.RP, sender, lane):
                    return True
        return False

    def _atomics(self, model: Model) -> None:
        """Find the read-modify-writes, and how rao may order any two on one word."""
        self.naw: dict[int, int] = {}
        self.rao: list[tuple[Edges | None, Edges | None]] = []
        if EventType.NAR not in self.types:
            return
        torn = set()
        for block, offset in zip(self.blocks, self.offsets, strict=True):
            self.naw |= {r + offset: w + offset for r, w in read_modify_writes(block.path.events)}
            if block.path.torn:
                torn.add(offset + block.size - 1)
        reads = [i for i, t in enumerate(self.types) if t is EventType.NAR] if model.atomics == "hca" else []
        for i, a in enumerate(reads):
            for b in reads[i + 1 :]:
                if self.events[a].cell == self.events[b].cell:
                    one, other = (None if x in torn else self._rao(x, y) for x, y in ((a, b), (b, a)))
                    self.rao.append((one, other))

    def _rao(self, first: int, second: int) -> Edges:
        return [(first, second), *([(self.naw[first], second)] if first in self.naw else [])]

    def forwards(self, write: int, read: int) -> bool:
        """Whether a read takes, or would take, what its own CPU's store buffer has, if it has the store."""
        same = self.thread[write] == self.thread[read]
        return self.tso and same and self.types[write] is EventType.LW and self.types[read] is EventType.LR

    def _place_values(self) -> None:
        self.written = [0] * self.n
        self.known_writes = 0
        self.carried: list[list[int]] = [[] for _ in self.events]
        self.guards: list[list[PathCondition]] = [[] for _ in self.events]
        self.computed: list[list[ComputedWrite]] = [[] for _ in self.events]
        for block, offset in zip(self.blocks, self.offsets, strict=True):
            for term in block.path.guards:
                for p in _positions(term.support):
                    self.guards[offset + p].append(PathCondition(term.support << offset, term, offset))
            for i, e in enumerate(block.path.events, offset):
                if e.copied:
                    self.carried[i - e.copied].append(i)
                elif e.written is not None and e.written.const is not None:
                    self.written[i] = e.written.const
                    self.known_writes |= 1 << i
                elif e.written is not None:
                    for p in _positions(e.written.support):
                        self.computed[offset + p].append(ComputedWrite(i, e.written.support << offset, e.written, offset))

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

    def choices(self) -> list[tuple[Edges | None, Edges | None]]:
        """The two ways in which nfo and rao may order each pair that they must order, None for one that is impossible."""
        nfo = [(a + o, b + o) for block, o in zip(self.blocks, self.offsets, strict=True) for a, b in block.nfo]
        return [*(([(a, b)], [(b, a)]) for a, b in (*nfo, *self._nfo_across())), *self.rao]

    def _nfo_across(self) -> Iterator[tuple[int, int]]:
        """The pairs of two queue pairs that nfo must order."""
        kinds = [kind for block in self.blocks for kind in block.kinds]
        behind = [i for i, kind in enumerate(kinds) if memory_of(kind)]
        for a, b in combinations(behind, 2):
            near = self.thread[a] == self.thread[b] and self.events[a].remote == self.events[b].remote
            if not near and nfo_between(kinds[a], kinds[b], self.model, of_one_pair=False):
                yield a, b

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
