"""Blocks of `.mp` that are written statement by statement, and the operands that C has in many places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rdma_robust.c.contracts.body_values import binary_operand, call_operand, number_operand
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree


@dataclass
class BlockWriter:
    """The block that is written: `lines` are its statements. `taken` are all names of registers."""

    lines: list[tree.Line] = field(default_factory=list, kw_only=True)
    taken: set[str] = field(default_factory=set, kw_only=True)

    def emit(self, line: tree.Line) -> None:
        """Append a statement."""
        self.lines.append(line)

    def new_name(self, wanted: str) -> str:
        """Return a name that nothing in the function has."""
        name, more = wanted, 1
        while name in self.taken:
            more += 1
            name = f"{wanted}${more}"
        self.taken.add(name)
        return name

    def register(self, wanted: str, span: Span, value: tree.Operand | None = None) -> tree.IndexedName:
        """Declare a register, with a value if there is one."""
        name = ast.Ident(self.new_name(wanted), span)
        self.emit(tree.RegisterLine((tree.Declarator(name, None, value, span),), span))
        return tree.IndexedName(name, (), span)

    def assign(self, target: tree.IndexedName, value: tree.Operand, span: Span) -> None:
        """Append an assignment."""
        self.emit(ast.Assign(tree.as_part(target), tree.as_part(value), "", span))

    def counted(
        self, high: tree.Operand, span: Span, body: Callable[[tree.Operand], None], low: tree.Operand | None = None
    ) -> None:
        """Append a loop over the numbers from `low`, or 0, to before `high`."""
        counter = ast.Ident(self.new_name("$at"), span)
        block = self.block(span, lambda: body(tree.IndexedName(counter, (), span)))
        last = binary_operand("-", high, number_operand(1, span), span)
        first = number_operand(0, span) if low is None else low
        self.emit(ast.For(counter, tree.as_part(first), tree.as_part(last), block, span))

    def block(self, span: Span, body: Callable[[], None]) -> ast.Block:
        """Return what `body` appends as a block."""
        before, self.lines = self.lines, []
        try:
            body()
            return ast.Block(tuple(tree.as_part(each) for each in self.lines), span)
        finally:
            self.lines = before

    def branch(
        self, condition: object, span: Span, body: Callable[[], None], other: Callable[[], None] | None = None
    ) -> None:
        """Append a branch."""
        arm = ast.Arm(tree.as_part(condition), self.block(span, body), span)
        self.emit(ast.If((arm,), None if other is None else self.block(span, other), span))


def no_value(span: Span) -> tree.Operand:
    """Return what stands for a value that was not stored yet: an array, so that to compute with it is a fault."""
    return call_operand("new", (number_operand(0, span),), span)


def declared_register(name: str, value: tree.Operand | None, span: Span) -> tree.RegisterLine:
    return tree.RegisterLine((tree.Declarator(ast.Ident(name, span), None, value, span),), span)


def register_element(name: str, index: tree.Operand, span: Span) -> tree.IndexedName:
    return tree.IndexedName(ast.Ident(name, span), (index,), span)


def indexed_place(place: tree.IndexedName, index: tree.Operand) -> tree.IndexedName:
    return tree.IndexedName(place.name, (*place.indices, index), place.span)
