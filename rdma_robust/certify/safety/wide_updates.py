"""Changes of unbounded (wide) variables by a step: a list of updates in order, and the effect of a whole list.

A *folded* variable stands for a set of values, those of several stores or operations under way that are alike. A condition
on it is meant for every choice of one value from each folded variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rdma_robust.expr import Binary, Const, Expr, Name, equals, names, negate, substitute


@dataclass(frozen=True, slots=True)
class WideAssumption:
    """Go on only if the condition is true."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class WideAssignment:
    """Give variables the values of expressions, all at once."""

    values: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class WideChoice:
    """Give `name` any integer from `low` to `high`; None: without that end."""

    name: str
    low: Expr | None
    high: Expr | None


@dataclass(frozen=True, slots=True)
class Fold:
    """Let `name` stand for `value` as well, beside all that it stands for."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Take:
    """Give `name` one of the values that `folded` stands for, which goes on standing for all of them."""

    name: str
    folded: str


@dataclass(frozen=True, slots=True)
class WideHavoc:
    """Nobody asks for `name` before it gets a value again."""

    name: str


WideUpdate = WideAssumption | WideAssignment | WideChoice | Fold | Take | WideHavoc
WideUpdates = tuple[WideUpdate, ...]


@dataclass(frozen=True, eq=False)
class WideEffect:
    """The effect of several updates in all: the value of each variable after, over those before and over new ones.

    `values` has those that changed; `folds` the values, over those before, that a folded variable stands for, where that
    changed. `copies` are (new variable, folded variable whose value it is one of), `assumed` what must have held.
    """

    values: Mapping[str, Expr]
    folds: Mapping[str, tuple[Expr, ...]]
    copies: tuple[tuple[str, str], ...]
    assumed: tuple[Expr, ...]
    fresh: int = 0

    @property
    def key(self) -> object:
        """Equal for lists of updates that do the same, whatever new variables are called."""
        if not self.fresh:
            return (
                tuple(sorted(self.values.items(), key=_by_name)),
                tuple(sorted(self.folds.items(), key=_by_name)),
                self.assumed,
            )
        named: dict[str, Expr] = {}

        def renamed(expr: Expr) -> Expr:
            for name in names(expr):
                if name.startswith("$") and name not in named:
                    named[name] = Name(f"$new{len(named)}")
            return substitute(expr, named)

        values = tuple([(name, renamed(value)) for name, value in sorted(self.values.items(), key=_by_name)])
        folds = tuple([(n, tuple(map(renamed, stands))) for n, stands in sorted(self.folds.items(), key=_by_name)])
        assumed = tuple(map(renamed, self.assumed))
        return values, folds, assumed, frozenset((named[new], source) for new, source in self.copies if new in named)


NOTHING_DONE = WideEffect({}, {}, (), ())


def wide_effects(
    updates: Iterable[WideUpdate], folded: frozenset[str], start: WideEffect = NOTHING_DONE
) -> list[WideEffect]:
    """Return what `updates` may do where `folded` are the folded variables before: several, if one of several is taken."""
    found = [start]
    for update in updates:
        found = [after for before in found for after in _after(before, update, folded)]
    return [_without_needless(each) if each.copies else each for each in found]


def _without_needless(effect: WideEffect) -> WideEffect:
    """Return the effect without copies that nothing speaks of."""
    stands = (value for each in effect.folds.values() for value in each)
    used = {name for value in (*effect.values.values(), *stands, *effect.assumed) for name in names(value)}
    return replace(effect, copies=tuple((new, source) for new, source in effect.copies if new in used))


def _by_name(item: tuple[str, object]) -> str:
    return item[0]


def _after(before: WideEffect, update: WideUpdate, folded: frozenset[str]) -> list[WideEffect]:
    match update:
        case WideAssumption(condition):
            return [replace(before, assumed=(*before.assumed, substitute(condition, before.values)))]
        case WideAssignment(values):
            return [_given(before, {name: substitute(value, before.values) for name, value in values})]
        case WideChoice(name, low, high):
            return [_chosen(before, name, low, high)]
        case Fold(name, value):
            stands = (*_stands_for(before, name), substitute(value, before.values))
            return [replace(before, folds={**before.folds, name: tuple(dict.fromkeys(stands))})]
        case Take(name, source):
            return [_taken(before, name, value, folded) for value in _stands_for(before, source)]
        case WideHavoc(name):
            kept = {other: value for other, value in before.values.items() if other != name}
            folds = {other: stands for other, stands in before.folds.items() if other != name}
            return [replace(before, values=kept, folds=folds)]


def _stands_for(before: WideEffect, name: str) -> tuple[Expr, ...]:
    return before.folds.get(name) or (before.values.get(name, Name(name)),)


def _given(before: WideEffect, values: Mapping[str, Expr]) -> WideEffect:
    folds = {name: stands for name, stands in before.folds.items() if name not in values}
    return replace(before, values={**before.values, **values}, folds=folds)


def _taken(before: WideEffect, name: str, value: Expr, folded: frozenset[str]) -> WideEffect:
    if not (isinstance(value, Name) and value.name in folded):
        return _given(before, {name: value})
    new = f"${before.fresh}"
    after = replace(before, copies=(*before.copies, (new, value.name)), fresh=before.fresh + 1)
    return _given(after, {name: Name(new)})


def _chosen(before: WideEffect, name: str, low: Expr | None, high: Expr | None) -> WideEffect:
    new = Name(f"${before.fresh}")
    assumed = list(before.assumed)
    for end, smaller in ((low, True), (high, False)):
        if end is not None:
            value = substitute(end, before.values)
            assumed.append(_at_most(value, new) if smaller else _at_most(new, value))
    return _given(replace(before, assumed=tuple(assumed), fresh=before.fresh + 1), {name: new})


def _at_most(left: Expr, right: Expr) -> Expr:
    return Binary("<=", left, right)


def none_of(value: Expr, numbers: Iterable[int]) -> tuple[Expr, ...]:
    """Return that `value` is none of the numbers."""
    return tuple(negate(equals(value, Const(number))) for number in numbers)
