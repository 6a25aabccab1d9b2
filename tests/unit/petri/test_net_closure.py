"""The compiled Karp-Miller search against the one in Python: the same coverability set, runs that replay, no overflow."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from rdma_robust.evidence.produce import cover_certificate
from rdma_robust.limits import Limits
from rdma_robust.petri.cover import cover
from rdma_robust.petri.engine import KERNELS, PYTHON, DownwardProof, FullEnumeration, Kernel, Steps
from rdma_robust.petri.forward import is_structurally_bounded, reachable_set
from rdma_robust.petri.kernel.loops import Marking
from rdma_robust.petri.net import EnumeratedInvariant, Net
from rdma_robust.petri.slice import Core, slice_net
from rdma_robust.reports.cover.cover_result import invariant_view
from tests.support.nets import check_result, make_net, random_program

WITH_FOREST = pytest.mark.skipif(KERNELS[0].forest is None, reason="the compiled search was not built")
MOST = 400
FOREST_ENDED = -2


def leq(small: Marking, large: Marking) -> bool:
    values = dict(large)
    return all(values.get(p, 0) >= k for p, k in small)


def everything(core: Core, kernel: Kernel) -> set[Marking] | None:
    """The maximal markings of the coverability set of a core without targets, None if there are too many."""
    search = reachable_set(core, kernel)
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
    for wanted in (1, 9, 60):
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


def one_by_one(core: Core) -> set[tuple[int, ...]]:
    """The reachable markings of a bounded core by definition."""
    found = {core.initial}
    waiting = [core.initial]
    while waiting:
        marking = waiting.pop()
        for guard, delta in zip(core.guards, core.deltas, strict=True):
            if all(marking[p] >= k for p, k in guard):
                change = dict(delta)
                after = tuple(tokens + change.get(p, 0) for p, tokens in enumerate(marking))
                if after not in found:
                    found.add(after)
                    waiting.append(after)
    return found


def ring(places: int, tokens: int, lost: bool) -> Net:
    """Tokens that go round, two at a time at one place, and perhaps get lost at another."""
    rules: list[tuple[dict[int, int], dict[int, int]]] = [({i: 1}, {i: -1, (i + 1) % places: 1}) for i in range(1, places)]
    rules.append(({0: 2}, {0: -2, 1: 2}))
    if lost:
        rules.append(({2: 1, 1: 1}, {2: -1}))
    start: list[int | None] = [tokens, *([0] * (places - 1))]
    return make_net(places, rules, start, [{1: tokens, 2: 1}])


@WITH_FOREST
@pytest.mark.parametrize(("places", "tokens", "lost"), [(3, 2, False), (4, 5, True), (5, 6, False), (70, 2, True)])
def test_markings_of_a_bounded_net_are_listed_each_once(places: int, tokens: int, lost: bool) -> None:
    core = replace(slice_net(ring(places, tokens, lost)).core, targets=())
    assert is_structurally_bounded(core)
    forest = KERNELS[0].forest(core, True)
    while forest.work(50)[0] != FOREST_ENDED:
        pass
    listed = [dict(forest.marking(node)) for node in forest.live_nodes()]
    wanted = one_by_one(core)
    assert len(listed) == len(wanted)
    assert {tuple(m.get(p, 0) for p in range(len(core.initial))) for m in listed} == wanted


def test_a_net_that_can_grow_is_not_seen_as_bounded() -> None:
    grows = make_net(2, [({0: 1}, {0: -1, 1: 2}), ({1: 1}, {1: -1, 0: 1})], [1, 0], [{1: 9}])
    assert not is_structurally_bounded(slice_net(grows).core)
    shrinks = make_net(2, [({0: 1}, {0: -1, 1: 2}), ({1: 2}, {1: -2, 0: 1})], [1, 0], [{1: 9}])
    assert is_structurally_bounded(slice_net(shrinks).core)


@WITH_FOREST
def test_too_many_markings_for_a_proof_still_give_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rdma_robust.petri.forward._LISTED", 0)
    core = slice_net(ring(5, 6, False)).core
    steps = reachable_set(core, KERNELS[0], one_by_one=True).steps()
    with pytest.raises(StopIteration) as end:
        while True:
            next(steps)
    assert end.value.value == FullEnumeration(len(one_by_one(core)))
    monkeypatch.setattr("rdma_robust.petri.portfolio.RootEquation.steps", never)
    monkeypatch.setattr("rdma_robust.petri.exclusion.Backward.steps", never)
    monkeypatch.setattr("rdma_robust.petri.forward.Forward.steps", never)
    net = ring(5, 6, False)
    result = cover(net, Limits())
    assert result.invariant == EnumeratedInvariant(len(one_by_one(core)))
    assert cover_certificate(net, "", result, None) is None
    assert invariant_view(result.invariant).size == len(one_by_one(core))


def never(_: object) -> Steps:
    yield 1
    return None
