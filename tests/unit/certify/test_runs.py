"""Firing sequences with loops: the same sequence in fewer words, and the same effect without firing loops one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from rdma_robust.certify.firing import Firing, FiringEffect, FiringLoop, effect_of, read_firings
from rdma_robust.evidence.produce import compressed, show_firings
from rdma_robust.petri.net import NetTransition
from tests.support.random_nets import random_net

FIRINGS: st.SearchStrategy[Firing] = st.recursive(
    st.integers(0, 2),
    lambda inner: st.builds(FiringLoop, st.integers(0, 4), st.lists(inner, max_size=3).map(tuple)),
    max_leaves=6,
)


def flat(firings: Sequence[Firing]) -> Iterator[int]:
    for firing in firings:
        if isinstance(firing, FiringLoop):
            for _ in range(firing.times):
                yield from flat(firing.body)
        else:
            yield firing


def length(firings: Sequence[Firing]) -> int:
    return sum(1 + (length(f.body) if isinstance(f, FiringLoop) else 0) for f in firings)


@given(st.lists(st.integers(0, 2), max_size=40))
def test_compressing_changes_nothing(transitions: list[int]) -> None:
    firings = compressed(transitions)
    assert list(flat(firings)) == transitions
    assert read_firings(show_firings(firings), "firing", 3) == firings


def test_pumped_runs_become_short() -> None:
    pumped = [0, *[1] * 20_000, *[2, 3, 3, 3] * 2_000, 4]
    assert length(compressed(pumped)) == 8
    nested = ([5] * 9 + [6]) * 500
    assert compressed(nested) == (FiringLoop(500, (FiringLoop(9, (5,)), 6)),)
    rng = Random(1)
    mixed = [rng.randrange(4) for _ in range(1_000)]
    assert list(flat(compressed(mixed))) == mixed


@given(st.lists(FIRINGS, max_size=5), st.integers(0, 10_000))
def test_effects_are_those_of_firing_one_by_one(firings: list[Firing], seed: int) -> None:
    net = random_net(Random(seed))
    known = [net.transitions[i % len(net.transitions)] for i in range(3)]
    assert plain(effect_of(firings, known)) == plain(one_by_one(firings, known))


def one_by_one(firings: Sequence[Firing], transitions: Sequence[NetTransition]) -> FiringEffect:
    """Fire backwards for what is needed, forwards for the change."""
    need: dict[int, int] = {}
    change: dict[int, int] = {}
    for number in reversed(list(flat(firings))):
        delta = dict(transitions[number].delta)
        guard = dict(transitions[number].guard)
        for p in {*need, *guard, *delta}:
            need[p] = max(guard.get(p, 0), need.get(p, 0) - delta.get(p, 0), 0)
        for p, n in delta.items():
            change[p] = change.get(p, 0) + n
    return FiringEffect(need, change)


def plain(effect: FiringEffect) -> tuple[dict[int, int], dict[int, int]]:
    return ({p: n for p, n in effect.least.items() if n}, {p: n for p, n in effect.change.items() if n})
