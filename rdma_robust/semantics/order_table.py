"""How an order table is read: which program-order edges RDMA hardware preserves, in issue order (ippo) and observation order
(oppo). The tables are files: those of the package are in `rdma_robust/orders/`.

Rows are the earlier event, columns the later one; `i` is `qp` for ippo and `-` for oppo. `(-)` is the one cell that may be
left open: `-` by default, `qp` with ordered reads. nA has the row and the column of naR, FL the row of CPU. A read and the
write of its operation that carries its value, and the naR and the naW of one read-modify-write, are always ordered, whatever
the cell says (:func:`ippo_scope` knows kinds only: see `axioms.same_operation`).

Source: docs/model.md, "Preserved order" (figure 4 of the paper, whose cells were lost in the text).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Final, Literal, NamedTuple

from rdma_robust.errors import UsageError
from rdma_robust.model import RDMA, Model
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_record import MESSAGE, PUSHABLE, VARIANT_OF
from rdma_robust.semantics.kinds import (
    NIC_KINDS,
    SENT_TYPES,
    UPDATE_TYPES,
    Kind,
    WordKind,
    as_variant,
    is_relaxed,
    is_variant,
    memory_of,
    type_of,
)
from rdma_robust.semantics.trace import CPU_TYPES, NIC_WRITE_TYPES, READ_TYPES, EventType
from rdma_robust.semantics.vertices import TOGETHER

Scope = Literal["all", "qp", "word", "-"]
"""Which program-order edges of a cell are preserved: every one, those within one queue pair, of these those between accesses
of one word, or none."""


def includes(scope: Scope, *, same_queue: bool, same_word: bool) -> bool:
    """Return whether such edges between two events are preserved, of one queue pair or not, on one word or not."""
    return scope == "all" or (same_queue and (scope == "qp" or (scope == "word" and same_word)))


STORE_BUFFER: Final = """
    | lR  | lW  | CAS | P   | F   | V   | RP  | FL
lW  | i   | all | all | i   | all | all | i   | i
V   | -   | o   | all | -   | all | all | -   | -
"""
"""CPU before CPU where CPUs have store buffers (tso): what is not here is `all`. `i` is `all` for ippo, `-` for oppo, and
`o` is `all` for oppo, `-` for ippo.

The point of a V is when it leaves the buffer, in both orders; a store is issued when it enters the buffer, and observed when
it leaves. So a later store is issued without waiting for the V, and observed after it."""

_BY_REQUEST: Final = frozenset({EventType.NRW, EventType.NAR, EventType.NAW, EventType.NA})
"""Behind these an answer (nlW) is as late as what its request reads at the other side, behind other answers as its own
word."""

_FAR: Final = _BY_REQUEST | {EventType.NRR}
_NEAR: Final = frozenset({EventType.NLR, EventType.NLW})
"""The types of a card's accesses at the other side of a queue pair, and at the side of its thread."""

VISIBLE_WHEN_POLLED: Final = frozenset({EventType.NLW})
"""The types of completions whose poll tells that they have taken effect: [nlW];pf is part of ob. Of the others it tells
only that they were issued, and of no word in a memory behind the card more than that."""


def visible_when_polled(kind: Kind, model: Model) -> bool:
    """Return whether a poll that takes the completion of an event tells that it has taken effect: where the order says so,
    that of a remote write too."""
    placed = order_table(model.order).tells == "placed"
    return type_of(kind) in (VISIBLE_WHEN_POLLED | REMOTE_WRITES if placed else VISIBLE_WHEN_POLLED) and not memory_of(kind)


REMOTE_WRITES: Final = frozenset({EventType.NRW, EventType.NAW})
"""The writes whose operation may have been polled before they take effect."""


def delayed_types(model: Model) -> frozenset[EventType]:
    """Return the types of events that may wait in a buffer between being issued and being observed: all others are
    instantaneous (Inst)."""
    return NIC_WRITE_TYPES | {EventType.LW} if model.cpu == "tso" else NIC_WRITE_TYPES


