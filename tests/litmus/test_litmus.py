"""The litmus suite: every header verdict by every engine that applies and by both instrumentations, and the goldens."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdma_robust.language.cfg import Claim
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import INSTRUMENTATIONS, decide
from rdma_robust.semantics.outcomes import ClaimCheck, LineCheck, explore_outcomes
from rdma_robust.semantics.values import is_loop_free
from rdma_robust.vass import kernel
from rdma_robust.vass.explore import ENGINES, explore
from rdma_robust.vass.lower import lower
from rdma_robust.vass.search import Limits
from tests.litmus.goldens import (
    EXPECTED,
    PAPER_BUDGET,
    PROGRAMS,
    golden_path,
    load,
    measure_paper,
    measure_pivot,
    read_golden,
)
from tests.support.compare import by_oracle
from tests.support.searches import comparable
from tests.support.unroll import unrolled

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
def test_every_engine(path: Path) -> None:
    """Engines with exact counters need not end where a counter is unbounded; then they must at least not contradict."""
    lowered = lower(INSTRUMENTATIONS["pivot"](load(path), CheckOptions()))
    for name, engine in ENGINES.items():
        may_be_cut = lowered.dimension > 0 and name != "karp-miller"
        result = engine(lowered, Limits(states=500 if may_be_cut else None))
        assert (result.target >= 0) == (expected(path) == "not-robust") or (may_be_cut and result.cut), name


@pytest.mark.skipif(not kernel.AVAILABLE, reason="the compiled kernel is not installed: it is not compared with Python")
@each_program
def test_the_kernel_finds_what_the_search_in_python_finds(path: Path) -> None:
    program = INSTRUMENTATIONS["pivot"](load(path), CheckOptions())
    limits = Limits(states=3_000)
    compiled, plain = explore(program, limits), explore(program, limits, compiled=False)
    assert compiled.compiled and not plain.compiled
    assert comparable(compiled) == comparable(plain)


@each_program
def test_paper_instrumentation(path: Path) -> None:
    """Those beyond the budget are searched to a tenth of it only, for crashes; `make test-long` spends all of it."""
    if not read_golden(path)["paper"]["verdict"].startswith("beyond"):
        paper_is_as_expected(path)
    else:
        assert measure_paper(load(path), PAPER_BUDGET // 10)["verdict"].startswith("beyond")


@pytest.mark.long
@each_program
def test_long_paper_instrumentation(path: Path) -> None:
    paper_is_as_expected(path)


def paper_is_as_expected(path: Path) -> None:
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
    """Every outcome line holds; every loop-free program has one, and its lines are decided completely.

    The final states of a robust program are those under sequential consistency, so there only claims about that need a
    search. Programs with loops that are not robust say of RDMA only what a bounded search can tell.
    """
    program = load(path)
    loop_free = is_loop_free(program)
    robust = program.expect_robust
    if not program.outcomes:
        assert not loop_free
        return
    for bound in (None,) if loop_free else (1_000, 30_000):
        lines = explore_outcomes(program, max_states=bound).lines
        undecided = [c for line in lines for c in line.claims if c.holds is None and not _follows(c, line, robust)]
        if not undecided:
            break
    assert not undecided
    assert all(claim.holds is not False for line in lines for claim in line.claims)


def _follows(check: ClaimCheck, line: LineCheck, robust: bool | None) -> bool:
    """Whether a claim about RDMA follows from the same one about sequential consistency, because the program is robust."""
    same = Claim(check.claim.allowed, "sc")
    return bool(robust) and any(other.claim == same and other.holds for other in line.claims)


@each_program
def test_unrollings_of_looping_programs(path: Path) -> None:
    program = load(path)
    if is_loop_free(program):
        return
    robust = expected(path) == "robust"
    verdicts = set()
    for bound in (4, 10) if robust else (8, 16, 32):
        verdicts.add(decide(unrolled(program, bound), CheckOptions(max_states=5_000)).verdict)
        if Verdict.NOT_ROBUST in verdicts:
            break
    assert (Verdict.NOT_ROBUST in verdicts) != robust


def test_every_golden_belongs_to_a_program() -> None:
    assert {golden_path(p) for p in PROGRAMS} == set(EXPECTED.glob("*.json"))
    assert len(PROGRAMS) >= 150
