"""Tables that differ from another one in a few cells: those with the facts, and the readings of cells that nobody knows.

Source: docs/order-files.md, "The format"; docs/theory-orders.md, "Tables that lack a fact".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Final, NamedTuple

from rdma_robust.orders import SHIPPED
from rdma_robust.orders.known_orders import order_table, told_order
from rdma_robust.orders.order_facts import lacked_by
from rdma_robust.orders.order_record import (
    ALL_WRITES,
    NAMED_TYPES,
    PUSHABLE,
    SOURCE,
    TYPES,
    UNKNOWN,
    VARIANT_OF,
    OrderTable,
    of_all_types,
    plain_cell,
    said_in,
    with_written,
)
from rdma_robust.orders.order_strength import keeps_all_of

Cell = tuple[str, str]

MOST_CHANGES: Final = 2
"""Cells that are changed at most to get a table with the facts; beyond that one of the package may do."""


def reading(order: str, kept: frozenset[Cell]) -> str:
    """Return an order whose messages take their receives in order, in which the cells that nobody knows are kept if they are
    in `kept`, and else are not."""
    table = order_table(order)
    # Cells of sends, and of atomics without an answer, that are not written are as those of others, which may be unknown.
    said = of_all_types(table.written, table.variants)
    own = (cell for cell in said if SOURCE not in cell and not VARIANT_OF.keys().isdisjoint(cell))
    variants = {cell: _read(said[cell], said_in(cell, table.variants) in kept) for cell in own}
    written = {cell: _read(word, cell in kept) for cell, word in table.written.items()}
    return told_order(with_written(replace(table, matching="in order"), written, table.pushes, variants))


def _read(word: str, kept: bool) -> str:
    return word if word != UNKNOWN else "qp" if kept else "-"


def told_of_source(order: str) -> str:
    """Return an order in which a polled completion of a put tells only that its source was read."""
    return told_order(replace(order_table(order), tells="source"))


@cache
def weaker_with_facts(order: str, *, atomics: frozenset[str], messages: bool) -> str | None:
    """Return an order that keeps less, as little less as was found, and has the facts that are asked of programs with
    remote `atomics` of these types of events, and with `messages` or without; None if none was found."""
    return _with_facts(order, _FactScope(atomics, messages), _weaker, lambda other: keeps_all_of(order, other))


@cache
def stronger_with_facts(order: str, *, atomics: frozenset[str], messages: bool) -> str | None:
    """Return an order that keeps more and has the facts, as :func:`weaker_with_facts`."""
    return _with_facts(order, _FactScope(atomics, messages), _stronger, lambda other: keeps_all_of(other, order))


class _FactScope(NamedTuple):
    """The parts of a program of which facts are asked."""

    atomics: frozenset[str]
    messages: bool

    def given_by(self, table: OrderTable) -> bool:
        return not lacked_by(table, atomics=self.atomics, messages=self.messages)


def _with_facts(
    order: str, asked: _FactScope, changes: Callable[[OrderTable], Iterator[OrderTable]], fits: Callable[[str], bool]
) -> str | None:
    found = [order_table(order)]
    for _ in range(MOST_CHANGES):
        found = [changed for table in found for changed in changes(table)]
        for table in found:
            if asked.given_by(table):
                return told_order(table)
    return next((other for other in SHIPPED if asked.given_by(order_table(other)) and fits(other)), None)


def _weaker(table: OrderTable) -> Iterator[OrderTable]:
    yield from _moved(table, -1)
    yield from (with_written(table, table.written, table.pushes - {pair}) for pair in sorted(table.pushes))


def _stronger(table: OrderTable) -> Iterator[OrderTable]:
    yield from _moved(table, 1)
    yield from (with_written(table, table.written, table.pushes | {pair}) for pair in PUSHABLE if pair not in table.pushes)


def _moved(table: OrderTable, by: int) -> Iterator[OrderTable]:
    for cell, kept in {**table.written, **table.variants}.items():
        if kept in ("-", "i", "qp"):
            steps = ("-", "i", "qp") if cell[0] in ALL_WRITES else ("-", "qp")
            at = steps.index(kept) + by
            if 0 <= at < len(steps) and cell in table.variants:
                yield with_written(table, table.written, table.pushes, {**table.variants, cell: steps[at]})
            elif 0 <= at < len(steps):
                yield with_written(table, {**table.written, cell: steps[at]}, table.pushes)


@dataclass(frozen=True, slots=True)
class Difference:
    """A cell, or a rule, of which two tables do not say the same, and `changed`, the order of the first one with this of the
    second."""

    what: str
    first: str
    second: str
    changed: str

    @property
    def types(self) -> frozenset[str]:
        """The types of events that it is about; none for a rule about all of them."""
        return frozenset(self.what.split()) & {*NAMED_TYPES}


RULE_FIELDS: Final[Mapping[str, str]] = {
    "completions-order": "behind_polls",
    "completion-tells": "tells",
    "receive-covers": "receives",
    "receives-match": "matching",
    "atomics-of-a-word": "by_word",
}
"""The rules of tables that are about all cells, and the field of a table that has each."""


def table_differences(one: str, other: str) -> Iterator[Difference]:
    """Yield what two orders do not say alike: cells by rows, those of messages, reads that push writes, and rules."""
    first, second = order_table(one), order_table(other)

    def changed(table: OrderTable, what: str) -> str:
        return told_order(replace(table, name=f"{first.name}, {what} as {second.name}", why={}))

    for cell in product(TYPES, TYPES):
        if first.cells[cell] != second.cells[cell]:
            kept = second.written[cell] if second.written[cell] != "-" else second.cells[cell].replace("word", "-")
            made = with_written(first, {**first.written, cell: kept}, first.pushes)
            yield Difference(" ".join(cell), first.cells[cell], second.cells[cell], changed(made, " ".join(cell)))
    for cell in sorted({*first.variants, *second.variants}):
        mine, theirs = (table.cells[cell] for table in (first, second))
        if mine != theirs and (mine, theirs) != (first.cells[plain_cell(cell)], second.cells[plain_cell(cell)]):
            made = with_written(first, first.written, first.pushes, {**first.variants, cell: theirs})
            yield Difference(" ".join(cell), mine, theirs, changed(made, " ".join(cell)))
    for read, write in PUSHABLE:
        if ((read, write) in first.pushes) != ((read, write) in second.pushes):
            made = with_written(first, first.written, first.pushes ^ {(read, write)})
            said = ("yes", "no") if (read, write) in first.pushes else ("no", "yes")
            yield Difference(f"{read} pushes {write}", *said, changed(made, f"{read} pushes {write}"))
    for rule, field in RULE_FIELDS.items():
        if getattr(first, field) != getattr(second, field):
            made = with_written(replace(first, **{field: getattr(second, field)}), first.written, first.pushes)
            said = (rule_said(rule, first), rule_said(rule, second))
            yield Difference(rule, *said, changed(made, rule))


def rule_said(rule: str, table: OrderTable) -> str:
    """Return what a table says of a rule, in words."""
    match rule:
        case "completions-order":
            return f"as {table.behind_polls}" if table.behind_polls else "false"
        case "atomics-of-a-word":
            return "program order" if table.by_word else "table"
    return str(getattr(table, RULE_FIELDS[rule]))
