"""Whether sequential consistency can end as a run has ended."""

from __future__ import annotations

from functools import cached_property

from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.chosen import sc_machine_of
from rdma_robust.semantics.machines.final import FinalState
from rdma_robust.semantics.machines.state_space import Exploration, explore
from rdma_robust.teaching.explorer.address import Side

MOST_STATES = 30_000
MOST_SECONDS = 2.0

ENDED = "The end: every thread has ended and every queue pair is empty."
WEAK = "No run under sequential consistency ends with these values."
COMMON = "Sequential consistency can end with these values too."
OPEN = "Whether sequential consistency can end with these values is not known: it has too many states to look at here."


class Endings:
    """The final states of a program under SC, searched when the first is asked for, within limits."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def _sc(self) -> Exploration:
        return explore(sc_machine_of(self.program), Limits.of(MOST_SECONDS, MOST_STATES))

    def text(self, side: Side, final: FinalState) -> str:
        """Return what is to be said of a final state."""
        return ENDED if side == "sc" else f"{ENDED} {self._reached(final)}"

    def _reached(self, final: FinalState) -> str:
        if final in self._sc.finals:
            return COMMON
        return WEAK if self._sc.cut is None else OPEN
