"""The engine: searches with coarser clipping first, as long as what they find is no run."""

from __future__ import annotations

from rdma_robust.analyses.prove.on_machine import constants_of
from rdma_robust.analyses.prove.path_values import path_values
from rdma_robust.analyses.prove.proof_engine import Searched
from rdma_robust.analyses.prove.transition_system import TransitionSystem
from rdma_robust.analyses.prove.zones.zone_kernel import ZONE_KERNELS, ZoneKernel
from rdma_robust.analyses.prove.zones.zone_search import ZoneSearch
from rdma_robust.limits import Limits, Progress

COARSE = 2
"""The clip that comes first."""


def search_zones(system: TransitionSystem, limits: Limits, progress: Progress) -> Searched:
    """Search with the coarse clip, then with the largest constant and one more, then with four times that.

    The next clip is tried where the path that was found is no sequence of integers. Any of them is sound.
    """
    least = 1 + largest_constant(system)
    searched: Searched | None = None
    for clip in sorted({COARSE, max(COARSE, least), max(COARSE, 4 * least)}):
        searched = with_clip(system, clip, limits, progress)
        if searched.path is None or path_values(system, searched.path).feasible is not False:
            break
    assert searched is not None
    return searched


def with_clip(
    system: TransitionSystem, clip: int, limits: Limits, progress: Progress, kernels: tuple[ZoneKernel, ...] = ZONE_KERNELS
) -> Searched:
    """Search with one clip, in the first kernel that has room for the numbers."""
    for kernel in kernels[:-1]:
        try:
            return ZoneSearch(system, kernel, clip).run(limits, progress)
        except OverflowError:
            continue
    return ZoneSearch(system, kernels[-1], clip).run(limits, progress)


def largest_constant(system: TransitionSystem) -> int:
    """Return the largest absolute value that the program or its claims name, or that a variable starts with."""
    starts = [value for _, value in system.wide]
    return max(map(abs, (*starts, *constants_of(system.program, system.claims))), default=0)
