"""Decides programs with some of the waits, until the time is over, and learns from their runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.analyses.prove.safety_claims import safety_claims
from rdma_robust.analyses.prove.safety_outcome import Safety, SafetyOutcome
from rdma_robust.analyses.repair.hitting import OutOfTimeError
from rdma_robust.analyses.repair.repairs import Choices
from rdma_robust.analyses.repair.safe.blame import blame
from rdma_robust.analyses.repair.safe.fewest import WaitJudgement
from rdma_robust.analyses.repair.safe.rerun import has_run
from rdma_robust.analyses.repair.safe.rewriting import Rewriter
from rdma_robust.analyses.repair.safe.spots import WaitSpots
from rdma_robust.analyses.repair.safe.twins import told_in
from rdma_robust.errors import LimitReached
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.flow.waiting import blocking
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits

Prove = Callable[[Program, Limits], SafetyOutcome]
"""Decides whether a program is safe under the model that is asked about."""

_FIRST_S: Final = 1.0
_TIMES: Final = 4
"""The seconds that one set may take at first, and how much longer with each more patience."""

_QUICK: Final = 0.75
"""The share of its time that a decision leaves at least if it ended for another reason: it tries several things in turn."""


@dataclass
class WaitDecisions:
    """Decides sets of waits. `checked` counts programs, `cycles` runs learnt from."""

    spots: WaitSpots
    rewriter: Rewriter
    prove: Prove
    limits: Limits
    await_loops: bool = False
    checked: int = 0
    cycles: int = 0

    def decide(self, chosen: Choices, limits: Limits | None = None) -> SafetyOutcome:
        """Decide the text with a set of waits, within all of the time that is left unless told otherwise. A run is told in
        the steps of the full program. Raises OutOfTimeError."""
        if self.limits.seconds_left() == 0:
            raise OutOfTimeError
        self.checked += 1
        model, name = self.spots.model, self.spots.program.file
        program = blocking(load_program(self.rewriter.text(chosen), name), self.await_loops)
        outcome = self.prove(without_allowed(program, model), limits or self.limits)
        if outcome.run is None or outcome.claim is None:
            return outcome
        twin = self.spots.having(chosen)
        claims = safety_claims(without_allowed(twin, model), model)
        return replace(outcome, run=told_in(outcome.run, program, twin), claim=claims[outcome.claim.number])

    def judge(self, chosen: Choices, patience: int) -> WaitJudgement:
        """Decide a set. Raises OutOfTimeError."""
        most = _FIRST_S * _TIMES**patience
        left = self.limits.seconds_left()
        if left is not None:
            most = min(most, left)
        limits = replace(self.limits, deadline=time.monotonic() + most, seconds=most)
        try:
            outcome = self.decide(chosen, limits)
        except LimitReached as reached:
            return WaitJudgement(Safety.UNKNOWN, patience=reached.limit == "time")
        if outcome.safety is not Safety.UNSAFE:
            return WaitJudgement(outcome.safety, patience=(limits.seconds_left() or 0) < _QUICK * most)
        self.cycles += 1
        return WaitJudgement(Safety.UNSAFE, self.clause(chosen, outcome))

    def clause(self, chosen: Choices, outcome: SafetyOutcome) -> Choices:
        """Return waits of which every safe set has one, since a run is left without them: at worst all but the chosen."""
        everything = frozenset(self.spots.universe)
        assert outcome.run is not None
        assert outcome.claim is not None
        found = blame(self.spots, chosen, outcome.run, outcome.claim)
        if has_run(self.spots, everything - found, outcome.run, outcome.claim):
            return found
        return everything - chosen


def without_allowed(program: Program, model: AnyModelName) -> Program:
    """Return a program without what it says to be possible, or says of other models: no wait is needed for that."""
    outcomes = (
        replace(o, claims=tuple(c for c in o.claims if c.model == model and not c.allowed)) for o in program.outcomes
    )
    return replace(program, outcomes=tuple(outcome for outcome in outcomes if outcome.claims))
