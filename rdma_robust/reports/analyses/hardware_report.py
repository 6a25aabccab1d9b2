"""What `hardware` says of order tables: lists, one table with its sources, and in what two of them differ."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rdma_robust.analyses.synthesis.tables_apart import ToldApart
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.formats.columns import Column, Columns, sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.orders.order_changes import table_rules
from rdma_robust.orders.order_facts import fact_meaning, lacked_by
from rdma_robust.orders.order_record import TYPES, OrderTable
from rdma_robust.text import count, printable

DECIDED_BY_SEARCH: Final = "the search decides programs under it: it has every fact that the proofs ask of a table"
LACKING: Final = "programs without loops are decided by brute force over the axioms, for it lacks"
WITHOUT_ATOMICS: Final = "the search decides programs without remote atomics; of others those without loops are decided by "


def decided_by(table: OrderTable) -> str:
    """Return what decides programs under a table, and which facts it lacks."""
    lacked, plain = lacked_by(table), lacked_by(table, atomics=False)
    if not lacked:
        return DECIDED_BY_SEARCH
    head = LACKING if plain else f"{WITHOUT_ATOMICS}brute force over the axioms, for it lacks"
    return f"{head} " + ", ".join(f"`{fact}` ({fact_meaning(fact).rstrip('.')})" for fact in lacked)


def list_text(tables: Sequence[OrderTable], width: int | None) -> list[str]:
    """Return a line for each table."""
    names = max(len(printable(table.name)) for table in tables)
    columns = Columns([Column("order", names)], width)
    return [*columns.head(), *(line for table in tables for line in columns.row([printable(table.name)], table.title))]


def grid(table: OrderTable) -> list[list[str]]:
    """Return the cells of a table with the types of its rows and columns, the earlier events on the left."""
    return [["", *TYPES], *([earlier, *(table.cells[earlier, later] for later in TYPES)] for earlier in TYPES)]


def show_text(table: OrderTable, width: int | None) -> list[str]:
    """Return a table as people read it: its cells, rules and sources, and what decides programs under it."""
    lines = sentence(f"{printable(table.name)}: {printable(table.title)}", width)
    for name, said in (("based on", table.based_on), ("source", table.source)):
        if said:
            lines += sentence(f"{name}: {printable(said)}", width, "  ")
    lines += ["", "  earlier   later"]
    lines += ["  " + "".join(f"{cell:<6}" for cell in row).rstrip() for row in grid(table)]
    lines += ["", *(f"  {rule}: {said}" for rule, said in table_rules(table).items())]
    if table.why:
        lines += ["", "  why"]
        for what, why in table.why.items():
            lines += sentence(f"{what}: {printable(why)}", width, "    ")
    return [*lines, "", *sentence(decided_by(table), width, "  ")]


def compare_text(tables: tuple[OrderTable, OrderTable], found: Sequence[ToldApart], width: int | None) -> list[str]:
    """Return in what two tables differ, and for each difference the program that notices it."""
    one, other = (printable(table.name) for table in tables)
    if not found:
        return sentence(f"{one} and {other} are the same table", width)
    lines = sentence(f"{one} and {other}: {count(len(found), 'difference')}", width)
    for each in found:
        said = each.difference
        lines += ["", *sentence(f"{said.what}: {said.first} in {one}, {said.second} in {other}", width, "  ")]
        if not each.program:
            lines += sentence(each.why, width, "    ")
            continue
        allowing = f"{one}" if each.by_first else f"{one} with this of {other}"
        lines += sentence(f"only {allowing} allows {each.condition}", width, "    ")
        lines += textwrap.indent(each.program.rstrip("\n"), "      ").split("\n")
    return lines


def table_object(table: OrderTable) -> JsonObject:
    """Return a table as JSON."""
    return {
        "name": valid_unicode(table.name),
        "title": valid_unicode(table.title),
        "based_on": table.based_on,
        "source": valid_unicode(table.source),
        "cells": {f"{earlier} {later}": table.cells[earlier, later] for earlier in TYPES for later in TYPES},
        "rules": dict(table_rules(table)),
        "why": {what: valid_unicode(why) for what, why in table.why.items()},
        "lacks": list(lacked_by(table)),
    }


def hardware_object(
    tables: Sequence[OrderTable], tool: Mapping[str, object], found: Sequence[ToldApart] | None = None
) -> JsonObject:
    """Return tables as JSON (`schema/hardware.schema.json`), two of them with what tells them apart; `tool` made it."""
    told: JsonObject = {
        "format": "rdma-robust/hardware",
        "version": 1,
        "tool": dict(tool),
        "tables": [table_object(table) for table in tables],
    }
    return told | {"differences": None if found is None else [*_differences(found)]}


def _differences(found: Sequence[ToldApart]) -> Iterator[JsonObject]:
    for each in found:
        said = each.difference
        yield {
            "what": said.what,
            "first": said.first,
            "second": said.second,
            "program": each.program or None,
            "condition": each.condition or None,
            "allowed_by_first": each.by_first if each.program else None,
            "reason": each.why,
        }
