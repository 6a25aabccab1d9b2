"""What the passes of the decision procedure hand on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rdma_robust.counters.lower import LoweredProgram
from rdma_robust.counters.program import CounterProgram
from rdma_robust.counters.search import CounterSearch
from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.limits import Limits
from rdma_robust.robustness.frame import EventLabel, InstrumentationFrame
from rdma_robust.robustness.lift import LiftedTrace
from rdma_robust.robustness.static_filter import Pivots

Found = CounterSearch[EventLabel]

LikeFaults = Mapping[Fault, frozenset[Fault]]
"""For faults of like threads those that are reachable iff they are."""


@dataclass(frozen=True, slots=True)
class FilterArtefact:
    """What is left to try: the pivot classes, None for the paper's instrumentation, which guesses where the cycle is."""

    frame: InstrumentationFrame
    pivots: Pivots | None


@dataclass(frozen=True, slots=True)
class CounterArtefact:
    """A program, and the counter program whose targets are reachable iff it is not robust."""

    program: Program
    counters: CounterProgram[EventLabel]
    like_faults: LikeFaults = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VassArtefact:
    """A program, and the VASS of its counter program."""

    program: Program
    vass: LoweredProgram[EventLabel]
    like_faults: LikeFaults = field(default_factory=dict)

    @property
    def by_filter(self) -> bool:
        """Whether the program is robust without a search, since there is nothing to be reached."""
        return not self.vass.program.targets


@dataclass(frozen=True, slots=True)
class CoverArtefact:
    """What the search has found within `limits`, and with a reached target a run to it that is as short as could be had."""

    lowered: VassArtefact
    found: Found
    shortest: Found
    limits: Limits

    @property
    def target(self) -> EventLabel | None:
        """The label of the reached target."""
        number = self.shortest.result.target
        return self.lowered.vass.program.targets[number].label if number >= 0 else None


@dataclass(frozen=True, slots=True)
class Attempt:
    """What was found, and the trace that it lifts to; None where no target was reached."""

    covered: CoverArtefact
    lifted: LiftedTrace | None
