"""Expressions as they are written; `ast` has them too.

Chains of operators: long ones as trees that are not deep, and comparisons in a row, of which nobody knows what is meant.

`a && b && c` is one chain of three operands. `&&`, `||`, `+` with `-`, and `*` may be put together from anywhere: sums and
products have no limits on the way (only the whole value of an expression must be in the domain), and `&&` and `||` are
still evaluated from left to right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from rdma_robust.diagnose import Hint
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.expr import COMPARISONS
from rdma_robust.language.flow.claims import AnyModelName


@dataclass(frozen=True, slots=True)
class Ident:
    """A name where it occurs; that of a node or thread of a family has an `index`, until it is known which one it is."""

    text: str
    span: Span = field(default=NO_SPAN, compare=False)
    index: Expr | None = None


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """A literal; not negative, since `-` is an operator."""

    value: int
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Ref:
    """`name`, `name[index]`, `owner.name` or `owner.name[index]`."""

    owner: Ident | None
    name: Ident
    index: Expr | None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`op` is `-` or `!`."""

    op: str
    arg: Expr
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """`op` is one of `+ - * / % == != < <= > >= && ||`.

    `inner`: it is a part of a chain around it, made by :func:`chained`, and has no parentheses of its own.
    """

    op: str
    left: Expr
    right: Expr
    span: Span = field(default=NO_SPAN, compare=False)
    inner: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class CasCall:
    """`cas(target, expected, new)`; the grammar allows it as any operand, the checks do not."""

    target: Ref
    expected: Expr
    new: Expr
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class RmwCall:
    """`faa(target, value)`, fetch and add, or `swap(target, value)`; the grammar allows it as any operand."""

    kind: Literal["faa", "swap"]
    target: Ref
    value: Expr
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class FetchCall:
    """`fetch(target)`, which reads as atomics do and writes nothing; the grammar allows it as any operand."""

    target: Ref
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class NondetCall:
    """`nondet(low, high)`, or `nondet()` without either; the grammar allows it as any operand."""

    low: Expr | None
    high: Expr | None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ThreadAt:
    """`thread at label`, in `invariant` lines and targets."""

    thread: Ident
    label: Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ThreadEnded:
    """`thread ended`, in `invariant` lines and targets."""

    thread: Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class CopiesWhere:
    """`count(thread: condition)`, `some thread: condition` or `all thread: condition`, in claims and targets.

    `count(thread at label)` and `count(thread ended)` are the first with that condition. In the condition names alone are
    those of one copy. (In a target it may be `thread at line`, which only the resolver of targets knows.)
    """

    kind: Literal["count", "some", "all"]
    thread: Ident
    condition: Expr
    span: Span = field(default=NO_SPAN, compare=False)


AtomicCall = CasCall | RmwCall | FetchCall
Expr = NumberLiteral | Ref | Unary | Binary | AtomicCall | NondetCall | ThreadAt | ThreadEnded | CopiesWhere


@dataclass(frozen=True, slots=True)
class ClaimClause:
    allowed: bool
    model: AnyModelName
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class OutcomeDeclaration:
    """With `when` it is claimed only of programs with such numbers."""

    condition: Expr
    claims: tuple[ClaimClause, ...]
    span: Span = field(default=NO_SPAN, compare=False)
    when: Expr | None = None


@dataclass(frozen=True, slots=True)
class ExpectationClause:
    """`[not] robust`, of no model, `[no] hang under MODEL`, `[un]safe under MODEL`, `violated under MODEL`, or
    `race [free]`, of no model."""

    kind: Literal["robust", "hang", "safe", "violated", "race"]
    negated: bool
    model: AnyModelName | None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Expect:
    """With `when` it is expected only of programs with such numbers."""

    expectations: tuple[ExpectationClause, ...]
    span: Span = field(default=NO_SPAN, compare=False)
    when: Expr | None = None


