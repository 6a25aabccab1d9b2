"""Why two events of one queue pair may change places: a sentence for every cell of every order table."""

import pytest

from rdma_robust.orders import SHIPPED as ORDERS
from rdma_robust.orders.known_orders import order_table
from rdma_robust.semantics.order_table import table_cell
from rdma_robust.semantics.trace import Event, EventType
from rdma_robust.semantics.wording import ATOMICS_TOO, NOT_KEPT, ON_THE_WAY, WEAKER_ORDER, WHY, why_reordered

NIC = [EventType(name) for name in ("nlR", "nrW", "nrR", "nlW", "nF", "naR", "naW", "nA")]


def _event(kind: EventType) -> Event:
    return Event(0, kind, 0, 0, "B")


@pytest.mark.parametrize("order", ORDERS)
def test_every_cell_that_is_not_kept_has_its_reason(order: str) -> None:
    for earlier in NIC:
        for later in NIC:
            if table_cell(earlier, later, order) in ("-", "i", "(-)"):
                why = why_reordered(_event(earlier), _event(later), order)
                kept_elsewhere = table_cell(earlier, later) == "qp"
                assert why != NOT_KEPT
                assert (
                    why in (WEAKER_ORDER, ATOMICS_TOO, order_table(order).says) or f"(order {order})" in why
                ) == kept_elsewhere
                assert kept_elsewhere == ((earlier, later) not in WHY)


def test_atomics_overtake_under_the_weakest_order_only() -> None:
    assert why_reordered(_event(EventType.NRW), _event(EventType.NAR)) == ATOMICS_TOO
    assert why_reordered(_event(EventType.NRW), _event(EventType.NRW)) == WEAKER_ORDER


def test_what_every_order_keeps_is_not_excused() -> None:
    kept = {(a, b) for a in NIC for b in NIC if all(table_cell(a, b, order) == "qp" for order in ORDERS)}
    assert kept
    assert not kept & {*WHY, *ON_THE_WAY}
