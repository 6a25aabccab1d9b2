"""One entry for all searches over a counter program: picks the engine, and the compiled kernel where it is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from rdma_robust.counters.kernel import driver as kernel
from rdma_robust.counters.kernel.packing import UnsupportedError
from rdma_robust.counters.lower import LoweredProgram, lower, single
from rdma_robust.counters.program import CounterProgram
from rdma_robust.counters.searches import SearchResult, breadth_first, depth_first, karp_miller, realised
from rdma_robust.limits import Limits, Progress, ignore

Label = TypeVar("Label")

ENGINES: Final[Mapping[str, Callable[..., SearchResult]]] = {
    "bfs": breadth_first,
    "dfs": depth_first,
    "karp-miller": karp_miller,
}


@dataclass(frozen=True)
class CounterSearch(Generic[Label]):
    """The findings of a search: the index of the reached target or -1, the labels of a run to it, the labels of the
    transitions that were ever enabled (in no order that means anything), and the sizes and the limit in `result`.

    `dimension` counts the unbounded counters; `bytes` is the memory of a compiled search, 0 for one in Python, and `threads`
    have made it, or `processes` that had a part of the states each.
    """

    engine: str
    compiled: bool
    dimension: int
    result: SearchResult
    run: list[Label]
    fired: list[Label]
    bytes: int = 0
    threads: int = 1
    processes: int = 0


def explore(
    program: CounterProgram[Label],
    limits: Limits,
    progress: Progress = ignore,
    *,
    engine: str = "auto",
    reduce: bool = True,
    compiled: bool = True,
) -> CounterSearch[Label]:
    """Search for a target of `program`, see :func:`explore_lowered`."""
    return explore_lowered(lower(program), limits, progress, engine=engine, reduce=reduce, compiled=compiled)


def explore_lowered(
    lowered: LoweredProgram[Label],
    limits: Limits,
    progress: Progress = ignore,
    *,
    engine: str = "auto",
    reduce: bool = True,
    compiled: bool = True,
    accept: Callable[[int, Sequence[Label]], bool] | None = None,
) -> CounterSearch[Label]:
    """Search for a target of a lowered program.

    `engine` is a name in ENGINES, or `auto`: `karp-miller` if there are unbounded counters, else `dfs`. `reduce` allows
    partial-order reduction. `compiled` allows the kernel, which gives the same answer, sizes and run as the search in
    Python; that one is used where the kernel is missing or its numbers are too small for the program. With `accept` the
    search goes on behind targets with a run that it does not accept, in Python; it tries one run for each control state.
    """
    dimension = lowered.dimension
    if engine == "auto":
        engine = "karp-miller" if dimension else "dfs"
    if compiled and kernel.AVAILABLE and accept is None:
        try:
            found = kernel.search(lowered.program, lowered.bounds, limits, progress, engine=engine, reduce=reduce)
        except UnsupportedError:
            pass
        else:
            result, run = found.result, found.run
            if found.kept:
                target, ids = realised(lowered, found.kept, reduce)
                result, run = replace(result, target=target, run=ids), single(lowered.labels[i] for i in ids)
            return CounterSearch(engine, True, dimension, result, run, found.fired, found.bytes, found.threads, found.parts)
    if accept is None:
        result = ENGINES[engine](lowered, limits, progress, reduce)
    else:

        def accepted(target: int, ids: Sequence[int]) -> bool:
            return accept(target, single(lowered.labels[i] for i in ids))

        result = ENGINES[engine](lowered, limits, progress, reduce, accepted)
    run, fired = (single(lowered.labels[i] for i in ids) for ids in (result.run, sorted(result.fired)))
    return CounterSearch(engine, False, dimension, result, run, list(dict.fromkeys(fired)))
