"""The order table: which program-order edges RDMA hardware preserves, in issue order (ippo) and observation order (oppo).

Source: the table of semantics.md (figure 4 of the paper, whose cells were lost in the text).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from rdma_robust.errors import UsageError
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.trace import CPU_TYPES, EventType

Scope = Literal["all", "qp", "-"]
"""Which program-order edges of a cell are preserved: every one, those within one queue pair, or none."""

TABLE: Final = """
    | CPU | nlR | nrW | nrR | nlW | nF
CPU | all | all | all | all | all | all
nlR | -   | qp  | qp  | qp  | qp  | qp
nrW | -   | -   | qp  | qp  | qp  | i
nrR | -   | -   | -   | (-) | qp  | qp
nlW | -   | -   | -   | -   | qp  | i
nF  | -   | qp  | qp  | qp  | qp  | qp
"""
"""Rows are the earlier event, columns the later one; `i` is `qp` for ippo and `-` for oppo.

`(-)` is the one cell that depends on the hardware: `-` by default, `qp` with ordered reads.
"""


NFO_PAIRS: Final = (frozenset({EventType.NLR, EventType.NLW}), frozenset({EventType.NRR, EventType.NRW}))
"""The types of the NIC events of one queue pair that nfo orders, one way or the other."""

VISIBLE_WHEN_POLLED: Final = frozenset({EventType.NLW})
"""The types of completions whose poll tells that they have taken effect: [nlW];pf is part of ob. Of the others it tells
only that they were issued."""


def _parse(table: str) -> dict[tuple[str, str], str]:
    head, *rows = [[c.strip() for c in line.split("|")] for line in table.strip("\n").split("\n")]
    return {(row[0], column): text for row in rows for column, text in zip(head[1:], row[1:], strict=True)}


CELLS: Final = _parse(TABLE)


def _kind(event_type: EventType) -> str:
    return "CPU" if event_type in CPU_TYPES else event_type.value


ORDERS: Final[dict[str, Mapping[tuple[str, str], str]]] = {"default": CELLS}
"""The tables by the names that :attr:`Model.order` has for them."""


def cell(earlier: EventType, later: EventType, order: str = "default") -> str:
    """Return the table's cell as printed, for the types of two events of one thread; INIT raises KeyError.

    Raises UsageError for an order that has no table.
    """
    cells = ORDERS.get(order)
    if cells is None:
        raise UsageError(f"no order table is called {order!r}; the tables are {', '.join(ORDERS)}")
    return cells[_kind(earlier), _kind(later)]


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
    return "all" if _program_order(model) else _scope(cell(earlier, later, model.order), True, model)


def oppo_scope(earlier: EventType, later: EventType, model: Model = RDMA) -> Scope:
    """Return how far observation order preserves a program-order edge between events of these types."""
    return "all" if _program_order(model) else _scope(cell(earlier, later, model.order), False, model)
