"""The rules that a memory behind a card adds to those of :mod:`rules`, for each such memory G.

In G nfo orders every read of a card and every write of one, whatever their queue pairs. A write w of beta to G may have
been issued before an event x of alpha, as ib leads from w to x. Then a read r of G by a card to which ob leads from x comes
behind the issue of w and lands it, so r is in beta with w (G1). And a read of G in beta from which ob leads to w keeps the
issue of w itself out of alpha, with all to which ib leads from w (G2): w forces as an instantaneous event does.

G1  a read of G by a card goes to beta if it comes behind the issue of a write of beta to G
G2  what a write of beta to G is issued before goes to beta if the write comes behind a read of G by a card in beta

Both need to know what comes *behind* something in one part of the run: by the threads, queue pairs, words and completions
that lead there. Each is forced in every trace of which this beta is a part, also where more comes behind than is followed.
What is not followed is a run to a trace that the axioms refuse: no verdict rests on it.

Source: docs/theory-orders.md, "Memory behind a NIC".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from rdma_robust.counters.program import Add, Assign, Forget, Require, Statement, Zero
from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Ite, Name, conj, disj, negate
from rdma_robust.model import Model
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import InstrumentationFrame, QueuePair, has_bit, qp_of
from rdma_robust.robustness.marks import AccessMarks, MarkSet
from rdma_robust.robustness.messages import mark_of_memory, takes_buffer
from rdma_robust.semantics.kinds import Kind, kind_of, memory_of, type_of
from rdma_robust.semantics.order_table import ippo_scope, nfo_between, observed_scope, receives_of_own
from rdma_robust.semantics.trace import CPU_TYPES, NIC_WRITE_TYPES, READ_TYPES, STORE_TYPES, EventType

Bits = Mapping[QueuePair, Mapping[Kind, int]]
"""For each queue pair the bits of the kinds of its events."""

_SEEN = "seen'"
"""Whether the event of this step comes behind what is asked about."""


def kinds_of_edge(edge: EventEdge) -> tuple[Kind, ...]:
    """Return the kinds of the events of a card's edge."""
    assert edge.type is not None
    return tuple(dict.fromkeys(kind_of(t, edge) for t in (edge.type, edge.also or edge.type)))


