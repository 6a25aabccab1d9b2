"""Traps, against their definition on all subsets of the places of small nets."""

from __future__ import annotations

from itertools import combinations
from random import Random

from rdma_robust.petri.cover import cover
from rdma_robust.petri.net import UpwardInvariant
from rdma_robust.petri.slice import Core, slice_net
from rdma_robust.petri.spec.reader import read_spec
from rdma_robust.petri.state_equation import Traps
from tests.support.nets import check_result
from tests.support.random_nets import random_net

THREE = 3


def one_bit(processes: int) -> str:
    """Lamport's one-bit algorithm as a net: the flag goes up, then the others' flags must be down, one after the other."""
    places: list[str] = []
    rules: list[str] = []
    for i in range(processes):
        places += [f"idle{i}", f"down{i}", f"up{i}", f"in{i}", *(f"asks{i}_{j}" for j in range(processes))]
        rules.append(
            f"idle{i} >= 1, down{i} >= 1 -> idle{i}'=idle{i}-1, down{i}'=down{i}-1, up{i}'=up{i}+1, asks{i}_0'=asks{i}_0+1;"
        )
        for j in range(processes):
            then = f"asks{i}_{j + 1}" if j + 1 < processes else f"in{i}"
            guard = "" if i == j else f", down{j} >= 1"
            rules.append(f"asks{i}_{j} >= 1{guard} -> asks{i}_{j}'=asks{i}_{j}-1, {then}'={then}+1;")
        rules.append(f"in{i} >= 1, up{i} >= 1 -> in{i}'=in{i}-1, up{i}'=up{i}-1, idle{i}'=idle{i}+1, down{i}'=down{i}+1;")
    init = ", ".join(f"{p}={int(p.startswith(('idle', 'down')))}" for p in places)
    targets = "\n".join(f"in{i} >= 1, in{j} >= 1" for i, j in combinations(range(processes), 2))
    return "\n".join(["vars", " ".join(places), "rules", *rules, "init", init, "target", targets])


def is_trap(core: Core, places: frozenset[int]) -> bool:
    for guard, delta in zip(core.guards, core.deltas, strict=True):
        held, change = dict(guard), dict(delta)
        if any(change.get(p, 0) < 0 for p in places) and all(held.get(p, 0) + change.get(p, 0) <= 0 for p in places):
            return False
    return True


def subsets(places: frozenset[int]) -> list[frozenset[int]]:
    return [frozenset(some) for size in range(len(places) + 1) for some in combinations(sorted(places), size)]


def test_the_largest_trap_is_the_union_of_all() -> None:
    rng = Random(3)
    marked = 0
    for _ in range(300):
        core = slice_net(random_net(rng)).core
        within = frozenset(p for p in range(len(core.initial)) if rng.random() < 0.8)
        traps = Traps(core)
        expected = frozenset[int]().union(*(some for some in subsets(within) if is_trap(core, some)))
        largest = traps.largest(within)
        assert largest == expected
        if traps.marked(largest):
            marked += 1
            small = traps.small(largest)
            assert is_trap(core, small)
            assert traps.marked(small)
            assert not any(is_trap(core, some) and traps.marked(some) for some in subsets(small) if some != small)
    assert marked > 50


def test_mutual_exclusion_by_flags_needs_traps() -> None:
    net = read_spec(one_bit(THREE), "one-bit")
    result = cover(net, engine="state-equation")
    assert isinstance(result.invariant, UpwardInvariant)
    assert result.invariant.traps
    assert result.invariant.basis == ()
    assert not check_result(net, result)


def test_a_flag_that_comes_late_is_no_trap() -> None:
    text = one_bit(THREE).replace("asks2_1 >= 1, down1 >= 1", "asks2_1 >= 1")
    net = read_spec(text, "hasty")
    assert cover(net, engine="state-equation").cut
    assert check_result(net, cover(net))
