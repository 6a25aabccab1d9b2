"""The rules that force an event into the second part (tau2, beta), and what has to be remembered to apply them.

A run is split into two parts, A before B. It gives an RDMA-consistent trace iff no ob edge leads from B back to A, and that
is so iff R1, R2 and R3 hold (docs/theory.md, Lemma 3; the paper's Section 6.2 and Appendix D.1):

R1  oppo        an event goes to B if an oppo-earlier event of its thread or queue pair is in B
R2  pf          a poll goes to B if it, or an older poll, polls a completion that forces: that of an nlW in B, or of an nrW
                in B with a po-earlier nlR or nF of its queue pair in B
R1' oppo        under an order in which completions give order, an event that may overtake a write of B which no poll shows
                goes to B all the same if a poll of A has taken the completion of one, or of a later operation, and it is
                on a word beside that write's: in the same memory, or both beside the card
R3  [Inst];ib   an nlR goes to B if an nF of A before it has overtaken an nlW in B

Under tso a store of B moves less than another CPU event (T1): what an lW is oppo-before, which are later stores, CAS,
mfence and NIC events, but not reads and polls. Under weaker orders nfo is empty, and with it R3.

Memory behind a NIC has two more, in :mod:`behind_cards`.

With messages (docs/theory-deployed.md, "Messages") there are three more:

S1  sm, rpf     a message goes to B with the V that it takes, an RP with the message that it takes; where writes may
                overtake each other, also with an earlier remote write of the sender's queue pair
S2  [Inst];ib   a message whose V is in B forces its poll
S5  [Inst];ib   an nF, and what else is issued behind messages but may be observed before them, goes to B if a message
                before it on its queue pair takes a V of B

Everything else follows: the other paths of [Inst];ib lead forward under R1 and R2. Each rule is monotone in B, so an event
can be placed when it is met, in the order of the run.

More than 400 lines: the rules and what is remembered for them are one argument, read beside Lemma 3 from top to bottom.

Source: docs/theory.md, "The normal form"; Theorem 5.2 and Appendix D.1 of the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import chain, product
from operator import or_
from typing import Final

from rdma_robust.counters.program import Add, Assign, Forget, Require, Statement, Zero
from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Ite, Name, conj, disj, negate
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.model import Model
from rdma_robust.robustness.behind_cards import MemoryRules, issued_before, kinds_of_edge, united_if
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import InstrumentationFrame, QueuePair, has_bit, qp_of, set_bit
from rdma_robust.robustness.marks import marked_if, union
from rdma_robust.robustness.messages import IN_BETA, MOST_MEMORIES, NO_MARKS, TAINTED, TAKEN, takes_buffer
from rdma_robust.semantics.kinds import SENT_TYPES, Kind, as_variant, kind_of, kinds_on, memory_of, type_of
from rdma_robust.semantics.order_table import (
    REMOTE_WRITES,
    Landing,
    apart,
    by_word,
    fence_lands,
    gains_behind_poll,
    ippo_scope,
    is_apart,
    landing_of,
    nfo_between,
    observed_scope,
    oppo_scope,
    receives_of_own,
    tells_of,
    variants_apart,
    visible_when_polled,
)
from rdma_robust.semantics.trace import CPU_TYPES, NIC_WRITE_TYPES, STORE_TYPES, EventType

_NIC_TYPES = tuple(EventType(name) for name in ("nlR", "nrW", "nrR", "nlW", "nF", "naR", "naW", "nA", "nO"))

NIC_BITS = {t: 1 << i for i, t in enumerate(_NIC_TYPES)}
"""One bit per NIC event type, for the set of types a queue pair has in the second part. What behaves as the events of a type
do before others has its bit; see :meth:`ForcingRules.bits`."""

_ANSWER: Final = 1 << len(NIC_BITS)
_SENT: Final[Mapping[EventType, int]] = {t: _ANSWER << 1 + i for i, t in enumerate(SENT_TYPES)}
"""Bits of kinds that are not those of their types: answers that no read pushes out, and the events of sends, where the order
table says something else of these than of puts. Those of atomics that fetch nothing stand behind :data:`WORDS`."""

OWN_READ: Final = _ANSWER << 1 + len(SENT_TYPES)
OWN_DATA: Final = OWN_READ << 1
"""Two bits more, for tables that keep less between two requests than between the events of one: of the request that the
thread is making, the read, or the data of a write with immediate, is in the second part."""

WORDS: Final = OWN_DATA << 1
"""From here on there is a bit for each word and kind of event that the order table looks up by words."""

CPU_BETA = "cpu_beta"
"""The set of threads with a CPU event in the second part, other than one in a store buffer."""

STORE_BETA = "store_beta"
"""The set of threads with a store in the second part, and no other CPU event, where there are store buffers."""


def kind_of_edge(edge: EventEdge) -> Kind:
    """Return the kind of the event of an edge, of two that of the first."""
    assert edge.type is not None
    return kind_of(edge.type, edge)


def bits_of(members: Iterable[int]) -> int:
    """Return the set of all these bits."""
    return reduce(or_, members, 0)


def thread_bits(threads: Iterable[int]) -> int:
    """Return a set of threads as bits."""
    return bits_of(1 << thread for thread in threads)


def buffers_stores(model: Model) -> bool:
    """Whether a load may overtake an earlier store of its thread."""
    return oppo_scope(EventType.LW, EventType.LR, model) == "-"


def _together(
    own: tuple[tuple[Statement, ...], ...], others: Iterable[Iterable[tuple[Statement, ...]]]
) -> tuple[tuple[Statement, ...], ...]:
    """Return all combinations of alternatives, the first of all first."""
    return tuple(tuple(chain(*each)) for each in product(own, *others))


@dataclass(frozen=True)
class ForcingRules:
    """R1 to R3 for the events of one program, as conditions and effects on the variables that :meth:`variables` lists."""

    frame: InstrumentationFrame

    def oppo_forces(self, edge: EventEdge) -> Expr:
        """R1, and for an nlR also R3."""
        assert edge.type is not None
        by_cpu = disj(has_bit(CPU_BETA, thread_bits(edge.threads)), self.store_forces(edge))
        return disj(by_cpu, self.taken_forces(edge) if edge.remote is None else self.nic_forces(edge))

    def store_forces(self, edge: EventEdge) -> Expr:
        """R1 as far as a store of the thread in the second part, but no other CPU event, forces the event (T1)."""
        return has_bit(STORE_BETA, self.forced_by_stores_of(edge))

    def forced_by_stores_of(self, edge: EventEdge) -> int:
        """The threads, as bits, that buffer stores of which one can be oppo-before the event of `edge`."""
        if edge.type is None or oppo_scope(EventType.LW, edge.type, self.frame.model) != "all":
            return 0
        return thread_bits(self.buffering.intersection(edge.threads))

    @cached_property
    def buffering(self) -> frozenset[int]:
        """The threads with stores, where these are buffered."""
        stores = (e.thread for g in self.frame.graphs for e in g.edges if e.type in STORE_TYPES)
        return frozenset(stores) if buffers_stores(self.frame.model) else frozenset()

    def nic_forces(self, edge: EventEdge) -> Expr:
        """R1 and R3 as far as NIC events of the queue pair in the second part force the event of `edge`, and S1 and S5."""
        qp = qp_of(edge)
        flushes = edge.type is EventType.NLR and qp in self.fence_flagged and self._pushed(qp, kind_of_edge(edge))
        overtaken = Name(self.fenced(qp)) if flushes else FALSE
        received = has_bit(self.received(qp), self.behind_receives(edge)) if qp in self.receive_flagged else FALSE
        behind = disj(*(Name(self.settled(qp, told)) for told in self.settled_forces(edge)))
        forcing = has_bit(self.beta(qp), self.nic_forcing_types(edge) | self._own_read(edge))
        lands = disj(*(memory.lands(edge) for memory in self.memories), self._issued_behind(edge))
        return disj(forcing, overtaken, received, behind, self.taken_forces(edge), lands)

    @cached_property
    def memories(self) -> tuple[MemoryRules, ...]:
        """G1 and G2 for each memory behind a card of which a read lands writes, of at most :data:`MOST_MEMORIES`."""
        named = enumerate(self.frame.program.memories[:MOST_MEMORIES])
        found = (MemoryRules(self.frame, self.bits, memory, number) for number, memory in named)
        return tuple(rules for rules in found if any(map(rules.ordered, self._kinds)))

    @cached_property
    def _kinds(self) -> frozenset[Kind]:
        return frozenset(kind for kinds in self.frame.kinds.values() for kind in kinds)

    def _issued_behind(self, edge: EventEdge) -> Expr:
        """G2: whether the event of a card is issued behind a write of the second part that forces such events."""
        if not self.frame.program.memories or edge.type is EventType.P:
            return FALSE
        qp = qp_of(edge)
        return has_bit(self.holding(qp), issued_before(self.bits[qp], kind_of_edge(edge), self.frame.model))

    def _held(self, edge: EventEdge) -> Expr:
        """G2: whether a write, in the second part, forces what is issued behind it."""
        return disj(*(memory.held(edge) for memory in self.memories))

    def settled_forces(self, edge: EventEdge) -> tuple[Landing, ...]:
        """R1': the writes of which the NIC event of `edge` is forced where its queue pair is :meth:`settled`."""
        later, model = kind_of_edge(edge), self.frame.model
        return tuple(t for t in self.acknowledged.get(qp_of(edge), ()) if gains_behind_poll(later, model, t))

    def taken_forces(self, edge: EventEdge) -> Expr:
        """S1: what the message or the RP takes is in the second part."""
        return self.frame.messages.marked(edge, IN_BETA)

    def nic_forcing_types(self, edge: EventEdge) -> int:
        """The kinds of NIC events of the queue pair, or of those on its word, as bits, that are oppo-before the event of
        `edge`."""
        later, model, qp = kind_of_edge(edge), self.frame.model, qp_of(edge)
        near = bits_of(bit for kind, bit in self.bits[qp].items() if observed_scope(kind, later, model) == "qp")
        words = self.word_bits.get(qp, {}).items()
        return near | bits_of(
            bit for (kind, word), bit in words if word == edge.cell and oppo_scope(kind, later, model) == "word"
        )

    def _own_read(self, edge: EventEdge) -> int:
        """The bit of the read of the request of `edge`, a write, where the table does not say that it comes first."""
        present = self.frame.types[qp_of(edge)]
        return OWN_READ if any(read in present and write is edge.type for read, write in self.apart) else 0

    @cached_property
    def apart(self) -> frozenset[tuple[EventType, EventType]]:
        """The types of two events that are ordered if they are of one request only."""
        return apart(self.frame.model)

    def _own(self, edge: EventEdge) -> int:
        """The bits of an event in the second part for later ones of its request."""
        if edge.completing or not self.own_bits:
            return 0
        told = edge.type is EventType.NRW and not memory_of(kind_of_edge(edge))
        return OWN_READ if edge.reads else OWN_DATA if told else 0

    @cached_property
    def own_bits(self) -> int:
        """The bits that are about the request under way only, 0 where the table needs none."""
        return (OWN_READ if self.apart else 0) | (OWN_DATA if receives_of_own(self.frame.model) else 0)

    def _ends(self, edge: EventEdge) -> tuple[Statement, ...]:
        """Forget the parts of the request that ends with the event."""
        name = self.beta(qp_of(edge))
        return (Assign(((name, Binary("&~", Name(name), Const(self.own_bits))),)),) if self.own_bits else ()

    def forces_poll(self, edge: EventEdge) -> Expr:
        """R2: the completion of the NIC event of `edge`, put into the second part, forces.

        It does if an instantaneous event of the second part is ippo-before it, as the read of an atomic is, or is it, or a
        store that waits in the buffer before it. Of a store that need not be asked where a put has an nlR, which it
        forces; of an nF it need not where no remote write is observed before one: what forces an nF into the second part
        then forces the completion as well.
        """
        qp = qp_of(edge)
        if edge.type is None or edge.type not in NIC_WRITE_TYPES or self._shows(edge):
            return TRUE
        stored = self.store_forces(edge) if qp in self.inline else FALSE
        held = disj(self.receive_forces_poll(edge), self._held(edge))
        return disj(Name(self.forced(qp)), self._behind_reads(edge), stored, held)

    def _shows(self, edge: EventEdge) -> bool:
        """Whether a poll of the write tells that it is there."""
        return visible_when_polled(kind_of_edge(edge), self.frame.model)

    def _behind_reads(self, edge: EventEdge) -> Expr:
        """Whether an instantaneous event of the queue pair in the second part is ippo-before the event of `edge`."""
        qp, later = qp_of(edge), kind_of_edge(edge)
        unasked = NIC_WRITE_TYPES if self._written_before_fences else NIC_WRITE_TYPES | {EventType.NF}
        asked: dict[Kind, int] = {k: b for k, b in self.bits[qp].items() if type_of(k) not in unasked}
        return has_bit(self.beta(qp), issued_before(asked, later, self.frame.model) | self._own_read(edge))

    @cached_property
    def _written_before_fences(self) -> bool:
        """Whether some remote write is observed before an nF, and so may force one that is not behind a read."""
        writes = (*REMOTE_WRITES, *map(as_variant, REMOTE_WRITES))
        return any(observed_scope(write, EventType.NF, self.frame.model) == "qp" for write in writes)

    def receive_forces_poll(self, edge: EventEdge) -> Expr:
        """S2: the V that the message has taken is in the second part."""
        return Name(TAKEN) if takes_buffer(edge) else FALSE

    @cached_property
    def inline(self) -> frozenset[QueuePair]:
        """Queue pairs with remote writes of what the CPU has read."""
        edges = [e for g in self.frame.graphs for e in g.edges if e.remote is not None]
        read = {id(e.step) for e in edges if e.type is EventType.NLR}
        return frozenset(qp_of(e) for e in edges if e.type is EventType.NRW and id(e.step) not in read)

    def first_part(self, edge: EventEdge) -> tuple[tuple[Statement, ...], ...]:
        """What an event of the first part does to what the rules remember, as alternatives; the first one is that of an
        event before all of the second part."""
        return _together(self._first_part(edge), (memory.first_part(edge) for memory in self.memories))

    def second_part(self, edge: EventEdge) -> tuple[tuple[Statement, ...], ...]:
        """What an event of the second part does to what the rules remember, as alternatives; of a remote read-modify-write
        of which only the write is there, an edge of its type."""
        return _together(self._second_part(edge), (memory.second_part(edge) for memory in self.memories))

    def _first_part(self, edge: EventEdge) -> tuple[tuple[Statement, ...], ...]:
        """What an event of the first part does to polls, completions and fence flags, as alternatives.

        A poll of the first part takes a completion that is older than the first forcing one (Corollary 4).
        """
        if edge.remote is None:
            return ((),)
        qp = qp_of(edge)
        if edge.type is EventType.P:
            taken = Add(self.frame.unpolled(qp), -1), Add(self.early(qp), -1)
            return tuple((*taken, *chain(*tells)) for tells in product(*(self._told(qp, t) for t in self.landings(qp))))
        ends = self._ends(edge) if edge.completing else ()
        if edge.completes and self.frame.counted(edge):
            forced = Name(self.forced(qp))
            early = ((Require(negate(forced)), *counts, *ends) for counts in self._completion(edge, True))
            late = ((Require(forced), *counts, *ends) for counts in self._completion(edge, False))
            return (*early, *late)
        if edge.type is EventType.NF and qp in self.fence_flagged:
            overtakes = has_bit(self.beta(qp), self._pushed(qp, EventType.NLR))
            return ((Assign(((self.fenced(qp), Ite(overtakes, Const(1), Name(self.fenced(qp)))),)),),)
        return (ends,)

    def _second_part(self, edge: EventEdge) -> tuple[tuple[Statement, ...], ...]:
        """What an event of the second part does to the sets of types, polls and completions, as alternatives."""
        if edge.type in CPU_TYPES:
            taken = (Add(self.frame.unpolled(qp_of(edge)), -1),) if edge.type is EventType.P else ()
            if not self.buffering.isdisjoint(edge.threads):
                return ((*taken, *self._buffered(edge)),)
            return ((*taken, Assign((set_bit(CPU_BETA, thread_bits(edge.threads)),)), *self._all_polls(edge)),)
        assert edge.type is not None
        qp = qp_of(edge)
        mine = self.bits[qp]
        made = kind_of_edge(edge), kind_of(edge.also or edge.type, edge)
        at_word = bits_of(self.word_bits.get(qp, {}).get((kind, edge.cell), 0) for kind in made)
        bits = mine[made[0]] | mine[made[1]] | at_word | self._own(edge)
        added = Assign((set_bit(self.beta(qp), bits), *self._receiving(edge), *self._holding(edge)))
        ends = self._ends(edge) if edge.completing else ()
        if not edge.completing or qp not in self.frame.polled:
            return ((added, *ends),)
        forces = self.forces_poll(edge)
        marked = Require(forces), Assign(((self.forced(qp), Const(1)),)), added
        late = tuple((*marked, *counts, *ends) for counts in self._completion(edge, False, in_second=True))
        early = ((Require(negate(forces)), added, *counts, *ends) for counts in self._completion(edge, True, in_second=True))
        return late if forces == TRUE else (*late, *early)

    def _buffered(self, edge: EventEdge) -> tuple[Statement, ...]:
        """Mark the threads of a CPU event in the second part, where stores are buffered (T1)."""
        mine = thread_bits(edge.threads)
        me = Const(mine)
        if edge.type in STORE_TYPES:
            left = has_bit(CPU_BETA, mine)
            return (Assign(((STORE_BETA, Ite(left, Name(STORE_BETA), Binary("|", Name(STORE_BETA), me))),)),)
        forgotten = (STORE_BETA, Binary("&~", Name(STORE_BETA), me))
        return (Assign((set_bit(CPU_BETA, mine), forgotten)), *self._all_polls(edge))

    def _all_polls(self, edge: EventEdge) -> tuple[Statement, ...]:
        """All later polls of the threads are of the second part as well."""
        mine = [qp for qp in self.frame.polled if qp[0] in edge.threads]
        ahead = (Forget(self.ahead(qp, told)) for qp in mine for told in self.landings(qp))
        return (*(Forget(self.early(qp)) for qp in mine), *ahead)

    def _receiving(self, edge: EventEdge) -> list[tuple[str, Expr]]:
        """Remember for S5 that a message takes a V of the second part."""
        if not takes_buffer(edge) or qp_of(edge) not in self.receive_flagged:
            return []
        name = self.received(qp_of(edge))
        return [(name, Ite(Name(TAKEN), Binary("|", Name(name), Const(self._as_message(kind_of_edge(edge)))), Name(name)))]

    def _as_message(self, kind: Kind) -> int:
        """The bit of a message among those that have taken a V of the second part: all of one row of the table have one."""
        return 2 if is_apart(kind, self.frame.model) else 1

    def behind_receives(self, edge: EventEdge) -> int:
        """The messages, as such bits, before which the event of `edge` is not issued, although it may be observed (S5)."""
        later, model = kind_of_edge(edge), self.frame.model
        sent = (kind for kind in self.bits[qp_of(edge)] if type_of(kind) is EventType.NRW)
        kept = (kind for kind in sent if ippo_scope(kind, later, model) == "qp" != oppo_scope(kind, later, model))
        return bits_of(self._as_message(kind) for kind in kept)

    def _holding(self, edge: EventEdge) -> list[tuple[str, Expr]]:
        """Remember for G2 that a write forces what is issued behind it."""
        if not self.frame.program.memories or edge.type not in NIC_WRITE_TYPES:
            return []
        held, qp = self._held(edge), qp_of(edge)
        return [] if held == FALSE else [united_if(held, self.holding(qp), self.bits[qp][kind_of_edge(edge)])]

    def marks(self, edge: EventEdge, part: int, taint: Expr) -> Expr:
        """The marks that a message or a V leaves in its queue; `part` is 1 in the second part, else 0, and `taint` is
        non-zero if it is tainted."""
        if edge.connection is None or edge.type is EventType.RP:
            return NO_MARKS
        second: Expr = Const(IN_BETA * part)
        told = self._told_besides(edge) if not part and takes_buffer(edge) else 0
        if part and takes_buffer(edge) and memory_of(kind_of_edge(edge)):
            taken = self.frame.messages.marked(edge, IN_BETA)
            held = disj(taken, self._behind_reads(edge), self._held(edge))
            second = marked_if(held, IN_BETA)
        if told:
            second = marked_if(has_bit(self.beta(qp_of(edge)), told), IN_BETA)
        for memory in self.memories:
            second = union(second, memory.mark(edge, part))
        if taint == FALSE:
            return second
        return union(second, marked_if(taint, TAINTED))

    def _told_besides(self, edge: EventEdge) -> int:
        """The kinds of earlier events of the queue pair, as bits, of which a receive completion tells besides its message,
        as the table does not keep them before that anyway."""
        message, model = kind_of_edge(edge), self.frame.model
        kinds = (kind for kind in self.bits[qp_of(edge)] if not memory_of(kind) and tells_of(kind, message, model))
        earlier = bits_of(self.bits[qp_of(edge)][kind] for kind in kinds)
        return OWN_DATA if receives_of_own(model) else earlier

    def _completion(self, edge: EventEdge, early: bool, *, in_second: bool = False) -> tuple[tuple[Statement, ...], ...]:
        """Count the completion of a NIC write, if it has one, as alternatives; `early` if it does not come after one that
        forces. It is ahead of writes of a group in the second part if there is none yet, nor is this one `in_second`."""
        if not edge.completes or not self.frame.counted(edge):
            return ((),)
        qp = qp_of(edge)
        added: tuple[Statement, ...] = (Add(self.frame.unpolled(qp), 1), *((Add(self.early(qp), 1),) if early else ()))
        mine = set(map(landing_of, kinds_of_edge(edge))) if in_second else ()
        return _together((added,), (self._ahead_of(qp, told) for told in self.landings(qp) if told not in mine))

    def _ahead_of(self, qp: QueuePair, told: Landing) -> tuple[tuple[Statement, ...], ...]:
        """Count a completion if it is ahead of these writes of the second part, as alternatives."""
        written = self._written(qp, told)
        return ((Require(negate(written)), Add(self.ahead(qp, told), 1)), (Require(written),))

    def _written(self, qp: QueuePair, told: Landing) -> Expr:
        """The second part has such a write of the queue pair."""
        return has_bit(self.beta(qp), bits_of(bit for kind, bit in self.bits[qp].items() if landing_of(kind) == told))

    def _told(self, qp: QueuePair, told: Landing) -> tuple[tuple[Statement, ...], ...]:
        """What a poll of the first part tells of these writes of the second (R1'), as alternatives: it takes a completion
        ahead of them, or none is left."""
        settled, ahead = Name(self.settled(qp, told)), self.ahead(qp, told)
        first = Require(conj(negate(settled), self._written(qp, told))), Zero(ahead), Forget(ahead)
        return (
            (Require(negate(settled)), Add(ahead, -1)),
            (*first, Assign(((self.settled(qp, told), Const(1)),))),
            (Require(settled),),
        )

    @cached_property
    def queue_pairs(self) -> tuple[QueuePair, ...]:
        """Those with NIC events."""
        return tuple(qp for qp, types in self.frame.types.items() if types & NIC_BITS.keys())

    @cached_property
    def acknowledged(self) -> dict[QueuePair, tuple[Landing, ...]]:
        """Queue pairs on which R1' can matter, and of which writes."""
        found = {qp: tuple(filter(partial(self._tells, qp), self._all_landings(qp))) for qp in self.frame.polled}
        return {qp: groups for qp, groups in found.items() if groups}

    def _all_landings(self, qp: QueuePair) -> list[Landing]:
        return sorted({told for kind in self.frame.kinds[qp] if (told := landing_of(kind)) is not None})

    def _tells(self, qp: QueuePair, told: Landing) -> bool:
        """Whether a poll that tells of these writes forces an event of the queue pair."""
        return any(gains_behind_poll(kind, self.frame.model, told) for kind in self.frame.kinds[qp])

    def landings(self, qp: QueuePair) -> tuple[Landing, ...]:
        """Of which writes R1' is asked on a queue pair."""
        return self.acknowledged.get(qp, ())

    @cached_property
    def fence_flagged(self) -> frozenset[QueuePair]:
        """Queue pairs on which R3 can matter."""
        return frozenset(
            qp
            for qp, types in self.frame.types.items()
            if EventType.NF in types
            and fence_lands(self.frame.model)
            and any(type_of(k) is EventType.NLR and self._pushed(qp, k) for k in self.frame.kinds[qp])
        )

    def _pushed(self, qp: QueuePair, read: Kind) -> int:
        """The nlW of the queue pair, as bits, that nfo orders with the nlR of a put."""
        kinds = (kind for kind in self.bits[qp] if type_of(kind) is EventType.NLW)
        return bits_of(self.bits[qp][kind] for kind in kinds if nfo_between(kind, read, self.frame.model))

    @cached_property
    def bits(self) -> dict[QueuePair, dict[Kind, int]]:
        """For each queue pair the bits of the kinds of its NIC events. Kinds of one type have one bit, unless nfo tells them
        apart, or they are in different memories: else the order table looks at the later of two events only."""
        return {qp: self._bits(kinds) for qp, kinds in self.frame.kinds.items()}

    @cached_property
    def word_bits(self) -> dict[QueuePair, dict[tuple[Kind, Cell | None], int]]:
        """For each queue pair further bits of kinds of NIC events on one word, where the order table asks for the word."""
        found: dict[QueuePair, dict[tuple[Kind, Cell | None], int]] = {}
        for edge in (e for g in self.frame.graphs for e in g.edges if e.remote is not None):
            for event_type in (edge.type, edge.also):
                if event_type is not None and by_word(kind := kind_of(event_type, edge), self.frame.model):
                    mine = found.setdefault(qp_of(edge), {})
                    mine.setdefault((kind, edge.cell), self._behind_kinds(qp_of(edge)) << len(mine))
        return found

    def _behind_kinds(self, qp: QueuePair) -> int:
        """The first bit behind those of the kinds of a queue pair."""
        return max(WORDS, *(bit << 1 for bit in self.bits[qp].values()))

    def _bits(self, present: frozenset[Kind]) -> dict[Kind, int]:
        found = {}
        further = sorted(filter(None, {self._behind_words(kind) for kind in present}))
        for kind in (kind for kind in self._all_kinds if kind in present):
            found[kind] = NIC_BITS[of_type := type_of(kind)]
            if (place := self._behind_words(kind)) is not None:
                found[kind] = WORDS << further.index(place)
            elif of_type is EventType.NLW and self._is_pushed(kind) != self._is_pushed(of_type):
                found[kind] = _ANSWER
            elif is_apart(kind, self.frame.model):
                found[kind] = _SENT[of_type]
        return found

    def _behind_words(self, kind: Kind) -> tuple[str, str, bool] | None:
        """What has a bit from WORDS on, for kinds in memories and atomics that fetch nothing and have rows of their own."""
        apart, memory, of_type = is_apart(kind, self.frame.model), memory_of(kind), type_of(kind)
        return (memory, of_type.value, apart) if memory or (apart and of_type not in SENT_TYPES) else None

    @cached_property
    def _all_kinds(self) -> tuple[Kind, ...]:
        """All kinds that there can be, in a fixed order."""
        return kinds_on(self.frame.program.memories)

    def _is_pushed(self, kind: Kind) -> bool:
        return nfo_between(kind, EventType.NLR, self.frame.model)

    @cached_property
    def receive_flagged(self) -> frozenset[QueuePair]:
        """Queue pairs on which S5 can matter."""
        edges = [e for g in self.frame.graphs for e in g.edges if e.remote is not None and e.type not in (*CPU_TYPES, None)]
        issued = {qp_of(e) for e in edges if self.behind_receives(e)}
        return frozenset(qp_of(e) for e in edges if takes_buffer(e) and qp_of(e) in issued)

    def received(self, qp: QueuePair) -> str:
        """The set of kinds of messages of this queue pair that have taken a V of the second part."""
        return f"received[{self.frame.qp_name(qp)}]"

    def holding(self, qp: QueuePair) -> str:
        """The set of kinds of the writes of this queue pair in the second part that force what is issued behind them."""
        return f"holding[{self.frame.qp_name(qp)}]"

    def beta(self, qp: QueuePair) -> str:
        """The set of NIC event types of this queue pair in the second part."""
        return f"beta[{self.frame.qp_name(qp)}]"

    def forced(self, qp: QueuePair) -> str:
        """1 once some completion of this queue pair forces."""
        return f"forced[{self.frame.qp_name(qp)}]"

    def fenced(self, qp: QueuePair) -> str:
        """1 once an nF of the first part has a po-earlier nlW of the same queue pair in the second."""
        return f"fenced[{self.frame.qp_name(qp)}]"

    def early(self, qp: QueuePair) -> str:
        """Counter: unpolled completions before the first that forces; what a poll of the first part may consume."""
        return f"early[{self.frame.qp_name(qp)}]"

    def settled(self, qp: QueuePair, told: Landing) -> str:
        """1 once a poll of the first part has taken the completion of such a write of the second, or of a later
        operation."""
        return f"settled{told}[{self.frame.qp_name(qp)}]"

    def ahead(self, qp: QueuePair, told: Landing) -> str:
        """Counter: unpolled completions before that of the first such write of the second part."""
        return f"ahead{told}[{self.frame.qp_name(qp)}]"

    def counters(self) -> tuple[str, ...]:
        return tuple(name for qp in self.frame.polled for name in self.counters_of(qp))

    def counters_of(self, qp: QueuePair) -> tuple[str, ...]:
        """The counters of a queue pair that is polled."""
        ahead = (self.ahead(qp, told) for told in self.landings(qp))
        of_memories = (name for memory in self.memories for name in memory.counters_of(qp))
        return self.frame.unpolled(qp), self.early(qp), *ahead, *of_memories

    def counter_order(self) -> tuple[tuple[str, str], ...]:
        """Which counters are at most which others."""
        return tuple((each, self.frame.unpolled(qp)) for qp in self.frame.polled for each in self.counters_of(qp)[1:])

    def sizes(self) -> tuple[tuple[str, int], ...]:
        """The bits of those :meth:`variables` that are sets."""
        threads = len(self.frame.graphs)
        stores = ((STORE_BETA, threads),) if self.buffering else ()
        of_kinds = ((name(qp), self._size(qp)) for qp in self.queue_pairs for name in self._sets)
        flagged = self.receive_flagged if EventType.NRW in variants_apart(self.frame.model.order) else frozenset()
        received = ((self.received(qp), 2) for qp in self.queue_pairs if qp in flagged)
        of_memories = (size for memory in self.memories for size in memory.sizes())
        return ((CPU_BETA, threads), *stores, *of_kinds, *received, *of_memories)

    @property
    def _sets(self) -> tuple[Callable[[QueuePair], str], ...]:
        """The sets of kinds of events that there are for each queue pair."""
        return (self.beta, self.holding) if self.frame.program.memories else (self.beta,)

    def _size(self, qp: QueuePair) -> int:
        bits = (*self.bits[qp].values(), *self.word_bits.get(qp, {}).values())
        return max(len(NIC_BITS), self.own_bits.bit_length(), *(bit.bit_length() for bit in bits))

    def variables(self) -> tuple[tuple[str, int], ...]:
        """What keeps the two parts RDMA-consistent, initially all 0."""
        return (
            (CPU_BETA, 0),
            *(((STORE_BETA, 0),) if self.buffering else ()),
            *((name(qp), 0) for qp in self.queue_pairs for name in self._sets),
            *((name, 0) for memory in self.memories for name, _ in memory.sizes()),
            *((self.forced(qp), 0) for qp in self.frame.polled),
            *((self.settled(qp, told), 0) for qp in self.frame.polled for told in self.landings(qp)),
            *((self.fenced(qp), 0) for qp in self.queue_pairs if qp in self.fence_flagged),
            *((self.received(qp), 0) for qp in self.queue_pairs if qp in self.receive_flagged),
        )