@dataclass(frozen=True)
class Behind:
    """The events of one part of the run that ob leads to from some first ones: by thread, queue pair and word."""

    name: str
    frame: InstrumentationFrame
    bits: Bits

    @property
    def threads(self) -> str:
        """The set of threads with a CPU event behind them."""
        return f"{self.name}_threads"

    @cached_property
    def words(self) -> MarkSet:
        """What events behind them have accessed."""
        return MarkSet(f"{self.name}_words", AccessMarks(self.frame).of_cells)

    def of(self, qp: QueuePair) -> str:
        """The set of kinds of events of the queue pair behind them."""
        return f"{self.name}[{self.frame.qp_name(qp)}]"

    def reaches(self, edge: EventEdge) -> Expr:
        """Whether an event that follows now comes behind them too: by po as far as ob has it, or as it conflicts."""
        assert edge.type is not None
        return disj(has_bit(self.threads, _bits(edge.threads)), self._by_queue_pair(edge), self._by_word(edge))

    def _by_queue_pair(self, edge: EventEdge) -> Expr:
        if edge.remote is None or edge.type is None:
            return FALSE
        later, model, mine = kind_of(edge.type, edge), self.frame.model, self.bits.get(qp_of(edge), {})
        kept = (bit for kind, bit in mine.items() if observed_scope(kind, later, model) == "qp")
        return has_bit(self.of(qp_of(edge)), _any(kept))

    def _by_word(self, edge: EventEdge) -> Expr:
        """A read that may take its own store out of the store buffer is none, and of an atomic its read counts alone: as the
        pivot it may come before what reads its word."""
        marks = AccessMarks(self.frame)
        if edge.type is EventType.LR and self.frame.model.cpu == "tso":
            mine = self.frame.graphs[edge.thread].edges
            if any(e.type is EventType.LW and e.cell == edge.cell for e in mine):
                return FALSE
        if edge.type in (EventType.NAR, EventType.NA):
            return self.words.meets(marks.written(edge.cell))
        return self.words.meets(marks.conflicting(edge))

    def adding(self, edge: EventEdge, when: Expr) -> list[tuple[str, Expr]]:
        """What is remembered of an event that comes behind them `when` this holds."""
        found = list(self.words.parts(AccessMarks(self.frame).left_by(edge)))
        if edge.type in CPU_TYPES:
            buffered = edge.type in STORE_TYPES and self.frame.model.cpu == "tso"
            found += [] if buffered else [(self.threads, _bits(edge.threads))]
        else:
            found.append((self.of(qp_of(edge)), _any(self.bits[qp_of(edge)][kind] for kind in kinds_of_edge(edge))))
        return [united_if(when, name, part) for name, part in found if part]

    def ahead(self, qp: QueuePair) -> str:
        """Counter: the unpolled completions before the first that tells, whose poll comes behind them."""
        return f"{self.name}_ahead[{self.frame.qp_name(qp)}]"

    @cached_property
    def bits_of(self) -> dict[QueuePair, int]:
        """How many bits the kinds of each queue pair need."""
        return {qp: max((bit.bit_length() for bit in bits.values()), default=1) for qp, bits in self.bits.items()}

    def _tells(self, qp: QueuePair) -> int:
        """The bit of a queue pair that a completion tells."""
        return 1 << self.bits_of[qp]

    def happens(self, edge: EventEdge, seen: Expr) -> Iterator[tuple[Statement, ...]]:
        """What an event of a CPU, but for a poll, changes where it comes behind them if it is `seen`, as alternatives."""
        if seen != TRUE:
            yield (Require(negate(seen)),)
        if seen != FALSE:
            yield (Require(seen), *self._joined(edge))

    def polled(self, poll: EventEdge) -> Iterator[tuple[Statement, ...]]:
        """A poll takes a completion ahead of all that tell, or none is left and its thread comes behind them."""
        qp = qp_of(poll)
        inside, tells = has_bit(self.threads, 1 << poll.thread), has_bit(self.of(qp), self._tells(qp))
        yield (Require(negate(inside)), Add(self.ahead(qp), -1))
        yield (Require(conj(negate(inside), tells)), Zero(self.ahead(qp)), *self._joined(poll))
        yield (Require(inside),)

    def _joined(self, edge: EventEdge) -> tuple[Statement, ...]:
        return (Assign(tuple(self.adding(edge, TRUE))), *self.stops_counting(edge))

    def stops_counting(self, edge: EventEdge) -> tuple[Statement, ...]:
        """Polls of the threads of this event tell nothing new any more."""
        if edge.type in STORE_TYPES and self.frame.model.cpu == "tso":
            return ()
        mine = [qp for qp in self.frame.polled if qp[0] in edge.threads]
        told = tuple(united_if(TRUE, self.of(qp), self._tells(qp)) for qp in mine)
        return (*((Assign(told),) if mine else ()), *(Forget(self.ahead(qp)) for qp in mine))

    def completes(self, edge: EventEdge, tells: Expr) -> Iterator[tuple[Statement, ...]]:
        """Count the completion of an event of a card, as alternatives, or remember that it tells: if the event `tells`, or
        something instantaneous behind them was issued before it."""
        qp = qp_of(edge)
        if not edge.completing or qp not in self.frame.polled:
            yield ()
            return
        at_once = {kind: bit for kind, bit in self.bits[qp].items() if type_of(kind) not in NIC_WRITE_TYPES}
        before = issued_before(at_once, kinds_of_edge(edge)[-1], self.frame.model)
        known = disj(has_bit(self.of(qp), self._tells(qp) | before), tells)
        marked = Assign((united_if(known, self.of(qp), self._tells(qp)),))
        if not (edge.completes and self.frame.counted(edge)):
            yield (marked,)
            return
        yield (Require(negate(known)), Add(self.ahead(qp), 1))
        yield (Require(known), marked)

    def sizes(self) -> tuple[tuple[str, int], ...]:
        """The variables and how many bits each has."""
        queue_pairs = ((self.of(qp), bits + 1) for qp, bits in self.bits_of.items())
        return ((self.threads, len(self.frame.graphs)), *self.words.variables(), *queue_pairs)


