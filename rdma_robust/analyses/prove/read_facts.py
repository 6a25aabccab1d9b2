"""The join of states as facts that people read: `T1.t == K.serving`, `x in 0..2`, `a < b`, each said once."""

from __future__ import annotations

from typing import Final

from rdma_robust.analyses.prove.joined import ZERO, Joined
from rdma_robust.expr import Binary, Const, Expr, Ite, Name, Unary

_LARGEST: Final = 1000
"""Orders with a larger constant say little."""


def read_facts(joined: Joined, known: frozenset[str] = frozenset(), *, ranges: bool = True) -> tuple[str, ...]:
    """Return what `joined` says as facts, the strongest kinds first, without those that are `known` already.

    Without `ranges` it is not said which values small variables have.
    """
    facts = [*_equal(joined), *_ranges(joined, small=ranges), *_orders(joined), *map(shown_condition, joined.others)]
    return tuple(fact for fact in dict.fromkeys(facts) if fact not in known)


def _equal_to(joined: Joined, x: str, y: str) -> int | None:
    """Return c if x == y + c."""
    above, below = joined.bounds.get((x, y)), joined.bounds.get((y, x))
    return above if above is not None and below is not None and above == -below else None


def _leaders(joined: Joined) -> dict[str, tuple[str, int]]:
    """Return for every variable that is determined by an earlier one, or by a constant, by which, and how far it is off."""
    found: dict[str, tuple[str, int]] = {}
    for number, x in enumerate(joined.names):
        for y in (ZERO, *(name for name in joined.names[:number] if name not in found)):
            apart = _equal_to(joined, x, y)
            if apart is not None:
                found[x] = y, apart
                break
    return found


def _equal(joined: Joined) -> list[str]:
    leaders = _leaders(joined)
    constants = [f"{x} == {apart}" for x, (y, apart) in leaders.items() if y == ZERO]
    return [f"{x} == {_sum(y, apart)}" for x, (y, apart) in leaders.items() if y != ZERO] + constants


def _ranges(joined: Joined, *, small: bool) -> list[str]:
    found = []
    leaders = _leaders(joined)
    for x in joined.names:
        if x in leaders or (not small and joined.seen.get(x) is not None):
            continue
        above, below = joined.bounds.get((x, ZERO)), joined.bounds.get((ZERO, x))
        values = joined.seen.get(x)
        if (
            values is not None
            and above is not None
            and below is not None
            and len(values) < above + below + 1
            and len(values) < 4
        ):
            found.append(" or ".join(f"{x} == {value}" for value in sorted(values)))
        elif above is not None and below is not None:
            found.append(f"{x} in {-below}..{above}")
        elif below is not None:
            found.append(f"{x} >= {-below}")
        elif above is not None:
            found.append(f"{x} <= {above}")
    return found


def _orders(joined: Joined) -> list[str]:
    """Return the orders between variables that neither ranges nor other orders imply; those of small ones say little."""
    leaders = _leaders(joined)
    names = [x for x in joined.names if x not in leaders]
    bounds = {pair: limit for pair, limit in joined.bounds.items() if pair[0] in names and pair[1] in names}
    found = []
    for (x, y), limit in bounds.items():
        above, below = joined.bounds.get((x, ZERO)), joined.bounds.get((ZERO, y))
        implied = above is not None and below is not None and above + below <= limit
        if implied or joined.seen.get(x) is not None or joined.seen.get(y) is not None:
            continue
        between = any(
            (x, z) in bounds and (z, y) in bounds and bounds[x, z] + bounds[z, y] <= limit for z in names if z not in (x, y)
        )
        if not between and abs(limit) <= _LARGEST:
            found.append(f"{x} < {y}" if limit == -1 else f"{x} <= {_sum(y, limit)}")
    return found


_BINDS: Final = {
    "||": 1,
    "&&": 2,
    "==": 3,
    "!=": 3,
    "<": 3,
    "<=": 3,
    ">": 3,
    ">=": 3,
    "+": 4,
    "-": 4,
    "*": 5,
    "/": 5,
    "%": 5,
}
"""How tightly operators bind, as in programs."""


def shown_condition(expr: Expr, outer: int = 0) -> str:
    """Return a condition as people write it, with the brackets that it needs among operators that bind as `outer` does."""
    match expr:
        case Const(value):
            return str(value)
        case Name(name):
            return name
        case Unary(op, arg):
            return f"{op}{shown_condition(arg, 9)}"
        case Binary(op, left, right):
            level = _BINDS.get(op, 0)
            text = f"{shown_condition(left, level)} {op} {shown_condition(right, level + 1)}"
            return f"({text})" if level < outer or not level else text
        case Ite(test, then, other):
            return f"({shown_condition(test)} ? {shown_condition(then)} : {shown_condition(other)})"


def _sum(name: str, constant: int) -> str:
    return name if not constant else f"{name} {'+' if constant > 0 else '-'} {abs(constant)}"
