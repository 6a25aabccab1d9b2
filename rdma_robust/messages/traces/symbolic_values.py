"""What the registers of one process hold in a recorded run, as expressions over the names that its trace defines."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rdma_robust.expr import Const, Name
from rdma_robust.messages.language.message_printer import expression
from rdma_robust.messages.language.message_terms import (
    Element,
    FaultError,
    Length,
    Operation,
    Term,
    Value,
    Zeros,
    number,
    value_of,
)
from rdma_robust.messages.language.written_terms import number as number_written

Symbolic = Term | tuple["Symbolic", ...]
"""An expression, or an array whose length is known."""

ZERO = Const(0)


class NotConcreteError(Exception):
    """What has to be a number in this run, as it says which element is meant, is none, or there is no such element."""


class Symbols:
    """The registers of one process; `assume` is told of conditions that make the run what it is."""

    def __init__(self, concrete: Mapping[str, Value], assume: Callable[[Term], None]) -> None:
        self.concrete = concrete
        self.held: dict[str, Symbolic] = {}
        self.assume = assume

    def of(self, term: Term) -> Symbolic:
        """Return what a term is, over the names of the trace. Raises FaultError and NotConcreteError."""
        match term:
            case Const():
                return term
            case Name(name):
                return self.held.get(name, ZERO)
            case Element(array, index):
                return self.element(self.of(array), index)
            case Length(array):
                inner = self.of(array)
                return Const(len(inner)) if isinstance(inner, tuple) else Length(inner)
            case Zeros(size):
                return (ZERO,) * self.fixed(size)
            case Operation("?", (condition, then, other)):
                return self.of(then if self.decided(condition) else other)
            case Operation("&&" | "||" as op, (left, right)):
                first = self.scalar(left)
                try:
                    return Operation(op, (first, self.scalar(right)))
                except NotConcreteError:
                    return Const(int(self.decided(left)))
            case Operation(op, operands):
                return Operation(op, tuple(self.scalar(each) for each in operands))

    def scalar(self, term: Term) -> Term:
        """Return what a term is, which must not be an array. Raises FaultError and NotConcreteError."""
        found = self.of(term)
        if isinstance(found, tuple):
            raise FaultError("kind")
        return found

    def element(self, array: Symbolic, index: Term) -> Symbolic:
        if not isinstance(array, tuple):
            return Element(array, self.scalar(index))
        at = self.fixed(index)
        if not 0 <= at < len(array):
            raise NotConcreteError
        return array[at]

    def fixed(self, term: Term) -> int:
        """Return the number that a term is in this run, and assume that it is that one."""
        try:
            value = number(value_of(term, self.concrete))
        except FaultError:
            raise NotConcreteError from None
        found = self.scalar(term)
        if not isinstance(found, Const):
            self.assume(Operation("==", (found, Const(value))))
        return value

    def decided(self, condition: Term) -> bool:
        """Return whether a condition is true in this run, and assume that it is so."""
        value = bool(number(value_of(condition, self.concrete)))
        found = self.scalar(condition)
        if not isinstance(found, Const):
            self.assume(found if value else Operation("!", (found,)))
        return value

    def store(self, name: str, indices: tuple[int, ...], value: Symbolic) -> None:
        """Put a value into a register, or into an element of what it holds, which exists."""
        self.held[name] = self._stored(self.held.get(name, ZERO), self.concrete[name], indices, value)

    def _stored(self, held: Symbolic, concrete: Value, indices: tuple[int, ...], value: Symbolic) -> Symbolic:
        if not indices:
            return value
        if not isinstance(concrete, tuple) or not 0 <= indices[0] < len(concrete):
            raise NotConcreteError
        if not isinstance(held, tuple):
            self.assume(Operation("==", (Length(held), Const(len(concrete)))))
            held = tuple(Element(held, Const(at)) for at in range(len(concrete)))
        at = indices[0]
        return (*held[:at], self._stored(held[at], concrete[at], indices[1:], value), *held[at + 1 :])


def expression_text(term: Term) -> str:
    """Return a term as `.mp` text."""
    match term:
        case Const(value):
            text = expression(number_written(value))
            return text if text.isdigit() else f"({text})"
        case Name(name):
            return name
        case Element(array, index):
            return f"{expression_text(array)}[{expression_text(index)}]"
        case Length(array):
            return f"len({expression_text(array)})"
        case Zeros(size):
            return f"new({expression_text(size)})"
        case Operation(op, (only,)):
            return f"{op}{_operand(only)}"
        case Operation(op, (left, right)):
            return f"{_operand(left)} {op} {_operand(right)}"
        case _:
            raise ValueError(f"no text for {term}")


def _operand(term: Term) -> str:
    text = expression_text(term)
    return f"({text})" if isinstance(term, Operation) else text
