"""Names of a program and where they stand: from the syntax tree alone, so that it works while the program is still wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Final

from rdma_robust.diagnose import Reporter
from rdma_robust.errors import ProgramError, Span
from rdma_robust.frame.editor import DeclaredSymbol, Occurrence, Offer, RenameError, SymbolKind
from rdma_robust.language.check.program_lines import WORDS
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.grammar import load_grammar
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.language.syntax.tree_limits import alone, field_parts, statements_in

Scope = dict[str, DeclaredSymbol]
"""What names mean somewhere, as far as they may stand alone."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of text in which names mean the same: a thread, a macro, or the body of a `for`."""

    span: Span
    scope: Scope


class DeclaredNames:
    """The symbols of a program and all their occurrences, in the order of the text. The first of two of one name counts."""

    def __init__(self, text: str) -> None:
        tree, _, _ = parse_tree(text, Reporter("", text))
        self.tree = tree or ast.ProgramTree(())
        self._outer: dict[str, Scope] = {"constant": {}, "node": {}, "thread": {}, "macro": {}}
        self._members: dict[str, Scope] = {}
        self._labels: dict[str, Scope] = {}
        self._lanes: dict[str, Scope] = {}
        self._local: list[DeclaredSymbol] = []
        self._numbers: dict[int, DeclaredSymbol] = {}
        self._parts: list[_Part] = []
        for item in self.tree.items:
            self._declare(item)
        uses = [use for item in self.tree.items for use in self._uses(item, self._outer["constant"], "")]
        declared = [Occurrence(symbol.span, symbol) for symbol in self.symbols]
        self.occurrences = sorted({*declared, *uses}, key=lambda o: (o.span.start, o.span.end))

    @cached_property
    def symbols(self) -> list[DeclaredSymbol]:
        """Everything declared, in the order of the text."""
        scopes = (*self._outer.values(), *self._members.values(), *self._labels.values(), *self._lanes.values())
        found = {symbol for scope in scopes for symbol in scope.values()} | set(self._local)
        return sorted(found, key=lambda symbol: symbol.span.start)

    def at(self, offset: int) -> Occurrence | None:
        """Return what is named at the character with this 0-based offset, or just before it."""
        return next((o for o in self.occurrences if o.span.start <= offset <= o.span.end), None)

    def of(self, symbol: DeclaredSymbol) -> list[Occurrence]:
        """Return every occurrence of `symbol`."""
        return [o for o in self.occurrences if o.symbol == symbol]

    def in_scope(self, offset: int) -> list[DeclaredSymbol]:
        """Return what may be named at `offset`: in a thread also its registers and the variables of its node."""
        around = [part for part in self._parts if part.span.start <= offset <= part.span.end]
        if not around:
            return [s for kind in ("constant", "node", "thread") for s in self._outer[kind].values()]
        inner = min(around, key=lambda part: part.span.end - part.span.start)
        lanes = (lane for scope in self._lanes.values() for lane in scope.values())
        own = [lane for lane in lanes if inner.span.start <= lane.span.start <= inner.span.end]
        return [*inner.scope.values(), *own, *self._outer["node"].values(), *self._outer["macro"].values()]

    def members(self, owner: str) -> list[DeclaredSymbol]:
        """Return the variables of the node, or the registers of the thread, called `owner`."""
        return list(self._members.get(owner, {}).values())

    def lanes(self, owner: str) -> list[DeclaredSymbol]:
        """Return the lanes of the thread called `owner`."""
        return list(self._lanes.get(owner, {}).values())

    def labels(self, owner: str) -> list[DeclaredSymbol]:
        """Return the labels of the thread called `owner`, and those of macros, which it may have too."""
        outer = (scope for name, scope in self._labels.items() if name in self._outer["macro"] and name != owner)
        return [symbol for scope in (self._labels.get(owner, {}), *outer) for symbol in scope.values()]

    def _declare(self, item: ast.Item) -> None:
        match item:
            case ast.Constants(bindings):
                for binding in bindings:
                    self._add_outer(DeclaredSymbol("constant", binding.name.text, "", binding.name.span, binding.span))
            case ast.NodeDeclaration(name, cells, family=family):
                self._add_outer(DeclaredSymbol("node", name.text, "", name.span, item.span))
                self._add_number(family, name.text, item.span)
                for cell in cells:
                    kind: SymbolKind = "variable" if cell.size is None else "array"
                    self._add_member(DeclaredSymbol(kind, cell.name.text, name.text, cell.name.span, cell.span))
            case ast.ThreadDeclaration(name, _, body, family=family):
                self._add_outer(DeclaredSymbol("thread", name.text, "", name.span, item.span))
                self._add_number(family, name.text, item.span)
                self._registers(body, name.text)
                self._add_lanes(body, name.text)
                self._add_labels(body, name.text, frozenset())
            case ast.Macro(name, parameters, body):
                self._add_outer(DeclaredSymbol("macro", name.text, "", name.span, item.span))
                for parameter in parameters:
                    self._add_member(DeclaredSymbol("parameter", parameter.text, name.text, parameter.span, parameter.span))
                self._registers(body, name.text)
                self._add_labels(body, name.text, frozenset(parameter.text for parameter in parameters))
            case _:
                pass

    def _add_number(self, family: ast.FamilyRange | None, owner: str, whole: Span) -> None:
        """Note the name that the number of each copy has in the declaration of a family."""
        if family is not None and family.counter is not None:
            symbol = DeclaredSymbol("counter", family.counter.text, owner, family.counter.span, whole)
            self._numbers[whole.start] = symbol
            self._local.append(symbol)

    def _numbered(self, item: ast.NodeDeclaration | ast.ThreadDeclaration, scope: Scope) -> Scope:
        """Return what names mean in a declaration that may be one of a family."""
        number = self._numbers.get(item.span.start)
        return scope if number is None else {**scope, number.name: number}

    def _registers(self, body: ast.Block, owner: str) -> None:
        for statement in statements_in(body):
            for binding in statement.registers if isinstance(statement, ast.Registers) else ():
                self._add_member(DeclaredSymbol("register", binding.name.text, owner, binding.name.span, binding.span))

    def _add_lanes(self, body: ast.Block, owner: str) -> None:
        for lane in (lane for s in body.statements if isinstance(s, ast.Lanes) for lane in s.lanes):
            symbol = DeclaredSymbol("lane", lane.name.text, owner, lane.name.span, lane.span)
            self._lanes.setdefault(owner, {}).setdefault(symbol.name, symbol)

    def _add_labels(self, body: ast.Block, owner: str, parameters: frozenset[str]) -> None:
        """Note the labels of a thread or macro; a parameter that stands for one is none."""
        for statement in statements_in(body):
            if isinstance(statement, ast.LabelStatement) and statement.name.text not in parameters:
                name = statement.name
                symbol = DeclaredSymbol("label", name.text, owner, name.span, statement.span)
                self._labels.setdefault(owner, {}).setdefault(name.text, symbol)

    def _add_outer(self, symbol: DeclaredSymbol) -> None:
        self._outer[symbol.kind].setdefault(symbol.name, symbol)

    def _add_member(self, symbol: DeclaredSymbol) -> None:
        self._members.setdefault(symbol.owner, {}).setdefault(symbol.name, symbol)

    def _uses(self, item: Any, scope: Scope, owner: str) -> Iterator[Occurrence]:
        """Yield the names in a part of the tree that stands in the thread or macro `owner`."""
        match item:
            case (
                ast.ThreadDeclaration()
                | ast.NodeDeclaration()
                | ast.Macro()
                | ast.OutcomeDeclaration()
                | ast.InvariantDeclaration()
                | ast.Expect()
            ):
                yield from self._in_declaration(item, scope, owner)
            case ast.For(counter, low, high, body):
                yield from self._uses((low, high), scope, owner)
                counted = DeclaredSymbol("counter", counter.text, owner, counter.span, item.span)
                self._local.append(counted)
                yield from self._part(body, {**scope, counter.text: counted}, owner)
            case ast.MacroCall(name, arguments):
                yield from self._named(name, {}, "macro")
                for argument in arguments:
                    yield from self._uses(argument, {**self._outer["node"], **scope}, owner)
            case ast.Ref(of, name, index):
                yield from self._reference(of, name, scope)
                yield from self._uses(index, scope, owner)
            case _ if isinstance(item, ast.Request):
                lanes = self._lanes.get(item.sender.text if isinstance(item, ast.Receiving) else owner, {})
                for role, part in field_parts(item):
                    if role == "node" and part.text in lanes:
                        yield Occurrence(alone(part), lanes[part.text])
                        yield from self._uses(part.index, scope, owner)
                    elif role in {"node", "thread"}:
                        yield from self._named(part, scope, role)
                    elif role in ("expression", "changed"):
                        yield from self._uses(part, scope, owner)
            case ast.LabelStatement(name):
                symbol = self._labels.get(owner, {}).get(name.text) or scope.get(name.text)
                if symbol is not None and symbol.kind in ("label", "parameter"):
                    yield Occurrence(name.span, symbol)
            case ast.ThreadAt(thread, label):
                yield from self._named(thread, scope, "thread")
                meant = [symbol for symbol in self.labels(thread.text) if symbol.name == label.text]
                yield from (Occurrence(label.span, symbol) for symbol in meant[:1])
            case ast.ThreadEnded(thread) | ast.CopiesWhere(thread=thread):
                yield from self._named(thread, scope, "thread")
                if isinstance(item, ast.CopiesWhere):
                    yield from self._uses(item.condition, {**scope, **self._of_thread(thread.text)}, thread.text)
            case _:
                for part in _parts_of(item):
                    yield from self._uses(part, scope, owner)

    def _in_declaration(self, item: ast.Item, scope: Scope, owner: str) -> Iterator[Occurrence]:
        """Yield the names in a declaration."""
        match item:
            case ast.ThreadDeclaration(name, node, body, family=family):
                yield from self._bounds(family, scope)
                scope = self._numbered(item, scope)
                yield from self._named(node, scope, "node")
                yield from self._part(body, {**scope, **self._of_thread(name.text)}, name.text)
            case ast.NodeDeclaration(_, cells, family=family, via=via):
                yield from self._bounds(family, scope)
                yield from () if via is None else self._named(via, self._numbered(item, scope), "node")
                yield from self._uses(cells, self._numbered(item, scope), owner)
            case ast.OutcomeDeclaration(condition, when=when) | ast.InvariantDeclaration(condition, when=when):
                yield from self._uses(condition, scope, owner)
                yield from self._uses(when, {**self._outer["thread"], **scope}, owner)
            case ast.Expect(when=when):
                yield from self._uses(when, {**self._outer["thread"], **scope}, owner)
            case ast.Macro(name, _, body):
                inner = {**self._unique_variables(), **scope, **self._members.get(name.text, {})}
                yield from self._part(body, inner, name.text)
            case _:
                pass

    def _bounds(self, family: ast.FamilyRange | None, scope: Scope) -> Iterator[Occurrence]:
        if family is not None:
            yield from self._uses((family.low, family.high), scope, "")

    def _of_thread(self, name: str) -> Scope:
        """Return the registers of a thread and the variables of its node."""
        nodes = (
            item.node.text for item in self.tree.items if isinstance(item, ast.ThreadDeclaration) and item.name.text == name
        )
        variables = self._members.get(next(nodes, ""), {})
        return {**variables, **self._members.get(name, {})}

    def _part(self, body: ast.Block, scope: Scope, owner: str) -> Iterator[Occurrence]:
        self._parts.append(_Part(body.span, scope))
        for statement in body.statements:
            yield from self._uses(statement, scope, owner)

    def _unique_variables(self) -> Scope:
        """Return the variables whose names only one node has: what a macro means by them, wherever it is used."""
        found: dict[str, list[DeclaredSymbol]] = {}
        for scope in self._members.values():
            for symbol in scope.values():
                if symbol.kind in ("variable", "array"):
                    found.setdefault(symbol.name, []).append(symbol)
        return {name: symbols[0] for name, symbols in found.items() if len(symbols) == 1}

    def _reference(self, owner: ast.Ident | None, name: ast.Ident, scope: Scope) -> Iterator[Occurrence]:
        found = scope.get(name.text)
        if owner is not None:
            yield from self._named(owner, scope, "node" if owner.text in self._outer["node"] else "thread")
            found = self._members.get(owner.text, {}).get(name.text)
        if found is not None:
            yield Occurrence(name.span, found)

    def _named(self, name: ast.Ident, scope: Scope, kind: str) -> Iterator[Occurrence]:
        """Yield a node, thread or macro, with what its number names; in a macro it may be a parameter."""
        inner = scope.get(name.text)
        found = inner if inner is not None and inner.kind == "parameter" else self._outer[kind].get(name.text)
        if found is not None:
            yield Occurrence(alone(name), found)
        yield from self._uses(name.index, scope, "")


