"""Terms of an unfolded program: over what receives get and what is chosen, each made once, constants folded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rdma_robust.expr import Const, Name
from rdma_robust.messages.language.message_terms import Element, Length, Operation, Term, Zeros

Part = Literal["value", "sender", "tag"]
PARTS: Final[tuple[Part, ...]] = ("value", "sender", "tag")


class TooMuch(Exception):
    """The program has something that formulas of the checker do not have; the text says what."""


def quotient(a: int, b: int) -> int:
    """Return a / b towards zero."""
    return abs(a) // abs(b) if (a < 0) is (b < 0) else -(abs(a) // abs(b))


ARITHMETIC: Final[Mapping[str, Callable[[int, int], int]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": quotient,
    "%": lambda a, b: a - b * quotient(a, b),
}
COMPARED: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
TRUTHS: Final = frozenset({*COMPARED, "and", "not"})
"""Operations whose result is 0 or 1."""


@dataclass(frozen=True, slots=True, eq=False)
class TermNode:
    """`const` with its number; `got`, a part of what receive `number` gets; `choice` of so many as `of` says; an operation.

    Operations: those of ARITHMETIC and COMPARED, `and` of truths, `not` of one, `ite` of a truth and two numbers.
    """

    name: int
    op: str
    operands: tuple[TermNode, ...] = ()
    number: int = 0
    part: Part = "value"
    of: int = 0

    @property
    def known(self) -> bool:
        return self.op == "const"


def implied_truth(known: TermNode, asked: TermNode) -> bool:
    """Return whether a truth surely holds where another one does, as far as conjunctions show it."""
    ours, theirs = [set(each.operands if each.op == "and" else (each,)) for each in (known, asked)]
    return theirs <= ours or (asked.known and asked.number != 0)


Symbolic = TermNode | tuple["Symbolic", ...]
"""A number, or an array of them."""


class TermTable:
    """Makes terms; equal ones are one object."""

    def __init__(self) -> None:
        self._made: dict[tuple[object, ...], TermNode] = {}
        self.false, self.true = self.const(0), self.const(1)

    def _node(self, op: str, operands: tuple[TermNode, ...], number: int = 0, part: Part = "value", of: int = 0) -> TermNode:
        key = (op, *[each.name for each in operands], number, part)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = TermNode(len(self._made), op, operands, number, part, of)
        return found

    def const(self, number: int) -> TermNode:
        return self._node("const", (), int(number))

    def got(self, receive: int, part: Part) -> TermNode:
        return self._node("got", (), receive, part)

    def choice(self, number: int, of: int) -> TermNode:
        return self._node("choice", (), number, of=of)

    def operation(self, op: str, a: TermNode, b: TermNode) -> TermNode:
        """Return a sum or the like, or a comparison. A division by what is surely 0 is 0: nobody may ask for it."""
        if op in "/%" and b is self.false:
            return self.false
        if a.known and b.known:
            table = ARITHMETIC if op in ARITHMETIC else COMPARED
            return self.const(table[op](a.number, b.number))
        if a is b and op in COMPARED:
            return self.const(COMPARED[op](0, 0))
        if op in "+-" and b is self.false:
            return a
        return self._node(op, (a, b))

    def truth(self, a: TermNode) -> TermNode:
        """Return 1 if a number is not 0, else 0."""
        return a if a.op in TRUTHS or a in (self.false, self.true) else self.operation("!=", a, self.false)

    def negation(self, truth: TermNode) -> TermNode:
        if truth.known:
            return self.const(not truth.number)
        return truth.operands[0] if truth.op == "not" else self._node("not", (truth,))

    def both(self, *truths: TermNode) -> TermNode:
        """Return the conjunction of truths."""
        parts: dict[TermNode, None] = {}
        for truth in truths:
            parts.update(dict.fromkeys(truth.operands if truth.op == "and" else (truth,)))
        parts.pop(self.true, None)
        if self.false in parts or any(each.op == "not" and each.operands[0] in parts for each in parts):
            return self.false
        if len(parts) < 2:
            return next(iter(parts), self.true)
        return self._node("and", tuple(sorted(parts, key=lambda each: each.name)))

    def either(self, truths: Sequence[TermNode]) -> TermNode:
        """Return the disjunction of truths; those that differ in one part only are joined first."""
        left = [each for each in dict.fromkeys(truths) if each is not self.false]
        at = 0
        while at < len(left):
            for other in range(at):
                joined = self._joined(left[other], left[at])
                if joined is not None:
                    left[other] = joined
                    del left[at]
                    at = -1
                    break
            at += 1
        if not left:
            return self.false
        return left[0] if len(left) == 1 else self.negation(self.both(*[self.negation(each) for each in left]))

    def _joined(self, a: TermNode, b: TermNode) -> TermNode | None:
        """Return `a or b` if that is simpler: x and c, x and not c are x; and one that implies the other is dropped."""
        ours, theirs = [set(each.operands if each.op == "and" else (each,)) for each in (a, b)]
        if ours <= theirs or theirs <= ours:
            return a if ours <= theirs else b
        here, there = ours - theirs, theirs - ours
        if len(here) == 1 and len(there) == 1 and self.negation(next(iter(here))) is next(iter(there)):
            return self.both(*(ours & theirs))
        return None

    def ite(self, truth: TermNode, a: TermNode, b: TermNode) -> TermNode:
        if a is b or truth is self.true:
            return a
        return b if truth is self.false else self._node("ite", (truth, a, b))

    def merged(self, truth: TermNode, new: Symbolic, old: Symbolic) -> Symbolic:
        """Return `new` where a truth holds, else `old`. Raises TooMuch for arrays of different lengths, or none."""
        if truth is self.true or new is old:
            return new
        if truth is self.false:
            return old
        if isinstance(new, TermNode) and isinstance(old, TermNode):
            return self.ite(truth, new, old)
        if isinstance(new, TermNode) or isinstance(old, TermNode) or len(new) != len(old):
            raise TooMuch("a register is an array on one way and something else on another")
        return tuple(self.merged(truth, mine, theirs) for mine, theirs in zip(new, old, strict=True))


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
