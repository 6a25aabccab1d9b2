"""When a resolved expression has a value: definedness, ranges, and whether it reads at all."""

from __future__ import annotations

from rdma_robust.expr import (
    COMPARISONS,
    FALSE,
    OPERATORS,
    TRUE,
    VALUE,
    Binary,
    Const,
    Expr,
    Ite,
    Name,
    Unary,
    conj,
    disj,
    is_boolean,
    names,
    negate,
    substitute,
)


def divides_by_no_zero(expr: Expr) -> Expr:
    """Return when evaluating `expr` divides by no zero; `&&` and `||` evaluate their right side only when needed."""
    match expr:
        case Const() | Name():
            return TRUE
        case Unary(_, arg):
            return divides_by_no_zero(arg)
        case Binary("&&", left, right):
            return conj(divides_by_no_zero(left), disj(negate(left), divides_by_no_zero(right)))
        case Binary("||", left, right):
            return conj(divides_by_no_zero(left), disj(left, divides_by_no_zero(right)))
        case Binary("/" | "%", left, right):
            nonzero: Expr = Const(int(right.value != 0)) if isinstance(right, Const) else Binary("!=", right, Const(0))
            return conj(divides_by_no_zero(left), divides_by_no_zero(right), nonzero)
        case Binary(_, left, right):
            return conj(divides_by_no_zero(left), divides_by_no_zero(right))
        case Ite():
            raise AssertionError("source programs have no Ite")


def needs_value(expr: Expr) -> Expr:
    """Return when evaluating `expr` needs VALUE, over registers only; safe to evaluate even where `expr` is undefined."""
    return without_value(_reads(expr))


def _reads(expr: Expr) -> Expr:
    match expr:
        case Const():
            return FALSE
        case Name():
            return TRUE if expr == VALUE else FALSE
        case Unary(_, arg):
            return _reads(arg)
        case Binary("&&", left, right):
            return disj(_reads(left), _if_reached(conj(divides_by_no_zero(left), left), _reads(right)))
        case Binary("||", left, right):
            return disj(_reads(left), _if_reached(conj(divides_by_no_zero(left), negate(left)), _reads(right)))
        case Binary(_, left, right):
            return disj(_reads(left), _reads(right))
        case Ite():
            raise AssertionError("source programs have no Ite")


def _always_reads(expr: Expr) -> bool:
    """Whether evaluating `expr` needs VALUE whatever registers hold: :func:`_reads` is true, told without building it."""
    match expr:
        case Unary(_, arg):
            return _always_reads(arg)
        case Binary("&&" | "||" as op, left, right):
            goes_on = isinstance(left, Const) and bool(left.value) == (op == "&&")
            return _always_reads(left) or (goes_on and _always_reads(right))
        case Binary(_, left, right):
            return _always_reads(left) or _always_reads(right)
        case _:
            return expr == VALUE


def _if_reached(condition: Expr, then: Expr) -> Expr:
    return FALSE if then == FALSE else conj(condition, then)


def where_needed(expr: Expr, needed: Expr) -> Expr:
    """Return `expr` without the part that says when it needs VALUE; the same value where it does, which `needed` says."""
    match expr:
        case Binary("&&", left, right) if left == needed:
            return _truth(right)
        case Binary("||", left, right) if negate(left) == needed:
            return _truth(right)
        case _:
            return expr


def _truth(expr: Expr) -> Expr:
    return expr if is_boolean(expr) else Binary("!=", expr, Const(0))


def where_spared(expr: Expr) -> Expr:
    """Return `expr` without VALUE; the same value where it is defined and does not need it."""
    match expr:
        case Unary("!", arg):
            return negate(where_spared(arg))
        case Binary("&&" | "||" as op, _, right) if _always_reads(right):
            return TRUE if op == "||" else FALSE
        case Binary("&&" | "||" as op, left, right):
            join = conj if op == "&&" else disj
            return _truth(join(where_spared(left), where_spared(right)))
        case Binary(op, left, right):
            return _simplified(Binary(op, where_spared(left), where_spared(right)))
        case _:
            return without_value(expr)


def without_value(expr: Expr) -> Expr:
    """Return `expr` with 0 for VALUE, simplified; the same value wherever `expr` is defined and does not need it."""
    return _simplified(substitute(expr, {VALUE.name: Const(0)}))


def _simplified(expr: Expr) -> Expr:
    match expr:
        case Unary("!", arg):
            return negate(_simplified(arg))
        case Binary(op, left, right):
            left, right = _simplified(left), _simplified(right)
            if op == "&&" and FALSE in (left, right):
                return FALSE
            if op in COMPARISONS and isinstance(left, Const) and isinstance(right, Const):
                return Const(OPERATORS[op](left.value, right.value))
            return Binary(op, left, right)
        case _:
            return expr


def uses_value(*exprs: Expr) -> bool:
    """Whether any of `exprs` mentions VALUE."""
    return any(VALUE.name in names(expr) for expr in exprs)


def within_bounds(low: int, expr: Expr, high: int) -> Expr:
    """Return `low <= expr && expr <= high`, simplified for constants."""
    if isinstance(expr, Const):
        return Const(int(low <= expr.value <= high))
    return Binary("&&", Binary("<=", Const(low), expr), Binary("<=", expr, Const(high)))


def in_domain(expr: Expr, domain: tuple[int, int] | None) -> Expr:
    """Return when the value of `expr` may be kept: copies always may."""
    if domain is None or isinstance(expr, Name):
        return TRUE
    if isinstance(expr, Const) or not is_boolean(expr):
        return within_bounds(domain[0], expr, domain[1])
    false, true = (domain[0] <= value <= domain[1] for value in (0, 1))
    return Const(int(true)) if true == false else expr if true else negate(expr)


def wrapped(expr: Expr, domain: tuple[int, int]) -> Expr:
    """Return the value in `domain` that `expr` is, counted on from one end of the domain to the other.

    That is lo + (expr - lo) mod n for the n values from lo on, where our `%` has the sign of its left side as in C.
    """
    low, high = domain
    size = Const(high - low + 1)
    offset = expr if low == 0 else Binary("-", expr, Const(low))
    rest = Binary("%", Binary("+", Binary("%", offset, size), size), size)
    return rest if low == 0 else Binary("+", rest, Const(low))


def is_wrapped(expr: Expr, domain: tuple[int, int]) -> bool:
    """Whether `expr` is such a value, so that it is in `domain` whatever it is calculated from."""
    match expr:
        case Binary("+", Binary("%", inner), Const()) | Binary("%", inner):
            pass
        case _:
            return False
    match inner:
        case Binary("+", Binary("%", offset), Const()):
            pass
        case _:
            return False
    if domain[0] != 0:
        if not isinstance(offset, Binary):
            return False
        offset = offset.left
    return wrapped(offset, domain) == expr
