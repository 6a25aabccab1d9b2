"""Names of a program and where they stand: from the syntax tree alone, so that it works while the program is still wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

from rdma_robust.diagnose import Reporter
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.parse import parse

SymbolKind = Literal["constant", "node", "variable", "array", "thread", "register"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """What was declared at `span` (of the name) in the declaration `whole`; `owner` is the node of a variable, the thread
    of a register, else empty."""

    kind: SymbolKind
    name: str
    owner: str
    span: Span
    whole: Span

    @property
    def qualified(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at `span` that stands for `symbol`; the declaration is one, too."""

    span: Span
    symbol: Symbol


class Names:
    """The symbols of a program and all their occurrences, in the order of the text. The first of two of one name counts."""

    def __init__(self, text: str) -> None:
        tree, _, _ = parse(text, Reporter("", text))
        self.tree = tree or ast.Program(())
        self._declared: dict[tuple[str, str, str], Symbol] = {}
        for item in self.tree.items:
            self._declare(item)

    @property
    def symbols(self) -> list[Symbol]:
        """Everything declared, in the order of the text."""
        return list(self._declared.values())

    def at(self, offset: int) -> Occurrence | None:
        """Return what is named at the character with this 0-based offset, or just before it."""
        return next((o for o in self.occurrences if o.span.start <= offset <= o.span.end), None)

    def of(self, symbol: Symbol) -> list[Occurrence]:
        """Return every occurrence of `symbol`."""
        return [o for o in self.occurrences if o.symbol == symbol]

    def thread_at(self, offset: int) -> ast.Thread | None:
        """Return the thread in whose text `offset` is."""
        threads = (item for item in self.tree.items if isinstance(item, ast.Thread))
        return next((t for t in threads if t.span.start <= offset <= t.span.end), None)

    def in_scope(self, offset: int) -> list[Symbol]:
        """Return what may be named at `offset`: in a thread its registers, variables of its node, constants, nodes."""
        thread = self.thread_at(offset)
        if thread is None:
            return [s for s in self.symbols if s.kind in ("constant", "node", "thread")]
        owners = {"register": thread.name.text, "variable": thread.node.text, "array": thread.node.text}
        return [s for s in self.symbols if s.kind != "thread" and (not s.owner or owners.get(s.kind) == s.owner)]

    def members(self, owner: str) -> list[Symbol]:
        """Return the variables of the node, or the registers of the thread, called `owner`."""
        return [s for s in self.symbols if s.owner == owner]

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        found = [Occurrence(s.span, s) for s in self.symbols]
        for item in self.tree.items:
            found += self._uses(item, None)
        return sorted(set(found), key=lambda o: (o.span.start, o.span.end))

    def _declare(self, item: ast.Item) -> None:
        match item:
            case ast.Constants(bindings):
                for binding in bindings:
                    self._add(Symbol("constant", binding.name.text, "", binding.name.span, binding.span))
            case ast.Node(name, cells):
                self._add(Symbol("node", name.text, "", name.span, item.span))
                for cell in cells:
                    kind: SymbolKind = "variable" if cell.size is None else "array"
                    self._add(Symbol(kind, cell.name.text, name.text, cell.name.span, cell.span))
            case ast.Thread(name, _, body):
                self._add(Symbol("thread", name.text, "", name.span, item.span))
                for statement in body.statements:
                    for binding in statement.registers if isinstance(statement, ast.Registers) else ():
                        self._add(Symbol("register", binding.name.text, name.text, binding.name.span, binding.span))
            case _:
                pass

    def _add(self, symbol: Symbol) -> None:
        space = "member" if symbol.owner else symbol.kind
        self._declared.setdefault((space, symbol.owner, symbol.name), symbol)

    def _member(self, owner: str, name: str) -> Symbol | None:
        return self._declared.get(("member", owner, name))

    def _outer(self, kind: str, name: str) -> Symbol | None:
        return self._declared.get((kind, "", name))

    def _uses(self, item: Any, thread: ast.Thread | None) -> Iterator[Occurrence]:
        """Yield the names in a part of the tree, which stands in `thread`."""
        match item:
            case ast.Thread(_, node, body):
                yield from self._named(node, "node")
                yield from self._uses(body, item)
            case ast.Ref(owner, name, index):
                yield from self._reference(owner, name, thread)
                yield from self._uses(index, thread)
            case ast.Poll(node) | ast.RFence(node):
                yield from self._named(node, "node")
            case ast.Node(_, cells):
                yield from self._uses([(cell.size, cell.init) for cell in cells], thread)
            case ast.Binding(_, value):
                yield from self._uses(value, thread)
            case tuple() | list():
                for part in item:
                    yield from self._uses(part, thread)
            case _ if hasattr(item, "__dataclass_fields__") and not isinstance(item, Span | ast.Ident):
                for field in fields(item):
                    yield from self._uses(getattr(item, field.name), thread)

    def _reference(self, owner: ast.Ident | None, name: ast.Ident, thread: ast.Thread | None) -> Iterator[Occurrence]:
        found = self._outer("constant", name.text)
        if owner is not None:
            yield from self._named(owner, "node" if self._outer("node", owner.text) else "thread")
            found = self._member(owner.text, name.text)
        elif thread is not None:
            found = self._member(thread.name.text, name.text) or self._member(thread.node.text, name.text) or found
        if found is not None:
            yield Occurrence(name.span, found)

    def _named(self, name: ast.Ident, kind: str) -> Iterator[Occurrence]:
        found = self._outer(kind, name.text)
        if found is not None:
            yield Occurrence(name.span, found)
