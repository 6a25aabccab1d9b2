"""Implications: whether what is known of wide variables implies one of several regions, by the closure of differences,
else by z3.

With folded variables (see `wide_updates.py`) a region is meant for every choice of their values, so what mentions one must
follow as a whole from what is known and the rest of its own region; only the rest may differ from choice to choice of
other variables, and be shared out between several regions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from rdma_robust.certify.document import reject
from rdma_robust.certify.safety.by_z3 import Z3, z3_version
from rdma_robust.certify.safety.differences import (
    ZERO,
    Case,
    DifferenceBound,
    DifferenceClosure,
    Literal,
    both,
    difference_cases,
    every_case,
    linear,
)
from rdma_robust.certify.safety.wide_updates import WideEffect
from rdma_robust.expr import Binary, Const, Expr, Name, conj, disj, names, negate, substitute

Shift = tuple[str, int]
"""A variable (or ZERO) and what is added to it."""

MOST_SPLITS = 2000
"""Cases of one question after which the closure gives up."""


@dataclass(frozen=True, eq=False)
class RegionOf:
    """A conjunction: its conditions, and those of them that are differences; `others` are the rest."""

    conditions: tuple[Expr, ...]
    differences: tuple[DifferenceBound, ...]
    others: tuple[Expr, ...]


Parsed = tuple[Expr, tuple[DifferenceBound, ...] | None]
"""A condition, and the differences that it is, None if it is none."""


def parsed(condition: Expr) -> Parsed:
    found = difference_cases(condition)
    if found is None or len(found) != 1:
        return condition, None
    differences = tuple(literal for literal in found[0] if isinstance(literal, DifferenceBound))
    return condition, differences if len(differences) == len(found[0]) else None


def region_of(conditions: Sequence[Parsed]) -> RegionOf:
    """Return the conjunction of conditions."""
    differences = tuple(each for _, found in conditions if found is not None for each in found)
    others = tuple(condition for condition, found in conditions if found is None)
    return RegionOf(tuple(condition for condition, _ in conditions), differences, others)


@dataclass
class Implications:
    """Answers questions; `closed` and `by_z3` count those that the closure and z3 have answered."""

    closed: int = 0
    by_z3: int = 0
    _closures: dict[RegionOf, DifferenceClosure] = field(default_factory=dict)
    _assumed: dict[WideEffect, list[Case] | None] = field(default_factory=dict)
    _ordered: dict[tuple[RegionOf, ...], list[list[DifferenceBound]]] = field(default_factory=dict)
    _solver: Z3 | None = None
    _beyond: bool = False
    _splits: int = 0

    @property
    def used(self) -> str:
        """What the answers rest on, in words."""
        return f"checked with z3 {z3_version()}" if self.by_z3 else "checked with its own closure"

    def holds(
        self,
        known: RegionOf,
        effect: WideEffect,
        folded: frozenset[str],
        targets: Sequence[RegionOf],
        *,
        folded_after: frozenset[str],
    ) -> bool:
        """Return whether every state of `known` for which `effect` is possible is afterwards in one of `targets`.

        Without targets: whether it is impossible. Raises InvalidCertificate if neither the closure can tell nor z3 is there.
        """
        copied = _copied(known, effect, folded)
        if effect not in self._assumed:
            self._assumed[effect] = every_case(effect.assumed)
        here = _cases(self._closure(known), (*known.others, *copied), self._assumed[effect], folded)
        self._beyond, self._splits = here is None, 0
        plain = self._plain(targets)
        left = [] if here is None else [each for each in here if not _at_once(each[0], effect, plain)]
        answer = here is not None and not left
        if not answer:
            goals = [_goal(target, effect, folded, folded_after) for target in targets]
            answer = here is not None and all(self._covered(closure, others, goals) for closure, others in left)
            if not answer and self._beyond:
                return self._by_solver((*known.conditions, *copied, *effect.assumed), goals)
        self.closed += 1
        return answer

    def _plain(self, targets: Sequence[RegionOf]) -> list[list[DifferenceBound]]:
        """Return the differences of the regions that have nothing else, those first of which there are most bounds."""
        key = tuple(targets)
        if key not in self._ordered:
            bounds: dict[tuple[str, str], set[int]] = {}
            for target in targets:
                for left, right, most in target.differences:
                    bounds.setdefault((left, right), set()).add(most)
            self._ordered[key] = [
                sorted(target.differences, key=lambda each: -len(bounds[each[:2]]))
                for target in targets
                if not target.others
            ]
        return self._ordered[key]

    def _closure(self, region: RegionOf) -> DifferenceClosure:
        if region not in self._closures:
            closure = DifferenceClosure()
            closure.add_all(region.differences)
            self._closures[region] = closure
        return self._closures[region]

    def _covered(self, here: DifferenceClosure, others: frozenset[Expr], goals: Sequence[ImplicationGoal]) -> bool:
        """Return whether one of the goals holds wherever these facts do; what no closure can tell counts as no."""
        if not here.possible:
            return True
        self._splits += 1
        if self._splits > MOST_SPLITS:
            self._beyond = True
            return False
        if any(self._follow(here, others, goal.every) for goal in goals):
            return True
        for i, goal in enumerate(goals):
            if goal.shared and self._useful(here, others, goal):
                return self._outside_is_covered(here, others, goal.shared, [*goals[:i], *goals[i + 1 :]])
        # Facts that the closure has left out might be the reason.
        self._beyond = self._beyond or bool(others)
        return False

    def _useful(self, here: DifferenceClosure, others: frozenset[Expr], goal: ImplicationGoal) -> bool:
        within = every_case(goal.shared)
        if within is None:
            self._beyond = True
            return False
        possible = False
        for case in within:
            inside = here.copy()
            for literal in case:
                if isinstance(literal, DifferenceBound):
                    inside.add(*literal)
                else:
                    self._beyond = True
            if inside.possible:
                possible = True
                if not self._follow(inside, others, goal.whole):
                    return False
        return possible

    def _outside_is_covered(
        self, here: DifferenceClosure, others: frozenset[Expr], shared: Sequence[Expr], goals: Sequence[ImplicationGoal]
    ) -> bool:
        """Return whether `goals` cover where one of the conditions does not hold."""
        for condition in shared:
            if condition in others:
                continue
            without = difference_cases(condition, holds=False)
            if without is None:
                self._beyond = True
                return False
            for case in without:
                outside = here.copy()
                left = set(others)
                for literal in case:
                    if isinstance(literal, DifferenceBound):
                        outside.add(*literal)
                    else:
                        left.add(literal)
                if not self._covered(outside, frozenset(left), goals):
                    return False
        return True

    def _follow(self, here: DifferenceClosure, others: frozenset[Expr], conditions: Sequence[Expr]) -> bool:
        return all(condition in others or self._follows(here, condition) for condition in conditions)

    def _follows(self, here: DifferenceClosure, condition: Expr) -> bool:
        without = difference_cases(condition, holds=False)
        if without is None:
            self._beyond = True
            return False
        for case in without:
            outside = here
            for literal in case:
                if isinstance(literal, DifferenceBound):
                    outside = here.copy() if outside is here else outside
                    outside.add(*literal)
                else:
                    self._beyond = True
            if outside.possible:
                return False
        return True

    def _by_solver(self, known: Sequence[Expr], goals: Sequence[ImplicationGoal]) -> bool:
        if z3_version() is None:
            reject(
                "a condition is no difference of two variables, and z3, which would decide it, is not installed here: "
                "pip install z3-solver"
            )
        self._solver = self._solver or Z3()
        self.by_z3 += 1
        usable = [
            conj(*goal.shared)
            for goal in goals
            if not goal.whole or self._impossible([*known, *goal.shared, negate(conj(*goal.whole))])
        ]
        return self._impossible([*known, negate(disj(*usable))])

    def _impossible(self, conditions: Sequence[Expr]) -> bool:
        assert self._solver is not None
        answer = self._solver.impossible(conditions)
        if answer is None:
            reject("z3 could not decide one of the implications within its time")
        return answer


def _cases(
    closure: DifferenceClosure, premises: Sequence[Expr], assumed: list[Case] | None, folded: frozenset[str]
) -> list[tuple[DifferenceClosure, frozenset[Expr]]] | None:
    """Return the cases in which all premises hold, without impossible ones: the differences, and the other facts.

    What mentions a folded variable is not taken apart: different values of it may be in different cases. None if there
    are too many cases.
    """
    every: list[Case] | None = (
        every_case(premise for premise in premises if folded.isdisjoint(names(premise))) if premises else [()]
    )
    every = None if every is None or assumed is None else both(every, assumed)
    if every is None:
        return None
    whole: list[Literal] = []
    for premise in premises:
        if not folded.isdisjoint(names(premise)):
            alone = difference_cases(premise)
            whole += alone[0] if alone is not None and len(alone) == 1 else [premise]
    found = []
    for case in every:
        here = closure
        for literal in (*whole, *case):
            if isinstance(literal, DifferenceBound) and not here.implies(*literal):
                here = closure.copy() if here is closure else here
                here.add(*literal)
        if here.possible:
            others = frozenset(each for each in (*whole, *case) if not isinstance(each, DifferenceBound))
            found.append((here, others))
    return found


def _at_once(closure: DifferenceClosure, effect: WideEffect, regions: Sequence[Sequence[DifferenceBound]]) -> bool:
    """Return whether one of the regions follows as it is, difference by difference."""
    shifts: dict[str, tuple[Shift, ...] | None] = {ZERO: ((ZERO, 0),)}
    bounds: dict[tuple[str, str], int | None] = {}

    def shifted(name: str) -> tuple[Shift, ...] | None:
        if name not in shifts:
            shifts[name] = _shifts(effect.folds.get(name) or (effect.values.get(name, Name(name)),))
        return shifts[name]

    def bound(left: str, right: str) -> int | None:
        """The smallest c for which `left - right <= c` follows for the values after."""
        lefts, rights = shifted(left), shifted(right)
        if lefts is None or rights is None:
            return None
        least = None
        for a, more in lefts:
            for b, less in rights:
                before = closure.bound(a, b)
                if before is None:
                    return None
                total = before + more - less
                least = total if least is None else max(least, total)
        return least

    for region in regions:
        for left, right, most in region:
            key = left, right
            if key in bounds:
                least = bounds[key]
            else:
                least = bounds[key] = bound(left, right)
            if least is None or least > most:
                break
        else:
            return True
    return False


@dataclass(frozen=True)
class ImplicationGoal:
    """A region after an effect, in terms of before: `whole` are the conditions with folded variables, `shared` the rest."""

    shared: tuple[Expr, ...]
    whole: tuple[Expr, ...]

    @property
    def every(self) -> tuple[Expr, ...]:
        return (*self.shared, *self.whole)


def _goal(target: RegionOf, effect: WideEffect, folded: frozenset[str], folded_after: frozenset[str]) -> ImplicationGoal:
    shared: list[Expr] = []
    whole: list[Expr] = []
    for condition in target.conditions:
        used = tuple(dict.fromkeys(names(condition)))
        stands = [effect.folds.get(name) or (effect.values.get(name, Name(name)),) for name in used]
        made = [substitute(condition, dict(zip(used, chosen, strict=True))) for chosen in product(*stands)]
        is_whole = any(len(each) > 1 for each in stands) or any(name in folded_after for name in used)
        is_whole = is_whole or any(name in folded for each in made for name in names(each))
        (whole if is_whole else shared).extend(made)
    return ImplicationGoal(tuple(shared), tuple(whole))


def _copied(known: RegionOf, effect: WideEffect, folded: frozenset[str]) -> list[Expr]:
    """Return what is known of values taken from folded variables: what holds for every choice holds for these."""
    if not effect.copies:
        return []
    of: dict[str, list[str]] = {}
    for new, source in effect.copies:
        of.setdefault(source, []).append(new)
    found: list[Expr] = []
    for condition in known.conditions:
        used = [name for name in dict.fromkeys(names(condition)) if name in of and name in folded]
        for chosen in product(*([name, *of[name]] for name in used)):
            if tuple(used) != chosen:
                found.append(substitute(condition, {a: Name(b) for a, b in zip(used, chosen, strict=True)}))
    return found


def _shifts(values: Sequence[Expr]) -> tuple[Shift, ...] | None:
    """Return values as variables with something added, None if one is not such."""
    found: list[Shift] = []
    for value in values:
        match value:
            case Name(name):
                found.append((name, 0))
            case Const(number):
                found.append((ZERO, number))
            case Binary():
                term = linear(value)
                if term is None or len(term[0]) > 1 or any(k != 1 for k in term[0].values()):
                    return None
                found.append((next(iter(term[0]), ZERO), term[1]))
            case _:
                return None
    return tuple(found)
