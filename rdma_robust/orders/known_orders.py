"""The orders that a model can have: tables of the package by their names, others by what they say, in one text.

A table of a file is told as an inline table of TOML, `{name = "mine", based-on = "default", cells = ..}`: so the order of a
model is a text, which can be compared, written down and read anywhere, and no file is needed to know what it means.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import resources
from typing import Final

from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.orders import SHIPPED
from rdma_robust.orders.order_reader import Named, read_order
from rdma_robust.orders.order_record import PUSHABLE, OrderTable, of_all_types

BASE: Final = "default"
"""The table on which such a text is based: it says what is not as there."""


def shipped_text(name: str) -> str:
    """Return the file of a table of the package."""
    return resources.files("rdma_robust.orders").joinpath(f"{name}.toml").read_text("utf-8")


TABLES: Final[dict[str, OrderTable]] = {}
"""The tables that were read, by their orders."""


def order_table(order: str) -> OrderTable:
    """Return the table of an order. Raises UsageError for an order that has none."""
    found = TABLES.get(order)
    if found is None:
        found = TABLES[order] = _read(order)
    return found


def _read(order: str) -> OrderTable:
    if order in SHIPPED:
        return read_order(shipped_text(order), f"{order}.toml", based=order_table)
    if not order.startswith("{"):
        raise UsageError(f"no order table is called {order!r}; the tables are {', '.join(SHIPPED)}")
    try:
        return read_order(_unpacked(order), "the order", based=order_table)
    except ProgramError as error:
        said = "; ".join(each.message for each in error.diagnostics)
        raise UsageError(f"no order table: {said}") from None


def _unpacked(order: str) -> str:
    """Return an inline table as a file."""
    try:
        found = tomllib.loads(f"order = {order}")["order"]
    except (ValueError, RecursionError) as error:
        raise UsageError(f"no order table: {error}") from None
    return "\n".join(_lines(found)) if isinstance(found, dict) else order


def _lines(found: dict[str, object]) -> Iterator[str]:
    tables = {name: value for name, value in found.items() if isinstance(value, dict)}
    for name, value in found.items():
        if name not in tables:
            yield f"{_quoted(name)} = {_literal(value)}"
    for name, table in tables.items():
        yield f"[{_quoted(name)}]"
        yield from (f"{_quoted(key)} = {_literal(value)}" for key, value in table.items())


def order_of_file(text: str, file: str, named: Named = str) -> str:
    """Return the order that the text of a file is: a name, if it is the table of that name. `named` returns the order that
    stands behind its `based-on`.

    Its table keeps the title and the source of the file, and the name of what it is based on, which the order does not tell.
    Raises ProgramError with every mistake in it.
    """
    read = read_order(text, file, based=order_table, named=named)
    order = told_order(read)
    if order not in SHIPPED:
        TABLES[order] = replace(order_table(order), title=read.title, source=read.source, based_on=read.based_on)
    return order


def told_order(table: OrderTable) -> str:
    """Return a table as the order of a model: a name, or all that it says."""
    return table.name if _is_of_package(table) else told_in_full(table)


def _is_of_package(table: OrderTable) -> bool:
    """Return whether a table has the name, the cells and the rules of one of the package, whatever it says of itself."""
    return table.name in SHIPPED and _rules_of(order_table(table.name)) == _rules_of(table)


def _rules_of(table: OrderTable) -> OrderTable:
    return replace(table, says="", title="", source="", based_on="", why={})


def told_in_full(table: OrderTable, known: Sequence[str] = SHIPPED) -> str:
    """Return all that a table says, as the order of a model. A table that it is based on is told by its name if that is
    among the `known` ones, else in full."""
    below = table.behind_polls or BASE
    base = order_table(below)
    said: dict[str, object] = {"name": table.name}
    said["based-on"] = below if below in known else told_in_full(replace(base, why={}), known)
    cells = {cell: kept for cell, kept in table.written.items() if kept != base.written[cell]}
    every = of_all_types(table.written, table.variants)
    cells |= {cell: every[cell] for cell in base.variants} | dict(table.variants)
    if cells:
        said["cells"] = {" ".join(cell): kept for cell, kept in cells.items()}
    rules: dict[str, object] = {}
    if table.pushes != base.pushes:
        rules["reads-push-writes"] = [" ".join(pair) for pair in PUSHABLE if pair in table.pushes]
    if table.receives != base.receives:
        rules["receive-covers"] = table.receives
    if table.behind_polls:
        rules["completions-order"] = True
    elif base.behind_polls:
        rules["completions-order"] = False
    if table.by_word != base.by_word:
        rules["atomics-of-a-word"] = "program order" if table.by_word else "table"
    if table.tells != base.tells:
        rules["completion-tells"] = table.tells
    if table.matching != base.matching:
        rules["receives-match"] = table.matching
    if rules:
        said["rules"] = rules
    if table.why:
        said["why"] = dict(table.why)
    return _literal(said)


def _literal(value: object) -> str:
    """Return a value as TOML has it, in one line."""
    match value:
        case dict():
            return "{" + ", ".join(f"{_quoted(str(name))} = {_literal(each)}" for name, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_literal, value)) + "]"
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _quoted(name: str) -> str:
    plain = name.replace("-", "").replace("_", "")
    return name if plain.isascii() and plain.isalnum() else json.dumps(name, ensure_ascii=False)
