"""Loops with contracts: what is proved from invariants holds in all interleavings of all rounds; engines agree on rounds."""

from __future__ import annotations

import random
import re
from collections import Counter
from contextlib import suppress

import pytest

from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.language.loop_rounds import round_program
from rdma_robust.contracts.modular.modes import ModularEngine
from rdma_robust.contracts.rerun.confirming import replayed_counterexample
from rdma_robust.contracts.runs.run_inputs import NARROW
from rdma_robust.contracts.runs.runs_engine import runs
from rdma_robust.errors import SizeLimitError
from rdma_robust.limits import NO_LIMITS, Limits
from tests.support.contract_mutations import FOLDER, mutants
from tests.support.contracts_agreement import compared as compared_engines
from tests.support.contracts_oracle.interleavings import by_interleavings
from tests.support.random_loops import random_local_loop, random_loop
from tests.support.shares import chunks

NAMED = sorted(FOLDER.glob("loop_*.mp"))
FEW = Limits(states=30_000)


def loops_of(program: ContractProgram) -> list[str]:
    return [each.name for each in program.contracts if each.loop is not None]


def proved(engine: ModularEngine, function: str, procs: int) -> bool:
    """Whether a function is proved from the invariants of its loops."""
    return engine._proved(function, procs, NARROW, NO_LIMITS)[0]


def compared(program: ContractProgram, procs: int) -> Counter[str]:
    """Compare what is proved of the functions that have loops with all rounds of these, and both engines on one round."""
    counted: Counter[str] = Counter()
    engine = ModularEngine(program, runs, "auto", NO_LIMITS)
    for contract in program.contracts:
        if contract.loop is not None:
            counted[compared_rounds(program, contract.name, procs)] += 1
        elif set(contract.calls) & set(loops_of(program)):
            holds = proved(engine, contract.name, procs)
            real = by_interleavings(program, contract.name, procs, FEW)
            assert not holds or real.verdict != "VIOLATED", real.counterexample
            counted[f"{'proved' if holds else 'open'} {real.verdict}"] += 1
    return counted


def compared_rounds(program: ContractProgram, loop: str, procs: int) -> str:
    """Compare both engines on one round of a loop; what they find is replayed."""
    contract = program.contract(loop)
    assert contract is not None
    round_ = round_program(program, contract)
    found = runs(round_, loop, procs)
    real = by_interleavings(round_, loop, procs, FEW)
    for each in (found, real):
        if each.counterexample is not None:
            replayed_counterexample(round_, loop, each.counterexample)
    if "UNKNOWN" not in (found.verdict, real.verdict):
        assert found.verdict == real.verdict, (found, real)
    return f"round {real.verdict}"


def test_what_is_proved_of_random_loops_holds() -> None:
    counted: Counter[str] = Counter()
    for seed in range(4, 7):
        counted += compared(load_contracts(random_loop(seed), "r.mp"), 2)
    assert counted.keys() == {"proved VERIFIED", "open VIOLATED", "round VERIFIED", "round VIOLATED"}


@pytest.mark.parametrize("chunk", chunks(1, 100))
def test_what_is_proved_of_more_random_loops_holds(chunk: int) -> None:
    for seed in range(1000 + chunk * 12, 1012 + chunk * 12):
        compared(load_contracts(random_loop(seed), "r.mp"), 1 + seed % 3)


@pytest.mark.parametrize("chunk", chunks(1, 40))
def test_what_is_proved_of_loops_in_loops_holds(chunk: int) -> None:
    for seed in range(chunk * 10, 10 + chunk * 10):
        compared(load_contracts(random_loop(seed, nested=True), "r.mp"), 1 + seed % 3)


def compared_local(seed: int, procs: int) -> Counter[str]:
    """Compare a local function with a loop, and a function that calls it, in all of these ways."""
    program = load_contracts(random_local_loop(seed), "r.mp")
    for function in ("f", "g"):
        compared_engines(program, function, procs)
    return compared(program, procs)


def test_loops_that_one_process_goes_through() -> None:
    counted: Counter[str] = Counter()
    for seed in range(1, 25):
        counted += compared_local(seed, 1)
    assert counted["round VERIFIED"] and counted["round VIOLATED"] and counted["open VIOLATED"], counted


@pytest.mark.parametrize("chunk", chunks(1, 240))
def test_more_loops_that_one_process_goes_through(chunk: int) -> None:
    for seed in range(100 + chunk * 10, 110 + chunk * 10):
        with suppress(SizeLimitError):  # a loop that does not end
            compared_local(seed, 1 + seed % 2)


def bounded(text: str) -> str:
    """Return a program in which inputs of the function with the loop, and numbers of rounds, are few."""
    names = {"rounds": "0..4", "steps": "0..3", "own": "PID..PID + 1", "val": "PID..PID + 1", "k": "1..1"}
    for name, values in names.items():
        if not re.search(rf"bounds {name} in", text):
            text = re.sub(
                rf"(fun \w+\([^)]*\b{name}\b[^)]*\)\ncontract collective {{)", rf"\1\n  bounds {name} in {values};", text
            )
    return text.replace("bounds u len 4..4;", "bounds u len 4..4 in \\i + PID..\\i + PID;")


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_what_is_proved_of_mutations_holds(chunk: int) -> None:
    rng = random.Random(chunk)
    for path in NAMED[chunk % 3 :: 3]:
        program = next(mutants(rng, path))
        few = load_contracts(bounded(program.source), path.name)
        engine = ModularEngine(few, runs, "auto", NO_LIMITS)
        for contract in few.contracts:
            if contract.loop is None and set(contract.calls) & set(loops_of(few)) and proved(engine, contract.name, 2):
                real = by_interleavings(few, contract.name, 2, FEW)
                assert real.verdict != "VIOLATED", (program.source, real.counterexample)
