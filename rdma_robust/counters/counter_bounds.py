"""Bounds of the counters of a counter program, for those that have one: the longest path of the process graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rdma_robust.counters.program import Add, Body, CounterProgram, LazyBranches, ProcessGraph

Gains = Mapping[str, int]
"""What a path of statements adds to each counter that it touches."""


def counter_bounds(program: CounterProgram[Any]) -> dict[str, int | None]:
    """Return for every counter an upper bound on its values in all runs, or None where none is found.

    A counter touched by one process only, whose graph has no cycle that increases it, is at most the weight of the
    heaviest path from the entry: guards and decrements that would block are ignored, which only adds paths.
    """
    if not program.counters:
        return {}
    owners: dict[str, list[dict[int, list[tuple[int, int]]]]] = {c: [] for c in program.counters}
    entries: dict[str, int] = {}
    for process in program.processes:
        for counter, steps in _steps(process).items():
            owners[counter].append(steps)
            entries[counter] = process.entry
    bounds = {
        c: _heaviest(entries[c], found[0]) if len(found) == 1 else (None if found else 0) for c, found in owners.items()
    }
    for small, large in program.below:
        bounds[small] = min((b for b in (bounds[small], bounds[large]) if b is not None), default=None)
    return bounds


def _steps(process: ProcessGraph[Any]) -> dict[str, dict[int, list[tuple[int, int]]]]:
    """For every counter that the process touches and every location where it goes on to, and the most that this adds."""
    most = [(c.source, c.target, list(_gains(c.body, {}))) for c in process.commands]
    touched = sorted({counter for _, _, leaves in most for gains in leaves for counter in gains})
    found: dict[str, dict[int, list[tuple[int, int]]]] = {}
    for counter in touched:
        steps = found[counter] = {}
        for source, target, leaves in most:
            if leaves:
                steps.setdefault(source, []).append((target, max(gains.get(counter, 0) for gains in leaves)))
    return found


def _gains(body: Body[Any], before: Gains) -> Iterator[Gains]:
    """Yield what every root-to-leaf path adds."""
    gains = before
    for s in body.statements:
        if isinstance(s, Add):
            gains = {**gains, s.counter: gains.get(s.counter, 0) + s.amount}
    if body.labels:
        yield gains
    then: Sequence[Body[Any]] = body.then.outline if isinstance(body.then, LazyBranches) else body.then
    for branch in then:
        yield from _gains(branch, gains)


def _heaviest(entry: int, steps: Mapping[int, Sequence[tuple[int, int]]]) -> int | None:
    """The weight of the heaviest path from the entry, None if there is a cycle that adds.

    A path that does not come to a step twice weighs at most all gains together.
    """
    all_gains = sum(max(0, gain) for leaving in steps.values() for _, gain in leaving)
    weight = {entry: 0}
    todo = deque([entry])
    while todo:
        at = todo.popleft()
        for target, gain in steps.get(at, ()):
            there = weight[at] + gain
            if there > all_gains:
                return None
            if target not in weight or there > weight[target]:
                weight[target] = there
                todo.append(target)
    return max(weight.values())
