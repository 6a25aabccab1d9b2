"""The order table is the document's, and read as the document says."""

from __future__ import annotations

from itertools import product

import pytest

from rdma_robust.model import rdma
from rdma_robust.orders import SHIPPED as ORDERS
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_record import VARIANT_OF, plain_cell
from rdma_robust.semantics.order_table import ippo_scope, oppo_scope, table_cell
from rdma_robust.semantics.trace import CPU_TYPES, EventType

DOCUMENT = """
| earlier \\ later | CPU | nlR | nrW | nrR | nlW | nF | naR | naW | nO | FL |
|---|---|---|---|---|---|---|---|---|---|---|
| CPU | all | all | all | all | all | all | all | all | all | all |
| nlR | - | qp | qp | qp | qp | qp | qp | qp | - | qp |
| nrW | - | - | qp | qp | qp | i | qp | qp | qp | qp |
| nrR | - | - | - | (-) | qp | qp | - | - | - | qp |
| nlW | - | - | - | - | qp | i | - | - | - | qp |
| nF  | - | qp | qp | qp | qp | qp | qp | qp | qp | qp |
| naR | - | - | qp | qp | qp | qp | qp | qp | qp | qp |
| naW | - | - | qp | qp | i | i | qp | qp | qp | qp |
| nO  | - | - | qp | - | - | - | qp | qp | qp | qp |
"""
TYPES = [t for t in EventType if t is not EventType.INIT]


def test_the_table_is_the_one_of_the_document() -> None:
    cells = order_table("default").cells
    head, _, *rows = [[c.strip() for c in line.strip("|").split("|")] for line in DOCUMENT.strip().splitlines()]
    read = {(row[0], column): text for row in rows for column, text in zip(head[1:], row[1:], strict=True)}
    assert read == {cell: kept for cell, kept in cells.items() if not {*cell} & {*VARIANT_OF}}
    assert all(kept == cells[plain_cell(cell)] for cell, kept in cells.items())


@pytest.mark.parametrize("earlier", sorted(CPU_TYPES, key=lambda t: t.value))
def test_cpu_events_share_the_cpu_row_and_column(earlier: EventType) -> None:
    """But for the column of a flush, which everything of its queue pair is before, under every order."""
    kept = "qp" if earlier is EventType.FL else "-"
    for order in ORDERS:
        assert all(table_cell(earlier, later, order) == "all" for later in TYPES)
        assert all(table_cell(nic, earlier, order) == kept for nic in TYPES if nic not in CPU_TYPES)


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_statement_keeps_what_the_default_order_keeps_of_writes_and_atomics(order: str) -> None:
    """Under the default order it changes nothing: with it between them, what was kept without it is kept."""
    t = EventType
    about = {t.NRW, t.NAR, t.NAW, t.NA}
    cards = set(TYPES) - CPU_TYPES - {t.NO}
    assert {a for a in cards if table_cell(a, t.NO, order) == "qp"} == about | {t.NF}
    assert {b for b in cards if table_cell(t.NO, b, order) == "qp"} == about
    assert all(table_cell(a, b) == "qp" for a in about for b in about)


def test_observation_order_is_issue_order_without_the_i_cells() -> None:
    differ = [(a, b) for a, b in product(TYPES, TYPES) if ippo_scope(a, b) != oppo_scope(a, b)]
    t = EventType
    assert differ == [(t.NRW, t.NF), (t.NLW, t.NF), (t.NAW, t.NLW), (t.NAW, t.NF)]
    assert all((ippo_scope(a, b), oppo_scope(a, b)) == ("qp", "-") for a, b in differ)


@pytest.mark.parametrize("scope", [ippo_scope, oppo_scope])
def test_ordered_reads_change_one_cell(scope) -> None:
    differ = [(a, b) for a, b in product(TYPES, TYPES) if scope(a, b, rdma(False)) != scope(a, b, rdma(True))]
    assert differ == [(EventType.NRR, EventType.NRR)]
    assert (scope(*differ[0], rdma(False)), scope(*differ[0], rdma(True))) == ("-", "qp")


def test_initial_writes_are_not_in_the_table() -> None:
    with pytest.raises(KeyError):
        table_cell(EventType.INIT, EventType.LR)
