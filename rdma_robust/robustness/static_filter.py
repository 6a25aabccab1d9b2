"""The static filter: which pivot classes must be tried, before anything is searched."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from rdma_robust.options import LARGE
from rdma_robust.robustness.frame import Frame
from rdma_robust.robustness.pivot_classes import PivotClasses, classes_of, everywhere
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.robustness.reductions.symmetry import automorphisms, representatives
from rdma_robust.robustness.remote_atomics import with_prefixes


@dataclass(frozen=True, slots=True)
class Pivots:
    """The pivot classes to try, the cycles on which they lie, and the reductions that pay for a program of this size."""

    classes: PivotClasses
    cycles: CriticalCycles
    reductions: frozenset[str]

    @property
    def frame(self) -> Frame:
        return self.classes.frame


def pivots_to_try(frame: Frame, reductions: frozenset[str], only: int | None = None, large: int = LARGE) -> Pivots:
    """Return the pivot classes of the program that `reductions` leave; with `only` a number, at most the one of that number.

    With `filter` only those that lie on a critical cycle, with `symmetry` one of each orbit. With fewer than `large`
    combinations of program points `values` and `dead` are not used. Source: reductions.md; see the modules of `reductions`.
    """
    if prod(len(graph.points) for graph in frame.graphs) < large:
        reductions -= {"values", "dead"}
    if "values" in reductions:
        frame = frame.specialised()
    frame = with_prefixes(frame)
    cycles = CriticalCycles(frame)
    allowed = cycles.may_start if "filter" in reductions else everywhere
    tried = classes_of(frame, allowed)
    if tried and "symmetry" in reductions:
        tried = representatives(tried, automorphisms(frame))
    if only is not None:
        tried = tried[only : only + 1]
    return Pivots(PivotClasses(frame, tried, allowed), cycles, reductions)
