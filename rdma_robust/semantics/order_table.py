"""The order table: which program-order edges RDMA hardware preserves, in issue order (ippo) and observation order (oppo).

Source: docs/model.md, "Preserved order" (figure 4 of the paper, whose cells were lost in the text).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, Literal

from rdma_robust.errors import UsageError
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.trace import CPU_TYPES, NIC_WRITE_TYPES, EventType

Scope = Literal["all", "qp", "-"]
"""Which program-order edges of a cell are preserved: every one, those within one queue pair, or none."""

TABLE: Final = """
    | CPU | nlR | nrW | nrR | nlW | nF  | naR | naW | nO  | FL
CPU | all | all | all | all | all | all | all | all | all | all
nlR | -   | qp  | qp  | qp  | qp  | qp  | qp  | qp  | -   | qp
nrW | -   | -   | qp  | qp  | qp  | i   | qp  | qp  | qp  | qp
nrR | -   | -   | -   | (-) | qp  | qp  | -   | -   | -   | qp
nlW | -   | -   | -   | -   | qp  | i   | -   | -   | -   | qp
nF  | -   | qp  | qp  | qp  | qp  | qp  | qp  | qp  | qp  | qp
naR | -   | -   | qp  | qp  | qp  | qp  | qp  | qp  | qp  | qp
naW | -   | -   | qp  | qp  | i   | i   | qp  | qp  | qp  | qp
nO  | -   | -   | qp  | -   | -   | -   | qp  | qp  | qp  | qp
"""
"""Rows are the earlier event, columns the later one; `i` is `qp` for ippo and `-` for oppo.

`(-)` is the one cell that depends on the hardware: `-` by default, `qp` with ordered reads. nA has the row and the
column of naR, FL the row of CPU. A read and the write of its operation that carries its value, and the naR
and the naW of one read-modify-write, are always ordered, whatever the cell says (:func:`ippo_scope` knows types only: see
`axioms.same_operation`).
"""

STORE_BUFFER: Final = """
    | lR  | lW  | CAS | P   | F   | V   | RP  | FL
lW  | i   | all | all | i   | all | all | i   | i
V   | -   | o   | all | -   | all | all | -   | -
"""
"""CPU before CPU where CPUs have store buffers (tso): what is not here is `all`. `i` is `all` for ippo, `-` for oppo, and
`o` is `all` for oppo, `-` for ippo.

The point of a V is when it leaves the buffer, in both orders; a store is issued when it enters the buffer, and observed when
it leaves. So a later store is issued without waiting for the V, and observed after it."""

_LATER_RELAXED: Final = {"nrW": "nrW nrR nlW naR naW", "naW": "nrW nrR naR naW", "naR": "nrW nrR naR naW", "nlW": "nlW"}

RELAXED: Final = frozenset((earlier, later) for earlier, row in _LATER_RELAXED.items() for later in row.split())
"""The cells that are `-` under `order relaxed`, (earlier, later)."""

MULTIPATH: Final = RELAXED - {(a, b) for a in ("nrW", "naW", "naR") for b in ("naR", "naW")}
"""The cells that are `-` under `order multipath`: atomics wait for earlier writes and atomics."""

_NFO: Final = {
    "default": (
        frozenset({EventType.NLR, EventType.NLW}),
        *(
            frozenset({read, write})
            for read in (EventType.NRR, EventType.NAR, EventType.NA)
            for write in (EventType.NRW, EventType.NAW)
        ),
    ),
}


def nfo_pairs_of(model: Model) -> tuple[frozenset[EventType], ...]:
    """Return the types of the NIC events of one queue pair that nfo orders: none under weaker orders."""
    return () if model.order in WEAKER else _NFO["default"]


COMPLETIONS_ORDER: Final = frozenset({"multipath"})
"""The orders under which a polled completion puts its operation before what is posted later: see :func:`behind_poll`.

