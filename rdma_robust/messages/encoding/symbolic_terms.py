"""Values that are not known before the run: terms over what is received, who sent it, its tag, and choices.

Equal terms are one object, and what follows from constants is a constant. A term is a number; those of comparisons and of
`!`, `&&`, `||` are 0 or 1. Arrays have known lengths, so they are tuples of terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Final, Literal

from rdma_robust.expr import OPERATORS

Leaf = Literal["const", "value", "sender", "tag", "choice", "seen", "expected"]

LEAVES: Final = frozenset({"const", "value", "sender", "tag", "choice", "seen", "expected"})

_TRUTHS: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "!", "&&", "||"})
_OPPOSITE: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<="}
_SPINE: Final = 64
"""So many conjuncts are compared with a new one."""


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A term. `op` is a leaf or an operator of message_terms.Operation; all operands are evaluated, none is skipped.

    `number` counts the terms of one table: operands have smaller ones. `value` is that of a constant, else the receive that
    "value", "sender" and "tag" are about, the choice, the look whose message has the "seen" tag, or what is sent ready and
    "expected"; `path` is the place of a "value" in a received array. `x / 0` and
    `x % 0` are 0: what divides is guarded.
    """

    number: int
    op: str
    operands: tuple[Symbol, ...] = ()
    value: int = 0
    path: tuple[int, ...] = ()

    @property
    def constant(self) -> bool:
        return self.op == "const"


SymbolicValue = Symbol | tuple["SymbolicValue", ...]
"""A number, or an array of values."""


class Symbols:
    """The table of all terms of one unrolled program."""

    def __init__(self) -> None:
        self._table: dict[tuple[str, tuple[int, ...], int, tuple[int, ...]], Symbol] = {}
        self.false = self.const(0)
        self.true = self.const(1)

    def __len__(self) -> int:
        return len(self._table)

    def const(self, value: int) -> Symbol:
        return self._made("const", (), value)

    def leaf(self, kind: Leaf, value: int, path: tuple[int, ...] = ()) -> Symbol:
        """Return what receive `value` gets ("value", "sender", "tag"), the "choice" of this number, or what a look
        has "seen", or whether it is "expected"."""
        return self._made(kind, (), value, path)

    def apply(self, op: str, *operands: Symbol) -> Symbol:
        """Return the term of an operator, simplified."""
        match op, operands:
            case "&&", (a, b):
                return self.conjunction(self.truth(a), self.truth(b))
            case "||", (a, b):
                return self.disjunction(self.truth(a), self.truth(b))
            case "!", (a,):
                return self.negation(a)
            case "?", (test, a, b):
                return self.choice_of(test, a, b)
        if all(each.constant for each in operands):
            return self.const(applied(op, [each.value for each in operands]))
        if len(operands) == 2 and operands[0] is operands[1] and op in _OPPOSITE:
            return self.const(OPERATORS[op](0, 0))
        return self._made(op, operands)

    def truth(self, a: Symbol) -> Symbol:
        """Return 1 where `a` is not 0, else 0."""
        if a.constant:
            return self.true if a.value else self.false
        return a if a.op in _TRUTHS else self._made("!=", (a, self.false))

    def negation(self, a: Symbol) -> Symbol:
        if a.constant:
            return self.false if a.value else self.true
        if a.op == "!":
            return a.operands[0]
        if a.op in _OPPOSITE:
            return self._made(_OPPOSITE[a.op], a.operands)
        return self._made("!", (self.truth(a),))

    def conjunction(self, a: Symbol, b: Symbol) -> Symbol:
        """Return `a && b` of two truths. What `a` says already, or denies, is not said again."""
        if a.constant:
            return b if a.value else self.false
        if b.constant:
            return a if b.value else self.false
        against, rest = self.negation(b), a
        for _ in range(_SPINE):
            last = rest.operands[1] if rest.op == "&&" else rest
            if last is b:
                return a
            if last is against:
                return self.false
            if rest.op != "&&":
                break
            rest = rest.operands[0]
        if b.op == "&&":
            return self.conjunction(self.conjunction(a, b.operands[0]), b.operands[1])
        return self._made("&&", (a, b))

    def any_of(self, truths: Iterable[Symbol]) -> Symbol:
        """Return whether one of these is true."""
        return reduce(self.disjunction, truths, self.false)

    def disjunction(self, a: Symbol, b: Symbol) -> Symbol:
        """Return `a || b` of two truths; `g && c || g && !c` is `g`."""
        if a.constant:
            return self.true if a.value else b
        if b.constant:
            return self.true if b.value else a
        if a is b:
            return a
        if a is self.negation(b):
            return self.true
        if a.op == b.op == "&&" and a.operands[0] is b.operands[0]:
            return self.conjunction(a.operands[0], self.disjunction(a.operands[1], b.operands[1]))
        return self._made("||", (a, b))

    def choice_of(self, test: Symbol, a: Symbol, b: Symbol) -> Symbol:
        """Return `test ? a : b`."""
        test = self.truth(test)
        if test.constant:
            return a if test.value else b
        if a is b:
            return a
        if a is self.true and b is self.false:
            return test
        if a is self.false and b is self.true:
            return self.negation(test)
        return self._made("?", (test, a, b))

    def _made(self, op: str, operands: tuple[Symbol, ...], value: int = 0, path: tuple[int, ...] = ()) -> Symbol:
        key = (op, tuple([each.number for each in operands]), value, path)
        found = self._table.get(key)
        if found is None:
            found = self._table[key] = Symbol(len(self._table), op, operands, value, path)
        return found