def _parts_of(item: Any) -> Iterator[Any]:
    """Yield the parts of a node of the tree that may have names in them that stand for something declared elsewhere."""
    if isinstance(item, tuple | list):
        yield from item
    elif hasattr(item, "__dataclass_fields__") and not isinstance(item, Span | ast.Ident):
        for field in fields(item):
            yield getattr(item, field.name)


_MEMBER: Final = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*+)(?:\[[^\[\]]*+\])?\.[A-Za-z0-9_]*$")
_WORD: Final = r"[A-Za-z0-9_]*$"
_SENDER: Final = re.compile(rf"\b(?:from|rpoll)\s+(\w+)\s+on\s+{_WORD}")
_KINDS: Final[dict[str, tuple[SymbolKind, ...]]] = {
    r"^\s*thread\s.*\son|\bvia|\bqp\b.*\sto": ("node",),
    r"\b(?:poll|trypoll|rfence|flush|order)(?:\s+\w+\s+or)*": ("node", "lane"),
    r"\bon": ("lane",),
    r"\b(?:rpoll|start|join|barrier(?:\s+\w+\s*,)*)|[\w)\]]\s+(?:to|from)": ("thread",),
}
"""Where in a line only names of some kinds may stand. A lane is one of the thread itself, or of the sender of a message."""