An acknowledged write has left the network, and the card of the other side writes in the order of arrival."""

WEAKER: Final = ("multipath", "relaxed")
"""The orders in which writes of one queue pair may overtake each other."""

NFO_PAIRS: Final = _NFO["default"]
"""What :func:`nfo_pairs_of` says of the default order."""

VISIBLE_WHEN_POLLED: Final = frozenset({EventType.NLW})
"""The types of completions whose poll tells that they have taken effect: [nlW];pf is part of ob. Of the others it tells
only that they were issued."""


REMOTE_WRITES: Final = frozenset({EventType.NRW, EventType.NAW})
"""The writes whose operation may have been polled before they take effect."""


def delayed_types(model: Model) -> frozenset[EventType]:
    """Return the types of events that may wait in a buffer between being issued and being observed: all others are
    instantaneous (Inst)."""
    return NIC_WRITE_TYPES | {EventType.LW} if model.cpu == "tso" else NIC_WRITE_TYPES


BEFORE_RECEIVE_COMPLETIONS: Final = frozenset({EventType.NRW, EventType.NAR, EventType.NAW, EventType.NA})
"""What a receive completion stays behind, if it is earlier on the sender's queue pair, also under weaker orders."""


def _parse(table: str) -> dict[tuple[str, str], str]:
    head, *rows = [[c.strip() for c in line.split("|")] for line in table.strip("\n").split("\n")]
    return {(row[0], column): text for row in rows for column, text in zip(head[1:], row[1:], strict=True)}


CELLS: Final = _parse(TABLE)


def _row(event_type: EventType) -> str:
    if event_type in CPU_TYPES:
        return "CPU"
    return EventType.NAR.value if event_type is EventType.NA else event_type.value


def _column(event_type: EventType) -> str:
    return event_type.value if event_type is EventType.FL else _row(event_type)


ORDERS: Final[dict[str, Mapping[tuple[str, str], str]]] = {
    "default": CELLS,
    "multipath": {**CELLS, **dict.fromkeys(MULTIPATH, "-")},
    "relaxed": {**CELLS, **dict.fromkeys(RELAXED, "-")},
}
"""The tables by the names that :attr:`Model.order` has for them."""

STORES: Final = _parse(STORE_BUFFER)


def table_cell(earlier: EventType, later: EventType, order: str = "default") -> str:
    """Return the table's cell as printed, for the types of two events of one thread; INIT raises KeyError.

    Raises UsageError for an order that has no table.
    """
    cells = ORDERS.get(order)
    if cells is None:
        raise UsageError(f"no order table is called {order!r}; the tables are {', '.join(ORDERS)}")
    return cells[_row(earlier), _column(later)]


def _of_cpus(earlier: EventType, later: EventType, model: Model) -> str | None:
    """What the store buffer says of two events, None if it says nothing of its own."""
    return STORES.get((earlier.value, later.value)) if model.cpu == "tso" else None


def _scope(text: str, issue: bool, model: Model) -> Scope:
    match text:
        case "all":
            return "all"
        case "qp":
            return "qp"
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


def ippo_scope(earlier: EventType, later: EventType, model: Model = RDMA) -> Scope:
    """Return how far issue order preserves a program-order edge between events of these types."""
    return _preserved(earlier, later, True, model)


def oppo_scope(earlier: EventType, later: EventType, model: Model = RDMA) -> Scope:
    """Return how far observation order preserves a program-order edge between events of these types."""
    return _preserved(earlier, later, False, model)


def behind_poll(model: Model) -> Model | None:
    """Return the hardware whose table keeps a before b on one queue pair where a poll between them has taken the completion
    of a's operation, or of a later one; None if that is the model's own, as a completion gives no order."""
    return replace(model, order="default") if model.order in COMPLETIONS_ORDER else None


def forced_behind_poll(model: Model) -> frozenset[EventType]:
    """Return the types of events that a remote write in the second part of a run forces into it only where a poll of the
    first part has taken its completion (docs/theory.md, "Completions under multipath").

    An answer need not be among them: the read of its operation is, or is forced by any remote write.
    """
    ordered = behind_poll(model)
    if ordered is None:
        return frozenset()

    def kept(later: EventType, hardware: Model) -> bool:
        return any(oppo_scope(earlier, later, hardware) == "qp" for earlier in REMOTE_WRITES)

    types = (t for t in EventType if t not in CPU_TYPES and t not in (EventType.INIT, *VISIBLE_WHEN_POLLED))
    return frozenset(t for t in types if kept(t, ordered) and not kept(t, model))


def _preserved(earlier: EventType, later: EventType, issue: bool, model: Model) -> Scope:
    kept = _program_order(model)
    if (buffered := _of_cpus(earlier, later, model)) is not None:
        return "all" if buffered in ("all", "i" if issue else "o") else "-"
    return "all" if kept else _scope(table_cell(earlier, later, model.order), issue, model)
