"""Symbolic evaluation of expressions and places of a process: the terms they are worth, and where that is a fault."""

from __future__ import annotations

from collections.abc import Mapping

from rdma_robust.expr import Const, Name
from rdma_robust.messages.encoding.symbolic_terms import Symbol, SymbolicValue, Symbols
from rdma_robust.messages.encoding.unrolled import NotEncodedError, Shape
from rdma_robust.messages.language.message_terms import Element, FaultKind, Length, Operation, Term, Zeros


class ShapelessArray:
    """The value of a register that is arrays of different lengths on different paths, or a number on one of them."""


MIXED = ShapelessArray()
Held = Symbol | tuple["Held", ...] | ShapelessArray
"""What a register holds."""


def merge_values(symbols: Symbols, test: Symbol, a: Held, b: Held) -> Held:
    """Return `a` where `test` holds, else `b`."""
    if a is b:
        return a
    if isinstance(a, Symbol) and isinstance(b, Symbol):
        return symbols.choice_of(test, a, b)
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple([merge_values(symbols, test, one, other) for one, other in zip(a, b, strict=True)])
    return MIXED


def received_value(symbols: Symbols, receive: int, shape: Shape, path: tuple[int, ...] = ()) -> SymbolicValue:
    """Return what this receive gets, of a known shape."""
    if shape is None:
        return symbols.leaf("value", receive, path)
    return tuple([received_value(symbols, receive, inner, (*path, at)) for at, inner in enumerate(shape)])


def value_shape(value: SymbolicValue) -> Shape:
    return None if isinstance(value, Symbol) else tuple([value_shape(item) for item in value])


def shape_size(shape: Shape) -> int:
    """Return how many numbers a value of this shape has."""
    return 1 if shape is None else sum(shape_size(each) for each in shape)


class Evaluation:
    """Evaluates what one statement evaluates; `faults` are where it is a fault, first ones first.

    A condition of a fault holds only where none before it does.
    """

    def __init__(self, symbols: Symbols, registers: Mapping[str, Held]) -> None:
        self.symbols = symbols
        self.registers = registers
        self.faults: list[tuple[Symbol, FaultKind]] = []

    def value(self, term: Term, under: Symbol) -> Held:
        """Return what `term` is worth where `under` holds. Raises NotEncodedError."""
        symbols = self.symbols
        if under is symbols.false:
            return symbols.false
        match term:
            case Const(value):
                return symbols.const(value)
            case Name(name):
                return self.registers[name]
            case Element(of, index):
                held = self.value(of, under)
                return self.element(held, self.value(index, under), under)
            case Length(of):
                return symbols.const(len(self.array(self.value(of, under), under)))
            case Zeros(size):
                return self._zeros(size, under)
            case Operation("&&" | "||" as op, (a, b)):
                first = symbols.truth(self.number(self.value(a, under), under))
                goes_on = first if op == "&&" else symbols.negation(first)
                second = self.number(self.value(b, inner := symbols.conjunction(under, goes_on)), inner)
                return symbols.apply(op, first, second)
            case Operation("?", (test, a, b)):
                taken = symbols.truth(self.number(self.value(test, under), under))
                one = self.value(a, symbols.conjunction(under, taken))
                other = self.value(b, symbols.conjunction(under, symbols.negation(taken)))
                if taken.constant:
                    return one if taken.value else other
                return merge_values(symbols, taken, one, other)
            case Operation(op, operands):
                return self._applied(op, operands, under)

    def _applied(self, op: str, operands: tuple[Term, ...], under: Symbol) -> Symbol:
        values = [self.number(self.value(each, under), under) for each in operands]
        if op in "/%":
            self.fault(self.symbols.apply("==", values[1], self.symbols.false), "division", under)
        return self.symbols.apply(op, *values)

    def _zeros(self, size: Term, under: Symbol) -> Held:
        length = self.number(self.value(size, under), under)
        if not length.constant:
            raise NotEncodedError("an array whose length is known only in the run")
        if length.value < 0:
            self.fault(self.symbols.true, "length", under)
        return (self.symbols.false,) * length.value

    def fault(self, where: Symbol, kind: FaultKind, under: Symbol) -> None:
        """Note a fault where `under` and `where` hold."""
        condition = self.symbols.conjunction(under, where)
        if condition is not self.symbols.false:
            self.faults.append((condition, kind))

    def number(self, held: Held, under: Symbol) -> Symbol:
        """Return a number as it is; an array is a fault."""
        if isinstance(held, Symbol):
            return held
        self._known(held)
        self.fault(self.symbols.true, "kind", under)
        return self.symbols.false

    def array(self, held: Held, under: Symbol) -> tuple[Held, ...]:
        """Return an array as it is; a number is a fault."""
        if isinstance(held, tuple):
            return held
        self._known(held)
        self.fault(self.symbols.true, "kind", under)
        return ()

    def _known(self, held: Held) -> None:
        if isinstance(held, ShapelessArray):
            raise NotEncodedError("a register that is an array on some paths and not, or of another length, on others")

    def message(self, held: Held) -> SymbolicValue:
        """Return a value that can be sent: all of it is known. Raises NotEncodedError."""
        if isinstance(held, tuple):
            return tuple([self.message(each) for each in held])
        self._known(held)
        assert isinstance(held, Symbol)
        return held

    def element(self, held: Held, index: Held, under: Symbol) -> Held:
        """Return the element of an array at an index."""
        items, at = self.array(held, under), self.number(index, under)
        return self._at(items, self._index(items, at, under))

    def _index(self, items: tuple[Held, ...], at: Symbol, under: Symbol) -> Symbol:
        inside = self.between(at, 0, len(items) - 1)
        self.fault(self.symbols.negation(inside), "index", under)
        return at

    def _at(self, items: tuple[Held, ...], at: Symbol) -> Held:
        if at.constant:
            return items[at.value] if 0 <= at.value < len(items) else self.symbols.false
        found: Held = items[-1] if items else self.symbols.false
        for place in range(len(items) - 2, -1, -1):
            found = merge_values(self.symbols, self.symbols.apply("==", at, self.symbols.const(place)), items[place], found)
        return found

    def between(self, a: Symbol, low: int, high: int) -> Symbol:
        """Return `low <= a && a <= high`."""
        symbols = self.symbols
        return symbols.conjunction(symbols.apply("<=", symbols.const(low), a), symbols.apply("<=", a, symbols.const(high)))

    def with_element(self, held: Held, indices: tuple[Symbol, ...], new: Held, under: Symbol) -> Held:
        """Return `held` with what stands at `indices`, one for each nesting, replaced by `new`."""
        if not indices:
            return new
        items = self.array(held, under)
        at = self._index(items, indices[0], under)
        inner = self.with_element(self._at(items, at), indices[1:], new, under)
        if at.constant:
            return (*items[: at.value], inner, *items[at.value + 1 :]) if 0 <= at.value < len(items) else items
        return tuple(
            [
                merge_values(self.symbols, self.symbols.apply("==", at, self.symbols.const(place)), inner, old)
                for place, old in enumerate(items)
            ]
        )