BEFORE_RECEIVE_COMPLETIONS: Final = frozenset({EventType.NRW, EventType.NAR, EventType.NAW, EventType.NA})
"""What a receive completion stays behind, if it is earlier on the sender's queue pair, or of the message's own request
only: as the table says (:attr:`OrderTable.receives`)."""


def _parse(table: str) -> dict[tuple[str, str], str]:
    head, *rows = [[c.strip() for c in line.split("|")] for line in table.strip("\n").split("\n")]
    return {(row[0], column): text for row in rows for column, text in zip(head[1:], row[1:], strict=True)}


STORES: Final = _parse(STORE_BUFFER)


_VARIANTS: Final = {name: variant for variant, name in VARIANT_OF.items()}


def row_name(kind: Kind) -> str:
    """Return the name of the row and the column of events of a kind."""
    event_type = type_of(kind)
    if event_type in CPU_TYPES:
        return "CPU"
    name = EventType.NAR.value if event_type is EventType.NA else event_type.value
    return _VARIANTS[name] if is_variant(kind) else name


def _column(kind: Kind) -> str:
    return kind.value if kind is EventType.FL else row_name(kind)


@cache
def relaxed_cells() -> frozenset[tuple[str, str]]:
    """Return the cells that are `-` under `order relaxed` and not by default, (earlier, later): under any order those are
    lost where the later event accesses a word of a relaxed region, see :func:`gives_up`."""
    kept = order_table("default").cells
    return frozenset(cell for cell, text in order_table("relaxed").cells.items() if text != kept[cell])


@cache
def _pushes(order: str) -> tuple[frozenset[EventType], ...]:
    pairs = [(read, write) for read, write in PUSHABLE if (read, write) in order_table(order).pushes]
    both = [*pairs, *((EventType.NA.value, write) for read, write in pairs if read == EventType.NAR.value)]
    return tuple(frozenset({EventType(read), EventType(write)}) for read, write in both)


def nfo_pairs_of(model: Model) -> tuple[frozenset[EventType], ...]:
    """Return the types of the NIC events of one queue pair that nfo orders."""
    return _pushes(model.order)


def nfo_between(one: Kind, other: Kind, model: Model, *, of_one_pair: bool = True) -> bool:
    """Return whether nfo orders two NIC events, of one queue pair or of two: both are of strict words of one memory.

    Of what lies behind a card every read lands all writes that were issued before it through that card, on any queue pair.
    """
    types, pushes = {type_of(one), type_of(other)}, nfo_pairs_of(model)
    if not pushes or memory_of(one) != memory_of(other) or is_relaxed(one) or is_relaxed(other):
        return False
    if memory_of(one):
        return not (types.isdisjoint(_CARD_READS) or types.isdisjoint(NIC_WRITE_TYPES))
    return of_one_pair and frozenset(types) in pushes


def fence_lands(model: Model) -> bool:
    """Return whether an nF that has passed an answer puts the reads of puts behind it into an order with that answer (R3):
    it is issued behind the answer, and the reads are observed behind it."""
    reads = (EventType.NLR, as_variant(EventType.NLR))
    kept = all(oppo_scope(EventType.NF, read, model) == "qp" for read in reads)
    return kept and ippo_scope(EventType.NLW, EventType.NF, model) == "qp"


_CARD_READS: Final = READ_TYPES - CPU_TYPES


def apart(model: Model) -> frozenset[tuple[EventType, EventType]]:
    """Return the types of a read of one operation, and of the event that it carries a value to, that the table does not keep
    in order in general: of such a pair it has to be known that both are of one operation. The naR and naW of one are looked
    at together in any case."""
    found = {(read, later) for read, later in TOGETHER if oppo_scope(read, later, model) == "-"}
    source, message = SENT_TYPES
    if oppo_scope(as_variant(source), as_variant(message), model) == "-":
        found.add((source, message))
    of_updates = ((source, later) for read, later in TOGETHER if read is source and later in UPDATE_TYPES)
    found |= {(read, later) for read, later in of_updates if oppo_scope(read, as_variant(later), model) == "-"}
    return frozenset(found - {(EventType.NAR, EventType.NAW)})


