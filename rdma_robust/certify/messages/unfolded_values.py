"""What expressions are worth in an unfolded process: terms, and where they are faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.certify.messages.unfolded_terms import Symbolic, TermNode, TermTable, TooMuch
from rdma_robust.expr import Const, Name
from rdma_robust.messages.language.message_terms import Element, Length, Operation, Term, Zeros

MOST_ELEMENTS: Final = 10_000
"""Of an array."""


class Evaluator:
    """The expressions of one process. `fault` is told under which condition an expression has no meaning.

    What is evaluated after a fault is worth anything: the process is over by then.
    """

    def __init__(self, terms: TermTable, registers: Mapping[str, Symbolic], fault: Callable[[TermNode], None]) -> None:
        self.terms, self.registers, self._fault = terms, registers, fault

    def number(self, term: Term, live: TermNode) -> TermNode:
        """Return what a term is worth, which has to be a number."""
        return self._number(self.value(term, live), live)

    def _number(self, value: Symbolic, live: TermNode) -> TermNode:
        if isinstance(value, TermNode):
            return value
        self._fault(live)
        return self.terms.false

    def value(self, term: Term, live: TermNode) -> Symbolic:
        """Return what a term is worth where the condition `live` holds."""
        match term:
            case Const(number):
                return self.terms.const(number)
            case Name(name):
                return self.registers[name]
            case Element(array, index):
                items, at = self.value(array, live), self.number(index, live)
                return self._element(items, at, live)
            case Length(array):
                items = self.value(array, live)
                if isinstance(items, TermNode):
                    self._fault(live)
                    return self.terms.false
                return self.terms.const(len(items))
            case Zeros(size):
                return self._zeros(self.number(size, live), live)
            case Operation(op, operands):
                return self._operation(op, operands, live)

    def outside(self, at: TermNode, length: int) -> TermNode:
        """Return where an index is none of so many."""
        low = self.terms.operation("<", at, self.terms.false)
        return self.terms.either([low, self.terms.operation(">=", at, self.terms.const(length))])

    def _element(self, items: Symbolic, at: TermNode, live: TermNode) -> Symbolic:
        if isinstance(items, TermNode):
            self._fault(live)
            return self.terms.false
        self._fault(self.terms.both(live, self.outside(at, len(items))))
        if at.known:
            return items[at.number] if 0 <= at.number < len(items) else self.terms.false
        if not items:
            return self.terms.false
        found = items[-1]
        for each in range(len(items) - 1):
            here = self.terms.operation("==", at, self.terms.const(each))
            found = self.terms.merged(here, items[each], found)
        return found

    def _zeros(self, size: TermNode, live: TermNode) -> Symbolic:
        if not size.known or size.number > MOST_ELEMENTS:
            raise TooMuch("an array is long, or its length is not known")
        if size.number < 0:
            self._fault(live)
            return self.terms.false
        return (self.terms.false,) * size.number

    def _operation(self, op: str, operands: tuple[Term, ...], live: TermNode) -> Symbolic:
        terms = self.terms
        first = self.number(operands[0], live)
        if len(operands) == 1:
            return terms.operation("-", terms.false, first) if op == "-" else terms.negation(terms.truth(first))
        if op == "?":
            holds = terms.truth(first)
            ways = zip(operands[1:], (holds, terms.negation(holds)), strict=True)
            then, other = [self._unless(each, terms.both(live, when)) for each, when in ways]
            return terms.merged(holds, then, other) if not holds.known else then if holds.number else other
        if op in ("&&", "||"):
            holds = terms.truth(first)
            when = holds if op == "&&" else terms.negation(holds)
            second = terms.truth(self._number(self._unless(operands[1], terms.both(live, when)), terms.both(live, when)))
            return terms.both(holds, second) if op == "&&" else terms.either([holds, second])
        second = self.number(operands[1], live)
        if op in ("/", "%"):
            self._fault(terms.both(live, terms.operation("==", second, terms.false)))
        return terms.operation(op, first, second)

    def _unless(self, term: Term, live: TermNode) -> Symbolic:
        """Return what a term is worth, 0 where it is not evaluated at all."""
        return self.terms.false if live is self.terms.false else self.value(term, live)
