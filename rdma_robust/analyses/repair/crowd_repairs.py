"""Repairs of programs with any number of copies: of P(n), for the n of counterexamples, until one holds for any number.

Insertions into templates that make every P(n) robust make each of them robust. So if the cheapest ones for P(n), put into
the templates, are robust for any number, they are cheapest there too; and if P(n) has none, there are none. If they are
not, a counterexample has more copies of some template, and the next P(n) has as many: they are no answer for that one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.analyses.repair.patch import repair_of_original
from rdma_robust.analyses.repair.repairs import Repair, RepairOptions, RepairSolution
from rdma_robust.language.defines import with_definitions
from rdma_robust.language.flow.spinning import spin_assumed
from rdma_robust.language.load import load_decidable
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.crowds.numbers_said import with_numbers
from rdma_robust.robustness.decide import decide

Numbers = dict[str, int]
RepairText = Callable[[str, RepairOptions], Repair]
"""A repair of the text of a program without crowds."""

_MOST_ROUNDS: Final = 8

FOR_ANY: Final = "each solution was decided for any number of copies"


@dataclass
class CrowdRepair:
    """The work on one program; `checked` counts the programs that were decided."""

    text: str
    file: str
    options: RepairOptions
    limits: CheckOptions
    repaired: RepairText
    started: float
    checked: int = 0
    cycles: int = 0

    def run(self) -> Repair:
        """Return the answer, as :func:`~rdma_robust.analyses.repair.plan.repair`."""
        outcome = self._decided(self.text)
        if outcome.verdict is Verdict.ROBUST:
            return self._told(Repair("robust", outcome.reason, optimal=True))
        numbers: Numbers = {}
        for _ in range(_MOST_ROUNDS):
            if outcome.copies is None:
                return self._told(Repair("unknown", outcome.reason))
            numbers = {name: max(1, n, numbers.get(name, 0)) for name, n in outcome.copies.numbers}
            define = [f"{name}={n}" for name, n in numbers.items()]
            found = self.repaired(with_definitions(self.text, define), replace(self.options, timeout=self._left()))
            self.checked, self.cycles = self.checked + found.checked, self.cycles + found.cycles
            found = repair_of_original(found, self.text, define, self.file)
            if not found.solutions:
                return self._told(replace(found, reason=f"with {with_numbers(tuple(numbers.items()))}: {found.reason}"))
            outcomes = [self._decided(solution.patched) for solution in found.solutions]
            good = [s for s, o in zip(found.solutions, outcomes, strict=True) if o.verdict is Verdict.ROBUST]
            failed = [o for o in outcomes if o.verdict is not Verdict.ROBUST]
            if good and not (self.options.all_minimal and failed):
                return self._told(_held(found, good, first=not failed))
            outcome = next((o for o in failed if o.copies is not None), failed[0])
        return self._told(Repair("unknown", f"no repair of {with_numbers(tuple(numbers.items()))} holds for more"))

    def _decided(self, text: str) -> Outcome:
        self.checked += 1
        left = self._left()
        timeout = self.limits.timeout if left is None else min(left, self.limits.timeout or left)
        program = spin_assumed(load_decidable(text, self.file, crowds=True), self.limits.await_loops)
        return decide(program, replace(self.limits, timeout=timeout))

    def _left(self) -> float | None:
        if self.options.timeout is None:
            return None
        return max(0.01, self.options.timeout - (time.monotonic() - self.started))

    def _told(self, repair: Repair) -> Repair:
        return replace(repair, checked=self.checked, cycles=self.cycles, time_s=time.monotonic() - self.started)


def _held(found: Repair, good: list[RepairSolution], *, first: bool) -> Repair:
    """Return what was found with the solutions that hold for any number; `first` if the cheapest one is among them."""
    return replace(
        found,
        solutions=tuple(replace(solution, hangs="") for solution in good),  # hangs were looked for in P(n) only
        scope=f"{found.scope}; {FOR_ANY}",
        optimal=found.optimal and first,
        complete=found.complete and first,
    )
