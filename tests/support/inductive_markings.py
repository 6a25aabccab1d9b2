"""An independent check that what is below a set of omega-markings is closed under moves and holds no target.

Nothing is shared with the searches: the check walks through names, not numbers, and remembers nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rdma_robust.counting.protocol import A, C, CountingMove, CountingSystem, L, OmegaMarking


def why_not_inductive(
    system: CountingSystem[C, L, A], markings: Iterable[OmegaMarking[C, L]], *, drop_idle: bool = True
) -> str:
    """Return '' if the set below `markings` has the initial marking, no target, and all that moves lead to from it.

    Otherwise a sentence that says what is missing. With `drop_idle`, tokens that are idle after a move are forgotten.
    """
    by_control: dict[C, list[OmegaMarking[C, L]]] = {}
    for marking in markings:
        by_control.setdefault(marking.control, []).append(marking)
    fresh = set(system.fresh)
    if system.initial not in by_control:
        return "the initial control state is missing"
    for control, those in by_control.items():
        if system.target(control) >= 0:
            return f"a target holds at {control!r}"
        for marking in those:
            unlimited = fresh.union(marking.unlimited)
            counted = dict(marking.counted)
            for move in system.moves(control, tuple(unlimited.union(counted))):
                after = _after(move, unlimited, counted)
                if after is None:
                    continue
                left = {
                    local
                    for local in unlimited
                    if not (drop_idle and local not in fresh and system.idle(move.control, local))
                }
                few = {local: n for local, n in after.items() if not (drop_idle and system.idle(move.control, local))}
                if not any(_below(left - fresh, few, other) for other in by_control.get(move.control, ())):
                    return f"from {marking!r} the move {move!r} leads out of the set"
    return ""


def _after(move: CountingMove[C, L, A], unlimited: set[L], counted: dict[L, int]) -> dict[L, int] | None:
    left = Counter(counted)
    for local, count in Counter(move.takes).items():
        if local not in unlimited:
            if left[local] < count:
                return None
            left[local] -= count
    left.update(local for local in move.gives if local not in unlimited)
    return {local: count for local, count in left.items() if count}


def _below(unlimited: set[L], counted: dict[L, int], marking: OmegaMarking[C, L]) -> bool:
    if not unlimited <= set(marking.unlimited):
        return False
    most = dict(marking.counted)
    return all(local in marking.unlimited or most.get(local, 0) >= count for local, count in counted.items())
