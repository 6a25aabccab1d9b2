"""Expressions as formulas of z3, and its formulas as expressions.

A tuple of updates done all at once: conditions on, and values over, the wide variables before it.

A folded variable stands for a set of values; what is said of it is said of each. So after `Join` a predicate is true if it
is true of what the variable stood for and of the new value, and `Selection` takes a copy of which all that is known of the
folded variable is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, assert_never

from rdma_robust.analyses.prove.transition_system import Assignment, Draw, Drop, Join, Selection, Suppose, Update
from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Ite, Name, Unary, conj, disj, names, negate, substitute

Values = Mapping[str, Expr]
"""Names to their values over the names before; others keep theirs."""


@dataclass(frozen=True)
class UpdateCase:
    """One way in which a tuple of updates can go.

    It can if `guard` is true, over the names before and fresh ones. `values` are what names become: one mapping for every
    choice of what folded variables stand for, so that something is true after it iff it is true for each. `copies` are the
    fresh names that are any of what a folded variable stood for.
    """

    guard: Expr
    values: tuple[Values, ...]
    copies: Mapping[str, str]

    @property
    def written(self) -> frozenset[str]:
        """The names whose values may have changed."""
        return frozenset(name for each in self.values for name, value in each.items() if value != Name(name))

    def before(self, condition: Expr) -> tuple[Expr, ...]:
        """Return what must be true before, each of them, for `condition` to be true after (if the guard is)."""
        return tuple(dict.fromkeys(substitute(condition, each) for each in self.values))

    def read(self) -> frozenset[str]:
        """Return the names before on which the guard or a value depends, a copy being what it is a copy of."""
        used = {name for each in self.values for value in each.values() for name in names(value)}
        return frozenset(self.copies.get(name, name) for name in used.union(names(self.guard)))


def is_fresh(name: str) -> bool:
    """Return whether a name is of no variable of the system, but made here."""
    return "!" in name


def folded_names(updates: Iterable[Update]) -> Iterator[str]:
    """Yield the names of variables that updates fold, or take one value of."""
    for update in updates:
        if isinstance(update, Join):
            yield update.name
        elif isinstance(update, Selection):
            yield update.folded


def ways_of(updates: Iterable[Update]) -> tuple[UpdateCase, ...]:
    """Return every way in which updates, in order, can go."""
    found = [_Sofar(TRUE, ({},), {}, 0)]
    for update in updates:
        found = [after for each in found for after in each.then(update)]
    return tuple(UpdateCase(each.guard, each.values, each.copies) for each in found)


@dataclass(frozen=True)
class _Sofar:
    guard: Expr
    values: tuple[Values, ...]
    copies: Mapping[str, str]
    fresh: int

    def then(self, update: Update) -> Iterator[_Sofar]:
        """Yield every way to go on with one more update."""
        match update:
            case Suppose(condition):
                yield self._supposing(condition)
            case Assignment(name, value):
                yield self._setting(name, [substitute(value, each) for each in self.values])
            case Draw(name, low, high):
                drawn = self._new(name)
                bounds = [Binary("<=", low, drawn)] if low is not None else []
                bounds += [Binary("<=", drawn, high)] if high is not None else []
                bound = conj(*(self._now(each) for each in bounds))
                yield self._supposing(bound, now=True)._setting(name, [drawn] * len(self.values))
            case Drop(name):
                yield self._setting(name, [self._new(name)] * len(self.values))
            case Join(name, value):
                joined = tuple({**each, name: substitute(value, each)} for each in self.values)
                yield _Sofar(self.guard, self.values + joined, self.copies, self.fresh)
            case Selection(name, folded):
                yield from self._picking(name, folded)
            case _:
                assert_never(update)

    def _new(self, name: str) -> Name:
        return Name(f"{name}!{self.fresh}")

    def _now(self, condition: Expr) -> Expr:
        """`condition` over the names before; it is the same whatever folded variables stand for."""
        return conj(*dict.fromkeys(substitute(condition, each) for each in self.values))

    def _supposing(self, condition: Expr, now: bool = False) -> _Sofar:
        added = condition if now else self._now(condition)
        return _Sofar(conj(self.guard, added), self.values, self.copies, self.fresh)

    def _setting(self, name: str, values: list[Expr]) -> _Sofar:
        after = tuple({**each, name: value} for each, value in zip(self.values, values, strict=True))
        return _Sofar(self.guard, after, self.copies, self.fresh + 1)

    def _picking(self, name: str, folded: str) -> Iterator[_Sofar]:
        """One way for each of what the folded variable stands for; what it stood for before all updates is a copy."""
        for value in dict.fromkeys(each.get(folded, Name(folded)) for each in self.values):
            if value == Name(folded):
                copy = self._new(folded)
                picked = self._setting(name, [copy] * len(self.values))
                yield _Sofar(picked.guard, picked.values, {**self.copies, copy.name: folded}, picked.fresh)
            else:
                yield self._setting(name, [value] * len(self.values))


_BOOLEAN: Final = ("==", "!=", "<", "<=", ">", ">=", "&&", "||")


class NotExpressible(Exception):
    """A formula of z3 that no expression says."""


class Formulas:
    """Expressions as formulas of z3, each made once. Integers are mathematical; `/` and `%` truncate, as in C."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self._names: dict[str, Any] = {}
        self._numbers: dict[Expr, Any] = {}
        self._conditions: dict[Expr, Any] = {}

    def name(self, name: str) -> Any:
        """Return the integer constant of this name."""
        made = self._names.get(name)
        if made is None:
            made = self._names[name] = self.library.Int(name)
        return made

    def number(self, expr: Expr) -> Any:
        """Return `expr` as an integer term; a condition is 0 or 1. Raises ValueError for operators of no source program."""
        made = self._numbers.get(expr)
        if made is None:
            made = self._numbers[expr] = self._number(expr)
        return made

    def _number(self, expr: Expr) -> Any:
        z3 = self.library
        match expr:
            case Const(value):
                return z3.IntVal(value)
            case Name(name):
                return self.name(name)
            case Unary("-", arg):
                return -self.number(arg)
            case Ite(test, then, other):
                return z3.If(self.condition(test), self.number(then), self.number(other))
            case Binary("+", left, right):
                return self.number(left) + self.number(right)
            case Binary("-", left, right):
                return self.number(left) - self.number(right)
            case Binary("*", left, right):
                return self.number(left) * self.number(right)
            case Binary("/", left, right):
                a, b = self.number(left), self.number(right)
                return z3.If(a >= 0, a / b, -(-a / b))
            case Binary("%", left, right):
                a, b = self.number(left), self.number(right)
                return z3.If(a >= 0, a % b, -(-a % b))
            case Unary("!", _):
                return z3.If(self.condition(expr), z3.IntVal(1), z3.IntVal(0))
            case Binary(op, _, _) if op in _BOOLEAN:
                return z3.If(self.condition(expr), z3.IntVal(1), z3.IntVal(0))
            case _:
                raise ValueError(f"no formula for {expr}")

    def condition(self, expr: Expr) -> Any:
        """Return whether `expr` is non-zero. Raises ValueError for operators of no source program."""
        made = self._conditions.get(expr)
        if made is None:
            made = self._conditions[expr] = self._condition(expr)
        return made

    def _condition(self, expr: Expr) -> Any:
        z3 = self.library
        match expr:
            case Const(value):
                return z3.BoolVal(bool(value))
            case Unary("!", arg):
                return z3.Not(self.condition(arg))
            case Unary("-", arg):
                return self.condition(arg)
            case Binary("&&", left, right):
                return z3.And(self.condition(left), self.condition(right))
            case Binary("||", left, right):
                return z3.Or(self.condition(left), self.condition(right))
            case Binary("==", left, right):
                return self.number(left) == self.number(right)
            case Binary("!=", left, right):
                return self.number(left) != self.number(right)
            case Binary("<", left, right):
                return self.number(left) < self.number(right)
            case Binary("<=", left, right):
                return self.number(left) <= self.number(right)
            case Binary(">", left, right):
                return self.number(left) > self.number(right)
            case Binary(">=", left, right):
                return self.number(left) >= self.number(right)
            case _:
                return self.number(expr) != 0


