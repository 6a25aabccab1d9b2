"""Random programs of two processes twice, as `.rdma` and as C of OpenSHMEM or MPI: one verdict, the same final states."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from rdma_robust import check
from rdma_robust.c.text.automata_program import evaluated_program
from rdma_robust.errors import ProgramError
from rdma_robust.language.load import load_program
from rdma_robust.outcome import Verdict
from tests.agreement.test_c_twins import finals
from tests.support.c_automata import evaluated
from tests.support.random_spmd import MPI, SHMEM, SpmdDialect, random_spmd

DIALECTS = {"OpenSHMEM": SHMEM, "MPI": MPI}
NAMES = ("x", "y", "z", "l_0", "l_1", "m_0", "m_1", "out0", "out1", "win_o0", "win_o8", "win_o16", "win_o24")
WORDS = {f"P{n}.{name}" for n in (0, 1) for name in NAMES}


def compare(dialect: SpmdDialect, seeds: range, size: int) -> Counter[str]:
    """Compare programs in both languages, on one queue pair and by the standard; return how many had which verdict."""
    seen: Counter[str] = Counter()
    order = "accumulate" if dialect is MPI else "none"
    for seed in seeds:
        twin = random_spmd(dialect, seed, size)
        wanted = load_program(twin.rdma, f"seed {seed}")
        try:
            found = evaluated_program(evaluated(twin.c), "test.c")
        except ProgramError as error:
            assert {each.code for each in error.diagnostics} <= {"RR820"}, f"{error}\n{twin.c}"
            seen["refused"] += 1
            continue
        for hardware in (wanted.hardware, replace(wanted.hardware, order=order)):
            pair = [replace(each, hardware=hardware) for each in (wanted, found)]
            verdicts = [check(each, timeout=20).verdict for each in pair]
            if Verdict.UNKNOWN in verdicts:
                seen["unknown"] += 1
                continue
            assert verdicts[0] is verdicts[1], f"{hardware}\n{twin.rdma}\n{twin.c}"
            of_c = finals(pair[1], WORDS)
            of_rdma = finals(pair[0], WORDS if of_c is None else of_c[1])
            if of_c is not None and of_rdma is not None:
                assert of_c == of_rdma, f"{hardware}\n{twin.rdma}\n{twin.c}"
                seen["final states"] += 1
            seen[verdicts[0].name] += 1
    return seen


@pytest.mark.parametrize("name", DIALECTS)
def test_calls_mean_what_the_same_statements_mean(name: str) -> None:
    assert compare(DIALECTS[name], range(3), 2)["final states"] >= 4


@pytest.mark.ci
@pytest.mark.parametrize("name", DIALECTS)
def test_calls_mean_what_the_same_statements_mean_on_more_programs(name: str) -> None:
    seen = compare(DIALECTS[name], range(100, 106), 3)
    assert seen["ROBUST"] >= 2 and seen["NOT_ROBUST"] >= 1, seen


@pytest.mark.long
@pytest.mark.parametrize("name", DIALECTS)
def test_calls_mean_what_the_same_statements_mean_on_many_programs(name: str) -> None:
    seen = compare(DIALECTS[name], range(1_000, 2_000), 3)
    assert seen["ROBUST"] >= 300 and seen["NOT_ROBUST"] >= 200, seen