def applied(op: str, values: list[int]) -> int:
    """Return what an operator makes of numbers; `x / 0` and `x % 0` are 0."""
    if op == "?":
        return values[1] if values[0] else values[2]
    if len(values) == 1:
        return -values[0] if op == "-" else int(not values[0])
    a, b = values
    if op == "&&":
        return int(bool(a and b))
    if op == "||":
        return int(bool(a or b))
    return 0 if op in "/%" and not b else OPERATORS[op](a, b)


def subterms(roots: Iterable[Symbol]) -> list[Symbol]:
    """Return `roots` and all that they are made of, operands before what is made of them."""
    found: dict[int, Symbol] = {}
    todo = list(roots)
    while todo:
        each = todo.pop()
        if each.number not in found:
            found[each.number] = each
            todo += each.operands
    return [found[number] for number in sorted(found)]


def evaluate_symbol(root: Symbol, leaf: Callable[[Symbol], int], known: dict[int, int] | None = None) -> int:
    """Return the number of `root`, where `leaf` says those of leaves that are no constants.

    `known` keeps the numbers of terms between calls. Of `?` only the side that counts is evaluated.
    """
    done: dict[int, int] = {} if known is None else known
    todo = [root]
    while todo:
        each = todo[-1]
        if each.number in done:
            todo.pop()
        elif each.op in LEAVES:
            done[each.number] = each.value if each.constant else leaf(each)
        else:
            missing = _missing(each, done)
            if missing is not None:
                todo.append(missing)
            else:
                done[each.number] = applied(each.op, [done.get(of.number, 0) for of in each.operands])
    return done[root.number]


def _missing(each: Symbol, done: Mapping[int, int]) -> Symbol | None:
    """Return an operand that must be known first."""
    needed = each.operands
    if each.op == "?" and needed[0].number in done:
        needed = (needed[0], needed[1] if done[needed[0].number] else needed[2])
    elif each.op in ("&&", "||") and needed[0].number in done and bool(done[needed[0].number]) is (each.op == "||"):
        return None
    return next((of for of in needed if of.number not in done), None)


def numbers(value: SymbolicValue) -> list[Symbol]:
    """Return all numbers in a value, from left to right."""
    if isinstance(value, Symbol):
        return [value]
    return [each for item in value for each in numbers(item)]
