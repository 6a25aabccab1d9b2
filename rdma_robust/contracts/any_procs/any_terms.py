"""Expressions of one process over registers of which terms are known; where faults are possible is noted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from rdma_robust.contracts.any_procs.any_values import (
    ArrayTerm,
    Bool,
    Int,
    NumberTerm,
    TermValue,
    conditional,
    divided,
    in_range,
    number_constant,
    product,
    truth_of,
)
from rdma_robust.errors import Span
from rdma_robust.expr import COMPARISONS, Const, Name
from rdma_robust.guarded_z3 import z3
from rdma_robust.messages.language.message_terms import LONGEST, Element, Length, Operation, Term, Zeros

if TYPE_CHECKING:
    from rdma_robust.contracts.any_procs.any_execution import ParametricExecution

CONNECTIVES: Final = ("&&", "||", "!")


def computed(op: str, a: Int, b: Int) -> Int:
    """Return what an operator gives that is no comparison."""
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return product(a, b)
        case _:
            return divided(op, a, b)


class TermReader:
    """Evaluates terms at one point of a walk; `own` are PID and NPROCS."""

    def __init__(
        self, walk: ParametricExecution, registers: Mapping[str, TermValue], own: Mapping[str, TermValue], span: Span
    ) -> None:
        self._walk = walk
        self._registers = registers
        self._own = own
        self._span = span

    def value(self, term: Term) -> TermValue:
        """Return a value. Raises UnrecognisedError."""
        match term:
            case Const(value):
                return number_constant(value)
            case Name(name):
                return self._own.get(name) or self._registers.get(name) or number_constant(0)
            case Element(array, index):
                return self._element(self.value(array), self.number(index))
            case Length(array):
                of = self.value(array)
                self._need(z3.Not(of.is_number()))
                return NumberTerm(of.length())
            case Zeros(size):
                length = self.number(size)
                self._need(in_range(length, 0, LONGEST))
                return ArrayTerm(length, lambda _: number_constant(0))
            case Operation("?", (test, then, other)):
                return self._chosen(test, then, other)
            case Operation(op, (operand,)) if op == "-":
                return NumberTerm(-self.number(operand))
            case Operation(op) if op in COMPARISONS or op in CONNECTIVES:
                return NumberTerm(truth_of(self.truth(term)))
            case Operation(op, (left, right)):
                a, b = self.number(left), self.number(right)
                if op in "/%":
                    self._need(b != 0)
                return NumberTerm(computed(op, a, b))
        raise AssertionError(term)

    def number(self, term: Term) -> Int:
        """Return a number."""
        found = self.value(term)
        self._need(found.is_number())
        return found.number()

    def truth(self, term: Term) -> Bool:
        """Return the condition under which a term is not 0."""
        match term:
            case Operation("!", (operand,)):
                return z3.Not(self.truth(operand))
            case Operation("&&" | "||" as op, (left, right)):
                first = self.truth(left)
                with self._walk.under(first if op == "&&" else z3.Not(first)):
                    second = self.truth(right)
                return z3.And(first, second) if op == "&&" else z3.Or(first, second)
            case Operation(op, (left, right)) if op in COMPARISONS:
                return COMPARISONS[op](self.number(left), self.number(right))
        return self.number(term) != 0

    def _need(self, condition: Bool) -> None:
        self._walk.need(condition, self._span)

    def _element(self, array: TermValue, index: Int) -> TermValue:
        self._need(z3.Not(array.is_number()))
        self._need(in_range(index, 0, array.length() - 1))
        return array.cell(index)

    def _chosen(self, test: Term, then: Term, other: Term) -> TermValue:
        condition = self.truth(test)
        with self._walk.under(condition):
            first = self.value(then)
        with self._walk.under(z3.Not(condition)):
            second = self.value(other)
        return conditional(condition, lambda: first, lambda: second)
