"""Reads the file of an order table; what is wrong with it is said with its place, one error for each mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from rdma_robust.diagnose import Reporter, did_you_mean, listing, quote
from rdma_robust.errors import RdmaRobustError, Span
from rdma_robust.orders import SHIPPED
from rdma_robust.orders.order_record import (
    ALL_WRITES,
    NAMED_TYPES,
    PUSHABLE,
    TYPES,
    UNKNOWN,
    VARIANT_OF,
    OrderTable,
    with_written,
)
from rdma_robust.text import printable
from rdma_robust.toml_places import TomlText

KEYS: Final = ("name", "title", "based-on", "source", "cells", "rules", "why")
RULES: Final[Mapping[str, tuple[str | bool, ...]]] = {
    "reads-push-writes": ("all", "none"),
    "receive-covers": ("earlier", "own"),
    "completions-order": (True, False),
    "atomics-of-a-word": ("table", "program order"),
    "completion-tells": ("source", "placed"),
    "receives-match": ("in order", "any"),
}
"""The rules that a file can name, and the words that they can be; the first one may also be a list of pairs."""

EVERY: Final = "all"
"""In `why`, the reason for every order of two requests that the table does not keep."""

_CPU: Final = frozenset({"CPU", "lR", "lW", "CAS", "P", "F", "V", "RP", "FL", "nO"})
_KEPT: Final = ("qp", "i", "-", UNKNOWN)

Based = Callable[[str], OrderTable]
Named = Callable[[str], str]
"""Returns the order that stands behind `based-on`; raises an error of the tool for one that there is not."""


def read_order(text: str, file: str, *, based: Based, named: Named = str) -> OrderTable:
    """Return the table in the text of a file; `named` returns the order that stands behind `based-on`, `based` its table.

    Raises ProgramError with everything that is wrong.
    """
    return _OrderReader(TomlText(Reporter(file, text), "RR821"), based, named).table()


class _OrderReader:
    """Reads one file; what is wrong goes to its report."""

    def __init__(self, toml: TomlText, based: Based, named: Named) -> None:
        self._toml = toml
        self._based = based
        self._named = named
        self._report = toml.report

    def table(self) -> OrderTable:
        """Return the table. Raises ProgramError with everything that is wrong."""
        document = self._toml.document()
        for key in document:
            if key not in KEYS:
                hint = did_you_mean(key, KEYS)
                self._refuse("RR822", (key,), f"there is no {quote(key)} in an order table", listing(map(quote, KEYS)), hint)
        texts = {key: self._text(document, key) for key in ("name", "title", "based-on", "source")}
        below, base = self._base(texts["based-on"])
        cells = dict(self._cells(document))
        own = {cell: kept for cell, kept in cells.items() if not VARIANT_OF.keys().isdisjoint(cell)}
        written = {**base.written, **{cell: kept for cell, kept in cells.items() if cell not in own}}
        rules = self._rules(document)
        why = dict(self._why(document))
        if "name" not in document:
            self._refuse("RR822", (), "an order table has a name", 'name = "mine"')
        self._report.raise_errors()
        ordered = rules.get("completions-order")
        by_word = rules.get("atomics-of-a-word", "program order" if base.by_word else "table") == "program order"
        pushes = rules.get("reads-push-writes", base.pushes)
        found = OrderTable(
            texts["name"],
            {},
            frozenset(),
            rules.get("receive-covers", base.receives),
            base.behind_polls if ordered is None else below if ordered else "",
            by_word,
            why.get(EVERY, base.says),
            texts["title"],
            texts["source"],
            texts["based-on"],
            why,
            tells=rules.get("completion-tells", base.tells),
            matching=rules.get("receives-match", base.matching),
        )
        return with_written(found, written, pushes, {**base.variants, **own})

    def _text(self, document: Mapping[str, Any], key: str) -> str:
        value = document.get(key, "")
        if isinstance(value, str) and (value.strip() or key not in document) and "\n" not in value:
            return printable(value)
        self._refuse("RR823", (key,), f"{quote(key)} is {_shown(value)}", "a text of one line")
        return ""

    def _base(self, name: str) -> tuple[str, OrderTable]:
        """Return the order on which the table is based, and its table."""
        if not name:
            return "", OrderTable("", {}, written=dict.fromkeys(((a, b) for a in TYPES for b in TYPES), "-"))
        try:
            order = self._named(name)
            return order, self._based(order)
        except RdmaRobustError as error:
            self._refuse("RR824", ("based-on",), str(error), hint=did_you_mean(name, SHIPPED))
            return "default", self._based("default")

    def _part(self, document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        part = document.get(key, {})
        if isinstance(part, dict):
            return part
        self._refuse("RR823", (key,), f"{quote(key)} is {_shown(part)}", f"a table, [{key}]")
        return {}

    def _cells(self, document: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], str]]:
        seen = set[tuple[str, str]]()
        for name, kept in self._part(document, "cells").items():
            cell = self._cell("cells", name)
            if cell is None:
                continue
            if cell in seen:
                self._refuse("RR826", ("cells", name), f"{quote(' '.join(cell))} is said twice", "each cell once")
            seen.add(cell)
            allowed = [word for word in _KEPT if word != "i" or cell[0] in ALL_WRITES]
            if cell == ("nrR", "nrR"):
                allowed.append("(-)")
            if kept in allowed:
                yield cell, kept
                continue
            said = f"{quote(name)} is {_shown(kept)}"
            if kept == "i":
                said = f"{cell[0]} is no write: what is issued before another event is observed before it, too"
            self._refuse("RR825", ("cells", name), said, listing(map(quote, allowed)))

    def _cell(self, part: str, name: str) -> tuple[str, str] | None:
        """Return the types of a cell; None after an error."""
        words = tuple(name.split())
        if len(words) != 2:
            self._refuse("RR826", (part, name), f"{quote(name)} is no cell", "the types of two events, the earlier first")
            return None
        wrong = [word for word in words if word not in NAMED_TYPES]
        if not wrong:
            return words[0], words[1]
        fixed = next((word for word in wrong if word in _CPU), "")
        said = f"there is no type of event {quote(wrong[0])}"
        if fixed:
            said = f"cells of {fixed} are the same in every table"
        if "nA" in wrong:
            said = "nA, the event of an atomic that excludes every access, has the cells of naR"
        hint = "" if fixed or "nA" in wrong else did_you_mean(wrong[0], NAMED_TYPES)
        self._refuse("RR826", (part, name), said, listing(NAMED_TYPES), hint)
        return None

    def _rules(self, document: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in self._part(document, "rules").items():
            if name not in RULES:
                hint = did_you_mean(name, RULES)
                self._refuse("RR822", ("rules", name), f"there is no rule {quote(name)}", listing(map(quote, RULES)), hint)
            elif name == "reads-push-writes":
                found[name] = self._pushes(value)
            elif any(value is each or (value == each and isinstance(each, str)) for each in RULES[name]):
                found[name] = value
            else:
                said = f"{quote(name)} is {_shown(value)}"
                self._refuse("RR825", ("rules", name), said, listing(quote(str(each).lower()) for each in RULES[name]))
        return found

    def _pushes(self, value: object) -> frozenset[tuple[str, str]]:
        if value in ("all", "none"):
            return frozenset(PUSHABLE if value == "all" else ())
        pairs = {" ".join(pair): pair for pair in PUSHABLE}
        given: list[Any] = value if isinstance(value, list) else [value]
        for each in given:
            if not isinstance(each, str) or each not in pairs:
                expected = f"{listing(map(quote, pairs), 'or')} in a list, or {quote('all')}, or {quote('none')}"
                self._refuse("RR825", ("rules", "reads-push-writes"), f"no read pushes a write as {_shown(each)}", expected)
                return frozenset()
        return frozenset(pairs[each] for each in given)

    def _why(self, document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        for name, said in self._part(document, "why").items():
            known = name in (EVERY, *RULES)
            cell = None if known else self._cell("why", name)
            if not isinstance(said, str) or not said.strip():
                self._refuse("RR823", ("why", name), f"{quote(name)} is {_shown(said)}", "a sentence, or an address")
            elif known or cell is not None:
                yield " ".join(name.split()), printable(" ".join(said.split()))

    def _refuse(self, code: str, path: tuple[str, ...], said: str, expected: str = "", hint: str = "") -> None:
        span: Span = self._toml.place(*path)
        self._report.error(code, span, said, expected=expected, hint=hint)


def _shown(value: object) -> str:
    match value:
        case str():
            return quote(value)
        case bool():
            return "true" if value else "false"
        case dict():
            return "a table"
        case list():
            return "a list"
    return "a number" if isinstance(value, int | float) else "a date or a time"