@dataclass(frozen=True)
class MemoryRules:
    """G1 and G2 of one memory, the `number`-th of the program."""

    frame: InstrumentationFrame
    bits: Bits
    memory: str
    number: int

    @cached_property
    def issued(self) -> Behind:
        """What alpha has behind the issue of a write of beta to the memory."""
        return Behind(f"issued_to_{self.memory}", self.frame, self.bits)

    @cached_property
    def read(self) -> Behind:
        """What beta has behind a read of the memory by a card."""
        return Behind(f"read_of_{self.memory}", self.frame, self.bits)

    def written(self, qp: QueuePair) -> str:
        """The set of kinds of the writes of beta to the memory, by queue pair."""
        return f"written_to_{self.memory}[{self.frame.qp_name(qp)}]"

    def reads(self, edge: EventEdge) -> bool:
        """Whether the event is a read of the memory by a card, which lands what was issued to it."""
        return self._is(edge, READ_TYPES)

    def writes(self, edge: EventEdge) -> bool:
        """Whether the event is a write of a card to the memory that reads land."""
        return self._is(edge, NIC_WRITE_TYPES)

    def _is(self, edge: EventEdge, types: Iterable[EventType]) -> bool:
        if edge.remote is None or edge.type in CPU_TYPES or edge.type is None:
            return False
        return any(type_of(k) in types and self.ordered(k) for k in kinds_of_edge(edge))

    def ordered(self, kind: Kind) -> bool:
        """Whether nfo orders events of this kind in the memory with others."""
        return memory_of(kind) == self.memory and any(
            nfo_between(kind, other, self.frame.model, of_one_pair=False) for mine in self.bits.values() for other in mine
        )

    # ---- G1

    def lands(self, edge: EventEdge) -> Expr:
        """G1: the event is a read of the memory and comes behind the issue of a write of beta."""
        return self.comes_behind(edge) if self.reads(edge) else FALSE

    def comes_behind(self, edge: EventEdge) -> Expr:
        """Whether the event, in alpha, comes behind the issue of a write of beta to the memory."""
        by_message = self.frame.messages.taken_behind(edge, self.number)
        return disj(self.issued.reaches(edge), self._issued_before(edge), by_message)

    def _issued_before(self, edge: EventEdge) -> Expr:
        """Whether a write of beta to the memory is issued before the event by its queue pair."""
        if edge.remote is None or edge.type is None or edge.type is EventType.P:
            return FALSE
        qp = qp_of(edge)
        return has_bit(self.written(qp), issued_before(self.bits[qp], kind_of(edge.type, edge), self.frame.model))

    def first_part(self, edge: EventEdge) -> Iterator[tuple[Statement, ...]]:
        """What an event of alpha changes, as alternatives; the first is that of an event that is not behind anything."""
        seen = self.comes_behind(edge)
        if edge.type is EventType.P:
            yield from ((*each, Add(self.read.ahead(qp_of(edge)), -1)) for each in self.issued.polled(edge))
        elif edge.type in CPU_TYPES:
            yield from self.issued.happens(edge, seen)
        else:
            looked, added = Assign(((_SEEN, seen),)), Assign(tuple(self.issued.adding(edge, Name(_SEEN))))
            told = disj(Name(_SEEN) if self._at_once(edge) else FALSE, self._issued_before(edge))
            counted = product(self.issued.completes(edge, told), self.read.completes(edge, FALSE))
            yield from ((looked, *one, *other, added) for one, other in counted)

    def _at_once(self, edge: EventEdge) -> bool:
        """Whether an event of a card, or the read of an atomic, takes effect when it is issued."""
        return any(type_of(kind) not in NIC_WRITE_TYPES for kind in kinds_of_edge(edge))

    # ---- G2

    def held(self, edge: EventEdge) -> Expr:
        """G2: the event of beta is a write to the memory and comes behind a read of it by a card in beta."""
        return self.read.reaches(edge) if self.writes(edge) else FALSE

    def second_part(self, edge: EventEdge) -> Iterator[tuple[Statement, ...]]:
        """What an event of beta changes, as alternatives."""
        if edge.type is EventType.P:
            yield from ((*each, *self.issued.stops_counting(edge)) for each in self.read.polled(edge))
            return
        seen = TRUE if self.reads(edge) else self.read.reaches(edge)
        if edge.type in CPU_TYPES:
            yield from ((*each, *self.issued.stops_counting(edge)) for each in self.read.happens(edge, seen))
            return
        mine = [self.bits[qp_of(edge)][k] for k in kinds_of_edge(edge) if type_of(k) in NIC_WRITE_TYPES and self.ordered(k)]
        tells = (TRUE, self.held(edge)) if mine else (FALSE, FALSE)
        looked, added = Assign(((_SEEN, seen),)), self.read.adding(edge, Name(_SEEN))
        told = disj(Name(_SEEN) if self._at_once(edge) else FALSE, tells[1])
        if mine:
            added.append(united_if(TRUE, self.written(qp_of(edge)), _any(mine)))
        counted = product(
            self.issued.completes(edge, disj(tells[0], self._issued_before(edge))), self.read.completes(edge, told)
        )
        yield from ((looked, *one, *other, Assign(tuple(added))) for one, other in counted)

    # ---- messages

    def mark(self, edge: EventEdge, part: int) -> Expr:
        """The mark that a message leaves for the RP that takes it: that it comes behind the issue of a write of beta.

        Where a receive completion tells of its own request only, these are the writes that the table has issued first."""
        if not takes_buffer(edge):
            return FALSE
        if part and self.writes(edge):
            return Const(mark_of_memory(self.number))
        mine = self.bits[qp_of(edge)]
        earlier = _any(bit for kind, bit in mine.items() if type_of(kind) in (EventType.NRW, EventType.NAW))
        if receives_of_own(self.frame.model):
            earlier = issued_before(mine, kind_of(EventType.NRW, edge), self.frame.model)
        own = FALSE if part else self.comes_behind(edge)
        condition = disj(has_bit(self.written(qp_of(edge)), earlier), own)
        return FALSE if condition == FALSE else Ite(condition, Const(mark_of_memory(self.number)), Const(0))

    # ---- variables

    def counters_of(self, qp: QueuePair) -> tuple[str, ...]:
        """The counters of a queue pair that is polled."""
        return self.issued.ahead(qp), self.read.ahead(qp)

    def sizes(self) -> tuple[tuple[str, int], ...]:
        """The variables, which are sets, and how many bits each has."""
        written = ((self.written(qp), bits) for qp, bits in self.issued.bits_of.items())
        return (*self.issued.sizes(), *self.read.sizes(), *written)


def issued_before(bits: Mapping[Kind, int], later: Kind, model: Model) -> int:
    """Return the bits of those of these kinds whose events are issued before a later one of their queue pair."""
    return _any(bit for kind, bit in bits.items() if ippo_scope(kind, later, model) == "qp")


def united_if(when: Expr, name: str, part: int) -> tuple[str, Expr]:
    """Return what adds these bits to a variable `when` this holds."""
    added = Binary("|", Name(name), Const(part))
    return name, added if when == TRUE else Ite(when, added, Name(name))


def _any(bits: Iterable[int]) -> int:
    found = 0
    for bit in bits:
        found |= bit
    return found


def _bits(threads: Iterable[int]) -> int:
    return _any(1 << thread for thread in threads)
