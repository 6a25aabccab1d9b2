"""Which order tables keep more than others, and which of them are the same to a program.

Source: docs/order-files.md, "The format": a table that keeps less has more executions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_record import ALL_TYPES, OrderTable


def keeps_all_of(order: str, other: str) -> bool:
    """Return whether an order keeps everything that another one keeps, so that it has no other executions.

    Raises UsageError for an order that has no table.
    """
    one, two = order_table(order), order_table(other)
    return _at_least(one, two) and (not two.behind_polls or _at_least(order_table(one.behind_polls or order), _behind(two)))


def _behind(table: OrderTable) -> OrderTable:
    return order_table(table.behind_polls)


def _at_least(one: OrderTable, two: OrderTable) -> bool:
    cells = all(kept == "-" or one.cells[cell] in (kept, "qp", "all") for cell, kept in two.cells.items())
    rules = (
        (one.receives, two.receives, "own"),
        (one.tells, two.tells, "source"),
        (one.matching, two.matching, "any"),
    )
    weaker = all(other in (mine, weakest) for mine, other, weakest in rules)
    return cells and one.pushes >= two.pushes and weaker


def ranks(orders: Sequence[str]) -> dict[str, int]:
    """Return for each order by how many others of these, one below the other, it is weaker than the strongest above it."""
    weaker = {each: [o for o in orders if keeps_all_of(o, each) and not keeps_all_of(each, o)] for each in orders}
    found: dict[str, int] = {}
    for order in sorted(orders, key=lambda each: len(weaker[each])):
        found[order] = max((found[above] + 1 for above in weaker[order]), default=0)
    return found


def said_of_types(order: str, types: frozenset[str], *, polls: bool, receives: bool) -> tuple[object, ...]:
    """Return what an order says of events of these types, those of sends among them; two that say the same of a program's
    are one to it.

    `polls` is whether completions are polled, `receives` whether there are messages.
    """
    return tuple(_said(order_table(order), types, polls=polls, receives=receives))


def _said(table: OrderTable, types: frozenset[str], *, polls: bool, receives: bool) -> Iterator[object]:
    known = [each for each in ALL_TYPES if each in types]
    yield tuple(table.cells[earlier, later] for earlier in known for later in known)
    yield frozenset(pair for pair in table.pushes if types >= {*pair})
    yield (table.receives, table.matching) if receives else ()
    yield table.tells if polls else ""
    if polls and table.behind_polls:
        yield tuple(_said(_behind(table), types, polls=False, receives=receives))
