"""Functions with non-blocking operations: as with blocking ones where they mean the same, and as the states of messages."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice

import pytest

from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.function_instances import instance
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.rerun.confirming import confirmed
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.messages.machine.states import by_states
from rdma_robust.messages.message_answers import MessageQuestions
from tests.support.contract_mutations import FOLDER, mutants
from tests.support.contracts_agreement import compared
from tests.support.contracts_oracle.interleavings import Found, searched
from tests.support.random_contracts import random_contracts
from tests.support.random_posts import random_posts, with_requests
from tests.support.shares import chunks


def _searched(program: ContractProgram, function: str, procs: int, states: int) -> Found | None:
    """Return what is found, all of which runs again; None for too many states."""
    found = searched(program, function, procs, Limits(states=states))
    if any("limit" in each for each in found.reasons):
        return None
    for counterexample in found.counterexamples.values():
        confirmed(program, function, counterexample)
    return found


def _rewritten(seeds: range, most: int) -> int:
    """Compare functions with what they are when receives are posted; return how many were small enough."""
    compared = 0
    for seed in seeds:
        text = random_contracts(seed)
        blocking, posting = load_contracts(text, "a.mp"), load_contracts(with_requests(text), "b.mp")
        for contract in blocking.contracts:
            for procs in range(1, most + 1):
                one = _searched(blocking, contract.name, procs, 500)
                other = None if one is None else _searched(posting, contract.name, procs, 5_000)
                if one is not None and other is not None:
                    assert set(one.counterexamples) == set(other.counterexamples), (seed, contract.name, procs)
                    compared += 1
    return compared


def _as_messages(seeds: range) -> Counter[str]:
    """Compare deadlocks and what is left with those of the message program; return how often each is."""
    counted: Counter[str] = Counter()
    for seed in seeds:
        procs = 2 + seed % 2
        program = load_contracts(random_posts(seed, procs), f"{seed}.mp")
        found = _searched(program, "f", procs, 3_000)
        if found is None:
            continue
        answer = by_states(instance(program, "f", procs).program, "infinite", MessageQuestions(), NO_LIMITS)
        assert ("DL" in found.counterexamples) == (answer.deadlocked == "yes"), seed
        assert answer.leaking == "no" or "SGV" in found.counterexamples, seed
        counted.update(list(found.counterexamples) or ["VERIFIED"])
    return counted


def _by_runs(seeds: range, most: int) -> Counter[str]:
    """Compare what all interleavings and one run for each matching show; return how often each is."""
    counted: Counter[str] = Counter()
    for seed in seeds:
        procs = 2 + seed % (most - 1)
        counted += compared(load_contracts(random_posts(seed, procs), f"{seed}.mp"), "f", procs, 4_000)
        program = load_contracts(with_requests(random_contracts(seed)), f"{seed}.mp")
        for contract in program.contracts:
            counted += compared(program, contract.name, procs, 2_000)
    return counted


def test_a_few_by_runs() -> None:
    assert len(_by_runs(range(200, 208), 2)) > 3


@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_more_by_runs(chunk: int) -> None:
    assert len(_by_runs(range(300 + chunk * 6, 306 + chunk * 6), 4)) > 3


MUTATED = sorted(FOLDER.glob("requests-*.mp"))


@pytest.mark.parametrize("chunk", chunks(1, 30))
def test_mutations_by_runs(chunk: int) -> None:
    rng, counted = random.Random(chunk), Counter[str]()
    for path in MUTATED[chunk % 3 :: 3]:
        for program in islice(mutants(rng, path), 3):
            for contract in program.contracts:
                for procs in (1, 2, 3):
                    counted += compared(program, contract.name, procs, 1_500)
    assert len(counted) > 2


def test_a_few() -> None:
    assert _rewritten(range(1), 2) > 2
    assert len(_as_messages(range(6))) > 1


@pytest.mark.parametrize("chunk", chunks(1, 100))
def test_more(chunk: int) -> None:
    assert _rewritten(range(10 + chunk * 6, 16 + chunk * 6), 3) > 10
    assert len(_as_messages(range(100 + chunk * 20, 120 + chunk * 20))) > 3
