"""Reports of `hardware` on order tables: lists, one with its sources and what decides it, and two side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rdma_robust.analyses.hardware.tables_apart import ToldApart
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.formats.columns import sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.orders import SHIPPED, order_name
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_changes import (
    RULE_FIELDS,
    Difference,
    rule_said,
    stronger_with_facts,
    table_differences,
    weaker_with_facts,
)
from rdma_robust.orders.order_facts import OF_ATOMICS, fact_meaning, lacking
from rdma_robust.orders.order_record import (
    ATOMIC_ROWS,
    MESSAGE,
    NAMED_TYPES,
    UNKNOWN,
    UPDATES,
    VARIANT_OF,
    OrderTable,
    of_all_types,
)
from rdma_robust.orders.order_strength import keeps_all_of
from rdma_robust.text import filled


def tables_listed(width: int | None) -> list[str]:
    """Return a line for each table of the package, or as many as it takes."""
    names = max(map(len, SHIPPED)) + 2
    found = [f"{name:{names}}{order_table(name).title}" for name in SHIPPED]
    return found if width is None else [line for each in found for line in filled(each, width, "", " " * names)]


def _wrapped(lines: Iterable[str], width: int | None) -> list[str]:
    """Return lines of sentences, each behind its indent, as lines of a width."""
    return [
        line
        for each in lines
        for line in (sentence(each.lstrip(" "), width, " " * (len(each) - len(each.lstrip(" ")))) if each else [""])
    ]


def shown(order: str, width: int | None) -> list[str]:
    """Return a table: its cells, which are no sentences, rules, sources, and what decides programs under it."""
    table = order_table(order)
    lines = [f"{order_name(order)}: {table.title}" if table.title else order_name(order)]
    lines += [f"source: {table.source}"] if table.source else []
    lines += [f"based on: {table.based_on}"] if table.based_on else []
    rules = [f"{name} = {said}" for name, said in rules_said(table).items()]
    why = ["", *(f"{name}: {said}" for name, said in table.why.items())] if table.why else []
    below = _wrapped([*rules, *why, "", *_decided(order)], width)
    return [*_wrapped(lines, width), "", *matrix(table), "", *below]


def matrix(table: OrderTable) -> list[str]:
    """Return the cells of a table, rows the earlier event; those of messages are there if they are not those of puts, and
    those of atomics that fetch nothing if they are not those of others."""
    told = {name for cell in table.variants for name in cell}
    types = tuple(each for each in NAMED_TYPES if each not in VARIANT_OF or each in told)
    written = of_all_types(table.written, table.variants)

    def cell(earlier: str, later: str) -> str:
        return UNKNOWN if written[earlier, later] == UNKNOWN else table.cells[earlier, later]

    width = max(map(len, ("word", *types)))
    head = " | ".join(f"{each:{width}}" for each in ("", *types)).rstrip()
    rows = (" | ".join(f"{each:{width}}" for each in (a, *(cell(a, b) for b in types))).rstrip() for a in types)
    return [head, *rows]


def rules_said(table: OrderTable) -> dict[str, str]:
    """Return what a table says of each rule, in words."""
    pushes = ", ".join(f"{read} {write}" for read, write in sorted(table.pushes)) or "none"
    return {"reads-push-writes": pushes, **{rule: rule_said(rule, table) for rule in RULE_FIELDS}}


def decided_by(order: str, width: int | None) -> list[str]:
    """Return what decides programs under an order, and the facts that its table lacks."""
    return _wrapped([f"{order_name(order)}:", *_decided(order)], width)


def _decided(order: str) -> list[str]:
    found = []
    updates = frozenset(UPDATES)
    asked = {
        "programs without remote atomics": (frozenset[str](), False),
        "programs with remote atomics": (ATOMIC_ROWS, False),
    }
    if any(not updates.isdisjoint(cell) for cell in order_table(order).variants):
        asked["programs whose remote atomics all fetch"] = (ATOMIC_ROWS - updates, False)
        asked["programs whose remote atomics fetch nothing"] = (updates, False)
    asked["programs with messages"] = (frozenset(), True)
    for who, (atomics, messages) in asked.items():
        lacks = lacking(order, atomics=atomics, messages=messages)
        if not lacks:
            found.append(f"{who}: decided by the search, the table has all facts")
            continue
        by = "" if {*OF_ATOMICS}.intersection(lacks) else "the search, or if it finds what is no counterexample by "
        found.append(f"{who}: decided by {by}neighbouring tables, or by the axioms; it lacks {', '.join(lacks)}")
        found += [f"  {name}: {fact_meaning(name)}" for name in lacks]
        for which, near in (("weaker", weaker_with_facts), ("stronger", stronger_with_facts)):
            other = near(order, atomics=atomics, messages=messages)
            if other is not None:
                found.append(f"  next {which} table with the facts: {'; '.join(cells_that_differ(order, other)) or other}")
    return found


def cells_that_differ(one: str, two: str) -> list[str]:
    """Return the cells and rules in which two orders differ, with what each says."""
    return [_differs(each) for each in table_differences(one, two)]


def _differs(difference: Difference) -> str:
    return f"{difference.what}: {difference.first}, {difference.second}"


def strength(one: str, two: str) -> str:
    """Return which of two orders keeps all that the other one keeps: `both`, `first`, `second` or `neither`."""
    return {(True, True): "both", (True, False): "first", (False, True): "second", (False, False): "neither"}[
        keeps_all_of(one, two), keeps_all_of(two, one)
    ]


def compared(one: str, two: str, found: Sequence[ToldApart], width: int | None) -> Iterator[str]:
    """Yield the lines that compare two orders, with the programs that tell them apart, whose lines stay as they are."""
    first, second = order_name(one), order_name(two)
    keeps = {
        "both": f"{first} and {second} keep the same",
        "first": f"{first} keeps all that {second} keeps",
        "second": f"{second} keeps all that {first} keeps",
        "neither": f"{first} and {second} each keep what the other does not",
    }
    yield from _wrapped([keeps[strength(one, two)]], width)
    for each in found:
        changed = "" if each.by_first else f" with this of {second}"
        can = f"    can end with {each.condition} under {first}{changed} only:"
        yield from _wrapped([f"  {_differs(each.difference)}", f"    {each.why}" if each.why else can], width)
        if not each.why:
            yield from textwrap.indent(each.program.rstrip("\n"), "      ").split("\n")


def table_object(order: str) -> JsonObject:
    """Return a table as JSON."""
    table = order_table(order)
    return {
        "name": valid_unicode(order_name(order)),
        "title": valid_unicode(table.title),
        "based_on": table.based_on,
        "source": valid_unicode(table.source),
        "cells": {f"{a} {b}": table.cells[a, b] if table.written[a, b] != UNKNOWN else UNKNOWN for a, b in table.written},
        "messages": {" ".join(cell): kept for cell, kept in table.variants.items() if MESSAGE in cell},
        "updates": {" ".join(cell): kept for cell, kept in table.variants.items() if MESSAGE not in cell},
        "rules": rules_said(table),
        "why": {what: valid_unicode(why) for what, why in table.why.items()},
        "lacks": list(lacking(order)),
        "lacks_without_atomics": list(lacking(order, atomics=frozenset())),
        "lacks_with_messages": list(lacking(order, messages=True)),
    }


def hardware_object(
    orders: Sequence[str], tool: Mapping[str, object], found: Sequence[ToldApart] | None = None
) -> JsonObject:
    """Return tables as JSON (`schema/hardware.schema.json`), two of them with what tells them apart; `tool` made it."""
    return {
        "format": "rdma-robust/hardware",
        "version": 1,
        "tool": dict(tool),
        "tables": [table_object(order) for order in orders],
        "keeps_all": None if found is None else strength(orders[0], orders[1]),
        "differences": None if found is None else [_difference_object(each) for each in found],
    }


def _difference_object(found: ToldApart) -> JsonObject:
    return {
        "what": found.difference.what,
        "first": found.difference.first,
        "second": found.difference.second,
        "program": found.program or None,
        "condition": found.condition or None,
        "allowed_by_first": found.by_first if found.program else None,
        "reason": found.why,
    }
