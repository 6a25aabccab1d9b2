"""Walks by chance: what they meet is a run of the machine, they find what is far away, and nothing where nothing is."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.analyses.prove.engines import PROBE, walked, with_walks
from rdma_robust.analyses.prove.explicit_search import explicit_search
from rdma_robust.analyses.prove.path_replay import replay_path, shows
from rdma_robust.analyses.prove.path_values import path_values
from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.analyses.prove.reductions import reduce_program
from rdma_robust.analyses.prove.safety_outcome import ReductionOptions, Safety
from rdma_robust.analyses.prove.transition_system import (
    Assignment,
    Draw,
    EngineResult,
    Selection,
    Suppose,
    TransitionSystem,
    safety_claims,
)
from rdma_robust.expr import Const, Name
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program
from rdma_robust.limits import NO_LIMITS, Limits, Progress, ignore
from tests.support.random_safety import MODELS_OF, SafetySize, random_safety_program
from tests.support.woven_systems import WovenEdge, WovenSystem, op

THREAD = """thread T{i} on {own} {{
  reg m, r
  loop {{
    c{i} = 1
    get n = {other}.n{j}
    m = n
    m = m + 1
    n{i} = m
    c{i} = 0
    r = 1
    while r == 1 {{ get c = {other}.c{j}; r = c }}
    r = 1
    while r == 1 {{
      get n = {other}.n{j}
      r = n
      if r == 0 || m {compare} r {{ r = 0 }} else {{ r = 1 }}
    }}
    cs: skip
    n{i} = 0
  }}
}}
"""
BAKERY = (
    "node A { c0 = 0, n0 = 0, c = 0, n = 0 }\nnode B { c1 = 0, n1 = 0, c = 0, n = 0 }\n"
    + THREAD.format(i=0, j=1, own="A", other="B", compare="<=")
    + THREAD.format(i=1, j=0, own="B", other="A", compare="<")
    + "invariant !(T0 at cs && T1 at cs)\n"
)
"""Lamport's bakery on two nodes without a flush: a search in layers has 100,000 states before the first violation."""


def systems(kind: str, seed: int) -> list[tuple[AnyModelName, TransitionSystem]]:
    size = SafetySize(threads=(1, 2), statements=(1, 5), total=8)
    text = random_safety_program(Random(seed), kind, size, loops=seed % 2 == 0, growth=seed % 3 == 0)  # type: ignore[arg-type]
    program = load_program(text, f"{kind} {seed}.rdma")
    options = ReductionOptions(bound=2, many=False)
    models: tuple[AnyModelName, ...] = MODELS_OF[kind]  # type: ignore[index]
    return [(model, reduce_program(program, model, safety_claims(program, model), options)) for model in models]


@pytest.mark.parametrize("kind", MODELS_OF)
@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 600), marks=pytest.mark.long)], ids=["few", "many"])
def test_what_walks_meet_is_a_run(kind: str, seeds: range) -> None:
    met = 0
    for seed in seeds:
        for model, system in systems(kind, seed):
            path = walked(system, 300, NO_LIMITS)
            if path is None:
                continue
            assert path.exact
            values = path_values(system, path)
            assert values.feasible
            run = replay_path(system.program, model, system.claims, path, draws=values.draws)
            assert run is not None
            fault = None if path.bad is not None else path.transitions[-1].fault
            claims = [
                c for n, c in enumerate(system.claims) if (path.bad and path.bad.claim == n) or (fault and c.fault == fault)
            ]
            assert any(shows(system.program, run, claim) for claim in claims)
            if not system.wide:
                found = explicit_search(system, Limits(states=3000), ignore)
                assert found.path is not None or found.cut
            met += 1
    assert met > len(seeds) // 3


def test_a_violation_that_is_far_away_is_met() -> None:
    program = load_program(BAKERY, "bakery.rdma")
    outcome = decide_safety(program, "rma", Limits.of(60))
    assert outcome.safety is Safety.UNSAFE
    assert outcome.counts["walked"] < 60
    assert outcome.states <= PROBE + 100
    assert outcome.run is not None and outcome.claim is not None and shows(program, outcome.run, outcome.claim)


def counting(searches: list[int | None], found: str) -> EngineResult:
    """An engine's answer after it was asked with these limits of states."""
    return EngineResult("zones", None, None, False, found if len(searches) == 1 else "", PROBE, 0)


@pytest.mark.parametrize(
    ("states", "cut", "expected"), [(None, "states", [PROBE, None]), (None, "time", [PROBE]), (10, "states", [10])]
)
def test_walks_come_after_a_small_search_only(states: int | None, cut: str, expected: list[int | None]) -> None:
    searches: list[int | None] = []

    def engine(_system: TransitionSystem, limits: Limits, _progress: Progress) -> EngineResult:
        searches.append(limits.states)
        return counting(searches, cut)

    idle = WovenSystem((("x", 0),), [[WovenEdge(0, 0, (Assignment("x", op("+", "x", 1)),))]])
    assert with_walks(engine)(idle, Limits(states=states), ignore).path is None
    assert searches == expected


def test_a_path_is_a_shortest_one_that_was_seen() -> None:
    """Going round is as likely as going on; it is left out."""
    thread = [
        WovenEdge(0, 0, (Assignment("x", op("+", "x", 1)),)),
        WovenEdge(0, 0),
        WovenEdge(0, 1, (Suppose(op(">", "x", 3)),)),
    ]
    path = walked(WovenSystem((("x", 0),), [thread], lambda places: Const(1) if places == (1,) else None), 1000, NO_LIMITS)
    assert path is not None
    assert len(path.transitions) == 5


def test_a_walk_that_cannot_begin_ends() -> None:
    assert walked(WovenSystem((("x", 0),), [[WovenEdge(0, 0, (Suppose(op(">", "x", 3)),))]]), 100, NO_LIMITS) is None


def test_numbers_are_drawn_near_those_of_the_program() -> None:
    thread = [
        WovenEdge(0, 1, (Draw("x", Const(1000)), Selection("y", "x"))),
        WovenEdge(1, 2, (Suppose(op("==", "y", 1001)),)),
    ]
    bad = op("==", "x", Name("y"))
    system = WovenSystem((("x", 0), ("y", 7)), [thread], lambda places: bad if places == (2,) else None)
    assert walked(system, 2000, NO_LIMITS) is not None
    assert walked(system, 2000, Limits(deadline=0.0, seconds=0.0)) is None
