"""The compiled Karp-Miller search against the one in Python: the same coverability set, runs that replay, no overflow."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from rdma_robust.vass.cover import cover
from rdma_robust.vass.net_closure import closure
from rdma_robust.vass.net_engine import KERNELS, PYTHON, DownwardProof, Kernel
from rdma_robust.vass.net_kernel import Marking
from rdma_robust.vass.net_slice import Core, slice_net
from rdma_robust.vass.search import Limits
from tests.support.nets import check_result, make_net, random_program

WITH_FOREST = pytest.mark.skipif(KERNELS[0].forest is None, reason="the compiled search was not built")
MOST = 400


def leq(small: Marking, large: Marking) -> bool:
    values = dict(large)
    return all(values.get(p, 0) >= k for p, k in small)


def everything(core: Core, kernel: Kernel) -> set[Marking] | None:
    """The maximal markings of the coverability set of a core without targets, None if there are too many."""
    search = closure(core, kernel)
    steps = search.steps()
    while search.stored < MOST:
        try:
            next(steps)
        except StopIteration as end:
            assert isinstance(end.value, DownwardProof)
            limits = end.value.limits
            return {m for i, m in enumerate(limits) if not any(leq(m, o) for o in (*limits[:i], *limits[i + 1 :]) if m != o)}
    return None


@WITH_FOREST
def test_both_find_the_same_coverability_set() -> None:
    compared = with_omega = 0
    for seed in range(500):
        core = slice_net(random_program(Random(seed))).core
        if not core.guards:
            continue
        core = replace(core, targets=())
        python, compiled = everything(core, PYTHON), everything(core, KERNELS[0])
        if python is None or compiled is None:
            continue
        assert python == compiled, seed
        compared += 1
        with_omega += any(value == float("inf") for m in python for _, value in m)
    assert compared > 100
    assert with_omega > 20


@WITH_FOREST
def test_a_run_repeats_a_cycle_inside_a_cycle() -> None:
    """b grows by using up a, which grows by a cycle of its own, both on the shared token s."""
    s, t, a, b = range(4)
    rules: list[tuple[dict[int, int], dict[int, int]]] = [
        ({s: 1}, {a: 1, s: -1, t: 1}),
        ({t: 1}, {t: -1, s: 1}),
        ({s: 1, a: 3}, {s: -1, a: -3, t: 1, b: 2}),
    ]
    for wanted in (1, 9, 10**9):
        net = make_net(4, rules, [1, 0, 0, 0], [{b: wanted}])
        result = cover(net, Limits(), "karp-miller")
        check_result(net, result)
        assert result.run is not None


@WITH_FOREST
@pytest.mark.parametrize("most", [1 << 61, 10**30])
def test_numbers_beyond_a_machine_word_go_to_python(most: int) -> None:
    forest = KERNELS[0].forest
    at_once = make_net(2, [({0: 1}, {0: -1, 1: most})], [1, 0], [{1: most}])
    with pytest.raises(OverflowError):
        forest(slice_net(at_once).core)
    half = (1 << 60) - 1
    slowly = make_net(3, [({0: 1}, {0: -1, 1: half}), ({2: 1}, {2: -1, 1: half})], [1, 0, 1], [{1: 2 * half}])
    with pytest.raises(OverflowError):
        forest(slice_net(slowly).core).work(1000)
    for net in (at_once, slowly):
        result = cover(net, Limits(), "karp-miller")
        check_result(net, result)
        assert result.run is not None