def as_expr(library: Any, formula: Any, arguments: Mapping[int, str]) -> Expr:
    """Return a quantifier-free formula of z3 as an expression; variable i of its binder is `arguments[i]`.

    Raises NotExpressible for anything beyond linear arithmetic with constant divisors.
    """
    z3 = library
    if z3.is_quantifier(formula):
        raise NotExpressible("a quantifier")
    if z3.is_var(formula):
        return Name(arguments[z3.get_var_index(formula)])
    if z3.is_int_value(formula):
        return Const(formula.as_long())
    parts = [as_expr(library, child, arguments) for child in formula.children()]
    made = _as_expr(z3, formula.decl().kind(), parts)
    if made is None:
        raise NotExpressible(str(formula))
    return made


def _as_expr(z3: Any, kind: int, parts: list[Expr]) -> Expr | None:
    if kind in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):
        return TRUE if kind == z3.Z3_OP_TRUE else FALSE
    if kind == z3.Z3_OP_AND:
        return conj(*parts)
    if kind == z3.Z3_OP_OR:
        return disj(*parts)
    if kind == z3.Z3_OP_NOT:
        return negate(parts[0])
    if kind == z3.Z3_OP_IMPLIES:
        return disj(negate(parts[0]), parts[1])
    if kind == z3.Z3_OP_ITE:
        return Ite(parts[0], parts[1], parts[2])
    if kind == z3.Z3_OP_UMINUS:
        return Unary("-", parts[0])
    if kind in (z3.Z3_OP_MOD, z3.Z3_OP_IDIV):
        return _euclidean(kind == z3.Z3_OP_MOD, parts[0], parts[1])
    written = {
        z3.Z3_OP_ADD: "+",
        z3.Z3_OP_SUB: "-",
        z3.Z3_OP_MUL: "*",
        z3.Z3_OP_EQ: "==",
        z3.Z3_OP_LE: "<=",
        z3.Z3_OP_LT: "<",
        z3.Z3_OP_GE: ">=",
        z3.Z3_OP_GT: ">",
    }.get(kind)
    if written is None:
        return None
    total = parts[0]
    for part in parts[1:]:
        total = Binary(written, total, part)
    return total


def _euclidean(remainder: bool, left: Expr, right: Expr) -> Expr | None:
    """z3's `mod` and `div`, whose remainder is never negative, by a positive constant."""
    if not isinstance(right, Const) or right.value <= 0:
        return None
    least = Binary("%", Binary("+", Binary("%", left, right), right), right)
    return least if remainder else Binary("/", Binary("-", left, least), right)
