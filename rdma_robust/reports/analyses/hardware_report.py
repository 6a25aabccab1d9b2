"""What `hardware` says of order tables: lists, one with its sources and what decides it, and two side by side."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.orders import SHIPPED, order_name
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_changes import stronger_with_facts, weaker_with_facts
from rdma_robust.orders.order_facts import fact_meaning, lacking
from rdma_robust.orders.order_record import MESSAGE, TYPES, OrderTable
from rdma_robust.orders.order_strength import keeps_all_of

RULES = {
    "completions-order": "what is posted behind a poll stays behind what the poll tells of",
    "completion-tells": "what a polled completion of a remote write says",
    "receive-covers": "what a receive completion tells of besides its message",
    "receives-match": "which posted receive a message takes",
    "atomics-of-a-word": "how atomics of one origin on one word are ordered",
    "reads-push-writes": "the reads that push a write of their side out of its buffer",
}
"""The rules of tables, and what they are about."""


def tables_listed() -> list[str]:
    """Return a line for each table of the package."""
    width = max(map(len, SHIPPED))
    return [f"{name:{width}}  {order_table(name).title}" for name in SHIPPED]


def shown(order: str) -> list[str]:
    """Return a table: its cells, rules, sources, and what decides programs under it."""
    table = order_table(order)
    lines = [f"{order_name(order)}: {table.title}" if table.title else order_name(order)]
    lines += [f"source: {table.source}"] if table.source else []
    lines += [f"based on: {table.based_on}"] if table.based_on else []
    lines += ["", *matrix(table), ""]
    lines += [f"{name} = {said}" for name, said in rules_said(table).items()]
    lines += ["", *(f"{name}: {said}" for name, said in table.why.items())] if table.why else []
    return [*lines, "", *decided_by(order)]


def matrix(table: OrderTable) -> list[str]:
    """Return the cells of a table, rows the earlier event; those of messages are there if they are not those of puts."""
    types = (*TYPES, *((MESSAGE,) if table.messages else ()))

    def cell(earlier: str, later: str) -> str:
        found = table.messages.get((earlier, later))
        if found is None:
            put = tuple("nrW" if each == MESSAGE else each for each in (earlier, later))
            found = table.written[put[0], put[1]]
            found = table.cells[put[0], put[1]] if found == "-" else found
        return found

    width = max(map(len, ("word", *types)))
    head = " | ".join(f"{each:{width}}" for each in ("", *types)).rstrip()
    rows = (" | ".join(f"{each:{width}}" for each in (a, *(cell(a, b) for b in types))).rstrip() for a in types)
    return [head, *rows]


def rules_said(table: OrderTable) -> dict[str, str]:
    """Return what a table says of each rule, in words."""
    pushes = ", ".join(f"{read} {write}" for read, write in sorted(table.pushes)) or "none"
    return {
        "reads-push-writes": pushes,
        "completions-order": f"as {table.behind_polls}" if table.behind_polls else "false",
        "completion-tells": table.tells,
        "receive-covers": table.receives,
        "receives-match": table.matching,
        "atomics-of-a-word": "program order" if table.by_word else "table",
    }


def decided_by(order: str) -> list[str]:
    """Return what decides programs under an order, and the facts that its table lacks."""
    found = []
    for atomics, who in ((False, "programs without remote atomics"), (True, "programs with remote atomics")):
        lacks = lacking(order, atomics=atomics)
        if not lacks:
            found.append(f"{who}: decided by the search, the table has all facts")
            continue
        found.append(f"{who}: decided by neighbouring tables, or by the axioms; it lacks {', '.join(lacks)}")
        found += [f"  {name}: {fact_meaning(name)}" for name in lacks]
        near = {"weaker": weaker_with_facts(order, atomics=atomics), "stronger": stronger_with_facts(order, atomics=atomics)}
        for which, other in near.items():
            if other is not None:
                found.append(f"  next {which} table with the facts: {'; '.join(cells_that_differ(order, other)) or other}")
    return found


def cells_that_differ(one: str, two: str) -> list[str]:
    """Return the cells and rules in which two orders differ, with what each says."""
    first, second = order_table(one), order_table(two)
    cells = (cell for cell in first.cells if first.cells[cell] != second.cells[cell])
    found = [f"{' '.join(cell)}: {first.cells[cell]}, {second.cells[cell]}" for cell in cells]
    rules, others = rules_said(first), rules_said(second)
    return [*found, *(f"{name}: {rules[name]}; {others[name]}" for name in rules if rules[name] != others[name])]


def compared(one: str, two: str) -> Iterator[str]:
    """Yield the lines that compare two orders."""
    names = order_name(one), order_name(two)
    more, less = keeps_all_of(one, two), keeps_all_of(two, one)
    if more and less:
        yield f"{names[0]} and {names[1]} keep the same"
    elif more or less:
        strong, weak = names if more else names[::-1]
        yield f"{strong} keeps all that {weak} keeps"
    else:
        yield f"{names[0]} and {names[1]} each keep what the other does not"
    yield from (f"  {each}" for each in cells_that_differ(one, two))
