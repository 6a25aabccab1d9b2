"""Pairs of conditions that exclude each other: by their definition, as a proof, and as a first stage of one."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from rdma_robust.evidence.produce import invariant_evidence
from rdma_robust.limits import Limits
from rdma_robust.petri import exclusion, portfolio
from rdma_robust.petri.cover import cover
from rdma_robust.petri.engine import KERNELS, PYTHON, Finding, Kernel
from rdma_robust.petri.exclusion import Conditions, ExclusivePairs
from rdma_robust.petri.net import EnumeratedInvariant, StagedInvariant, UpwardInvariant
from rdma_robust.petri.slice import Core, slice_net
from rdma_robust.petri.spec.reader import read_spec
from tests.support.certificates import check_safe
from tests.support.nets import check_result, make_net, naive_coverable, random_net, random_program
from tests.support.relays import random_relay, random_relay_and_ring

KERNEL_NAMES = ["compiled", "python"][-len(KERNELS) :]
SHAPES = (random_net, random_program, random_relay, random_relay_and_ring)


def cores(number: int, seed: int) -> list[Core]:
    rng = Random(seed)
    found = [slice_net(SHAPES[i % 4](rng)).core for i in range(number)]
    return [core for core in found if core.guards and core.targets]


def ended(search: ExclusivePairs) -> Finding | None:
    steps = search.steps()
    while True:
        try:
            assert next(steps) >= 0
        except StopIteration as end:
            found: Finding | None = end.value
            return found


def by_definition(core: Core) -> set[tuple[int, int]]:
    """The pairs of conditions that may hold together: the least set closed under all transitions, by exact arithmetic."""
    conditions = Conditions(core)
    size = range(len(conditions))
    pairs_of = {(x, y): dict(conditions.cone([z for z in (x, y) if z])) for x in size for y in size}
    possible: set[tuple[int, int]] = set()

    def below(cone: dict[int, int], guard: dict[int, int], delta: dict[int, int]) -> bool:
        before = {p: max(guard.get(p, 0), cone.get(p, 0) - delta.get(p, 0)) for p in {*cone, *guard, *delta}}
        held = [0, *conditions.of(sorted(before.items()))]
        return all((x, y) in possible for x in held for y in held)

    while True:
        more = {
            pair
            for pair, cone in pairs_of.items()
            if pair not in possible
            and (
                all(core.initial[p] >= k for p, k in cone.items())
                or any(below(cone, dict(g), dict(d)) for g, d in zip(core.guards, core.deltas, strict=True))
            )
        }
        if not more:
            return possible
        possible |= more


@pytest.mark.parametrize("kernel", KERNELS, ids=KERNEL_NAMES)
def test_the_table_is_what_the_definition_says(kernel: Kernel) -> None:
    excluded = 0
    for core in cores(45, seed=1):
        search = ExclusivePairs(core, kernel)
        ended(search)
        conditions = Conditions(core)
        wanted = by_definition(core)
        for x in range(1, len(conditions)):
            for y in range(1, len(conditions)):
                told = search.excluding(conditions.cone((x, y)))
                weaker = conditions.of(conditions.cone((x, y)))
                assert (told is None) == all((a, b) in wanted for a in (0, *weaker) for b in weaker), (x, y)
                excluded += told is not None
    assert excluded > 500


def test_both_kernels_find_the_same_proofs() -> None:
    kinds = Counter[str]()
    for core in cores(800, seed=2):
        for reduce in (False, True):
            found = [ended(ExclusivePairs(core, kernel, reduce=reduce)) for kernel in (KERNELS[0], PYTHON)]
            assert found[0] == found[1]
            kinds[type(found[0]).__name__] += 1
    assert min(kinds[name] for name in ("UpwardProof", "ForbiddenCones", "NoneType")) > 10, kinds


def test_few_numbers_of_a_place_are_conditions() -> None:
    """A guard beyond them counts as the largest one, which proves less and nothing wrong."""
    many = make_net(2, [({0: k}, {0: -k, 1: k}) for k in range(1, 60)], [59, 0], [{1: 60}])
    core = slice_net(many).core
    conditions = Conditions(core)
    assert len(conditions) <= 1 + 2 * 12
    assert conditions.at(0, 10**400) == conditions.at(0, 59) > conditions.at(0, 3) > conditions.at(0, 0) == 0
    assert cover(many, Limits(), "pairs").cut == "incomplete"


def test_numbers_of_any_size() -> None:
    big = 10**1000
    rules = [({0: big}, {0: -big, 1: 1}), ({1: 1}, {1: -1, 0: big})]
    for target, safe in (({0: big, 1: 1}, True), ({0: big}, False)):
        result = cover(make_net(2, rules, [big, 0], [target]), Limits(), "pairs")
        assert isinstance(result.invariant, UpwardInvariant) == safe
        assert result.cut == ("" if safe else "incomplete")


LOCKED = """# b is entered only with the lock, of which there is one; the dead rules behind it would break everything
vars a1 b1 a2 b2 lock lost broken count
rules
  a1 >= 1, lock >= 1 -> a1' = a1 - 1, lock' = lock - 1, b1' = b1 + 1, count' = count + 1 ;
  b1 >= 1 -> b1' = b1 - 1, a1' = a1 + 1, lock' = lock + 1 ;
  a2 >= 1, lock >= 1 -> a2' = a2 - 1, lock' = lock - 1, b2' = b2 + 1 ;
  b2 >= 1 -> b2' = b2 - 1, a2' = a2 + 1, lock' = lock + 1 ;
  b1 >= 1, b2 >= 1 -> lost' = lost + 1 ;
  lost >= 1 -> lost' = lost - 1, broken' = broken + 1 ;
  a1 >= 1, b1 >= 1, count >= 1 -> count' = count - 1, broken' = broken + 1 ;
