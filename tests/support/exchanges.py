"""Whether exchanges of like threads leave a lowered program the same: on states that are reachable, and on their images."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rdma_robust.counters.lower import LoweredProgram
from rdma_robust.counters.permutations import State


def reachable(lowered: LoweredProgram[Any], most: int) -> list[State]:
    """The first states that are reachable, oldest first."""
    found = {lowered.initial: None}
    todo = [lowered.initial]
    while todo and len(found) < most:
        state = todo.pop(0)
        new = [after for _, after, _ in lowered.successors(state) if after not in found]
        found.update(dict.fromkeys(new))
        todo += dict.fromkeys(new)
    return list(found)


def broken(lowered: LoweredProgram[Any], most: int = 200) -> str:
    """What is not the same after an exchange; empty if everything is."""
    arranger = lowered.arranger
    assert arranger is not None
    for state in reachable(lowered, most):
        after = [to for _, to, _ in lowered.successors(state)]
        for exchange in arranger.exchanges:
            image = exchange(state)
            if exchange(image) != state:
                return f"an exchange is no involution in {named(lowered, state)}"
            if (lowered.target(state) >= 0) != (lowered.target(image) >= 0):
                return f"a target holds on one side of {named(lowered, state)} only"
            if lowered.rank(state) != lowered.rank(image) or lowered.hopeless(state) != lowered.hopeless(image):
                return f"one side of {named(lowered, state)} is hopeless"
            mapped, found = Counter(map(exchange, after)), Counter(to for _, to, _ in lowered.successors(image))
            if mapped != found:
                left, right = (
                    named(lowered, s) for s in (next(iter(mapped - found), state), next(iter(found - mapped), state))
                )
                return f"from {named(lowered, state)} there are other steps: {left} against {right}"
    return ""


def named(lowered: LoweredProgram[Any], state: State) -> dict[str, int]:
    """The fields of a state that are not 0."""
    return {name: value for name, value in zip(lowered.fields, state, strict=True) if value}
