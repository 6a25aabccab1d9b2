"""Control states of phase 2 from which no target can be reached, whatever copies there are: :mod:`dead_ends` for crowds.

The look ahead follows every thread alone. A copy of the crowd may stand anywhere, may be tainted, and may have nothing in
beta: so the mover of a template is taken to stand at all of its program points at once, tainted, barred by nothing but what
all threads share. Copies that have something in beta can do no more than that. Other heroes than the one that was chosen are
not there. The hero and named threads stand where they stand.

A pivot that is the read of a remote read-modify-write is kept out of alpha by marks that are never lifted (M3): that is
looked at as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rdma_robust.expr import FALSE, Expr, evaluate
from rdma_robust.robustness.crowds.instance import Instance
from rdma_robust.robustness.crowds.parts import State
from rdma_robust.robustness.reductions.dead_ends import DeadEnds, Look, Pivot


@dataclass
class Hopeless:
    """The test for one instance; what was asked for is remembered. Without `active` nothing is hopeless."""

    instance: Instance
    active: bool = True
    _known: dict[tuple[State, int], bool] = field(default_factory=dict)

    def __call__(self, state: State, hero: int) -> bool:
        """Whether no target can be reached from a control state with this hero."""
        if not self.active:
            return False
        key = state, hero
        if key not in self._known:
            self._known[key] = CrowdLook(self, state, hero).dead()
        return self._known[key]

    @cached_property
    def ends(self) -> DeadEnds:
        return self.instance.pivot.dead_ends(self.instance.cycles)

    @cached_property
    def column(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.instance.lowered.fields)}

    @cached_property
    def anywhere(self) -> frozenset[tuple[int, int]]:
        """Every program point of every mover."""
        graphs = self.instance.frame.graphs
        return frozenset((mover, point) for mover in self.instance.movers for point in graphs[mover].points)

    @cached_property
    def kept_out(self) -> Mapping[int, Expr]:
        """By site what keeps a pivot there out of alpha, because of remote atomics."""
        atomics = self.instance.pivot.atomics
        found = ((i, atomics.keeps_out(e)) for i, e in enumerate(self.instance.cycles.events))
        return {i: condition for i, condition in found if condition != FALSE}


class CrowdLook(Look):
    """One control state looked at."""

    def __init__(self, hopeless: Hopeless, state: State, hero: int) -> None:
        super().__init__(hopeless.ends, hopeless.column, state)
        self.hopeless = hopeless
        instance = hopeless.instance
        self.absent = {*instance.heroes} - {hero}

    def start(self, left: int) -> None:
        """Take the movers to stand everywhere, and only the hero that was chosen."""
        super().start(left)
        self.open = [p for p in self.open if p not in self.absent]
        self.reached = {at for at in self.reached if at[0] not in self.absent} | self.hopeless.anywhere

    def is_tainted(self, process: int) -> bool:
        """Whether the process has the mark of taint; copies may have it."""
        return process in self.hopeless.instance.movers or super().is_tainted(process)

    def possible(self, pivot: Pivot, site: int) -> bool:
        """Whether the move can be reached as the pivot."""
        if not super().possible(pivot, site):
            return False
        condition = self.hopeless.kept_out.get(site)
        if condition is None:
            return True
        return not evaluate(condition, dict(zip(self.hopeless.column, self.state, strict=True)))
