"""Expressions of programs that were not checked as a text: which are well-formed, and what guards prove."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rdma_robust.diagnose import quote
from rdma_robust.expr import COMPARISONS, TRUE, VALUE, Binary, Const, Expr, Ite, Name, Unary, negate
from rdma_robust.language.flow.exclusive import exclusive, guard_conjuncts

MAX_LEVELS: Final = 400
"""Levels of operators in an expression. Later passes recurse over them."""

LEAST_TOO_LARGE: Final = 10**18
"""Numbers have at most 18 digits, in texts too. The compiled kernels compute with 64 bits."""

_ARITHMETIC: Final = frozenset("+-*/%")
_OPERATORS: Final = {"-", "!"}, _ARITHMETIC | COMPARISONS | {"&&", "||"}


def is_integer(value: object) -> bool:
    """Whether it is a number as the language has them: no truth value, which would be printed as a word."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LEAST_TOO_LARGE


def _levels(expr: Expr) -> int:
    """The levels of operators, counted without recursion."""
    deepest, todo = 0, [(expr, 1)]
    while todo:
        part, level = todo.pop()
        deepest = max(deepest, level)
        match part:
            case Unary(_, arg):
                todo.append((arg, level + 1))
            case Binary(_, left, right):
                todo += [(left, level + 1), (right, level + 1)]
            case _:
                pass
    return deepest


def wrong_in(expr: Expr, known: set[str], *, has_domain: bool) -> Iterator[str]:
    """Yield what is wrong with an expression over `known` names."""
    if _levels(expr) > MAX_LEVELS:
        yield f"an expression has more than {MAX_LEVELS} levels of operators"
        return
    todo = [expr]
    while todo:
        match todo.pop():
            case Const(value):
                if not is_integer(value):
                    yield f"{value!r} is no integer of at most 18 digits"
            case Name(name):
                if name not in known:
                    nothing = "what is read is used where nothing is read"
                    yield nothing if name == VALUE.name else f"unknown name {quote(name)}"
            case Unary(op, arg):
                todo.append(arg)
                if op not in _OPERATORS[0]:
                    yield f"unknown operator {quote(op)}"
                elif op == "-" and not has_domain:
                    yield "arithmetic (`-`) in a program without a domain"
            case Binary(op, left, right):
                todo += [right, left]
                if op not in _OPERATORS[1]:
                    yield f"unknown operator {quote(op)}"
                elif op in _ARITHMETIC and not has_domain:
                    yield f"arithmetic ({quote(op)}) in a program without a domain"
            case Ite():
                yield "programs have no choice inside of an expression"
            case other:
                yield f"{other!r} is no expression"


def proven(guard: Expr, claim: Expr) -> bool:
    """Whether `claim` is known to hold where `guard` does."""
    held = set(guard_conjuncts(guard))
    if all(part in held for part in _parts(claim)):
        return True
    return exclusive(guard, negate(claim), same_read=True)


def _parts(claim: Expr) -> Iterator[Expr]:
    if isinstance(claim, Binary) and claim.op == "&&":
        yield from _parts(claim.left)
        yield from _parts(claim.right)
    elif claim != TRUE:
        yield claim
