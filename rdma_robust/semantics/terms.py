"""Values that depend on what a thread has read: register expressions along one path, and compiled expressions.

A thread path is followed symbolically: its registers hold terms over the values of the path's read events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod

from rdma_robust.errors import SizeLimitError
from rdma_robust.expr import OPERATORS, Binary, Const, Expr, Ite, Name, Unary

Reads = Sequence[int]
"""Values by event, of all threads; a term looks at the events of one thread, which start at an offset."""

Evaluator = Callable[[Reads, int], int]

MAX_TERM = 200_000
MAX_NESTED = 300
"""The largest terms, and the deepest: nested assignments make them larger than any expression of a program is."""

_MAX_WORK = 2_500_000


@dataclass(frozen=True, slots=True)
class Term:
    """A value that depends on the reads at the path positions in `support` (as bits); `const` is set iff it is empty.

    `of(values, offset)` is the value, where position p of the path has the value `values[offset + p]`; it may raise
    ZeroDivisionError only on paths whose guards fail. `size` bounds the work of one evaluation, which nests `depth` calls.
    """

    support: int
    const: int | None
    of: Evaluator
    size: int = 1
    depth: int = 1


def constant(value: int) -> Term:
    return Term(0, value, lambda _values, _offset: value)


@cache
def read_at(position: int) -> Term:
    """Return the value read by the event at this position of the path."""
    return Term(1 << position, None, lambda values, offset: values[offset + position])


def term_of(expr: Expr, env: Mapping[str, Term]) -> Term:
    """Return `expr` over the terms of `env`, with constant parts evaluated.

    Raises SizeLimitError when nested assignments have made it too large, ZeroDivisionError for a constant division by 0.
    """
    match expr:
        case Const(value):
            return constant(value)
        case Name(name):
            return env[name]
        case Unary(op, arg):
            return _unary(op, term_of(arg, env))
        case Ite(test, then, other):
            return _choice(term_of(test, env), then, other, env)
        case Binary("&&", left, right):
            return _short_circuit(term_of(left, env), right, env, True)
        case Binary("||", left, right):
            return _short_circuit(term_of(left, env), right, env, False)
        case Binary(op, left, right):
            return _binary(OPERATORS[op], term_of(left, env), term_of(right, env))


def _node(of: Evaluator, *parts: Term) -> Term:
    support = 0
    for part in parts:
        support |= part.support
    if not support:
        return constant(of((), 0))
    size, depth = 1 + sum(part.size for part in parts), 1 + max(part.depth for part in parts)
    if size > MAX_TERM or depth > MAX_NESTED:
        raise SizeLimitError("a register expression is too large to evaluate")
    return Term(support, None, of, size, depth)


def _unary(op: str, arg: Term) -> Term:
    of = arg.of
    return _node((lambda v, o: -of(v, o)) if op == "-" else (lambda v, o: int(not of(v, o))), arg)


def _binary(operator: Callable[[int, int], int], left: Term, right: Term) -> Term:
    a, b = left.of, right.of
    return _node(lambda v, o: operator(a(v, o), b(v, o)), left, right)


def _short_circuit(left: Term, right: Expr, env: Mapping[str, Term], conjunction: bool) -> Term:
    if left.const is not None and bool(left.const) != conjunction:
        return constant(int(not conjunction))
    try:
        other = term_of(right, env)
    except ZeroDivisionError:
        # The right side is undefined for certain, so the left side must decide.
        decides = left.of
        return _node(lambda v, o: int(bool(decides(v, o))), left)
    a, b = left.of, other.of
    if conjunction:
        return _node(lambda v, o: int(bool(a(v, o)) and bool(b(v, o))), left, other)
    return _node(lambda v, o: int(bool(a(v, o)) or bool(b(v, o))), left, other)


def _choice(test: Term, then: Expr, other: Expr, env: Mapping[str, Term]) -> Term:
    if test.const is not None:
        return term_of(then if test.const else other, env)
    yes, no = term_of(then, env), term_of(other, env)
    a, b, c = test.of, yes.of, no.of
    return _node(lambda v, o: b(v, o) if a(v, o) else c(v, o), test, yes, no)


def satisfiable(terms: Sequence[Term], domains: Mapping[int, Sequence[int]], wanted: bool, budget: int = 512) -> bool:
    """Return whether some choice of read values makes every term true (or, with `wanted` False, every term false).

    `domains` gives the candidate values of each position. Answers True when there are more than `budget` choices, or fewer
    for large terms.
    """
    support = 0
    for term in terms:
        support |= term.support
    positions = [p for p in range(support.bit_length()) if support >> p & 1]
    budget = min(budget, _MAX_WORK // (1 + sum(term.size for term in terms)))
    if prod(len(domains[p]) for p in positions) > budget:
        return True
    values = [0] * support.bit_length()
    for choice in product(*(domains[p] for p in positions)):
        for position, value in zip(positions, choice, strict=True):
            values[position] = value
        try:
            if all(bool(term.of(values, 0)) == wanted for term in terms):
                return True
        except ZeroDivisionError:
            # Only where a guard fails, so this choice is not a way to make all of them true.
            continue
    return False
