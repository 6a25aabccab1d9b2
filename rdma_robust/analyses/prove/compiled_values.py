"""Expressions as functions of a control state: an integer where all is small, else an expression over what is wide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rdma_robust.expr import VALUE, Binary, Const, Expr, Ite, Name, Unary, divide, evaluate, modulo, names, substitute

Valued = int | Expr
"""A value that is known, or an expression over wide variables."""

Valuer = Callable[[Any, Any], Valued]
"""Of a control state and what the step has read (VALUE: an integer, an expression, or None) to the value; where nothing is
wide, always an integer. Raises ZeroDivisionError only where the guard of the step does not hold."""


def valuer(expr: Expr, small: Mapping[str, str], value_is_small: bool = True) -> Valuer:
    """Compile `expr`. `small` gives the code, over the control state `s`, of each name that is not wide."""
    used = dict.fromkeys(names(expr))
    if all(name in small for name in used if name != VALUE.name) and (value_is_small or VALUE.name not in used):
        return _compiled(expr, small)
    return _partial(expr, {name: small[name] for name in used if name in small}, VALUE.name in used)


def _compiled(expr: Expr, small: Mapping[str, str]) -> Valuer:
    try:
        function: Valuer = _function(_code(expr, small))
    except (SyntaxError, RecursionError, MemoryError):  # nested too deep for Python's parser
        at = {name: _function(small[name]) for name in dict.fromkeys(names(expr)) if name != VALUE.name}
        return lambda s, v: evaluate(expr, {VALUE.name: v, **{name: of(s, v) for name, of in at.items()}})
    return function


def _function(code: str) -> Callable[[Any, Any], int]:
    made: Callable[[Any, Any], int] = eval(f"lambda s, v: {code}", {"divide": divide, "modulo": modulo})
    return made


def _code(expr: Expr, small: Mapping[str, str]) -> str:
    match expr:
        case Const(value):
            return f"({value})" if value < 0 else str(value)
        case Name(name):
            return "v" if name == VALUE.name else small[name]
        case Unary("-", arg):
            return f"(-{_code(arg, small)})"
        case Unary(_, arg):
            return f"(0 if {_code(arg, small)} else 1)"
        case Ite(test, then, other):
            return f"({_code(then, small)} if {_code(test, small)} else {_code(other, small)})"
        case Binary("&&", left, right):
            return f"(1 if {_code(left, small)} and {_code(right, small)} else 0)"
        case Binary("||", left, right):
            return f"(1 if {_code(left, small)} or {_code(right, small)} else 0)"
        case Binary("/" | "%" as op, left, right):
            return f"{'divide' if op == '/' else 'modulo'}({_code(left, small)}, {_code(right, small)})"
        case Binary("+" | "-" | "*" as op, left, right):
            return f"({_code(left, small)} {op} {_code(right, small)})"
        case Binary(op, left, right):
            return f"(1 if {_code(left, small)} {op} {_code(right, small)} else 0)"


def _partial(expr: Expr, small: Mapping[str, str], reads: bool) -> Valuer:
    """Return what evaluates `expr` as far as the control state goes; each combination of small values once."""
    order = list(small)
    key_of = _function(f"({''.join(f'{small[name]}, ' for name in order)})")
    found: dict[Any, Valued] = {}

    def of(s: Any, v: Any) -> Valued:
        key = (key_of(s, v), v if reads else None)
        value = found.get(key)
        if value is None:
            values: tuple[int, ...] = key[0]  # type: ignore[assignment]
            by: dict[str, Expr] = {name: Const(each) for name, each in zip(order, values, strict=True)}
            if reads:
                by[VALUE.name] = Const(v) if isinstance(v, int) else v
            result = substitute(expr, by)
            value = found[key] = result.value if isinstance(result, Const) else result
        return value

    return of
