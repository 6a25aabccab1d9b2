"""Every reduction, alone and taken away, leaves every verdict and the faults of robust programs as they are."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from rdma_robust.cli.options.arguments import parse_reductions
from rdma_robust.counters.liveness import forget_dead
from rdma_robust.counters.lower import LoweredProgram, lower
from rdma_robust.counters.search import explore, explore_lowered
from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import ALL_REDUCTIONS, REDUCTIONS, CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.pivot import instrument_pivot
from tests.litmus.goldens import PROGRAMS, load
from tests.support.left_out import search_needs, suite_program
from tests.support.patches import Patch
from tests.support.random_programs import LARGER, SMALL, random_program
from tests.support.searches import comparable
from tests.support.shares import share

NONE: frozenset[str] = frozenset()
SETS = {
    "none": NONE,
    **{f"only {name}": frozenset({name}) for name in REDUCTIONS},
    **{f"all but {name}": ALL_REDUCTIONS - {name} for name in REDUCTIONS},
    "all": ALL_REDUCTIONS,
}


def decided(program: Program, reductions: frozenset[str], *, ordered_reads: bool = False) -> Outcome:
    """Decide with these reductions, whatever the size of the program."""
    options = CheckOptions(kernel="python", max_states=30_000, ordered_reads=ordered_reads, reductions=reductions, large=0)
    return decide(program, options)


def compare(program: Program, kinds: list[str], *, ordered_reads: bool = False) -> bool:
    """Decide with each set of reductions; return whether all did. Fails if two differ."""
    outcomes = {kind: decided(program, SETS[kind], ordered_reads=ordered_reads) for kind in kinds}
    known = {kind: outcome for kind, outcome in outcomes.items() if outcome.verdict is not Verdict.UNKNOWN}
    for (one, a), (other, b) in pairwise(known.items()):
        assert a.verdict is b.verdict, (program.file, one, other)
        if a.verdict is Verdict.ROBUST and a.faults_exact and b.faults_exact:
            assert a.faults == b.faults, (program.file, one, other)
    return len(known) == len(kinds)


@pytest.mark.ci
@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("chunk", share(range(2), 2))
def test_random_programs(chunk: int, loops: bool) -> None:
    """10 programs a chunk, each with no reductions, all, and two more sets in turn."""
    kinds = list(SETS)
    compared = 0
    for seed in range(1000 * chunk, 1000 * chunk + 10):
        text = random_program(Random(seed), LARGER if seed % 4 == 0 else SMALL, loops=loops)
        turn = [kinds[seed % len(kinds)], kinds[(seed // 2 + 5) % len(kinds)]]
        program = load_program(text, f"seed {seed}")
        compared += compare(program, list(dict.fromkeys(("none", *turn, "all"))), ordered_reads=bool(seed % 2))
    assert compared >= 8


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(100))
def test_long_random_programs(chunk: int) -> None:
    """200 programs a chunk, 20,000 in all, half of them with loops, with every set of reductions."""
    for seed in range(40_000_000 + 1000 * chunk, 40_000_000 + 1000 * chunk + 200):
        text = random_program(Random(seed), LARGER if seed % 4 == 0 else SMALL, loops=bool(seed % 2))
        compare(load_program(text, f"seed {seed}"), list(SETS), ordered_reads=bool(seed % 3))


@pytest.mark.parametrize("path", PROGRAMS[::40], ids=lambda p: p.stem)
def test_litmus_programs(path: object) -> None:
    assert compare(load(path), ["none", "only filter", "only relevance", "only dead", "all"])  # type: ignore[arg-type]


def test_a_loop_is_no_progress() -> None:
    whatever_leads_on: Patch = (LoweredProgram, "advances", lambda *_: True)
    search_needs((whatever_leads_on,), lambda: suite_program("2plus2w-beside-a-heartbeat"))


def test_the_states_found_do_not_depend_on_the_order() -> None:
    compared = 0
    for path in PROGRAMS[::7]:
        lowered = lower(instrument_pivot(load(path), reductions=ALL_REDUCTIONS))
        found = [explore_lowered(lowered, Limits(states=3000), engine=engine) for engine in ("bfs", "dfs")]
        if not lowered.dimension and all(f.result.target < 0 and not f.result.cut for f in found):
            assert comparable(found[0]) == comparable(found[1])
            compared += found[0].result.states > 4
    assert compared > 5


def test_forgetting_dead_values_merges_states_and_reaches_the_same_targets() -> None:
    before = after = 0
    for path in PROGRAMS[::17]:
        program = instrument_pivot(load(path))
        limits = Limits(None, 30_000, None)
        plain = explore(program, limits, engine="bfs", reduce=False)
        less = explore(forget_dead(program), limits, engine="bfs", reduce=False)
        if plain.result.cut or less.result.cut:
            continue
        assert (plain.result.target >= 0) == (less.result.target >= 0), path.stem
        assert less.result.states <= plain.result.states or plain.result.target >= 0, path.stem
        before += plain.result.states
        after += less.result.states
    assert after < before


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("all", ALL_REDUCTIONS),
        ("none", NONE),
        ("filter, dead", frozenset({"filter", "dead"})),
        ("-por", ALL_REDUCTIONS - {"por"}),
        ("all,-filter", ALL_REDUCTIONS - {"filter"}),
        ("none,por", frozenset({"por"})),
    ],
)
def test_the_option(text: str, expected: frozenset[str]) -> None:
    assert parse_reductions(text) == expected


@pytest.mark.parametrize("text", ["", "filters", "--por", "filter,,por"])
def test_bad_options(text: str) -> None:
    with pytest.raises(UsageError, match="the names are all, none, filter"):
        parse_reductions(text)
