"""docs/hardware-tables.md: the order tables of the package side by side, each with its sources, made from their files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from rdma_robust.orders import SHIPPED
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_record import NAMED_TYPES, TYPES, OrderTable, plain_cell
from rdma_robust.reports.analyses.hardware_report import rules_said
from sitegen.text import GENERATED, cell, table

_HEAD: Final = """\
# Order tables side by side

{generated}

What a network keeps of the order of one queue pair, in the tables of the tool; `rdma-robust hardware show` prints one of
them or one of yours, and [choosing the hardware](hardware.md) says how programs are asked about them.

{list}

The cells in which they differ, earlier event before later event: `qp` is kept, `i` is issued in order and observed in any,
`-` is not kept, `(-)` is kept with `--ordered-reads`, `word` is kept of atomics on one word. What follows from the parts of
one operation is there too: what nrW is before, the nlR of its operation is. Cells of nmW (sends), nuR and nuW (atomics that
fetch nothing) are there where some table says something else of them than of nrW, naR and naW.

{cells}

{rules}
"""


def hardware_page() -> str:
    """Return the text of docs/hardware-tables.md."""
    tables = [order_table(name) for name in SHIPPED]
    names = [f"`{each.name}`" for each in tables]
    rules = [rules_said(each) for each in tables]
    head = _HEAD.format(
        generated=GENERATED,
        list=table(("table", "what it is", "source"), ((f"`{t.name}`", cell(t.title), cell(t.source)) for t in tables)),
        cells=table(("cell", *names), _cells(tables)),
        rules=table(("table", *rules[0]), ([name, *said.values()] for name, said in zip(names, rules, strict=True))),
    )
    text = "\n".join([head, "## Why\n", *(_reasons(each) for each in tables if each.why)])
    return text.replace("](../", "](")  # this page is in docs itself


def _cells(tables: list[OrderTable]) -> Iterator[list[str]]:
    for earlier, later in product(NAMED_TYPES, NAMED_TYPES):
        kept = [each.cells[earlier, later] for each in tables]
        like = [each.cells[plain_cell((earlier, later))] for each in tables]
        if len(set(kept)) > 1 and (kept != like or {earlier, later} <= {*TYPES}):
            yield [f"{earlier} {later}", *kept]


def _reasons(shown: OrderTable) -> str:
    rows = (f"- {what}: {cell(why)}\n" for what, why in shown.why.items())
    return f"### {shown.name}\n\n{''.join(rows)}"
