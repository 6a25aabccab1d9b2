"""A program decided class by class has the verdict that it has as a whole."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import rdma
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.split import class_count, combine, decide_class
from rdma_robust.semantics.axioms import is_violating
from tests.conftest import ROBUST, ROOT
from tests.support.random_programs import SMALL, random_program

OPTIONS = CheckOptions(timeout=60)
SUITE = (
    "mailbox-plain",
    "sb-put-plain",
    "ring-loop-credit",
    "ring-two-slots-plain",
    "seqlock-remote-writer",
    "barrier-all-to-all-await",
    "spin-cancel-spin",
    "abp-polled",
    "mcs-handoff-flushed",
)
FAULTY = "node Z { q }\nthread Extra on Z { reg e; e = q; assert e == 1 }\n"


def apart(program: Program, options: CheckOptions) -> list[Outcome]:
    return [decide_class(program, options, number) for number in range(class_count(program, options))]


def check(program: Program, options: CheckOptions = OPTIONS) -> bool:
    """Compare the two ways; return whether there was anything to split."""
    whole = decide(program, options)
    outcomes = apart(program, options)
    if not outcomes:
        assert whole.verdict is Verdict.ROBUST
        return False
    together = combine(outcomes)
    assert together.verdict is whole.verdict
    if together.witness is not None:
        assert is_violating(together.witness.trace, rdma(options.ordered_reads))
    elif whole.faults_exact and together.faults_exact:
        assert together.faults == whole.faults
    return len(outcomes) > 1


@pytest.mark.parametrize("name", SUITE)
@pytest.mark.parametrize("reductions", ["all", "none"])
def test_litmus(name: str, reductions: str) -> None:
    text = (ROOT / f"litmus/{name}.rdma").read_text()
    options = OPTIONS if reductions == "all" else replace(OPTIONS, reductions=frozenset())
    if reductions == "none" and name == "ring-loop-credit":
        options = replace(options, max_states=20_000)
        program = load_program(text, name)
        assert combine(apart(program, options)).verdict in (decide(program, options).verdict, Verdict.UNKNOWN)
        return
    check(load_program(text, name), options)


@pytest.mark.ci
@pytest.mark.parametrize("block", range(2))
def test_random_programs(block: int) -> None:
    split = 0
    for seed in range(30 * block, 30 * block + 30):
        program = load_program(random_program(Random(seed), SMALL, loops=bool(seed % 2)), f"random-{seed}")
        options = replace(OPTIONS, ordered_reads=seed % 3 == 0, max_states=5_000)
        whole = decide(program, options)
        if whole.verdict is not Verdict.UNKNOWN:
            split += check(program, options)
    assert split >= 4


@pytest.mark.parametrize("name", ["abp-polled", "barrier-all-to-all-await", "mailbox-plain"])
def test_faults_are_those_of_the_whole(name: str) -> None:
    program = load_program(FAULTY + (ROOT / f"litmus/{name}.rdma").read_text(), name)
    whole, together = decide(program, OPTIONS), combine(apart(program, OPTIONS))
    assert (together.verdict, together.faults_exact) == (whole.verdict, whole.faults_exact)
    if whole.verdict is Verdict.ROBUST:
        assert class_count(program, OPTIONS) > 1
        assert [f.kind for f in together.faults] == [f.kind for f in whole.faults] == ["assertion"]


def outcome(program: Program, verdict: Verdict, states: int = 1) -> Outcome:
    found = decide(program, OPTIONS)
    return replace(found, verdict=verdict, reason=verdict.value, counts=replace(found.counts, states=states), time_s=1.0)


def test_a_violation_counts_more_than_a_limit_and_a_limit_more_than_a_proof() -> None:
    program = load_program(ROBUST, "calm")
    robust, cut, broken = (outcome(program, v) for v in (Verdict.ROBUST, Verdict.UNKNOWN, Verdict.NOT_ROBUST))
    assert combine([robust, robust]).verdict is Verdict.ROBUST
    assert combine([robust, cut, robust]).verdict is Verdict.UNKNOWN
    assert "class 2 of 3 pivot classes" in combine([robust, cut, robust]).reason
    assert combine([cut, robust, broken]).verdict is Verdict.NOT_ROBUST
    assert combine([robust, cut, robust]).counts.states == 3
    assert combine([robust, cut, robust]).time_s == 3.0


def test_only_classes_that_there_are() -> None:
    program = load_program((ROOT / "litmus/sb-put-plain.rdma").read_text(), "sb")
    for number in (-1, class_count(program, OPTIONS)):
        with pytest.raises(IndexError):
            decide_class(program, OPTIONS, number)
    with pytest.raises(UsageError):
        decide_class(program, replace(OPTIONS, instrumentation="paper"), 0)
