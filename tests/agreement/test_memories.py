"""Memory behind a NIC: the machines, brute force over the axioms, and the checker of certificates agree."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest

from rdma_robust.certify.violations import check_not_robust
from rdma_robust.errors import SizeLimitError
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import BRUTE_FORCE, Verdict
from rdma_robust.robustness.by_axioms import witness_of
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.reasons import waiting_among
from rdma_robust.semantics.axioms import is_violating
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from rdma_robust.semantics.wellformed import check_well_formed
from tests.agreement.test_checker_deployed import platform_of
from tests.support.memory_programs import messaged_memories, polled_memories, relayed_memories, small_memories, with_memories
from tests.support.shares import chunks


def agreeing(cases: Iterable[tuple[Program, Model]]) -> Counter[str]:
    """Compare the outcomes of the machines with those of the axioms, what is reduced with what is not, and every violating
    trace of brute force with the axioms, the definition of a trace and the checker. Count the verdicts, and how many
    programs end in new states."""
    found: Counter[str] = Counter()
    for program, model in cases:
        what = f"{program.file}, {model}\n{program.source}"
        machine = explore(DeployedMachine(program, model), Limits(states=4_000))
        try:
            axioms, trace = axiomatic_outcomes(program, model), oracle_robust(program, model)
        except SizeLimitError:
            continue
        if machine.cut is not None:
            continue
        assert machine.finals == axioms.rdma, what
        assert explore(ScMachine(program), Limits()).finals == axioms.sc, what
        whole = explore(DeployedMachine(program, model), Limits(states=4_000), reduce=False)
        assert whole.cut is not None or whole.finals == axioms.rdma, what
        found["new"] += bool(axioms.rdma - axioms.sc)
        found["robust" if trace is None else "not robust"] += 1
        if trace is None:
            assert axioms.rdma <= axioms.sc, what
            continue
        check_well_formed(program, trace, model)
        assert is_violating(trace, model), what
        evidence = trace_evidence(program, witness_of(trace, program, model).trace)
        assert check_not_robust(program, platform_of(model), json.loads(json.dumps(evidence))), what
    return found


def searched(cases: Iterable[tuple[Program, Model]]) -> Counter[str]:
    """Compare the verdict of the search, with all reductions and of each third program without, with brute force over the
    axioms. Count the verdicts, and how many programs were left to brute force."""
    found: Counter[str] = Counter()
    for number, (program, model) in enumerate(cases):
        what = f"{program.file}, {model}\n{program.source}"
        try:
            trace = oracle_robust(program, model)
        except SizeLimitError:
            continue
        wanted = Verdict.ROBUST if trace is None else Verdict.NOT_ROBUST
        found[wanted.value] += 1
        usual = CheckOptions(hardware=model)
        for options in (usual,) if number % 3 else (usual, replace(usual, reductions=frozenset())):
            outcome = decide(program, options)
            if outcome.verdict is Verdict.UNKNOWN:
                assert waiting_among(outcome.faults) is not None, what
                found["unknown"] += 1
            else:
                assert outcome.verdict is wanted, what
                found["left"] += outcome.engine == BRUTE_FORCE
    return found


@pytest.mark.ci
def test_random_programs() -> None:
    found = agreeing(with_memories(range(12)))
    assert found["robust"] and found["not robust"]


def test_the_search_on_small_programs() -> None:
    found = searched(small_memories(range(6))) + searched(relayed_memories(range(2))) + searched(polled_memories(range(4)))
    assert found["robust"] and found["not-robust"] and not found["left"]


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_the_search_on_many_programs(chunk: int) -> None:
    """30 small programs, and 10 of each other kind, in `.ci/run`, 1,000 a chunk in `make test-long`."""
    first, size = 100_000 + 1_000 * chunk, 1_000 if chunk else 30
    found = searched(with_memories(range(first, first + size - 20))) + searched(small_memories(range(first, first + size)))
    found += searched(relayed_memories(range(first, first + size - 20)))
    found += searched(messaged_memories(range(first, first + size - 20)))
    assert min(found["robust"], found["not-robust"]) >= size * 0.5
    assert found["left"] <= size * 0.02


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_the_search_where_polls_give_order(chunk: int) -> None:
    """60 programs under `order multipath` of every family in `.ci/run`, 1,000 a chunk in `make test-long`."""
    first, size = 1_000 * chunk, 1_000 if chunk else 60
    found = searched(polled_memories(range(first, first + size)))
    found += searched(small_memories(range(first, first + size), "hardware order multipath\n"))
    assert min(found["robust"], found["not-robust"]) >= size * 0.5
    assert found["left"] + found["unknown"] <= size * 0.02


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_many_random_programs(chunk: int) -> None:
    """80 programs in `.ci/run`, 1,000 a chunk in `make test-long`."""
    size = 80 if not chunk else 1_000
    found = agreeing(with_memories(range(100_000 + 1_000 * chunk, 100_000 + 1_000 * chunk + size)))
    assert min(found["robust"], found["not robust"]) >= size * 0.3
    assert found["new"] >= size * 0.15
