"""Dead ends: no target can be reached from one, they are many, and the compiled test says the same as the one in Python."""

from __future__ import annotations

from random import Random

import pytest

from bench.families import lock_server, pipeline
from rdma_robust.counters.lower import lower
from rdma_robust.counters.search import explore
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import rdma
from rdma_robust.options import ALL_REDUCTIONS
from rdma_robust.robustness.pivot import instrument_pivot
from rdma_robust.robustness.pivot_classes import CLASS
from tests.support.random_programs import SMALL, TINY, random_program
from tests.support.searches import comparable
from tests.support.shares import share


def hopeless_and_found(text: str, reductions: frozenset[str], most: int = 4000) -> tuple[int, int]:
    """Explore without any reduction of the search; return how many states of phase 2 lead to no target, and to how many of
    them the test says so. Fails if it says so of any other; (0, 0) with counters or beyond `most` states.
    """
    lowered = lower(instrument_pivot(load_program(text, "random"), reductions=reductions, large=0))
    if lowered.dimension:
        return 0, 0
    before: dict[tuple[int, ...], list[tuple[int, ...]]] = {lowered.initial: []}
    todo = [lowered.initial]
    while todo:
        state = todo.pop()
        for _, after, _ in lowered.successors(state):
            if after not in before:
                todo.append(after)
                before[after] = []
            before[after].append(state)
        if len(before) > most:
            return 0, 0
    todo = [s for s in before if lowered.target(s) >= 0]
    hopeful = set(todo)
    while todo:
        new = set(before[todo.pop()]) - hopeful
        hopeful |= new
        todo += new
    dead = {s for s in before if lowered.hopeless(s)}
    assert not dead & hopeful
    return sum(s[lowered.fields.index(CLASS)] > 0 for s in before.keys() - hopeful), len(dead)


@pytest.mark.ci
@pytest.mark.parametrize(
    "reductions", share([{"dead-ends"}, {"dead-ends", "values"}, {"dead-ends", "relevance", "values", "dead"}])
)
def test_no_target_follows_a_dead_end(reductions: set[str]) -> None:
    seen = found = 0
    for seed in range(60):
        text = random_program(Random(seed), SMALL if seed % 4 == 0 else TINY, loops=bool(seed % 2))
        hopeless, dead = hopeless_and_found(text, frozenset(reductions))
        seen, found = seen + hopeless, found + dead
    assert seen > 1000
    assert found > seen / 2


@pytest.mark.ci
@pytest.mark.parametrize("text", [lock_server(2), lock_server(3), pipeline(3, 2)], ids=["locks-2", "locks-3", "pipeline"])
def test_the_second_phase_of_servers_and_pipelines_is_all_dead_ends(text: str) -> None:
    program = load_program(text, "bench")
    found = explore(instrument_pivot(program, reductions=ALL_REDUCTIONS, large=0), Limits())
    plain = explore(instrument_pivot(program, reductions=ALL_REDUCTIONS - {"dead-ends"}, large=0), Limits())
    assert found.result.target == plain.result.target == -1
    assert found.result.states * 3 < plain.result.states
    assert any(label.starts for label in found.fired)


@pytest.mark.ci
@pytest.mark.parametrize("reductions", [ALL_REDUCTIONS, frozenset({"dead-ends"}), frozenset({"dead-ends", "por", "values"})])
def test_compiled_and_python_agree(reductions: frozenset[str]) -> None:
    limits = Limits(states=4000)
    for seed in range(100, 116):
        text = random_program(Random(seed), SMALL, loops=bool(seed % 2))
        program = instrument_pivot(load_program(text, str(seed)), model=rdma(bool(seed % 3)), reductions=reductions, large=0)
        one, other = (explore(program, limits, compiled=c) for c in (True, False))
        assert comparable(one) == comparable(other)
