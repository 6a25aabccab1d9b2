"""Which faults can be met with some number of copies: phase 1 alone, the program under sequential consistency."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from rdma_robust.counting.omega_search import omega_search
from rdma_robust.language.flow.cfg import Fault
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.robustness.crowds.instance import TwoCopyInstance
from rdma_robust.robustness.crowds.parts import Local
from rdma_robust.robustness.crowds.steps import Control, CrowdMove, InstanceSteps
from rdma_robust.robustness.reasons import sorted_faults


@dataclass
class PhaseOne:
    """The counting system of the runs that start no beta, without a target; it notes the faults of moves it was asked for,
    all of which can be made."""

    steps: InstanceSteps
    faults: set[Fault] = field(default_factory=set)

    @property
    def initial(self) -> Control:
        return self.steps.initial

    @property
    def fresh(self) -> tuple[Local, ...]:
        return self.steps.fresh

    def moves(self, control: Control, present: Collection[Local]) -> Iterable[CrowdMove]:
        there = {*present}
        moves = [move for move in self.steps.of_threads(control) if there.issuperset(move.takes)]
        for local in sorted(local for local in {*self.fresh, *there} if local[0] >= 0):
            moves += self.steps.of_copy(control, local)
        for move in moves:
            if not self.steps.started(move.control):
                self.faults.update(e.edge.fault for e in move.label.events if e.edge.fault is not None)
                yield move

    def target(self, _control: Control) -> int:
        return -1

    def idle(self, _control: Control, local: Local) -> bool:
        return self.steps.at_end(local)

    def milestone(self, _control: Control) -> int:
        return 0


def reachable_faults(
    instance: TwoCopyInstance, limits: Limits, progress: Progress = ignore
) -> tuple[tuple[Fault, ...], str]:
    """Return the faults that can be met with some number of copies, and why these may not be all, '' if they are.

    Where completions of copies are not counted, so that polls succeed that should not, they are what may be met.
    """
    if all(edge.fault is None for graph in instance.frame.graphs for edge in graph.edges):
        return (), ""
    system = PhaseOne(InstanceSteps(instance))
    found = omega_search(system, limits, progress)
    cut = f"reached {limits.said(found.cut)}" if found.cut else ""
    return sorted_faults(system.faults), cut or ("not all completions were counted" if instance.uncounted else "")
