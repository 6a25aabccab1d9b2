"""Counterexamples on the marked program, and what they survive."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.analyses.repair.candidates import universe
from rdma_robust.analyses.repair.counting import Plan, plan
from rdma_robust.analyses.repair.patch import Patcher
from rdma_robust.analyses.repair.repairs import Choice, Choices, Kind
from rdma_robust.analyses.repair.replay import consistent, extend, skeleton
from rdma_robust.analyses.repair.sites import Sites
from rdma_robust.model import RDMA, rdma
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Witness
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.axioms import ob, sc_violation
from rdma_robust.semantics.trace import Event
from tests.support.naive_repair import robust
from tests.support.random_programs import SMALL, TINY, random_program

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


def test_a_counterexample_knows_the_places_it_passes() -> None:
    sites = sites_of(MAILBOX)
    witness = decide(sites.program, OPTIONS).witness
    assert witness is not None
    bones = skeleton(sites, witness.trace, ())
    assert bones is not None
    assert [[i for i in items if isinstance(i, int)] for items in bones.threads] == [[0, 1, 2], []]
    assert [[str(i) for i in items if isinstance(i, Event)] for items in bones.threads] == [
        ["lW(A.v, 1)", "nlR(A.v, 2)", "nrW(B.d, 2)", "lW(A.v, 2)"],
        [],
    ]


@pytest.mark.parametrize(
    ("place", "kind", "survives"),
    [(2, Kind.POLL, False), (2, Kind.RFENCE, True), (2, Kind.DRAIN, False), (1, Kind.DRAIN, True), (3, Kind.DRAIN, True)],
)
def test_what_a_counterexample_survives(place: int, kind: Kind, survives: bool) -> None:
    sites = sites_of(MAILBOX)
    witness = decide(sites.program, OPTIONS).witness
    assert witness is not None
    bones = skeleton(sites, witness.trace, ())
    assert bones is not None
    assert bones.survives(frozenset({Choice(place, kind, "B")}), RDMA) == survives


@pytest.mark.parametrize("wanted", [4, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("ordered_reads", [False, True])
def test_the_lemmas_on_random_programs(ordered_reads: bool, wanted: int) -> None:
    """Extension: whatever of a set that a counterexample survives can stand leaves the program not robust. Projection: a
    counterexample of a program with insertions is one without. And what is called consistent is."""
    options = CheckOptions(ordered_reads=ordered_reads)
    survived = broken = 0
    seed = 0
    while survived < wanted:
        seed += 1
        rng = Random(seed)
        sites = sites_of(random_program(rng, TINY, loops=seed % 2 == 0))
        outcome = decide(sites.program, CheckOptions(ordered_reads=ordered_reads, max_states=2000))
        if outcome.witness is None:
            continue
        choices = universe(sites, go_on)
        some = frozenset(rng.sample(choices, min(len(choices), rng.randint(1, 4))))
        chosen, witness, new = _with(sites, some, options) or (frozenset[Choice](), outcome.witness, ())
        bones = skeleton(sites, witness.trace, new)
        assert bones is not None
        assert bones.survives(frozenset(), rdma(ordered_reads))
        assert bones.survives(chosen, rdma(ordered_reads))
        more = chosen | frozenset(rng.sample(choices, min(len(choices), rng.randint(1, 5))))
        trace = extend(bones, more)
        if trace is not None:
            assert sc_violation(trace) is not None
            assert consistent(trace, rdma(ordered_reads)) == ob(trace, rdma(ordered_reads)).is_irreflexive()
        if not bones.survives(more, rdma(ordered_reads)):
            broken += 1
            continue
        fewer = frozenset(c for c in more if rng.random() < 0.7)
        for subset in (more, fewer):
            planned = plan(sites, subset)
            if isinstance(planned, Plan):
                survived += 1
                patched = Patcher(sites).patch(subset, planned).text
                assert decide(sites_of(patched).program, options).witness is not None, patched
    assert broken > wanted // 20


def _with(sites: Sites, some: Choices, options: CheckOptions) -> tuple[Choices, Witness, tuple[tuple[int, int], ...]] | None:
    planned = plan(sites, some)
    if not isinstance(planned, Plan):
        return None
    patch = Patcher(sites).patch(some, planned)
    witness = decide(sites_of(patch.text).program, options).witness
    return None if witness is None else (some, witness, patch.new)


def test_robust_programs_stay_robust_under_insertion() -> None:
    """The projection lemma, told by the checker alone."""
    found = 0
    for seed in range(1000, 1400):
        rng = Random(seed)
        sites = sites_of(random_program(rng, SMALL))
        choices = universe(sites, go_on)
        more = frozenset(rng.sample(choices, min(len(choices), 4)))
        fewer = frozenset(c for c in more if rng.random() < 0.6)
        plans = plan(sites, fewer), plan(sites, more)
        if fewer != more and isinstance(plans[0], Plan) and isinstance(plans[1], Plan):
            first = robust(Patcher(sites).patch(fewer, plans[0]).text)
            found += first and not robust(sites.source.text)
            assert not first or robust(Patcher(sites).patch(more, plans[1]).text), sites.source.text
        if found >= 3:
            break
    assert found >= 3
