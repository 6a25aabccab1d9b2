"""Questions to z3: whether something follows from what is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rdma_robust.contracts.any_procs.any_values import Bool, Int, background, lemmas
from rdma_robust.errors import LimitReached
from rdma_robust.guarded_z3 import z3
from rdma_robust.limits import Limits

_EFFORT: Final = 2_000_000
"""Of one question, as z3 counts: about a second. Proofs that are found take a third of it, most a hundredth."""


class Prover:
    """Proves from `facts`, which are true of all runs that are looked at. `questions` counts those to z3."""

    def __init__(self, facts: Sequence[Bool], limits: Limits) -> None:
        self.facts = [*background(), *facts]
        self.questions = 0
        self.points: list[Int] = []
        """Where two sums may differ."""
        self.swaps: list[Callable[[Int], Int]] = []
        """With which process one may have changed places."""
        self._limits = limits

    def proves(self, given: Sequence[Bool], claim: Bool) -> bool:
        """Whether a claim follows: only what z3 has refuted the negation of. Raises LimitReached."""
        if z3.is_true(z3.simplify(claim)):
            return True
        exceeded = self._limits.exceeded()
        if exceeded:
            raise LimitReached(exceeded, self._limits.said(exceeded), "proving")
        self.questions += 1
        solver = z3.Solver()
        solver.set("smt.mbqi", False)
        solver.set("smt.auto_config", False)
        solver.set("rlimit", _EFFORT)
        left = self._limits.seconds_left()
        if left is not None:
            solver.set("timeout", max(1, int(left * 1000)))
        asked = [*given, z3.Not(claim)]
        solver.add(*self.facts, *asked, *lemmas([*self.facts, *asked], self.points, self.swaps))
        return bool(solver.check() == z3.unsat)