_SETTING: Final = re.compile(rf"^\s*hardware\s(?:.*,)?\s*(?:(\w+)\s+)?{_WORD}")
_LABEL: Final = re.compile(r"\b([A-Za-z_][A-Za-z0-9_]*)\s+at\s+[A-Za-z0-9_]*$")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def typing_offers(text: str, offset: int) -> list[Offer]:
    """Return the words that may stand at the 0-based `offset`: members after a dot, nodes, lanes,
    threads and labels where only they may, and the words of a `hardware` line."""
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    if setting := _SETTING.search(before):
        values = WORDS[setting[1]][1] if setting[1] in WORDS else () if setting[1] else WORDS
        return [Offer(word, "keyword", "keyword") for word in values]
    names = DeclaredNames(text)
    found = _only_names(names, before, offset)
    words = sorted(load_grammar().keywords.values()) if found is None else ()
    found = names.in_scope(offset) if found is None else found
    return [
        *(Offer(s.name, s.kind, f"{s.kind} {s.qualified}") for s in found),
        *(Offer(word, "keyword", "keyword") for word in words),
    ]


def _only_names(names: DeclaredNames, before: str, offset: int) -> list[DeclaredSymbol] | None:
    """Return the names that may stand behind the beginning of a line; None where keywords may, too."""
    if member := _MEMBER.search(before):
        return names.members(member[1])
    kinds = next((kinds for form, kinds in _KINDS.items() if re.search(rf"(?:{form})\s+{_WORD}", before)), ())
    if kinds:
        sender = _SENDER.search(before)
        lanes = names.lanes(sender[1]) if sender else [s for s in names.in_scope(offset) if s.kind == "lane"]
        here = [s for s in names.symbols if s.kind in kinds and s.kind != "lane"]
        return [*here, *(lanes if "lane" in kinds else ())]
    place = _LABEL.search(before)
    return names.labels(place[1]) if place else None


