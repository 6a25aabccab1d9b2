"""The strongest simple facts that hold in all of many states: constants, equalities, ranges and orders between variables.

A state is values of small variables and a region of wide ones. What holds in all of them is the join of their difference
bounds: for every two variables the largest of the bounds `x - y <= c`, none where one state has none (Miné's join, which is
exact bound by bound). What is read from it is what it says and nothing else implies, as people write it:
`T1.t == K.serving`, `x in 0..2`, `a < b`, each said once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.analyses.prove.transition_system import Region
from rdma_robust.expr import Binary, Const, Expr, Ite, Name, Unary

ZERO: Final = ""
"""The variable that is 0, so that a bound of one variable is a difference too."""

Bounds = dict[tuple[str, str], int]
"""(x, y) to c where x - y <= c."""

_NONE: Final = 1 << 62
"""Stands for no bound; sums of bounds stay far below."""

_NEGATED: Final = {">=": "<=", ">": "<"}


def region_bounds(region: Region) -> tuple[Bounds, list[Expr]]:
    """Return the difference bounds of a region, closed, and the conditions that are none."""
    found: Bounds = {}
    others: list[Expr] = []
    for condition in region:
        read = _bounds_of(condition)
        if read is None:
            others.append(condition)
        for pair, limit in read or ():
            found[pair] = min(limit, found.get(pair, limit))
    _close(found)
    return found, others


def _bounds_of(condition: Expr) -> list[tuple[tuple[str, str], int]] | None:
    """Return `x <= c`, `-x <= c`, `x - y <= c`, and what can be written so, as bounds; None for another condition."""
    match condition:
        case Binary("<=", Name(x), Const(limit)):
            return [((x, ZERO), limit)]
        case Binary("<=", Unary("-", Name(x)), Const(limit)):
            return [((ZERO, x), limit)]
        case Binary("<=", Binary("-", Name(x), Name(y)), Const(limit)):
            return [((x, y), limit)]
    if not isinstance(condition, Binary) or condition.op not in ("<=", "<", ">=", ">", "=="):
        return None
    parts = _linear(condition.left, 1), _linear(condition.right, -1)
    if parts[0] is None or parts[1] is None:
        return None
    terms: dict[str, int] = {}
    constant = parts[0][1] + parts[1][1]
    for name, factor in (*parts[0][0], *parts[1][0]):
        terms[name] = terms.get(name, 0) + factor
    signs = {name: factor for name, factor in terms.items() if factor}
    plus = [name for name, factor in signs.items() if factor == 1]
    minus = [name for name, factor in signs.items() if factor == -1]
    if len(plus) > 1 or len(minus) > 1 or len(plus) + len(minus) != len(signs) or not signs:
        return None
    x, y = (plus or [ZERO])[0], (minus or [ZERO])[0]
    below, above = ((x, y), -constant), ((y, x), constant)
    strict = 1 if condition.op in ("<", ">") else 0
    if condition.op == "==":
        return [below, above]
    pair, limit = above if condition.op in _NEGATED else below
    return [(pair, limit - strict)]


def _linear(expr: Expr, sign: int) -> tuple[list[tuple[str, int]], int] | None:
    """Return a sum of names with their signs and a constant, None for what is no such sum."""
    match expr:
        case Const(value):
            return [], sign * value
        case Name(name):
            return [(name, sign)], 0
        case Unary("-", arg):
            return _linear(arg, -sign)
        case Binary("+" | "-" as op, left, right):
            a, b = _linear(left, sign), _linear(right, sign if op == "+" else -sign)
            return None if a is None or b is None else ([*a[0], *b[0]], a[1] + b[1])
    return None


def _close(found: Bounds) -> None:
    """Add every bound that follows from others (Floyd, Warshall)."""
    names = sorted({name for pair in found for name in pair})
    places = {name: place for place, name in enumerate(names)}
    rows = [[_NONE] * len(names) for _ in names]
    for (x, y), limit in found.items():
        rows[places[x]][places[y]] = limit
    for k, through in enumerate(rows):
        for row in rows:
            first = row[k]
            if first < _NONE and row is not through:
                for j, second in enumerate(through):
                    row[j] = min(row[j], first + second)
    for i, row in enumerate(rows):
        for j, bound in enumerate(row):
            if bound < _NONE // 2 and i != j:
                found[names[i], names[j]] = bound


@dataclass
class StateJoin:
    """The facts that hold in all states added so far: the bounds of differences of `names`, and conditions that are no
    bounds."""

    names: Sequence[str]
    states: int = 0
    bounds: Bounds = field(default_factory=dict)
    others: tuple[Expr, ...] = ()
    seen: dict[str, set[int] | None] = field(default_factory=dict)

    def add(self, values: Mapping[str, int], region: tuple[Bounds, Sequence[Expr]]) -> None:
        """Add a state: the values of its small variables, and what :func:`region_bounds` says of the others."""
        wide, others = region
        low, high = _ends(self.names, values, wide)
        for name in self.names:
            known = self.seen.get(name, set())
            self.seen[name] = None if name not in values or known is None else known | {values[name]}
        if self.states:
            pairs: Iterable[tuple[str, str]] = list(self.bounds)
        else:
            every = (*self.names, ZERO)
            pairs = [(x, y) for x in every for y in every if x != y]
        bounds: Bounds = {}
        for x, y in pairs:
            limit = wide.get((x, y))
            if limit is None and x in high and y in low:
                limit = high[x] - low[y]
            if limit is not None:
                bounds[x, y] = limit if not self.states else max(limit, self.bounds[x, y])
        self.bounds = bounds
        self.others = tuple(others) if not self.states else tuple(each for each in self.others if each in others)
        self.states += 1

    def equalities(self) -> int:
        """Return how many variables are determined, by a constant or by another variable."""
        return sum(
            any(self.bounds.get((x, y)) is not None and self.bounds.get((y, x)) == -self.bounds[x, y] for y in before)
            for x, before in ((x, (ZERO, *self.names[:i])) for i, x in enumerate(self.names))
        )


def _ends(names: Sequence[str], values: Mapping[str, int], wide: Bounds) -> tuple[dict[str, int], dict[str, int]]:
    low, high = {ZERO: 0}, {ZERO: 0}
    for name in names:
        if name in values:
            low[name] = high[name] = values[name]
        else:
            above, below = wide.get((name, ZERO)), wide.get((ZERO, name))
            if above is not None:
                high[name] = above
            if below is not None:
                low[name] = -below
    return low, high


_LARGEST: Final = 1000
"""Orders with a larger constant say little."""


def read_facts(joined: StateJoin, known: frozenset[str] = frozenset(), *, ranges: bool = True) -> tuple[str, ...]:
    """Return what `joined` says as facts, the strongest kinds first, without those that are `known` already.

    Without `ranges` it is not said which values small variables have.
    """
    facts = [*_equal(joined), *_ranges(joined, small=ranges), *_orders(joined), *map(shown_condition, joined.others)]
    return tuple(fact for fact in dict.fromkeys(facts) if fact not in known)


def _equal_to(joined: StateJoin, x: str, y: str) -> int | None:
    """Return c if x == y + c."""
    above, below = joined.bounds.get((x, y)), joined.bounds.get((y, x))
    return above if above is not None and below is not None and above == -below else None


def _leaders(joined: StateJoin) -> dict[str, tuple[str, int]]:
    """Return for every variable that is determined by an earlier one, or by a constant, by which, and how far it is off."""
    found: dict[str, tuple[str, int]] = {}
    for number, x in enumerate(joined.names):
        for y in (ZERO, *(name for name in joined.names[:number] if name not in found)):
            apart = _equal_to(joined, x, y)
            if apart is not None:
                found[x] = y, apart
                break
    return found


def _equal(joined: StateJoin) -> list[str]:
    leaders = _leaders(joined)
    constants = [f"{x} == {apart}" for x, (y, apart) in leaders.items() if y == ZERO]
    return [f"{x} == {_sum(y, apart)}" for x, (y, apart) in leaders.items() if y != ZERO] + constants


def _ranges(joined: StateJoin, *, small: bool) -> list[str]:
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


def _orders(joined: StateJoin) -> list[str]:
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
