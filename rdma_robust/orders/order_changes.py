"""Order tables made from others: a cell or a rule changed, and in what two tables differ.

Source: docs/hardware.md; docs/deployed.md, "Tables as files".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.orders.known_orders import told_order
from rdma_robust.orders.order_record import FIXED, PUSHABLE, TYPES, OrderTable, closed, ordered_by_word

PUSHES: Final = "reads-push-writes"
RECEIVES: Final = "receive-covers"
POLLS: Final = "completions-order"
BY_WORD: Final = "atomics-of-a-word"


@dataclass(frozen=True, slots=True)
class Difference:
    """A cell, `earlier later`, or a rule, with what two tables say of it; `what` has pairs that push too."""

    what: str
    first: str
    second: str

    @property
    def types(self) -> tuple[str, ...]:
        """The types of events that it is about; none for a rule about all of them."""
        return tuple(word for word in self.what.split() if word in TYPES)


def table_with_cells(table: OrderTable, cells: Mapping[tuple[str, str], str]) -> OrderTable:
    """Return a table with other cells, and with what follows from them; `cells` are all that it writes."""
    found = closed(cells)
    kept = ordered_by_word(found) if table.by_word else found
    return replace(table, cells={**FIXED, **kept}, written=dict(cells))


def table_rules(table: OrderTable) -> dict[str, str]:
    """Return what a table says beside its cells, rule by rule."""
    pushes = {f"{PUSHES} {' '.join(pair)}": "yes" if pair in table.pushes else "no" for pair in PUSHABLE}
    return pushes | {
        RECEIVES: table.receives,
        POLLS: f"as {table.behind_polls}" if table.behind_polls else "no",
        BY_WORD: "program order" if table.by_word else "table",
    }


def table_differences(one: OrderTable, other: OrderTable) -> Iterator[Difference]:
    """Yield what two tables do not say alike, cells first, by rows."""
    for earlier in TYPES:
        for later in TYPES:
            first, second = one.cells[earlier, later], other.cells[earlier, later]
            if first != second:
                yield Difference(f"{earlier} {later}", first, second)
    yield from (
        Difference(rule, said, table_rules(other)[rule])
        for rule, said in table_rules(one).items()
        if said != table_rules(other)[rule]
    )


def changed_as(table: OrderTable, other: OrderTable, difference: Difference) -> str:
    """Return the order of a table that is as another one in what differs, and else as it was."""
    match difference.what.split():
        case [earlier, later]:
            kept = other.cells[earlier, later].replace("word", "-")
            made = table_with_cells(table, {**table.written, (earlier, later): kept})
        case [_, read, write]:
            made = replace(table, pushes=table.pushes ^ {(read, write)})
        case [rule]:
            made = _with_rule(table, other, rule)
        case _:
            raise AssertionError(f"no difference: {difference}")
    return told_order(replace(made, name=f"{table.name}, {difference.what} {difference.second}", why={}))


def _with_rule(table: OrderTable, other: OrderTable, rule: str) -> OrderTable:
    if rule == RECEIVES:
        return replace(table, receives=other.receives)
    if rule == POLLS:
        return replace(table, behind_polls=other.behind_polls)
    return table_with_cells(replace(table, by_word=other.by_word), table.written)