@cache
def variants_apart(order: str) -> frozenset[EventType]:
    """Return the types of events of whose variants, those of sends and of atomics that fetch nothing, the table of an order
    says something else."""
    said = {name for cell in order_table(order).variants for name in cell}
    groups = (SENT_TYPES, MESSAGE), (UPDATE_TYPES, "nuR"), (UPDATE_TYPES, "nuW")
    return frozenset(each for types, name in groups if name in said for each in types)


def is_apart(kind: Kind, model: Model) -> bool:
    """Return whether an event is a variant of its type of which the table says something else."""
    return is_variant(kind) and type_of(kind) in variants_apart(model.order)


def receives_of_own(model: Model) -> bool:
    """Whether a receive completion tells of the message's own request only."""
    return order_table(model.order).receives == "own"


def promises_nothing(model: Model) -> bool:
    """Whether no two requests are kept in order just because they follow each other: what standards of libraries say."""
    return bool(order_table(model.order).says)


def table_cell(earlier: Kind, later: Kind, order: str = "default") -> str:
    """Return the table's cell as printed, for the kinds of two events of one thread; INIT raises KeyError.

    Raises UsageError for an order that has no table.
    """
    return order_table(order).cells[row_name(earlier), _column(later)]


def _of_cpus(earlier: EventType, later: EventType, model: Model) -> str | None:
    """What the store buffer says of two events, None if it says nothing of its own."""
    return STORES.get((earlier.value, later.value)) if model.cpu == "tso" else None


def _scope(text: str, issue: bool, model: Model) -> Scope:
    match text:
        case "all":
            return "all"
        case "qp" | "word":
            return text
        case "i":
            return "qp" if issue else "-"
        case "(-)":
            return "qp" if model.ordered_reads else "-"
        case "-":
            return "-"
    raise ValueError(f"unknown cell {text!r} in the order table")


def _program_order(model: Model) -> bool:
    """Whether the model keeps all program order. Raises UsageError for a model that no table describes."""
    if not model.has_order_table:
        raise UsageError(
            f"no table says which program order is kept under this model ({model}): `prove` has a machine for it"
        )
    return model.network == "none"


def gives_up(earlier: Kind, later: Kind) -> bool:
    """Return whether the order of two events of a queue pair is lost as the later one accesses a word of a relaxed region.

    It may pass what `order relaxed` lets it pass. The answer of a request is looked up by the word that this reads at the
    other side, and only behind other answers by its own."""
    if not isinstance(later, WordKind):
        return False
    by_request = later.type is EventType.NLW and type_of(earlier) in _BY_REQUEST
    return (later.asked if by_request else later.relaxed) and (row_name(earlier), row_name(later)) in relaxed_cells()


def by_word(earlier: Kind, model: Model) -> bool:
    """Return whether of an earlier event of this kind its word has to be known: some later events of its queue pair stay
    behind it if they access the same."""
    return any(oppo_scope(earlier, later, model) == "word" for later in EventType if later is not EventType.INIT)


def tells_of(earlier: Kind, message: Kind, model: Model) -> bool:
    """Return whether a receive completion tells of an earlier event of the queue pair that the table does not keep before
    its message anyway. Of a word in a memory behind the card it tells only that the event was issued."""
    return type_of(earlier) in BEFORE_RECEIVE_COMPLETIONS and oppo_scope(earlier, message, model) == "-"


def lands_apart(earlier: Kind, later: Kind) -> bool:
    """Return whether two events of a queue pair are on words of different memories of one card. They go over different
    paths, so that of their order only that in which they are issued is kept.

    Those at one side of the queue pair are compared, and an answer, behind what happens at the other side, by the word that
    its request reads there."""
    one, two = type_of(earlier), type_of(later)
    if one in _FAR and two is EventType.NLW:
        return memory_of(earlier) != (later.asked_memory if isinstance(later, WordKind) else "")
    beside = (one in _FAR and two in _FAR) or (one in _NEAR and two in _NEAR)
    return beside and memory_of(earlier) != memory_of(later)


