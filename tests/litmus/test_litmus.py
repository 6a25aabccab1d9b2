"""The litmus suite: every header verdict by every engine that applies and by both instrumentations, and the goldens."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdma_robust.options import CheckOptions, EngineName
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.outcomes import explore_outcomes
from rdma_robust.semantics.paths import is_loop_free
from tests.litmus.goldens import EXPECTED, PROGRAMS, golden_path, load, measure_paper, measure_pivot, read_golden
from tests.support.compare import by_oracle
from tests.support.unroll import unrolled

ENGINES: tuple[EngineName, ...] = ("bfs", "dfs", "karp-miller")
each_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)


def expected(path: Path) -> str:
    robust = load(path).expect_robust
    assert robust is not None, "no expect line"
    return "robust" if robust else "not-robust"


@each_program
def test_pivot_verdict_and_golden(path: Path) -> None:
    got = measure_pivot(load(path))
    assert got["verdict"] == expected(path)
    assert got == read_golden(path)["pivot"], "make promote rewrites the goldens"


@each_program
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine(path: Path, engine: EngineName) -> None:
    """Engines with exact counters need not end where a counter is unbounded; then they must at least not contradict."""
    unbounded = read_golden(path)["pivot"]["counters"] > 0 and engine != "karp-miller"
    options = CheckOptions(engine=engine, max_states=3000 if unbounded else None)
    verdict = decide(load(path), options).verdict.value
    assert verdict == expected(path) or (unbounded and verdict == "unknown")


@each_program
def test_paper_instrumentation(path: Path) -> None:
    got = measure_paper(load(path))
    assert got["verdict"] == expected(path) or got["verdict"].startswith("beyond")
    assert got == read_golden(path)["paper"], "make promote rewrites the goldens"


@each_program
def test_brute_force(path: Path) -> None:
    got = by_oracle(load(path), False)
    assert got == read_golden(path)["brute force"]
    assert got == expected(path) or got == "(too large for the oracle)"


@each_program
def test_outcome_lines(path: Path) -> None:
    """Every outcome line holds; those of loop-free programs are decided completely."""
    program = load(path)
    if not program.outcomes:
        return
    loop_free = is_loop_free(program)
    report = explore_outcomes(program, max_states=None if loop_free else 100_000)
    for claim in (claim for line in report.lines for claim in line.claims):
        assert claim.holds is True or (claim.holds is None and not loop_free), claim


@each_program
def test_unrollings_of_looping_programs(path: Path) -> None:
    program = load(path)
    if is_loop_free(program):
        return
    verdicts = set()
    for bound in (2, 4, 8, 16, 32):
        flat = unrolled(program, bound)
        outcome = decide(flat, CheckOptions(max_states=20_000))
        verdicts.add(outcome.verdict)
        if expected(path) == "robust":
            assert outcome.verdict is not Verdict.NOT_ROBUST, bound
        elif outcome.verdict is Verdict.NOT_ROBUST:
            break
    assert expected(path) == "robust" or Verdict.NOT_ROBUST in verdicts


def test_every_golden_belongs_to_a_program() -> None:
    assert {golden_path(p) for p in PROGRAMS} == set(EXPECTED.glob("*.json"))
    assert len(PROGRAMS) >= 150
