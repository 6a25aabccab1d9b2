"""Order tables that a certificate brings along, as the checker reads them.

Written from docs/order-files.md ("The format") alone: the rest of the tool has a reader of its own, on purpose. A table is
an inline table of TOML, `{name = .., based-on = .., cells = {..}, rules = {..}}`, based on one of the checker's orders, or
on the text of another table.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Final

Kept = Callable[[str, str], str]
"""What an order keeps of two types of events, by their names: `qp`, `i`, `-`, or `(-)`."""

_TYPES: Final = ("nlR", "nrW", "nrR", "nlW", "nF", "naR", "naW")
_MESSAGE: Final = "nmW"
_SOURCE: Final = "nmR"
_OF_SENDS: Final = {_MESSAGE: "nrW", _SOURCE: "nlR"}
"""The write of a send, of which a table can say something, and the read of its source, of which it says what follows."""

_UPDATES: Final = {"nuR": "naR", "nuW": "naW"}
"""The events of an atomic that fetches nothing, of which a table can say something else than of one that does."""

_NAMED: Final = (*_TYPES, _MESSAGE, *_UPDATES)
TYPES: Final = (*_TYPES, _SOURCE, _MESSAGE, *_UPDATES)
TABLE_WRITES: Final = ("nrW", "nlW", "naW", _MESSAGE, "nuW")
_FIRST: Final[Mapping[str, tuple[str, ...]]] = {"nrW": ("nlR",), "nlW": ("nrR", "naR", "nuR"), _MESSAGE: (_SOURCE,)}
"""The reads that are before a write in its operation; what is said of nuR itself stays as it is said."""

_UNKNOWN: Final = "?"

_PUSHES: Final = ("nlR nlW", "nrR nrW", "nrR naW", "naR nrW", "naR naW")
_MEMBERS: Final = ("name", "based-on", "cells", "rules", "why", "title", "source")
_RULES: Final[Mapping[str, tuple[object, ...]]] = {
    "receive-covers": ("earlier", "own"),
    "completions-order": (True, False),
    "atomics-of-a-word": ("table", "program order"),
    "completion-tells": ("source", "placed"),
    "receives-match": ("in order", "any"),
}


Bases = Callable[[str], tuple[Kept, frozenset[str], bool, bool, bool] | None]


class UnreadableTable(ValueError):
    """A table that says something the checker does not know."""


@dataclass(frozen=True, slots=True)
class OwnTable:
    """The name and the cells of a table, its pairs of nfo (`pushes`), the order that it changes (`base`), and its rules."""

    name: str
    cells: Mapping[tuple[str, str], str]
    pushes: frozenset[str]
    base: str
    receives_of_own: bool
    completions_order: bool
    by_word: bool
    placed: bool
    any_receive: bool


def is_own_table(order: str) -> bool:
    """Return whether the order of a certificate is a table of its own."""
    return order.startswith("{")


@dataclass(frozen=True, slots=True)
class TableReading:
    """How a table is read that leaves something open: what it says of messages counts only where there are some, and a cell
    that nobody knows is as weak or as strong as it may be."""

    messages: bool = True
    stronger: bool = False

    def known(self, word: str) -> str:
        return word if word != _UNKNOWN else "qp" if self.stronger else "-"


AS_CLAIMED: Final = TableReading()


@cache
def own_table(order: str, bases: Bases, how: TableReading) -> OwnTable:
    """Return the table in a text. `bases` returns of an order of the checker what it keeps, which reads push writes, whether
    receives tell of their own message only, completions give order, and atomics of a word are ordered; None for others.

    Raises UnreadableTable.
    """
    return _own(_table_of(order), bases, how)


def _own(table: Mapping[str, Any], bases: Bases, how: TableReading) -> OwnTable:
    base = bases(table["based-on"])
    if base is None:
        raise UnreadableTable(f"it is based on {table['based-on']!r}")
    kept, pushes, own, ordered, by_word = base
    rules = table["rules"]
    said = _said(table["cells"])
    if not how.messages:
        said = {cell: word for cell, word in said.items() if _MESSAGE not in cell}
    cells = {(a, b): how.known(_read(said, kept, a, b)) for a in TYPES for b in TYPES}
    of_updates = ((_UPDATES[earlier], later, earlier) for earlier, later in cells if earlier in _UPDATES)
    apart = frozenset((update, later) for fetch, later, update in of_updates if cells[update, later] != cells[fetch, later])
    return OwnTable(
        table["name"],
        _with_what_follows(cells, apart),
        _pushes(rules.get("reads-push-writes"), pushes),
        table["below"],
        rules.get("receive-covers", "own" if own else "earlier") == "own",
        rules.get("completions-order", ordered),
        rules.get("atomics-of-a-word", "program order" if by_word else "table") == "program order",
        rules.get("completion-tells", "source") == "placed",
        how.messages and rules.get("receives-match") == "any",
    )


def _table_of(order: str) -> dict[str, Any]:
    """Return what a table says, and `below` what it says that it is based on: where that is a table in full, it says what
    that one says of all else. Raises UnreadableTable."""
    try:
        found = tomllib.loads(f"order = {order}")
    except (ValueError, RecursionError) as error:
        raise UnreadableTable(f"not TOML: {error}") from None
    if len(found) != 1:
        raise UnreadableTable("more than a table")
    return _members(found["order"])


def _members(table: object) -> dict[str, Any]:
    if not isinstance(table, dict) or not set(table) <= set(_MEMBERS):
        raise UnreadableTable("no table, or a member that none has")
    below: object = table.get("based-on")
    cells, rules = table.get("cells", {}), table.get("rules", {})
    if not isinstance(below, str) or not isinstance(cells, dict) or not isinstance(rules, dict):
        raise UnreadableTable("what it is based on is no text, or its cells or rules are no table")
    for name, value in rules.items():
        if name != "reads-push-writes" and (name not in _RULES or not any(value is w or value == w for w in _RULES[name])):
            raise UnreadableTable(f"the rule {name} is {value!r}")
    under = _table_of(below) if is_own_table(below) else dict[str, Any]({"based-on": below, "cells": {}, "rules": {}})
    both = {"cells": under["cells"] | cells, "rules": under["rules"] | rules}
    return {"name": str(table.get("name", "")), "based-on": under["based-on"], "below": below, **both}


def name_told(own: OwnTable, bases: Bases, how: TableReading) -> str:
    """Return what a table is called. One that has the name of a table of the tool and is another one is told as such."""
    name = own.name.strip()
    if not name:
        return "(an unnamed table)"
    known = _known_as(name, bases, how)
    same = known is None or known == replace(own, base=own.base if own.completions_order else "")
    return own.name if same else f"{name} (not the shipped table)"


def _known_as(name: str, bases: Bases, how: TableReading) -> OwnTable | None:
    """Return the table that the checker, or the tool, has under a name: the file of the tool is read as those of
    certificates are. None if there is none."""
    if bases(name) is not None:
        found = _own(_members({"name": name, "based-on": name}), bases, how)
        return replace(found, base="default" if found.completions_order else "")
    if not re.fullmatch("[a-z0-9-]+", name):
        return None
    file = resources.files("rdma_robust.orders").joinpath(f"{name}.toml")
    if not file.is_file():
        return None
    found = _own(_members(tomllib.loads(file.read_text("utf-8"))), bases, how)
    return replace(found, base=found.base if found.completions_order else "")


def _said(cells: Mapping[str, object]) -> dict[tuple[str, str], str]:
    """Return the cells that a table names."""
    found: dict[tuple[str, str], str] = {}
    for name, word in cells.items():
        earlier, _, later = name.partition(" ")
        allowed = ["qp", "-", _UNKNOWN]
        allowed += ["i"] * (earlier in TABLE_WRITES) + ["(-)"] * ((earlier, later) == ("nrR", "nrR"))
        if earlier not in _NAMED or later not in _NAMED or word not in allowed:
            raise UnreadableTable(f"the cell {name} is {word!r}")
        found[earlier, later] = str(word)
    return found


def put_cell(cell: tuple[str, str]) -> tuple[str, str]:
    """Return the cell that says of puts, and of atomics that fetch, what a cell says of sends, and of others."""
    return _as(_as(cell, _OF_SENDS), _UPDATES)


def _as(cell: tuple[str, str], names: Mapping[str, str]) -> tuple[str, str]:
    return names.get(cell[0], cell[0]), names.get(cell[1], cell[1])


def _read(said: Mapping[tuple[str, str], str], kept: Kept, earlier: str, later: str) -> str:
    """What a table has written in a cell: what it says of it, or of the one that it is like, or what its base does.

    A cell of a send and an atomic that fetches nothing is like that of one that does, if a send makes a difference there,
    and else like that of a put."""
    named = (earlier.replace(_SOURCE, "nlR"), later.replace(_SOURCE, "nlR"))
    plain = put_cell(named)
    like = said.get(plain) or kept(*plain)
    of_send = said.get(_as(named, _UPDATES), like)
    return said.get(named, of_send if of_send != like else said.get(_as(named, _OF_SENDS), like))


def _with_what_follows(cells: Mapping[tuple[str, str], str], said: frozenset[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Before what a write is issued before, the read of its operation is observed; but cells that are `said` of atomics that
    fetch nothing, which no answer follows, stay."""
    found = dict(cells)
    for write, reads in _FIRST.items():
        for later in TYPES:
            if cells[write, later] in ("qp", "i"):
                weaker = ((read, later) for read in reads if cells[read, later] != "qp")
                found.update(dict.fromkeys((cell for cell in weaker if cell not in said), "qp"))
    return found


def _pushes(said: object, base: frozenset[str]) -> frozenset[str]:
    if said is None:
        return base
    if said in ("all", "none"):
        return frozenset(_PUSHES if said == "all" else ())
    if not isinstance(said, list) or not set(said) <= set(_PUSHES):
        raise UnreadableTable(f"reads push writes as {said!r}")
    return frozenset(said)
