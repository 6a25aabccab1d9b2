"""The check that regions at control states are an inductive invariant, by the solver, transition by transition.

What a solver gives as a model of Horn clauses is not believed before (z3's issue 6716 is about wrong ones).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rdma_robust.analyses.prove.predicates.cube_oracle import predicate_instances
from rdma_robust.analyses.prove.predicates.solving import Formulas
from rdma_robust.analyses.prove.predicates.update_ways import UpdateCase, folded_names, ways_of
from rdma_robust.analyses.prove.transition_system import Control, Region, Suppose, TransitionSystem
from rdma_robust.expr import Const, Expr, conj, disj, names, negate, substitute

Invariant = Mapping[Control, tuple[Region, ...]]


def invariant_flaw(
    system: TransitionSystem, invariant: Invariant, formulas: Formulas, poll: Callable[[], None], wait_ms: int = 10_000
) -> str:
    """Return '' if the invariant holds initially, is closed under all transitions and violates no claim that is not
    `allowed`, else what is wrong; also if the solver does not know. Raises LimitReached through `poll`.

    Where a variable is folded, all that it stands for must be in one region: of the regions after a transition only those
    count whose conditions on folded variables follow, and the other conditions of one of these must hold.
    """
    return _Check(system, invariant, formulas, wait_ms).run(poll)


class _Check:
    def __init__(self, system: TransitionSystem, invariant: Invariant, formulas: Formulas, wait_ms: int) -> None:
        self._system = system
        self._invariant = invariant
        self._formulas = formulas
        self._asked_for = {claim.number for claim in system.claims if not claim.allowed}
        self._folded = {
            name for control in invariant for each in system.successors(control) for name in folded_names(each.updates)
        }
        self._solver: Any = formulas.library.Solver()
        self._solver.set("timeout", wait_ms)

    def run(self, poll: Callable[[], None]) -> str:
        start = self._system.initial()
        values = {name: Const(value) for name, value in self._system.wide}
        if not any(self._valid(substitute(conj(*each), values)) for each in self._invariant.get(start, ())):
            return "the initial state is not in it"
        for control, regions in self._invariant.items():
            for region in regions:
                poll()
                if wrong := self._wrong(control, region):
                    return wrong
        return ""

    def _wrong(self, control: Control, region: Region) -> str:
        """What is wrong with one region of a control state."""
        if self._system.overflowed(control):
            return "a buffer overflows in it"
        for bad in self._system.violations(control):
            updates = (*bad.updates, Suppose(bad.condition))
            if bad.claim in self._asked_for and not all(self._goes_to(region, each, ()) for each in ways_of(updates)):
                return f"it does not exclude what claim {bad.claim} forbids"
        for transition in self._system.successors(control):
            after = () if transition.fault is not None else self._invariant.get(transition.to, ())
            if not all(self._goes_to(region, each, after) for each in ways_of(transition.updates)):
                return "a transition leads out of it"
        return ""

    def _goes_to(self, region: Region, way: UpdateCase, targets: Sequence[Region]) -> bool:
        """Whether every state of `region` in which a way can be gone leads into one of `targets`."""
        self._solver.push()
        try:
            for condition in (*(part for each in region for part in predicate_instances(each, way.copies)), way.guard):
                self._solver.add(self._formulas.condition(condition))
            ends: list[Expr] = []
            for target in targets:
                plain = [each for each in target if self._folded.isdisjoint(names(each))]
                about_all = [part for each in target if each not in plain for part in way.before(each)]
                # Plain conditions are the same whatever folded variables stand for.
                before = conj(*(part for each in plain for part in way.before(each)))
                if not about_all or self._valid(disj(negate(before), conj(*about_all))):
                    ends.append(before)
            return self._valid(disj(*ends))
        finally:
            self._solver.pop()

    def _valid(self, condition: Expr) -> bool:
        """Whether the solver finds no counterexample to a condition, under what is assumed."""
        z3 = self._formulas.library
        return bool(self._solver.check(z3.Not(self._formulas.condition(condition))) == z3.unsat)
