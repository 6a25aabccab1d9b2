"""Robustness decided several ways on random programs; every run uses the same seeds, printed with a failure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import networkx as nx
import pytest

from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.options import LARGE as LARGE_FROM
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.decide import decide
from tests.support.compare import REGRESSIONS, by, by_oracle, count_agreeing
from tests.support.random_programs import Size, random_program
from tests.support.shares import share
from tests.support.unroll import unrolled

USUAL = Size()
SMALL = Size(threads=(2, 2), instructions=(1, 3), total=6)
LARGE = Size(threads=(2, 4), instructions=(2, 6), total=12)

CHUNKS = range(3)


@pytest.mark.parametrize("chunk", share(CHUNKS))
def test_pivot_is_brute_force(chunk: int) -> None:
    """160 loop-free programs a chunk, 960 in all, half of them with the reductions for large programs; .ci/run and
    `make test-long` compare more.
    """
    seeds = range(100_000 * chunk, 100_000 * chunk + 200)
    assert count_agreeing(seeds, USUAL, by("pivot", large=0 if chunk % 2 else LARGE_FROM), by_oracle, enough=160) == 160


@pytest.mark.ci
@pytest.mark.parametrize("chunk", share(CHUNKS))
def test_paper_is_brute_force(chunk: int) -> None:
    """50 loop-free programs a chunk, 300 in all; those beyond the paper instrumentation's budget are replaced."""
    seeds = range(100_000 * chunk + 50_000, 100_000 * chunk + 50_120)
    assert count_agreeing(seeds, SMALL, by("paper", 15_000), by_oracle, enough=50) == 50


@pytest.mark.parametrize("wanted", [50, pytest.param(2_000, marks=pytest.mark.long)])
def test_atomic_operations_and_choices(wanted: int) -> None:
    """Programs with `faa`, `swap`, `mfence` and `nondet`, by both instrumentations and brute force."""
    sizes, seeds = replace(SMALL, atomics=True), range(900_000, 900_000 + 2 * wanted)
    assert count_agreeing(seeds, sizes, by("pivot", large=0), by_oracle, enough=wanted) == wanted
    assert count_agreeing(seeds, sizes, by("paper", 15_000), by("pivot"), enough=wanted // 4) == wanted // 4


@pytest.mark.parametrize("chunk", share(range(4), 4))
def test_looping_paper_is_pivot(chunk: int) -> None:
    """25 looping programs a chunk, 100 in all."""
    seeds = range(100_000 * chunk + 60_000, 100_000 * chunk + 60_100)
    assert count_agreeing(seeds, SMALL, by("paper", 15_000), by("pivot"), loops=True, enough=25) == 25


def longest_thread(outcome: Outcome) -> int:
    """How many control-flow steps a thread may need for the witness: its events, and silent steps between them."""
    assert outcome.witness is not None
    events = outcome.witness.order
    return max(sum(e.thread == t for e in events) for t in range(len(outcome.program.threads)))


def check_unrollings(program: Program, outcome: Outcome, ordered_reads: bool) -> None:
    options = CheckOptions(ordered_reads=ordered_reads, max_states=20_000)
    if outcome.verdict is Verdict.ROBUST:
        for bound in (3, 6):
            flat = unrolled(program, bound)
            assert decide(flat, options).verdict is not Verdict.NOT_ROBUST
            assert by_oracle(flat, ordered_reads) != "not-robust"
        return
    longest = longest_thread(outcome)
    for bound in (longest + 2, 3 * longest + 8):
        flat = unrolled(program, bound)
        if decide(flat, options).verdict is Verdict.NOT_ROBUST:
            return
    raise AssertionError("no unrolling is non-robust")


@pytest.mark.parametrize("chunk", share(CHUNKS))
def test_looping_programs_and_their_unrollings(chunk: int) -> None:
    """30 looping programs a chunk, 180 in all: a robust one has robust unrollings only, another has one that is not."""
    checked = 0
    for seed in range(100_000 * chunk + 70_000, 100_000 * chunk + 70_200):
        text = random_program(Random(seed), SMALL, loops=True)
        program = load_program(text, f"seed {seed}")
        if all(nx.is_directed_acyclic_graph(t.graph) for t in program.threads):
            continue
        ordered = bool(seed % 2)
        outcome = decide(program, CheckOptions(ordered_reads=ordered, max_states=20_000))
        if outcome.verdict is Verdict.UNKNOWN:
            continue
        checked += 1
        try:
            check_unrollings(program, outcome, ordered)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {outcome.verdict}: {error}\n{text}") from error
        if checked == 30:
            return
    raise AssertionError(f"only {checked} of 30 programs could be decided")


@pytest.mark.parametrize("path", sorted(REGRESSIONS.glob("*.rdma")), ids=lambda p: p.stem)
@pytest.mark.parametrize("ordered_reads", [False, True])
def test_regressions(path: Path, ordered_reads: bool) -> None:
    program = load_program(path.read_text(), path.name)
    methods = by_oracle, by("pivot"), by("pivot", large=0), by("paper", 200_000)
    answers = {method(program, ordered_reads) for method in methods}
    assert len({a for a in answers if not a.startswith("(")}) == 1, answers


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(120))
def test_long_pivot_is_brute_force(chunk: int) -> None:
    """250 larger loop-free programs a chunk, 30,000 in all, half of them with the reductions for large programs."""
    seeds = range(10_000_000 + 1000 * chunk, 10_000_000 + 1000 * chunk + 600)
    pivot = by("pivot", 200_000, large=0 if chunk % 2 else LARGE_FROM)
    assert count_agreeing(seeds, LARGE, pivot, by_oracle, enough=250) == 250


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(60))
def test_long_paper_is_brute_force(chunk: int) -> None:
    """100 loop-free programs a chunk, 6,000 in all."""
    seeds = range(20_000_000 + 1000 * chunk, 20_000_000 + 1000 * chunk + 400)
    assert count_agreeing(seeds, USUAL, by("paper", 100_000), by_oracle, enough=100) == 100


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(50))
def test_long_looping_paper_is_pivot(chunk: int) -> None:
    """20 looping programs a chunk, 1,000 in all."""
    seeds = range(30_000_000 + 1000 * chunk, 30_000_000 + 1000 * chunk + 200)
    assert count_agreeing(seeds, SMALL, by("paper", 200_000), by("pivot"), loops=True, enough=20) == 20


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(100, 200))
def test_long_looping_programs_and_their_unrollings(chunk: int) -> None:
    """3,000 looping programs."""
    test_looping_programs_and_their_unrollings(chunk)


def test_both_settings_of_the_open_cell_matter() -> None:
    """Some program is robust only with ordered reads, so the alternation above tests something."""
    text = "node A { x, y }\nnode B { u, v }\nthread T on A { get x = B.u; get y = B.v; poll B; poll B }\n"
    text += "thread S on B { v = 1; u = 1 }\n"
    program = load_program(text.replace("v = 1; u = 1", "u = 1; v = 1"), "open.rdma")
    other = load_program(text, "open.rdma")
    found = {
        (decide(p, replace(CheckOptions(), ordered_reads=o)).verdict, o) for p in (program, other) for o in (False, True)
    }
    assert (Verdict.NOT_ROBUST, False) in found
    assert (Verdict.ROBUST, True) in found
    assert (Verdict.NOT_ROBUST, True) not in found
