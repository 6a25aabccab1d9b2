"""The static filter: which pivot classes must be tried, before anything is searched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from rdma_robust.language.flow.cfg import Cell
from rdma_robust.options import LARGE
from rdma_robust.robustness.frame import InstrumentationFrame
from rdma_robust.robustness.pivot_classes import PivotClasses, classes_of, every_start
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.robustness.reductions.like_threads import LikeThreads, closed_under, like_threads
from rdma_robust.robustness.reductions.specialise import with_known_values
from rdma_robust.robustness.reductions.symmetry import automorphisms, representatives
from rdma_robust.robustness.remote_atomics import with_prefixes


@dataclass(frozen=True, slots=True)
class Pivots:
    """The pivot classes to try, the cycles on which they lie, and the reductions that pay for a program of this size.

    `alike` are groups of like threads under whose exchanges the classes are closed, and `apart` is what there is to try
    without `permute`.
    """

    classes: PivotClasses
    cycles: CriticalCycles
    reductions: frozenset[str]
    alike: tuple[LikeThreads, ...] = ()
    apart: Pivots | None = None

    @property
    def frame(self) -> InstrumentationFrame:
        return self.classes.frame


def pivots_to_try(frame: InstrumentationFrame, reductions: frozenset[str], large: int = LARGE) -> Pivots:
    """Return the pivot classes of the program that `reductions` leave.

    With `filter` only those that lie on a critical cycle, with `symmetry` one of each orbit. With fewer than `large`
    combinations of program points `values`, `dead` and `permute` are not used. Where `permute` finds like threads, with
    each class those are tried that it makes of it. Source: docs/theory-search.md, "The static filter"; docs/reductions.md,
    "Reductions of the search".
    """
    if prod(len(graph.points) for graph in frame.graphs) < large:
        reductions -= {"values", "dead", "permute"}
    # Leaving a barrier is in the order of the threads, which exchanges change; what is on its way as an operand has no sort.
    if frame.barriers.first or frame.taking_operands:
        reductions -= {"permute", "symmetry"}
    if frame.program.memories:  # what comes behind what is not named for exchanges
        reductions -= {"permute", "symmetry"}
    if "values" in reductions:
        frame = frame.specialised()
    found = _left(with_prefixes(frame), reductions)
    if "permute" not in reductions or not found.classes.tried:
        return found
    known = with_prefixes(replace(frame, graphs=with_known_values(frame.graphs, _constant(frame))))
    alike = like_threads(known, "dead" in reductions)
    return _closed(found, known, alike) if alike else found


def _constant(frame: InstrumentationFrame) -> list[Cell]:
    """The cells that no event writes."""
    mentioned = dict.fromkeys(e.cell for g in frame.graphs for e in g.edges if e.cell is not None)
    return [cell for cell in mentioned if not frame.bit(cell)]


def _closed(found: Pivots, frame: InstrumentationFrame, alike: tuple[LikeThreads, ...]) -> Pivots:
    """The same for a frame with the same accesses, with what exchanges of like threads make of the classes, in the order of
    all classes."""
    wanted = closed_under(found.classes.tried, alike)
    ordered = [c for c in classes_of(frame, every_start) if c in wanted]
    cycles = CriticalCycles(frame)
    allowed = every_start if found.classes.allowed is every_start else cycles.may_start
    classes = PivotClasses(frame, tuple(dict.fromkeys((*ordered, *wanted))), allowed)
    return Pivots(classes, cycles, found.reductions, alike, found)


def _left(frame: InstrumentationFrame, reductions: frozenset[str]) -> Pivots:
    """What `filter` and `symmetry` leave."""
    cycles = CriticalCycles(frame)
    allowed = cycles.may_start if "filter" in reductions else every_start
    tried = classes_of(frame, allowed)
    if tried and "symmetry" in reductions:
        tried = representatives(tried, automorphisms(frame))
    return Pivots(PivotClasses(frame, tried, allowed), cycles, reductions)