@dataclass(frozen=True, slots=True)
class NeedsDeclaration:
    """Guarantees of a network that are enough for the program to be robust."""

    guarantees: tuple[Ident, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class InvariantDeclaration:
    """A condition that is true in every reachable state, with `when` of programs with such numbers."""

    condition: Expr
    span: Span = field(default=NO_SPAN, compare=False)
    when: Expr | None = None


_SHORT: Final = 8
"""The most operands of a chain that is nested to the left, as it is read."""

_ASSOCIATIVE: Final = (frozenset({"&&"}), frozenset({"||"}), frozenset({"+", "-"}), frozenset({"*"}))
_OPPOSITE: Final = {"+": "-", "-": "+"}
_LONGEST_SHOWN: Final = 60


def chained(operands: Sequence[Any], operators: Sequence[str]) -> Binary:
    """Return the tree of two or more operands with these operators between them, as deep as the logarithm of their number.

    Long chains with `/` or `%` are as deep as they are long: they mean something else if they are put together otherwise.
    Parentheses around what the chain begins with are as good as none: the tree is the same.
    """
    kind = next((kind for kind in _ASSOCIATIVE if kind.issuperset(operators)), frozenset())
    span = _from_to(operands[0], operands[-1])
    while isinstance(first := operands[0], Binary) and first.op in kind:
        begins = written_operands(first)
        operands = [*(each for _, each in begins), *operands[1:]]
        operators = [*(op for op, _ in begins[1:]), *operators]
    balanced = kind and len(operands) > _SHORT
    found: Binary = (_balanced if balanced else _to_the_left)(operands, operators)
    return replace(found, inner=False, span=span)


def _to_the_left(operands: Sequence[Any], operators: Sequence[str]) -> Any:
    found = operands[0]
    for op, operand in zip(operators, operands[1:], strict=True):
        found = Binary(op, found, operand, _from_to(operands[0], operand), inner=True)
    return found


def _balanced(operands: Sequence[Any], operators: Sequence[str]) -> Any:
    if len(operands) <= _SHORT:
        return _to_the_left(operands, operators)
    half = (len(operands) + 1) // 2
    op, rest = operators[half - 1], operators[half:]
    if op == "-":  # a - (b - c) is a - b + c
        rest = [_OPPOSITE[each] for each in rest]
    left, right = _balanced(operands[:half], operators[: half - 1]), _balanced(operands[half:], rest)
    return Binary(op, left, right, _from_to(operands[0], operands[-1]), inner=True)


def _from_to(first: Any, last: Any) -> Span:
    begin: Span = first.span
    return replace(begin, end_line=last.span.end_line, end_column=last.span.end_column, end=last.span.end)


def written_operands(expr: Binary) -> list[tuple[str, Any]]:
    """Return the operands of a chain as they were written, each with the operator before it; the first with the last one."""
    found = list(_written(expr, expr.op, False))
    return [(found[-1][0], found[0][1]), *found[1:]]


def _written(expr: Binary, before: str, opposite: bool) -> Iterator[tuple[str, Any]]:
    own = _OPPOSITE.get(expr.op, expr.op) if opposite else expr.op
    sides = ((expr.left, before, opposite), (expr.right, own, opposite != (expr.op == "-")))
    for side, op, turned in sides:
        if isinstance(side, Binary) and side.inner:
            yield from _written(side, op, turned)
        else:
            yield op, side


def chain_text(expr: Binary, operand: Callable[[Any, str, int, bool], str]) -> str:
    """Return a chain as text. `operand` gives that of an operand of an operator: whether it is the first one (0) or not (1),
    and the last one."""
    parts = written_operands(expr)
    shown = [operand(part, op, int(at > 0), at == len(parts) - 1) for at, (op, part) in enumerate(parts)]
    return shown[0] + "".join(f" {op} {text}" for (op, _), text in zip(parts[1:], shown[1:], strict=True))


def comparisons_in_a_row(
    expr: Any, operands: Callable[[Any], Iterable[Any]], conjoined: type | tuple[type, ...] = ()
) -> Iterator[Binary]:
    """Yield the comparisons in `expr` with a comparison without parentheses on a side; of several in a row the whole row.

    Of nodes of the kinds `conjoined` the inside is left out: there such rows are conjunctions.
    """
    stack = [(expr, False)]
    while stack:
        part, in_row = stack.pop()
        if isinstance(part, conjoined):
            continue
        rows = [side for side in (part.left, part.right) if _is_bare(side)] if _is_comparison(part) else []
        if rows and not in_row:
            yield part
        stack += [(each, any(each is row for row in rows)) for each in operands(part)]


def _is_comparison(part: Any) -> bool:
    return isinstance(part, Binary) and part.op in COMPARISONS


def _is_bare(part: Any) -> bool:
    """Whether it is a comparison that was read without parentheses around it: with them it begins before its left side."""
    return _is_comparison(part) and part.span.start == part.left.span.start


def two_readings(row: Binary, source: str) -> Hint:
    """Return what comparisons in a row may mean, in the words of the program where those are short."""
    operands, operators = _row(row)
    texts = [_shown(source, each.span) for each in operands]
    pairs = zip(texts, operators, texts[1:], strict=False)
    conjunction = " && ".join(f"{left} {op} {right}" for left, op, right in pairs)
    nested = _nested(row, iter(texts))
    if len(conjunction) > 2 * _LONGEST_SHOWN:
        return Hint("join them with `&&`, or put parentheses around what is compared first")
    return Hint(f"write `{conjunction}`, or `{nested}` if the result of a comparison is compared")


def _row(expr: Any) -> tuple[list[Any], list[str]]:
    """Return what is compared in a row, and the operators between."""
    operands: list[Any] = []
    operators: list[str] = []
    for at, side in enumerate((expr.left, expr.right)):
        if at:
            operators.append(expr.op)
        inner = _row(side) if _is_bare(side) else ([side], [])
        operands += inner[0]
        operators += inner[1]
    return operands, operators


def _nested(expr: Any, texts: Iterator[str]) -> str:
    sides = [f"({_nested(side, texts)})" if _is_bare(side) else next(texts) for side in (expr.left, expr.right)]
    return f"{sides[0]} {expr.op} {sides[1]}"


def _shown(source: str, span: Span) -> str:
    return " ".join(source[span.start : span.end].split())
