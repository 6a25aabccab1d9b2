"""The two implementations of the kernel against each other and against the definitions, on random markings and nets."""

from __future__ import annotations

import math
import random

import pytest

from rdma_robust.certify.nets import check_unsafe
from rdma_robust.evidence.produce import run_evidence
from rdma_robust.limits import Limits
from rdma_robust.petri.cover import cover
from rdma_robust.petri.engine import KERNELS, PYTHON, Kernel
from rdma_robust.petri.kernel.loops import DEAD, Marking
from rdma_robust.petri.slice import Core, slice_net
from rdma_robust.reports.cover.cover_result import firing_sequence
from tests.support.nets import check_result, make_net, random_program

PLACES = 6
KERNEL_NAMES = ["compiled", "python"][-len(KERNELS) :]


def random_marking(rng: random.Random) -> Marking:
    places = sorted(rng.sample(range(PLACES), rng.randint(0, 4)))
    return tuple((p, math.inf if rng.random() < 0.2 else rng.randint(1, 3)) for p in places)


def leq(small: Marking, large: Marking) -> bool:
    values = dict(large)
    return all(values.get(p, 0) >= k for p, k in small)


def cores() -> list[Core]:
    found = [slice_net(random_program(random.Random(seed))).core for seed in range(400)]
    return [core for core in found if core.guards and core.targets]


@pytest.mark.parametrize("kernel", KERNELS, ids=KERNEL_NAMES)
def test_a_marking_set_answers_by_definition(kernel: Kernel) -> None:
    rng = random.Random(1)
    for _ in range(40):
        members: dict[int, Marking] = {}
        marking_set = kernel.marking_set(PLACES)
        for number in range(60):
            marking = random_marking(rng)
            below, above = marking_set.below(marking), marking_set.above(marking)
            smaller = {i for i, m in members.items() if leq(m, marking)}
            larger = {i for i, m in members.items() if leq(marking, m)}
            assert below in smaller if smaller else below == -1
            assert above in larger if larger else above == -1
            assert marking_set.all_above(marking) == sorted(larger)
            if len(larger) == 1:
                assert marking_set.above(marking, min(larger)) == -1
            members[number] = marking
            marking_set.add(number, marking)
            if rng.random() < 0.3:
                gone = rng.choice(sorted(members))
                del members[gone]
                marking_set.remove(gone)
                assert not marking_set.has(gone)
            assert marking_set.numbers() == sorted(members)
            assert len(marking_set) == len(members)


@pytest.mark.parametrize("kernel", KERNELS, ids=KERNEL_NAMES)
def test_a_tree_finds_the_smaller_ancestors(kernel: Kernel) -> None:
    rng = random.Random(2)
    tree = kernel.tree()
    markings: list[Marking] = []
    parents: list[int] = []
    for node in range(300):
        parents.append(rng.randint(max(-1, node - 5), node - 1))
        markings.append(random_marking(rng))
        tree.add(parents[node], markings[node])
        if rng.random() < 0.2:
            markings[node] = random_marking(rng)
            tree.replace(node, markings[node])
        ancestors, at = [], parents[node]
        while at >= 0:
            ancestors.append(at)
            at = parents[at]
        wanted = [a for a in ancestors if leq(markings[a], markings[node])]
        assert tree.smaller_ancestors(node) == (wanted, len(ancestors))


def test_both_kernels_fire_alike() -> None:
    rng = random.Random(3)
    compared = 0
    for core in cores():
        compiled, python = KERNELS[0].firing(core), PYTHON.firing(core)
        for _ in range(5):
            size = len(core.initial)
            marking = tuple((p, k) for p, k in random_marking(rng) if p < size)
            cone = tuple((p, k) for p, k in marking if k != math.inf)
            after = python.successors(marking)
            assert compiled.successors(marking) == after
            assert compiled.predecessors(cone) == python.predecessors(cone)
            for t in range(len(core.guards)):
                times, once = python.fire(t, marking, rng.randint(1, 4))
                assert compiled.fire(t, marking, times or 1) == (times, once)
                assert bool(times) == all(dict(marking).get(p, 0) >= k for p, k in core.guards[t])
            compared += len(after)
    assert compared > 200


def test_a_jump_is_as_many_single_steps() -> None:
    net = make_net(2, [({0: 3}, {0: -2, 1: 5})], [9, 0], [{1: 99}])
    core = slice_net(net).core
    for kernel in KERNELS:
        firing = kernel.firing(core)
        assert firing.fire(0, ((0, 9),), 100) == (4, ((0, 1), (1, 20)))
        assert firing.fire(0, ((0, math.inf), (1, 1)), 100) == (100, ((0, math.inf), (1, 501)))
        assert firing.fire(0, ((0, 2),), 1) == (0, ((0, 2),))


def test_both_kernels_find_relaxed_plans_alike() -> None:
    rng = random.Random(4)
    dead = 0
    for core in cores():
        compiled, python = KERNELS[0].relaxation(core), PYTHON.relaxation(core)
        for _ in range(5):
            marking = tuple((p, k) for p, k in random_marking(rng) if p < len(core.initial))
            length, plan = python.plan(marking)
            assert compiled.plan(marking) == (length, plan)
            assert compiled.limit(marking) == python.limit(marking)
            if length == DEAD:
                dead += 1
                assert not any(leq(target, python.limit(marking)) for target in core.targets)
    assert dead > 20


def test_numbers_may_outgrow_the_compiled_kernel_during_a_search() -> None:
    """Each level has 2**16 times as many tokens; the fourth no longer fits, and its run has 2**80 steps."""
    weight = 2**16
    rules = [({i: 1}, {i: -1, i + 1: weight}) for i in range(5)]
    net = make_net(7, [*rules, ({5: weight**5}, {6: 1})], [1, 0, 0, 0, 0, 0, 0], [{6: 1}])
    run = cover(net, Limits(states=200), "forward").run
    assert run is not None
    assert run.length > weight**4
    assert len(run.transitions) < 20
    assert firing_sequence(net, run, False).length == run.length
    assert check_unsafe(net, run_evidence(net, run.start, run.transitions, run.target))
    above = make_net(7, [*rules, ({5: weight**5 + 1}, {6: 1})], [1, 0, 0, 0, 0, 0, 0], [{6: 1}])
    result = cover(above, Limits(states=200), "state-equation")
    assert result.cut == "incomplete" or not check_result(above, result)


@pytest.mark.parametrize("engine", ["auto", "backward", "forward", "karp-miller"])
def test_engines_agree_in_python(engine: str) -> None:
    decided = {True: 0, False: 0}
    for seed in range(400, 500):
        net = random_program(random.Random(seed))
        result = cover(net, Limits(states=2_000), engine, kernels=(PYTHON,))
        other = cover(net, Limits(states=2_000), engine)
        if not result.cut and not other.cut:
            found = check_result(net, result)
            assert found == check_result(net, other)
            decided[found] += 1
    assert min(decided.values()) > 5
