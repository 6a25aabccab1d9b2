"""Phase 2 is built only where somebody looks: what analyses see instead, and that the searches see the same."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from bench.families import lock_server, pipeline
from rdma_robust.counters import liveness
from rdma_robust.counters.kernel import driver
from rdma_robust.counters.program import Body, CounterProgram, LazyBranches, counter_bounds
from rdma_robust.counters.search import explore
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import ALL_REDUCTIONS
from rdma_robust.robustness.frame import EventLabel
from rdma_robust.robustness.pivot import instrument_pivot
from tests.litmus.goldens import PROGRAMS, load
from tests.support.random_programs import LARGER, SMALL, TINY, random_program
from tests.support.searches import comparable

Instrumented = CounterProgram[EventLabel]


def programs(count: int) -> Iterator[Instrumented]:
    """Random and named programs, with and without reductions."""
    for seed in range(count):
        text = random_program(Random(seed), (TINY, SMALL, LARGER)[seed % 3], loops=bool(seed % 2))
        yield instrument_pivot(
            load_program(text, str(seed)), reductions=ALL_REDUCTIONS if seed % 3 else frozenset(), large=0
        )
    for path in PROGRAMS[::40]:
        yield instrument_pivot(load(path))


def laters(body: Body[EventLabel]) -> Iterator[LazyBranches[EventLabel]]:
    if isinstance(body.then, LazyBranches):
        yield body.then
    for branch in body.then:
        yield from laters(branch)


def built(body: Body[EventLabel]) -> Body[EventLabel]:
    return replace(body, then=tuple(built(branch) for branch in body.then))


def whole(program: Instrumented) -> Instrumented:
    """The same program with nothing left for later."""
    return replace(
        program,
        processes=tuple(
            replace(p, commands=tuple(replace(c, body=built(c.body)) for c in p.commands)) for p in program.processes
        ),
    )


def test_an_outline_says_what_the_alternatives_say() -> None:
    seen = 0
    for program in programs(60):
        for later in (one for p in program.processes for c in p.commands for one in laters(c.body)):
            seen += 1
            outline, made = Body((), tuple(later.outline)), Body((), later.made())
            nothing: frozenset[str] = frozenset()
            said, true = (liveness._reads(b, set(), nothing) & later.speaks_for for b in (outline, made))
            assert said >= true
            assigned, certain = (liveness._assigned(b, nothing) & later.speaks_for for b in (outline, made))
            assert assigned <= certain or not made.then
    assert seen > 300


@pytest.mark.ci
def test_analyses_find_the_same_with_outlines() -> None:
    for program in programs(60):
        assert counter_bounds(program) == counter_bounds(whole(program))


@pytest.mark.ci
@pytest.mark.skipif(not driver.AVAILABLE, reason="the compiled kernel is not installed: it is not tested")
def test_code_completed_later_is_the_same_code() -> None:
    for program in programs(60):
        found = explore(program, Limits(states=300))
        at_once = explore(whole(program), Limits(states=300))
        assert found.compiled and comparable(found) == comparable(at_once)


@pytest.mark.skipif(not driver.AVAILABLE, reason="the compiled kernel is not installed: it is not tested")
@pytest.mark.parametrize("text", [lock_server(3), pipeline(3, 3)], ids=["locks", "rings"])
def test_phase_2_is_not_built_where_every_start_is_a_dead_end(text: str) -> None:
    program = instrument_pivot(load_program(text, "family"), reductions=ALL_REDUCTIONS)
    found = explore(program, Limits())
    assert found.compiled and found.result.target < 0
    thens = [b.then for p in program.processes for c in p.commands for b in c.body.then]
    later = [then for then in thens if isinstance(then, LazyBranches)]
    assert later and all(then._made is None for then in later)


def test_pickles_and_compares_as_what_it_is_for() -> None:
    later: LazyBranches[str] = LazyBranches(lambda: [Body((), (), ("a",))], [], frozenset())
    assert later == (Body((), (), ("a",)),) and pickle.loads(pickle.dumps(later)) == later
    assert hash(later) == hash(tuple(later)) and repr(later) == repr(tuple(later))
