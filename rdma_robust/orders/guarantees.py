"""The guarantees that order tables give, each by a name, and the order that gives some of them and no others.

The cells of naR and naW are taken together: where a table keeps what is before an atomic, or behind it, it does so of its
read and of its write, as the facts `rmw_row` and `rmw_column` ask. A guarantee about atomics is about those that fetch
nothing, too: their cells are those of the others, unless a table says so. Source: docs/hardware.md, "How they are found".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Final

from rdma_robust.orders.known_orders import BASE, TABLES, order_table, told_order
from rdma_robust.orders.order_record import (
    MESSAGE,
    NAMED_TYPES,
    PUSHABLE,
    TYPES,
    UPDATES,
    VARIANT_OF,
    OrderTable,
    plain_cell,
    with_written,
)

WEAKEST: Final = "none"
"""The order that gives none of them, but what a fence does."""

COMPLETIONS: Final = "completions order"
RECEIVES: Final = "receive covers earlier"

MORE_KEPT: Final = {("nrR", later): "qp" for later in ("nrR", "nrW", "naR", "naW")}
"""What some networks keep and `order default` does not: the read of a get before what comes after it at the other side."""


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Something that a network can promise: that it keeps `cells` as the strongest order does, that a read pushes a write
    out of its buffer (`push`), or a rule."""

    name: str
    cells: tuple[tuple[str, str], ...] = ()
    push: tuple[str, str] | None = None

    def is_about(self, earlier: str, later: str) -> bool:
        """Return whether it can keep an event of the one type before one of the other."""
        put = plain_cell((earlier, later))
        if self.push is not None:
            return {*put} == {*self.push}
        if not self.cells:
            return strongest_cells().get(put, "-") != "-"
        return (earlier, later) in self.cells


def _guarantees() -> Iterator[Guarantee]:
    weakest, strongest = order_table(WEAKEST).written, strongest_cells()
    for earlier, later in product((*TYPES, MESSAGE), repeat=2):
        put = plain_cell((earlier, later))
        if weakest[put] != strongest[put] and later != "naW":
            yield Guarantee(f"{earlier} {later}", _cells(earlier, later))
    for read, write in PUSHABLE:
        pushed = ((a, b) for a, b in product((*TYPES, MESSAGE), repeat=2) if plain_cell((a, b)) == (write, read))
        cells = (cell for pair in pushed for cell in _cells(*pair))
        yield Guarantee(f"{read} pushes {write}", tuple(dict.fromkeys(cells)), (read, write))
    yield from (Guarantee(COMPLETIONS), Guarantee(RECEIVES))


_ATOMIC: Final = (*UPDATES.values(), *UPDATES)
_ROWS: Final = {"naR": ("naR", "nuR"), "naW": _ATOMIC}
_COLUMNS: Final = {"naR": _ATOMIC, "naW": ("naW", "nuW")}
"""Before what the write of an atomic is kept, its read is; behind what its read is kept, its write is."""


def _cells(earlier: str, later: str) -> tuple[tuple[str, str], ...]:
    return tuple(product(_ROWS.get(earlier, (earlier,)), _COLUMNS.get(later, (later,))))


@cache
def strongest_cells() -> Mapping[tuple[str, str], str]:
    """Return the cells of the order that keeps most."""
    return {**order_table(BASE).written, **MORE_KEPT}


@cache
def guarantees() -> Mapping[str, Guarantee]:
    """Return all guarantees by their names."""
    return {each.name: each for each in _guarantees()}


@cache
def order_giving(names: frozenset[str]) -> str:
    """Return the order that gives these guarantees, and no others."""
    table = _table_giving(names)
    order = told_order(table)
    TABLES.setdefault(order, table)
    return order


def _table_giving(names: frozenset[str]) -> OrderTable:
    weakest, strongest = order_table(WEAKEST), strongest_cells()
    given = [guarantees()[name] for name in names]
    kept = {cell: strongest[plain_cell(cell)] for each in given for cell in each.cells}
    written = {cell: kept.get(cell, word) for cell, word in weakest.written.items()}
    of_variants = ((a, b) for a, b in product(NAMED_TYPES, NAMED_TYPES) if not VARIANT_OF.keys().isdisjoint((a, b)))
    variants = {cell: kept.get(cell, weakest.written[plain_cell(cell)]) for cell in of_variants}
    pushes = frozenset(each.push for each in given if each.push is not None)
    found = with_written(replace(weakest, says=""), written, pushes, variants)
    return replace(
        found,
        name="of these guarantees",
        receives="earlier" if RECEIVES in names else "own",
        behind_polls=BASE if COMPLETIONS in names else "",
        based_on=BASE,
        title="",
        source="",
        why={},
    )


@cache
def given_by(order: str) -> frozenset[str]:
    """Return the guarantees that an order gives. Raises UsageError for an order that has no table."""
    return frozenset(name for name, each in guarantees().items() if _gives(order_table(order), each))


@cache
def implied_by(name: str) -> frozenset[str]:
    """Return the other guarantees that a guarantee comes with: by the parts of one operation, and the facts of tables."""
    return given_by(order_giving(frozenset({name}))) - {name}


def with_implied(names: frozenset[str]) -> frozenset[str]:
    """Return guarantees with what they come with together."""
    return given_by(order_giving(names))


def not_implied(names: frozenset[str]) -> frozenset[str]:
    """Return the guarantees that come with no other one of these."""
    return frozenset(name for name in names if not any(name in implied_by(other) for other in names))


def _gives(table: OrderTable, guarantee: Guarantee) -> bool:
    if guarantee.name == RECEIVES:
        return table.receives == "earlier"
    if guarantee.name == COMPLETIONS:
        return bool(table.behind_polls)
    strongest = strongest_cells()
    kept = all(table.cells[cell] in ("qp", strongest[plain_cell(cell)]) for cell in guarantee.cells)
    return kept and (guarantee.push is None or guarantee.push in table.pushes)
