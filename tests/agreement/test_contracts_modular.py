"""Proofs against the contracts of callees: what is proved holds with real bodies, and other bodies change no proof."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice

import pytest

from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.modular.barrier_check import BarrierCheck
from rdma_robust.contracts.modular.modes import ModularEngine
from rdma_robust.contracts.modular.widened_checks import WidenedChecks
from rdma_robust.contracts.runs.runs_engine import runs
from rdma_robust.limits import NO_LIMITS
from tests.support.contract_mutations import FOLDER, mutants
from tests.support.random_contracts import random_contracts
from tests.support.shares import chunks, share

NAMED = [path for path in sorted(FOLDER.glob("*.mp")) if not path.stem.startswith("loop_")]


def named(name: str) -> ContractProgram:
    return load_contracts((FOLDER / f"{name}.mp").read_text(encoding="utf-8"), f"{name}.mp")


def compared(program: ContractProgram, most: int, *, proved_only: bool = False) -> Counter[tuple[bool, str]]:
    """Compare the proofs of a program's functions that call others with what holds with real bodies.

    With `proved_only` nothing is asked of a function that is not proved, which may be endless.
    """
    counted: Counter[tuple[bool, str]] = Counter()
    widened = WidenedChecks(program, NO_LIMITS)
    for contract in program.contracts:
        for procs in range(1, most + 1) if contract.calls else ():
            proved = BarrierCheck(program, contract.name, procs, widened=widened).proved()
            if proved_only and not proved:
                continue
            real = runs(program, contract.name, procs)
            assert not proved or real.verdict == "VERIFIED", (contract.name, procs, real.counterexample)
            counted[proved, real.verdict] += 1
    return counted


def test_what_is_proved_of_random_functions_holds() -> None:
    counted: Counter[tuple[bool, str]] = Counter()
    for seed in range(32, 42):
        counted += compared(load_contracts(random_contracts(seed), "r.mp"), 2)
    assert counted[True, "VERIFIED"]
    assert counted[False, "VIOLATED"]


@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_what_is_proved_of_more_random_functions_holds(chunk: int) -> None:
    for seed in range(9100 + chunk * 50, 9150 + chunk * 50):
        compared(load_contracts(random_contracts(seed), "r.mp"), 3)


@pytest.mark.parametrize("chunk", chunks(1, 40))
def test_what_is_proved_of_mutations_holds(chunk: int) -> None:
    rng = random.Random(chunk)
    for path in NAMED[chunk % 10 :: 10]:
        for program in islice(mutants(rng, path), 2):
            compared(program, 3, proved_only=True)


RIGHT = [
    "allgather",
    "allgather_w",
    "allreduce",
    "alltoall2",
    "dotProd",
    "matmat",
    "matmat_w",
    "ringShift",
    "figure_9_1",
    "diff2dIter",
]


@pytest.mark.parametrize("name", share(RIGHT, 4))
def test_right_programs_are_proved_by_contracts(name: str) -> None:
    program = named(name)
    engine = ModularEngine(program, runs, "auto", NO_LIMITS)
    for contract in program.contracts:
        found = [engine.answer(contract.name, procs) for procs in (1, 3)]
        assert {(each.verdict, each.mode) for each in found} == {("VERIFIED", "modular")}


PAIRS = ["weak-ensures", "weak-no-assigns", "weak-no-quiet", "weak-no-waitsfor", "weak-own-wildcard"]


@pytest.mark.parametrize("name", share(PAIRS, 3))
def test_another_body_of_a_callee_that_meets_the_contract_changes_no_proof(name: str) -> None:
    problems = []
    for text in (name, f"{name}-other-body"):
        program = named(text)
        widened = WidenedChecks(program, NO_LIMITS)
        check = BarrierCheck(program, program.contracts[-1].name, 3, widened=widened)
        assert not check.proved()
        problems.append(check.problem)
    assert problems[0] == problems[1]


PROPOSED = {
    "weak-no-quiet": ("bcast", "quiet to \\all until root if PID != root"),
    "weak-own-wildcard": ("bcast", "quiet to \\all until root if PID != root"),
    "weak-no-waitsfor": ("meet", "waitsfor \\all"),
    "weak-no-assigns": ("touch", "assigns \\nothing"),
}


@pytest.mark.parametrize("name", share(sorted(PROPOSED), 3))
def test_a_clause_that_is_missing_is_named(name: str) -> None:
    program = named(name)
    function = program.contracts[-1].name
    found = ModularEngine(program, runs, "auto", NO_LIMITS).answer(function, 3)
    assert (found.verdict, found.mode) == ("VERIFIED", "inlined")
    assert [(each.function, each.proposal) for each in found.weak] == [PROPOSED[name]]
    found = ModularEngine(program, runs, "modular", NO_LIMITS).answer(function, 3)
    assert (found.verdict, found.mode) == ("UNKNOWN", "modular")
    assert found.reason.endswith(f"{PROPOSED[name][0]}: add `{PROPOSED[name][1]}`")
