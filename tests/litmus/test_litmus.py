"""The litmus suite: every header verdict by every engine that applies and by both instrumentations, and the goldens."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdma_robust.counters.kernel import driver as kernel
from rdma_robust.counters.lower import lower
from rdma_robust.counters.search import ENGINES, explore
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from rdma_robust.semantics.values import is_loop_free
from tests.litmus.goldens import (
    EXPECTED,
    PAPER_BUDGET,
    PROGRAMS,
    golden_path,
    load,
    measure_claims,
    measure_paper,
    measure_pivot,
    read_golden,
)
from tests.support.compare import by_oracle
from tests.support.instrumented import instrumented
from tests.support.searches import comparable
from tests.support.shares import share
from tests.support.unroll import unrolled

each_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
a_third = pytest.mark.parametrize("path", share(PROGRAMS), ids=lambda p: p.stem)
some_programs = pytest.mark.parametrize("path", share(PROGRAMS, 6), ids=lambda p: p.stem)


def expected(path: Path) -> str:
    robust = load(path).expect_robust
    assert robust is not None, "no expect line"
    return "robust" if robust else "not-robust"


@each_program
def test_pivot_verdict_and_golden(path: Path) -> None:
    got = measure_pivot(load(path))
    assert got["verdict"] == expected(path)
    assert got == read_golden(path)["pivot"], "make promote rewrites the goldens"


@some_programs
def test_every_engine(path: Path) -> None:
    """Engines with exact counters need not end where a counter is unbounded; then they must at least not contradict."""
    lowered = lower(instrumented(load(path)))
    for name, engine in ENGINES.items():
        may_be_cut = lowered.dimension > 0 and name != "karp-miller"
        result = engine(lowered, Limits(states=500 if may_be_cut else None))
        assert (result.target >= 0) == (expected(path) == "not-robust") or (may_be_cut and result.cut), name


@pytest.mark.skipif(not kernel.AVAILABLE, reason="the compiled kernel is not installed: it is not compared with Python")
@some_programs
def test_the_kernel_finds_what_the_search_in_python_finds(path: Path) -> None:
    program = instrumented(load(path))
    limits = Limits(states=1_500)
    compiled, plain = explore(program, limits), explore(program, limits, compiled=False)
    assert compiled.compiled and not plain.compiled
    assert comparable(compiled) == comparable(plain)


def beyond_budget(path: Path) -> bool:
    return bool(read_golden(path)["paper"]["verdict"].startswith("beyond"))


@pytest.mark.parametrize("path", share([p for p in PROGRAMS if not beyond_budget(p)], 6), ids=lambda p: p.stem)
def test_paper_instrumentation(path: Path) -> None:
    paper_is_as_expected(path)


@pytest.mark.ci
@pytest.mark.parametrize("path", share([p for p in PROGRAMS if beyond_budget(p)][::4]), ids=lambda p: p.stem)
def test_paper_instrumentation_gives_up(path: Path) -> None:
    """A quarter of those beyond the budget, to a tenth of it, for crashes; `make test-long` spends all of it on each."""
    assert measure_paper(load(path), PAPER_BUDGET // 10)["verdict"].startswith("beyond")


@pytest.mark.long
@each_program
def test_long_paper_instrumentation(path: Path) -> None:
    paper_is_as_expected(path)


def paper_is_as_expected(path: Path) -> None:
    got = measure_paper(load(path))
    assert got["verdict"] == expected(path) or got["verdict"].startswith("beyond")
    assert got == read_golden(path)["paper"], "make promote rewrites the goldens"


@some_programs
def test_brute_force(path: Path) -> None:
    got = by_oracle(load(path), False)
    assert got == read_golden(path)["brute force"]
    assert got == expected(path) or got == "(too large for the oracle)"


@a_third
def test_outcome_lines(path: Path) -> None:
    """Every loop-free program has an outcome line, and its lines are decided completely: they hold.

    Of programs with loops the first states are searched, for lines that do not hold; the test below has the answers.
    """
    program = load(path)
    loop_free = is_loop_free(program)
    if not program.outcomes:
        assert not loop_free
        return
    report = explore_outcomes(program, max_states=None if loop_free else 300)
    for claim in (claim for line in report.lines for claim in line.claims):
        assert claim.holds is True or (claim.holds is None and not loop_free), claim


ENDLESS_QUEUES = {"abp-unpolled", "ring-loop-producer-stop"}
"""Programs that are not robust, in which threads wait, and whose loops put without end: whether the hardware can hang in
them no search tells."""

NEVER_DONE = {"polls-never-enough"}
"""Programs that never come to an end, on purpose: what they claim about it is about nothing."""

LARGE = {"bakery-batched", "bakery-mirrored", "szymanski-mirrored", "lock-ticket-remote-data-elsewhere"}
"""Programs whose claims take more than half a second: these are left to `make test-long`."""


@pytest.mark.parametrize("path", share([p for p in PROGRAMS if p.stem not in LARGE]), ids=lambda p: p.stem)
def test_claims(path: Path) -> None:
    """What the program claims is decided; outcome lines hold, and so does what it says about hangs."""
    claims_are_as_expected(path)


@pytest.mark.long
@pytest.mark.parametrize("path", [p for p in PROGRAMS if p.stem in LARGE], ids=lambda p: p.stem)
def test_long_claims(path: Path) -> None:
    claims_are_as_expected(path)


def claims_are_as_expected(path: Path) -> None:
    got = measure_claims(load(path))
    assert got == read_golden(path)["claims"], "make promote rewrites the goldens"
    unknown = {"no hang under rdma: unknown (limit)"} if path.stem in ENDLESS_QUEUES else set()
    assert {claim for claim in got if "unknown" in claim} == unknown
    assert not [claim for claim in got if "violated" in claim and not claim.startswith("assert ")]
    vacuous = path.stem in NEVER_DONE
    assert [claim for claim in got if "unreachable" in claim] == [claim for claim in got if vacuous and "outcome" in claim]


def test_headers_say_whether_a_claim_fails_under_rdma() -> None:
    """Either an assertion is violated, or an outcome line tells what only the hardware does."""
    checked = 0
    for path in PROGRAMS:
        header = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("//")]
        text = " ".join(line.removeprefix("// ") for line in header)
        if "Claim: " not in text:
            continue
        checked += 1
        kinds = [{(c.model, c.allowed) for c in line.claims} for line in load(path).outcomes]
        only_rdma = {("sc", False), ("rdma", True)} in kinds
        violated = any("violated" in claim for claim in read_golden(path).get("claims", ()))
        assert (only_rdma or violated) == (" Fails: " in text), path.name
    assert checked > 40


@pytest.mark.ci
@a_third
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