def ippo_scope(earlier: Kind, later: Kind, model: Model = RDMA) -> Scope:
    """Return how far issue order preserves a program-order edge between events of these kinds."""
    return _preserved(earlier, later, True, model)


def oppo_scope(earlier: Kind, later: Kind, model: Model = RDMA) -> Scope:
    """Return how far observation order preserves a program-order edge between events of these kinds."""
    return _preserved(earlier, later, False, model)


def observed_scope(earlier: Kind, later: Kind, model: Model) -> Scope:
    """Return how far ob keeps two events in program order: oppo, and ippo behind an instantaneous one."""
    delayed = type_of(earlier) in delayed_types(model)
    return oppo_scope(earlier, later, model) if delayed else ippo_scope(earlier, later, model)


def behind_poll(model: Model) -> Model | None:
    """Return the hardware whose table keeps a before b on one queue pair where a poll between them has taken the completion
    of a's operation, or of a later one; None if that is the model's own, as a completion gives no order."""
    order = order_table(model.order).behind_polls
    return replace(model, order=order) if order else None


class Landing(NamedTuple):
    """A group of writes of a queue pair that may land behind the poll of their completion: those at the other side, beside
    its card or in one memory behind it, or answers into a memory behind the own card."""

    memory: str = ""
    answers: bool = False

    def __str__(self) -> str:
        """What is behind the name of what is remembered of them; nothing for those beside the card of the other side."""
        return ("_answers" if self.answers else "") + (f"_in_{self.memory}" if self.memory else "")

    @property
    def writes(self) -> tuple[Kind, ...]:
        """The kinds of these writes."""
        if self.answers:
            return (WordKind(EventType.NLW, memory=self.memory),)
        return tuple(WordKind(t, memory=self.memory, variant=each) for each in (False, True) for t in REMOTE_WRITES)


def landing_of(kind: Kind) -> Landing | None:
    """Return the group of a write that a poll of its completion does not show, None for any other event."""
    memory, answers = memory_of(kind), type_of(kind) in VISIBLE_WHEN_POLLED
    return Landing(memory, answers) if type_of(kind) in REMOTE_WRITES or (answers and memory) else None


def gains_behind_poll(later: Kind, model: Model, told: Landing) -> bool:
    """Return whether any write of this group in the second part of a run forces an event of a card of this kind into it
    only where a poll of the first part has taken its completion (docs/theory-orders.md, "Completions under multipath").

    Behind remote writes an answer need not be asked: the read of its operation is, or is forced by any remote write.
    """
    return set(_put_behind_poll(later, model, told)) == {True}


def polls_apart(model: Model) -> bool:
    """Return whether a poll puts one remote write before a later event of a card, but not another one, so that it matters of
    which it tells (docs/theory-orders.md, "Tables that lack a fact")."""
    return any(len({*_put_behind_poll(later, model, Landing())}) > 1 for later in NIC_KINDS)


def _put_behind_poll(later: Kind, model: Model, told: Landing) -> Iterator[bool]:
    """Yield of each kind of writes of a group that the event may pass whether it may not behind a poll that tells of one."""
    ordered = behind_poll(model)
    if ordered is None or type_of(later) in CPU_TYPES or (type_of(later) in VISIBLE_WHEN_POLLED and not told.answers):
        return
    for write in told.writes:
        if oppo_scope(write, later, model) != "qp":
            yield oppo_scope(write, later, ordered) == "qp"


def _preserved(earlier: Kind, later: Kind, issue: bool, model: Model) -> Scope:
    kept = _program_order(model)
    one, two = type_of(earlier), type_of(later)
    if (buffered := _of_cpus(one, two, model)) is not None:
        return "all" if buffered in ("all", "i" if issue else "o") else "-"
    if kept:
        return "all"
    if gives_up(earlier, later):
        return "-"
    text = table_cell(earlier, later, model.order)
    return _scope("i" if text == "qp" and lands_apart(earlier, later) else text, issue, model)
