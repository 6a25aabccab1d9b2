"""Every coverability engine against a naive search, and every answer against the definitions."""

from __future__ import annotations

import random

import pytest

from rdma_robust.errors import UsageError
from rdma_robust.limits import Limits
from rdma_robust.petri.cover import COVER_ENGINES, cover
from rdma_robust.petri.net import LinearInvariant, Net
from tests.support.nets import check_result, make_net, naive_coverable, random_net, random_program

SAFE_ONLY = {"state-equation", "pairs"}
"""Engines that never find a run."""
COMPLETE = [name for name in COVER_ENGINES if name not in {"bfs", *SAFE_ONLY}]


def decide(net: Net, engine: str) -> bool:
    return check_result(net, cover(net, Limits(states=20_000), engine))


@pytest.mark.ci
@pytest.mark.parametrize("engine", COVER_ENGINES)
def test_an_engine_agrees_with_the_naive_search(engine: str) -> None:
    decided = {True: 0, False: 0}
    for seed in range(300):
        net = (random_program if seed % 3 == 0 else random_net)(random.Random(seed))
        wanted = naive_coverable(net, 25)
        result = cover(net, Limits(states=300 if engine == "bfs" else 20_000), engine)
        if result.cut:
            assert engine in {"bfs", *SAFE_ONLY}
            continue
        found = check_result(net, result)
        decided[found] += 1
        assert wanted is None or found == wanted, seed
    assert decided[False] > 80
    assert decided[True] > 50 or engine in SAFE_ONLY


@pytest.mark.parametrize("engine", COMPLETE)
@pytest.mark.parametrize(("amount", "reached"), [(90, True), (91, False)])
def test_large_weights(engine: str, amount: int, reached: bool) -> None:
    net = make_net(3, [({0: 1}, {0: -1, 1: 45}), ({1: 90}, {1: -90, 2: 90})], [2, 0, 0], [{2: amount}])
    assert decide(net, engine) == reached


@pytest.mark.parametrize("engine", COVER_ENGINES)
def test_numbers_beyond_machine_words(engine: str) -> None:
    big = 10**30
    net = make_net(2, [({0: big}, {0: -big, 1: big + 1})], [big, 0], [{1: big + 1}])
    if engine not in SAFE_ONLY:
        assert decide(net, engine)
    above = make_net(2, [({0: big}, {0: -big, 1: big + 1})], [big, 0], [{1: big + 2}])
    result = cover(above, Limits(), engine)
    assert result.cut == "incomplete" or not check_result(above, result)


@pytest.mark.parametrize("engine", [name for name in COMPLETE if name != "backward"])
def test_omegas_are_realised(engine: str) -> None:
    """p0 pumps p1, p1 feeds p2 two for one, and the switch p3 stops the pump."""
    rules = [({0: 1}, {1: 1}), ({0: 1}, {0: -1, 3: 1}), ({1: 2, 3: 1}, {1: -2, 2: 1}), ({2: 2, 3: 1}, {2: -2, 4: 1})]
    net = make_net(5, rules, [1, 0, 0, 0, 0], [{4: 50}])
    assert decide(net, engine)


def test_a_target_that_nothing_can_mark_needs_no_search() -> None:
    net = make_net(3, [({1: 1}, {2: 1})], [1, 0, 0], [{2: 1}])
    result = cover(net)
    assert result.invariant == LinearInvariant((0,), ((),))
    assert not check_result(net, result)


def test_limits_are_named() -> None:
    rules = [({0: 1}, {0: -1, 1: 2}), ({1: 1}, {1: -1, 2: 2}), ({2: 3, 1: 1}, {2: -3, 0: 2})]
    net = make_net(4, [*rules, ({0: 10**9}, {3: 1})], [5, 0, 0, 0], [{3: 1}])
    assert cover(net, Limits(states=20), "bfs").cut == "states"
    assert cover(net, Limits(deadline=0.0), "karp-miller").cut == "time"
    assert cover(net, Limits(memory=1), "backward").cut == "memory"
    assert cover(make_net(1, [], [0], []), Limits(deadline=0.0)).invariant == LinearInvariant((), ())


def test_an_unknown_engine_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="karp-miller"):
        cover(make_net(1, [], [0], []), engine="magic")
