"""Can a target of a counting system be covered? Karp and Miller's tree as in the book, with copycats if wanted.

The second implementation that searches of the package are compared with: depth-first, on dictionaries, with nothing clever.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf
from typing import Any

from rdma_robust.counting.protocol import CountingSystem

Marking = dict[Any, float]


@dataclass(frozen=True)
class Found:
    """The index of a target, -1 for none, None if `most` markings were not enough; and how many there were."""

    target: int | None
    markings: int
    finite: bool
    """Whether some token was counted."""


def cover(system: CountingSystem[Any, Any, Any], most: int = 100_000, *, copycats: bool = True) -> Found:
    """Search for a target."""
    fresh = set(system.fresh)
    kept: dict[Any, list[Marking]] = {}
    todo: list[tuple[Any, Marking, Any]] = [(system.initial, {}, None)]
    stored, finite = 0, False
    while todo:
        control, marking, ancestors = todo.pop()
        if (target := system.target(control)) >= 0:
            return Found(target, stored, finite)
        marking = {local: n for local, n in marking.items() if not system.idle(control, local)}
        accelerated(control, marking, ancestors)
        if copycats:
            saturate(system, control, marking, fresh)
        if any(covers(old, marking) for old in kept.get(control, ())):
            continue
        if stored >= most:
            return Found(None, stored, finite)
        stored += 1
        kept.setdefault(control, []).append(marking)
        finite = finite or any(n != inf for n in marking.values())
        here = (control, marking, ancestors)
        for move in system.moves(control, list(marking)):
            after = fired(marking, fresh, move)
            if after is not None:
                if copycats:
                    pump(system, marking, fresh, move, after)
                todo.append((move.control, after, here))
    return Found(-1, stored, finite)


def fired(marking: Marking, fresh: set[Any], move: Any) -> Marking | None:
    """The marking after a move, None if it is not enabled."""
    after = dict(marking)
    for local, number in Counter(move.takes).items():
        if local not in fresh:
            if after.get(local, 0) < number:
                return None
            after[local] -= number
            if not after[local]:
                del after[local]
    for local in move.gives:
        if local not in fresh:
            after[local] = after.get(local, 0) + 1
    return after


def pump(system: CountingSystem[Any, Any, Any], before: Marking, fresh: set[Any], move: Any, after: Marking) -> None:
    """Copycats: if what is taken is there without end and the same move can be made again, so is what it gives."""
    if not all(local in fresh or before.get(local) == inf for local in move.takes):
        return
    for again in system.moves(move.control, list(after)):
        if (again.takes, again.control, again.gives) == (move.takes, move.control, move.gives):
            after.update((local, inf) for local in move.gives if local not in fresh)
            return


def saturate(system: CountingSystem[Any, Any, Any], control: Any, marking: Marking, fresh: set[Any]) -> None:
    """What moves without an end from where there is no end, and leaves the control state as it is, is there without end."""
    while True:
        given = {
            local
            for move in system.moves(control, list(marking))
            if move.control == control and all(local in fresh or marking.get(local) == inf for local in move.takes)
            for local in move.gives
            if local not in fresh and marking.get(local) != inf and not system.idle(control, local)
        }
        if not given:
            return
        marking.update(dict.fromkeys(given, inf))


def accelerated(control: Any, marking: Marking, ancestors: Any) -> None:
    """What is more than at an ancestor with the same control state can be any number."""
    while ancestors is not None:
        other, before, ancestors = ancestors
        if other == control and covers(marking, before):
            marking.update((local, inf) for local, n in marking.items() if n > before.get(local, 0))


def covers(larger: Marking, smaller: Marking) -> bool:
    return all(larger.get(local, 0) >= number for local, number in smaller.items())
