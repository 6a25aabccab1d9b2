"""Firing sequences with loops: read, and their effect computed without firing loops round by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.certify.document import json_array, json_members, mapping, natural, reject
from rdma_robust.petri.net import NetTransition

DEEPEST: Final = 40


@dataclass(frozen=True, slots=True)
class FiringLoop:
    """`body`, fired `times` times in a row."""

    times: int
    body: tuple[Firing, ...]


Firing = int | FiringLoop
"""The index of a transition, or a loop."""


@dataclass(frozen=True, slots=True)
class FiringEffect:
    """The tokens that a firing sequence needs at its start at least, and how it changes the marking, by place; 0 where
    not named."""

    least: Mapping[int, int]
    change: Mapping[int, int]


def read_firings(value: object, where: str, transitions: int, depth: int = 0) -> tuple[Firing, ...]:
    """Read a firing sequence over so many transitions. Raises InvalidCertificate."""
    if depth > DEEPEST:
        reject(f"`evidence.firing` has loops nested more than {DEEPEST} deep")

    def firing(item: object, at: str) -> Firing:
        if isinstance(item, dict):
            loop = json_members(mapping(item, at), at, ("times", "of"))
            return FiringLoop(
                natural(loop["times"], f"{at}.times"), read_firings(loop["of"], f"{at}.of", transitions, depth + 1)
            )
        number = natural(item, at)
        return number if number < transitions else reject(f"{at} is {number}, and the net has {transitions} rules")

    return tuple(json_array(value, where, firing))


def effect_of(firings: Sequence[Firing], transitions: Sequence[NetTransition]) -> FiringEffect:
    """Return the effect of a firing sequence, exactly and without firing loops one by one."""
    least: dict[int, int] = {}
    change: dict[int, int] = {}
    for firing in firings:
        if isinstance(firing, FiringLoop):
            part = _repeated(effect_of(firing.body, transitions), firing.times)
        else:
            part = FiringEffect(dict(transitions[firing].guard), dict(transitions[firing].delta))
        for place, tokens in part.least.items():
            least[place] = max(least.get(place, 0), tokens - change.get(place, 0))
        for place, tokens in part.change.items():
            change[place] = change.get(place, 0) + tokens
    return FiringEffect(least, change)


def _repeated(once: FiringEffect, times: int) -> FiringEffect:
    """The last round needs most where a round takes tokens away, the first where it does not."""
    if times == 0:
        return FiringEffect({}, {})
    least = {p: n + (times - 1) * max(0, -once.change.get(p, 0)) for p, n in once.least.items()}
    return FiringEffect(least, {p: n * times for p, n in once.change.items()})
