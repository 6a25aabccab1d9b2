"""Counterexamples on the marked program, and what they survive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from random import Random

import pytest

from rdma_robust.analyses.repair.counting import stands, universe
from rdma_robust.analyses.repair.extension import Extension, Limit, consistent
from rdma_robust.analyses.repair.patch import Patcher
from rdma_robust.analyses.repair.repairs import Barrier, Choices, InsertionChoice
from rdma_robust.analyses.repair.replay import Skeleton, skeleton
from rdma_robust.analyses.repair.sites import Sites
from rdma_robust.model import RDMA, Model, rdma
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Witness
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.axioms import ob, sc_violation
from rdma_robust.semantics.trace import Event
from tests.support.memory_programs import small_memories
from tests.support.random_programs import TINY, random_program
from tests.support.shares import share

OPTIONS = CheckOptions()


def go_on() -> None:
    return None


def sites_of(text: str) -> Sites:
    return Sites.of(text, "t.rdma", await_loops=False)


MAILBOX = """node A { v }
node B { d, f }
thread S on A { v = 1; put B.d = v; v = 2; put B.f = v }
thread R on B { reg r; await f == 2; r = d }
"""
EVERYWHERE = [
    InsertionChoice(place, kind, "B") for place in range(5) for kind in (Barrier.GET, Barrier.POLL, Barrier.RFENCE)
]


def bones_of(sites: Sites) -> Skeleton:
    witness = decide(sites.program, OPTIONS).witness
    assert witness is not None
    bones = skeleton(sites, witness.trace, ())
    assert bones is not None
    return bones


def test_a_counterexample_knows_the_places_it_passes() -> None:
    bones = bones_of(sites_of(MAILBOX))
    assert [[i for i in items if isinstance(i, int)] for items in bones.threads] == [[0, 1, 2], []]
    assert [[str(i) for i in items if isinstance(i, Event)] for items in bones.threads] == [
        ["lW(A.v, 1)", "nlR(A.v, 2)", "nrW(B.d, 2)", "lW(A.v, 2)"],
        [],
    ]


P, G, F = Barrier.POLL, Barrier.GET, Barrier.RFENCE


@pytest.mark.parametrize(
    ("most", "least", "survives"),
    [
        ([(2, P)], [], False),
        ([(2, F)], [], True),
        ([(2, G)], [], True),
        ([(3, P), (3, G)], [], True),
        ([(1, P), (1, G)], [], True),
        # A poll can take the put, unless there is a get in front of it for sure.
        ([(1, G), (2, P)], [], False),
        ([(1, G), (2, P)], [(1, G)], True),
    ],
)
def test_what_a_counterexample_survives(
    most: list[tuple[int, Barrier]], least: list[tuple[int, Barrier]], survives: bool
) -> None:
    bones = Extension(bones_of(sites_of(MAILBOX)), EVERYWHERE, RDMA)
    allowed, forced = (frozenset(InsertionChoice(place, kind, "B") for place, kind in each) for each in (most, least))
    assert bones.survives(allowed, forced) == survives


def test_a_limit_on_polls_holds_wherever_they_stand() -> None:
    bones = Extension(bones_of(sites_of(MAILBOX)), EVERYWHERE, RDMA)
    nothing: Choices = frozenset()
    ((thread, node, slots),) = bones.queue_pairs
    assert bones.operations(thread, node) == 1
    assert bones.survives(nothing, nothing, Limit(thread, node, 0, slots))
    assert not bones.survives(nothing, nothing, Limit(thread, node, 1, slots))
    weights, needed = bones.row(Limit(thread, node, 0, slots))
    assert needed == 1
    assert weights == {(0, G): -1, (1, G): -1, (2, G): 0, (0, P): 1, (1, P): 1, (2, P): 1}


@pytest.mark.parametrize("wanted", [12, pytest.param(400, marks=pytest.mark.long)])
@pytest.mark.parametrize("ordered_reads", share([False, True], 2))
def test_the_lemma_on_random_programs(ordered_reads: bool, wanted: int) -> None:
    model = rdma(ordered_reads)
    made = ((random_program(Random(seed), TINY, loops=seed % 2 == 0), model) for seed in count(1))
    assert lemma_holds(made, wanted)["broken"] > wanted // 40


@pytest.mark.parametrize("wanted", [pytest.param(30, marks=pytest.mark.ci), pytest.param(2000, marks=pytest.mark.long)])
def test_the_lemma_with_reads_of_memory_behind_a_card(wanted: int) -> None:
    found = lemma_holds(((program.source, model) for program, model in small_memories(count(1))), wanted)
    assert found["broken"] > wanted // 40 and found["lands"] > wanted // 3


def lemma_holds(made: Iterable[tuple[str, Model]], wanted: int) -> Counter[str]:
    """Whatever lies between two sets of which a counterexample survives all, and can stand, leaves the program not robust.
    And what is called consistent is. Count the sets, those with reads of memory behind a card, and what does not survive."""
    counts: Counter[str] = Counter()
    for seed, (text, model) in enumerate(made):
        if counts["survived"] >= wanted:
            break
        rng, options = Random(seed), CheckOptions(hardware=model)
        sites = sites_of(text)
        outcome = decide(sites.program, replace(options, max_states=2000))
        choices = universe(sites, go_on)
        if outcome.witness is None or not choices:
            continue
        some = _contiguous(frozenset(rng.sample(choices, min(len(choices), rng.randint(1, 4)))))
        chosen, witness, new = _with(sites, some, options) or (frozenset[InsertionChoice](), outcome.witness, ())
        found = skeleton(sites, witness.trace, new, model)
        assert found is not None
        bones = Extension(found, choices, model)
        most = chosen | frozenset(rng.sample(choices, min(len(choices), rng.randint(1, 5))))
        least = frozenset(c for c in most if c.kind is G and rng.random() < 0.4)
        least = frozenset(c for c in least if all(replace(c, copy=k) in least for k in range(c.copy)))
        trace = bones.trace(most, least)
        if trace is not None:
            assert sc_violation(trace) is not None
            assert consistent(trace, model) == ob(trace, model).is_irreflexive()
        if not bones.survives(most, least):
            counts["broken"] += 1
            continue
        for _ in range(3):
            subset = _contiguous(least | frozenset(c for c in most if rng.random() < 0.7))
            if subset and stands(sites, subset):
                counts["survived"] += 1
                counts["lands"] += any(c.memory for c in subset)
                patched = Patcher(sites).patch(subset).text
                assert decide(sites_of(patched).program, options).witness is not None, patched
    return counts


def _contiguous(chosen: Choices) -> Choices:
    """Leave out copies without the ones before them."""
    return frozenset(c for c in chosen if all(replace(c, copy=k) in chosen for k in range(c.copy)))


def _with(sites: Sites, some: Choices, options: CheckOptions) -> tuple[Choices, Witness, tuple[tuple[int, int], ...]] | None:
    if not stands(sites, some):
        return None
    patch = Patcher(sites).patch(some)
    witness = decide(sites_of(patch.text).program, options).witness
    return None if witness is None else (some, witness, patch.new)
