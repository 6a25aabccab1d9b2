"""What the passes for programs with templates hand on."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.outcome import Copies, Counts, Outcome, Verdict
from rdma_robust.robustness.crowds.explicit_run import Explicit
from rdma_robust.robustness.crowds.instance import TwoCopyInstance
from rdma_robust.robustness.frame import EventLabel, InstrumentationFrame
from rdma_robust.robustness.lift import LiftedTrace
from rdma_robust.robustness.static_filter import Pivots


@dataclass(frozen=True, slots=True)
class Two:
    """A program with templates, and the frame of the one with two copies of each."""

    original: Program
    frame: InstrumentationFrame


@dataclass(frozen=True, slots=True)
class TwoFiltered:
    """The same with the pivot classes that are left."""

    original: Program
    pivots: Pivots


@dataclass(frozen=True, slots=True)
class CrowdSearchResult:
    """What the searches have found for any number of copies.

    `found` is the run to a target with the fewest copies that could be had, None where there is none; `target` the number of
    that target. `explicit` is the outcome of some P(n) where that one is the answer. `unknown` says that there was none for
    some small n.
    """

    instance: TwoCopyInstance
    verdict: Verdict
    reason: str
    engine: str
    counts: Counts
    found: Explicit | None = None
    target: int = -1
    least: bool = False
    explicit: tuple[Outcome, Copies] | None = None
    unknown: bool = False
    faults: tuple[Fault, ...] = ()
    faults_exact: bool = False

    @property
    def pivot(self) -> EventLabel | None:
        """The label of the reached target."""
        return self.instance.lowered.targets[self.target] if self.target >= 0 else None


@dataclass(frozen=True, slots=True)
class CountedAttempt:
    """What was found, and the trace of P(n) that it lifts to; None where no target was reached."""

    counted: CrowdSearchResult
    lifted: LiftedTrace | None
