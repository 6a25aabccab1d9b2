"""Firing sequences with loops, so that a run that pumps a place a million times stays a few lines long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.certify.document import array, mapping, members, natural, reject
from rdma_robust.petri.net import NetTransition

LONGEST_BODY: Final = 400
"""Transitions of the longest loop body that is looked for."""

WORK: Final = 4_000_000
"""Comparisons spent at most on finding loops."""

DEEPEST: Final = 40


@dataclass(frozen=True, slots=True)
class Loop:
    """`body`, fired `times` times in a row."""

    times: int
    body: tuple[Firing, ...]


Firing = int | Loop
"""The index of a transition, or a loop."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a firing sequence needs at its start at least and how it changes the marking, by place; 0 where not named."""

    least: Mapping[int, int]
    change: Mapping[int, int]


def compressed(transitions: Sequence[Firing]) -> tuple[Firing, ...]:
    """Return the same firing sequence with repetitions as loops, the shortest bodies first, loops of loops included."""
    sequence: list[Firing] = list(transitions)
    work = 0
    length = 1
    while length <= min(LONGEST_BODY, len(sequence) // 2) and work < WORK:
        work += len(sequence)
        sequence = list(_folded(sequence, length))
        length += 1
    return tuple(sequence)


def _folded(sequence: Sequence[Firing], length: int) -> Iterator[Firing]:
    """Yield `sequence` with every block of `length` firings that is repeated at once made a loop."""
    same = 0
    at = 0
    while at < len(sequence):
        while at + same + length < len(sequence) and sequence[at + same] == sequence[at + same + length]:
            same += 1
        times = same // length + 1
        if times > 1 and (length > 1 or times > 2):
            yield Loop(times, tuple(sequence[at : at + length]))
            at += times * length
            same = 0
        else:
            yield sequence[at]
            at += 1
            same = max(0, same - 1)


def show_firings(firings: Sequence[Firing]) -> list[object]:
    """Return a firing sequence as JSON."""
    return [f if isinstance(f, int) else {"times": f.times, "of": show_firings(f.body)} for f in firings]


def read_firings(value: object, where: str, transitions: int, depth: int = 0) -> tuple[Firing, ...]:
    """Read a firing sequence over so many transitions. Raises InvalidCertificate."""
    if depth > DEEPEST:
        reject(f"`evidence.firing` has loops nested more than {DEEPEST} deep")

    def firing(item: object, at: str) -> Firing:
        if isinstance(item, dict):
            loop = members(mapping(item, at), at, ("times", "of"))
            return Loop(natural(loop["times"], f"{at}.times"), read_firings(loop["of"], f"{at}.of", transitions, depth + 1))
        number = natural(item, at)
        return number if number < transitions else reject(f"{at} is {number}, and the net has {transitions} rules")

    return tuple(array(value, where, firing))


def effect_of(firings: Sequence[Firing], transitions: Sequence[NetTransition]) -> Effect:
    """Return the effect of a firing sequence, exactly and without firing loops one by one."""
    least: dict[int, int] = {}
    change: dict[int, int] = {}
    for firing in firings:
        if isinstance(firing, Loop):
            part = _repeated(effect_of(firing.body, transitions), firing.times)
        else:
            part = Effect(dict(transitions[firing].guard), dict(transitions[firing].delta))
        for place, tokens in part.least.items():
            least[place] = max(least.get(place, 0), tokens - change.get(place, 0))
        for place, tokens in part.change.items():
            change[place] = change.get(place, 0) + tokens
    return Effect(least, change)


def _repeated(once: Effect, times: int) -> Effect:
    """The last round needs most where a round takes tokens away, the first where it does not."""
    if times == 0:
        return Effect({}, {})
    least = {p: n + (times - 1) * max(0, -once.change.get(p, 0)) for p, n in once.least.items()}
    return Effect(least, {p: n * times for p, n in once.change.items()})