init a1 = 1, b1 = 0, a2 = 1, b2 = 0, lock = 1, lost = 0, broken = 0, count = 0
target TARGET
"""


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs come before all other engines, and one dead transition is enough to begin again without it."""
    monkeypatch.setattr(portfolio, "_PAIRS_START", -(10**9))
    monkeypatch.setattr(exclusion, "_DEAD", 10**9)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    "target", ("count >= 40", "broken >= 1", "lost >= 1\n lock >= 1, b1 >= 1", "lost >= 1\n count >= 3")
)
def test_a_net_without_its_dead_rules(target: str) -> None:
    net = read_spec(LOCKED.replace("TARGET", target), "locked")
    result = cover(net)
    assert check_result(net, result) == ("count" in target)
    if result.run is not None:
        assert set(result.run.unrolled()) <= {0, 1, 2, 3}
        assert result.run.target == target.count("\n")


@pytest.mark.ci
@pytest.mark.usefixtures("at_once")
def test_two_stages_agree_with_the_naive_search() -> None:
    """With the thresholds at zero: what is found in the rest of a net holds in the net."""
    answers = Counter[str]()
    rng = Random(3)
    for i in range(200):
        net = SHAPES[(1, 2, 3, 3)[i % 4]](rng)
        result = cover(net, Limits(states=20_000))
        wanted = naive_coverable(net, 20)
        found = check_result(net, result)
        assert wanted in (None, found), net
        answers[type(result.invariant).__name__ if result.run is None else "run"] += 1
        if result.invariant is not None:
            assert not isinstance(result.invariant, EnumeratedInvariant)
            assert check_safe(net, invariant_evidence(net, result.invariant))
    assert answers["run"] > 30
    assert answers["StagedInvariant"] > 10
    assert answers["UpwardInvariant"] > 5


@pytest.mark.long
@pytest.mark.usefixtures("at_once")
def test_two_stages_agree_with_the_naive_search_on_many_nets() -> None:
    rng = Random(4)
    staged = 0
    for i in range(2_000):
        net = SHAPES[(0, 1, 2, 3, 3)[i % 5]](rng)
        result = cover(net, Limits(states=20_000))
        assert naive_coverable(net, 20) in (None, check_result(net, result)), net
        staged += isinstance(result.invariant, StagedInvariant)
    assert staged > 40


def test_a_table_that_would_be_too_large_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    net = read_spec(LOCKED.replace("TARGET", "broken >= 1"), "locked")
    assert isinstance(cover(net, Limits(), "pairs").invariant, UpwardInvariant)
    monkeypatch.setattr(exclusion, "MOST", 5)
    assert cover(net, Limits(), "pairs").cut == "incomplete"
    assert not check_result(net, cover(net))
