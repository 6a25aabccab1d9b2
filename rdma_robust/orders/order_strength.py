"""The strength of order tables: those that keep more than others, and those that are the same to a program.

Source: docs/order-files.md, "The format": a table that keeps less has more executions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_record import ALL_TYPES, VARIANT_OF, OrderTable


@dataclass(frozen=True, slots=True)
class EventKinds:
    """Kinds of events of which tables say something: their types, those of sends among them, whether completions are polled,
    and whether there are messages."""

    types: frozenset[str]
    polls: bool
    receives: bool

    def has_pair(self, pair: tuple[str, str]) -> bool:
        """Return whether there are events of both types, or of variants of them."""
        return {VARIANT_OF.get(each, each) for each in self.types} | self.types >= {*pair}


EVERY_KIND: Final = EventKinds(frozenset({*ALL_TYPES}), polls=True, receives=True)


def keeps_all_of(order: str, other: str, kinds: EventKinds = EVERY_KIND) -> bool:
    """Return whether an order keeps everything of these kinds of events that another one keeps, so that a program with no
    others has no other executions.

    Raises UsageError for an order that has no table.
    """
    one, two = order_table(order), order_table(other)
    behind = not kinds.polls or not two.behind_polls
    return _at_least(one, two, kinds) and (behind or _at_least(order_table(one.behind_polls or order), _behind(two), kinds))


def _behind(table: OrderTable) -> OrderTable:
    return order_table(table.behind_polls)


def _at_least(one: OrderTable, two: OrderTable, kinds: EventKinds) -> bool:
    types = kinds.types
    cells = all(
        kept == "-" or one.cells[cell] in (kept, "qp", "all") for cell, kept in two.cells.items() if types >= {*cell}
    )
    rules = (
        (one.receives, two.receives, "own", kinds.receives),
        (one.tells, two.tells, "source", kinds.polls),
        (one.matching, two.matching, "any", kinds.receives),
    )
    weaker = all(other in (mine, weakest) for mine, other, weakest, counts in rules if counts)
    return cells and one.pushes >= set(filter(kinds.has_pair, two.pushes)) and weaker


def ranks(orders: Sequence[str]) -> dict[str, int]:
    """Return for each order by how many others of these, one below the other, it is weaker than the strongest above it."""
    weaker = {each: [o for o in orders if keeps_all_of(o, each) and not keeps_all_of(each, o)] for each in orders}
    found: dict[str, int] = {}
    for order in sorted(orders, key=lambda each: len(weaker[each])):
        found[order] = max((found[above] + 1 for above in weaker[order]), default=0)
    return found


def said_of_kinds(order: str, kinds: EventKinds) -> tuple[object, ...]:
    """Return what an order says of these kinds of events; two that say the same of a program's are one to it."""
    return tuple(_said(order_table(order), kinds, polls=kinds.polls))


def _said(table: OrderTable, kinds: EventKinds, *, polls: bool) -> Iterator[object]:
    known = [each for each in ALL_TYPES if each in kinds.types]
    yield tuple(table.cells[earlier, later] for earlier in known for later in known)
    yield frozenset(filter(kinds.has_pair, table.pushes))
    yield (table.receives, table.matching) if kinds.receives else ()
    yield table.tells if polls else ""
    if polls and table.behind_polls:
        yield tuple(_said(_behind(table), kinds, polls=False))
