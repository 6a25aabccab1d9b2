"""SAFE certificates: an inductive set of states, with regions of wide variables, in which no claim is violated.

What is checked, in the checker's own reduction of the program: the initial state is in the set; every step from it leads
into it; no step with a fault, no claim's violation, and nothing that the reduction cannot follow is possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rdma_robust.certify.document import reject
from rdma_robust.certify.safety.claimed import claims_of
from rdma_robust.certify.safety.implications import Implications, RegionOf, parsed, region_of
from rdma_robust.certify.safety.models import reduced_program
from rdma_robust.certify.safety.reduced_program import PlacedState, ReducedProgram, ReducedStep
from rdma_robust.certify.safety.safety_states import ReductionHeader, RegionTable, doubts_of
from rdma_robust.certify.safety.thread_steps import Variables
from rdma_robust.certify.safety.wide_updates import WideAssumption, WideEffect, WideUpdates, wide_effects
from rdma_robust.expr import Const, Name, equals
from rdma_robust.language.flow.cfg import Program, steps

NOTHING: Final = "nothing-forbidden"

NO_EFFECT: Final = WideEffect({}, {}, (), ())


def check_safe(program: Program, model: str, evidence: object) -> str:
    """Check that the states prove `program` safe under `model` and return what they are, in a few words.

    Raises InvalidCertificate with the reason if they do not.
    """
    declared = ReductionHeader(program, evidence)
    variables = Variables(program, declared.wide, declared.numbers)
    system = reduced_program(variables, model, declared.bound, lazy=declared.lazy)
    table = RegionTable(system, declared.found)
    return _Check(system, table).run()


def check_nothing_forbidden(program: Program, model: str, _evidence: object) -> str:
    """Check that there is nothing that the program must not do. Raises InvalidCertificate."""
    if claims_of(program, model) or any(step.fault is not None for t in program.threads for _, _, step in steps(t)):
        reject("the program forbids something, and the evidence says that it does not")
    return "the program forbids nothing"


class _Check:
    def __init__(self, system: ReducedProgram, table: RegionTable) -> None:
        self._system = system
        self._table = table
        self._implications = Implications()
        self._effects: dict[tuple[WideUpdates, frozenset[str]], list[WideEffect]] = {}
        self._interned: dict[object, WideEffect] = {}
        self._known: dict[object, bool] = {}
        self._agenda: list[PlacedState] = []
        self._seen: set[PlacedState] = set()

    def run(self) -> str:
        start = self._system.initial()
        # Slots that hold nothing have no value that matters; at the start it is 0.
        values = dict.fromkeys(sorted(self._table.names), 0) | self._system.initially()
        known = region_of([parsed(equals(Name(name), Const(value))) for name, value in values.items()])
        if not self._inside(start, known, NO_EFFECT, frozenset()):
            reject("the initial state is not in the set")
        while self._agenda:
            state = self._agenda.pop()
            self._check(state, self._table.regions_of(state))
        wide = f", {self._implications.used}" if self._system.variables.wide else ""
        return f"an inductive invariant of {len(self._seen)} states{wide}"

    def _check(self, state: PlacedState, regions: Sequence[RegionOf]) -> None:
        system = self._system
        folded = system.folded(state)
        for doubt in doubts_of(system, state):
            updates = (*doubt.updates, WideAssumption(doubt.condition))
            for effect in self._all_effects(updates, folded):
                if not all(self._holds(region, effect, folded, (), frozenset()) for region in regions):
                    reject(f"a state of the set violates a claim, {doubt.claim}: {self._show(state)}")
        for taken in system.successors(state):
            for effect in self._all_effects(taken.updates, folded):
                for region in regions:
                    self._check_step(state, folded, region, taken, effect)

    def _check_step(
        self, state: PlacedState, folded: frozenset[str], region: RegionOf, taken: ReducedStep, effect: WideEffect
    ) -> None:
        if (taken.fault is not None or taken.to is None) and not self._holds(region, effect, folded, (), frozenset()):
            why = taken.fault.message if taken.fault is not None else taken.never
            reject(f"`{taken.text}` is possible, where it must not be ({why}): {self._show(state)}")
        if taken.to is not None and not self._inside(taken.to, region, effect, folded):
            reject(f"the set is not inductive: `{taken.text}` leads out of it from {self._show(state)}")

    def _inside(self, to: PlacedState, region: RegionOf, effect: WideEffect, folded: frozenset[str]) -> bool:
        """Return whether what `effect` makes of a region is in the set at `to`, which is to be looked at then."""
        targets = self._table.regions_of(to)
        if targets and to not in self._seen:
            self._seen.add(to)
            self._agenda.append(to)
        return self._holds(region, effect, folded, targets, self._system.folded(to))

    def _holds(
        self,
        region: RegionOf,
        effect: WideEffect,
        folded: frozenset[str],
        targets: tuple[RegionOf, ...],
        folded_after: frozenset[str],
    ) -> bool:
        if not effect.assumed and not region.conditions and not targets:
            return False
        if targets and not targets[0].conditions:
            return True
        key = region, effect, folded, targets, folded_after
        if key not in self._known:
            self._known[key] = self._implications.holds(region, effect, folded, targets, folded_after=folded_after)
        return self._known[key]

    def _all_effects(self, updates: WideUpdates, folded: frozenset[str]) -> list[WideEffect]:
        if not updates:
            return [NO_EFFECT]
        key = updates, folded
        if key not in self._effects:
            found = wide_effects(updates, folded)
            self._effects[key] = [self._interned.setdefault(effect.key, effect) for effect in found]
        return self._effects[key]

    def _show(self, state: PlacedState) -> str:
        """Name a state in a few words."""
        at = [f"{code.thread.name} at {point}" for code, point in zip(self._system.code, state.points, strict=True)]
        held = [
            f"{word} = {value}" for word, value in zip(self._system.words, state.memory, strict=True) if value is not None
        ]
        return f"({', '.join([*at[:6], *held[:6], *(['...'] if len(at) > 6 or len(held) > 6 else [])])})"
