"""Dead variables of a process: set to 0, so that states that differ in nothing else become one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from rdma_robust.counters.promela.body_paths import Path
from rdma_robust.expr import Const, names

Step = tuple[int, int, Path]
"""From a location to a location of one process."""


def reset_dead(steps: Sequence[Step], looked_at: Iterable[tuple[int, str]], own: Collection[str]) -> list[Path]:
    """Return the paths of `steps`, each also setting to 0 what dies on it of `own`, the variables of this process alone.

    `looked_at` are the variables that somebody looks at in a location without leaving it. A variable is dead in a location
    if on every way from there it is assigned before it is read.
    """
    live: dict[int, set[str]] = {}
    for place, name in looked_at:
        live.setdefault(place, set()).add(name)
    effects = [_reads_and_writes(path) for _, _, path in steps]
    into: dict[int, list[int]] = {}
    for number, (_, target, _) in enumerate(steps):
        into.setdefault(target, []).append(number)
    todo = list(range(len(steps)))
    while todo:
        number = todo.pop()
        source, target, _ = steps[number]
        reads, writes = effects[number]
        new = (reads | (live.get(target, set()) - writes)) & set(own)
        known = live.setdefault(source, set())
        if not new <= known:
            known |= new
            todo += into.get(source, [])
    result = []
    for (source, target, path), (_, writes) in zip(steps, effects, strict=True):
        dying = sorted(((live.get(source, set()) | writes) & set(own)) - live.get(target, set()))
        kept = tuple(step for step in path.steps if not (len(step) == 1 and _pointless(step[0][0], dying, path)))
        result.append(replace(path, steps=(*kept, *(((name, Const(0)),) for name in dying))))
    return result


def _pointless(name: str, dying: Collection[str], path: Path) -> bool:
    """Whether assignments to the name have no use: it dies, and nothing on the path reads it."""
    return name in dying and all(name not in names(value) for step in path.steps for _, value in step)


def _reads_and_writes(path: Path) -> tuple[set[str], set[str]]:
    """What the path reads before assigning it, and what it assigns."""
    reads = set(names(path.guard))
    writes: set[str] = set()
    for step in path.steps:
        reads |= {name for _, value in step for name in names(value)} - writes
        writes |= {name for name, _ in step}
    return reads, writes