def renaming(text: str, offset: int, new: str) -> list[Span]:
    """Return where the name at the 0-based `offset` stands, to be replaced by `new`.

    Raises RenameError if no name is there, or if the program with the new name is not the same but for that name.
    """
    names = DeclaredNames(text)
    found = names.at(offset)
    if found is None:
        raise RenameError("there is no name here")
    if not _NAME.fullmatch(new) or new in load_grammar().keywords.values():
        raise RenameError(f"{new!r} is not a name")
    spans = [o.span for o in names.of(found.symbol)]
    after, shifts = text, 0
    for span in spans:
        after = after[: span.start + shifts] + new + after[span.end + shifts :]
        shifts += len(new) - (span.end - span.start)
    if _refers(DeclaredNames(after)) != _refers(names):
        raise RenameError(f"{new!r} is the name of something else here")
    if not _wrong(text) and _wrong(after):
        raise RenameError(f"{new!r} cannot be a name here")
    return spans


def _refers(names: DeclaredNames) -> list[int]:
    """Return for every occurrence which declaration it stands for, by numbers that do not depend on texts."""
    numbers = {symbol: i for i, symbol in enumerate(names.symbols)}
    return [numbers[o.symbol] for o in names.occurrences]


def _wrong(text: str) -> bool:
    try:
        load_program(text, "")
    except ProgramError:
        return True
    return False
