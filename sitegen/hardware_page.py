"""docs/hardware.md: the order tables of the package side by side, each with its sources, made from their files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rdma_robust.orders import SHIPPED
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_changes import table_differences, table_rules
from rdma_robust.orders.order_facts import lacked_by
from rdma_robust.orders.order_record import TYPES, OrderTable
from sitegen.text import GENERATED, table

_HEAD: Final = """\
# Order tables of hardware

{generated}

What a network keeps of the order of one queue pair is [a file](deployed.md#tables-as-files). These are the tables of
the tool, for `--order` and `hardware order`. `rdma-robust hardware show NAME|FILE` prints one, `hardware check FILE` says
what is wrong with yours, and `hardware compare A B` has a smallest program for each cell in which two of them differ.

{list}

## Side by side

The cells in which they differ, earlier event before later event: `qp` is kept, `i` is issued in order and observed in any,
`-` is not kept, `(-)` is kept with `--ordered-reads`, `word` is kept of atomics on one word. What follows from the parts of
one operation is there too: what nrW is before, the nlR of its operation is.

{cells}

{rules}

"""


def hardware_page() -> str:
    """Return the text of docs/hardware.md."""
    tables = [order_table(name) for name in SHIPPED]
    head = _HEAD.format(
        generated=GENERATED,
        list=table(
            ("table", "what it is", "the proofs cover it"),
            ((f"[`{t.name}`](#{t.name})", t.title, _covered(t)) for t in tables),
        ),
        cells=table(("cell", *(f"`{t.name}`" for t in tables)), _cells(tables)),
        rules=table(("rule", *(f"`{t.name}`" for t in tables)), _rules(tables)),
    )
    return head + "\n".join(part for t in tables for part in _sources(t))


def _covered(shown: OrderTable) -> str:
    lacked = lacked_by(shown)
    return "yes" if not lacked else f"no: it lacks {', '.join(lacked)}"


def _cells(tables: list[OrderTable]) -> Iterator[list[str]]:
    for earlier in TYPES:
        for later in TYPES:
            kept = [each.cells[earlier, later] for each in tables]
            if len(set(kept)) > 1:
                yield [f"{earlier} {later}", *kept]


def _rules(tables: list[OrderTable]) -> Iterator[list[str]]:
    rules = [table_rules(each) for each in tables]
    yield from ([rule, *(each[rule] for each in rules)] for rule in rules[0])


def _sources(shown: OrderTable) -> Iterator[str]:
    yield f"## {shown.name}\n\n{_cell(shown.title)}. Source: {_cell(shown.source)}.\n"
    if not shown.based_on:
        rows = [[f"**{earlier}**", *(shown.cells[earlier, later] for later in TYPES)] for earlier in TYPES]
        yield table(("earlier, later", *TYPES), rows) + "\n"
    elif found := list(table_differences(order_table(shown.based_on), shown)):
        rows = [[each.what, each.first, each.second, _why(shown, each.what)] for each in found]
        yield table(("of", f"in `{shown.based_on}`", "here", "why"), rows) + "\n"
    else:
        yield f"It is the table `{shown.based_on}`.\n"
    if reasons := [f"- {what}: {_cell(why)}" for what, why in shown.why.items() if not shown.based_on or what == "all"]:
        yield "\n".join(reasons) + "\n"


def _why(shown: OrderTable, what: str) -> str:
    return _cell(shown.why.get(what) or shown.why.get(what.split(maxsplit=1)[0], ""))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
