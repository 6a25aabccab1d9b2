"""Proofs for every number of processes: what is proved is never violated for some n, also in programs with one change."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import pytest

from rdma_robust.contracts.any_procs.any_answers import for_every_n
from rdma_robust.contracts.checks.function_checks import Checking, checked
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.limits import NO_LIMITS, Limits
from tests.support.contract_mutations import FOLDER, mutants
from tests.support.shares import chunks, share

PROVED: Final[dict[str, tuple[str, ...]]] = {
    "bcast": ("bcast",),
    "gather": ("gather",),
    "scatter": ("scatter",),
    "alltoall": ("alltoall",),
    "figure_9_5-repaired": ("ring",),
}
"""Functions that are proved for every n at any inputs, and quickly."""

UNPROVED: Final[dict[str, str]] = {
    "bcast-last-left-out": "no one send is proved to be what is received here",
    "bcast-all-are-root": "no one receive is proved to take what is sent here",
    "alltoall-receives-first": "no order is found in which all sends and receives can happen",
    "gather-sends-twice": "sends and receives are not one to one",
    "figure_9_5-printed": "not proved: line 10: ensures",
    "gather_w": "a receive from any",
    "endless": "a `while`",
    "assert-fails": "not proved that there is no fault or false assertion",
    "bcast-counts-calls": "assigns: calls does not change where it must not",
    "gather-nobody-waits": "not proved: line 8: waitsfor",
    "requests-waited-for": "non-blocking",
}
"""Programs of which some function is not proved, and why."""


def program(stem: str) -> ContractProgram:
    path = FOLDER / f"{stem}.mp"
    return load_contracts(path.read_text(encoding="utf-8"), path.name)


@pytest.mark.parametrize("stem", share(PROVED, 5))
def test_patterns_are_proved_for_every_n(stem: str) -> None:
    for name in PROVED[stem]:
        found = for_every_n(program(stem), name, NO_LIMITS)
        assert (found.verdict, found.inputs, found.reason) == ("VERIFIED", "all", "")


@pytest.mark.parametrize("stem", share(UNPROVED, 5))
def test_what_is_not_proved_has_its_reason(stem: str) -> None:
    found = [for_every_n(program(stem), each.name, NO_LIMITS) for each in program(stem).contracts]
    assert any(UNPROVED[stem] in each.reason for each in found), found
    assert {each.verdict for each in found if each.reason} == {"UNKNOWN"}


def test_arrays_limit_the_number_of_processes() -> None:
    """No array has more than a million elements, and gather makes one with an element for each process."""
    assert for_every_n(program("gather"), "gather", NO_LIMITS).most == 1_000_000
    assert for_every_n(program("bcast"), "bcast", NO_LIMITS).most is None


LOCAL: Final = """
fun zero(x) contract local { requires PID == 0; assigns \\nothing; ensures NPROCS == 1; } { return x }
"""


def test_what_a_local_function_requires_of_its_process_is_not_required_of_others() -> None:
    """If all processes met `PID == 0`, there would be only one."""
    assert for_every_n(load_contracts(LOCAL, "l.mp"), "zero", NO_LIMITS).verdict == "UNKNOWN"


NOT_A_NUMBER: Final = """
fun sum(v, k) contract local { requires k >= 1; assigns \\nothing; ensures 1 == 1; } {
  for i in 1..k { v += i }
  return v
}
"""


def test_the_first_addition_to_an_array_is_a_fault() -> None:
    found = for_every_n(load_contracts(NOT_A_NUMBER, "n.mp"), "sum", NO_LIMITS)
    assert (found.verdict, found.inputs) == ("VERIFIED", "kinds")


def agrees(found: ContractProgram, name: str, most: int) -> None:
    """What is proved for every n is not violated for any of these."""
    proof = for_every_n(found, name, Limits.of(60))
    if proof.verdict == "VERIFIED":
        asked = Checking(procs=tuple(range(1, most + 1)), mode="inlined", only=(name,))
        (answer,) = checked(found, asked, Limits.of(60))
        assert answer.verdict != "VIOLATED", f"{name}\n{found.source}"


@pytest.mark.long
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.mp")), ids=lambda path: path.stem)
def test_no_program_that_is_violated_is_proved(path: Path) -> None:
    found = load_contracts(path.read_text(encoding="utf-8"), path.name)
    for contract in found.contracts:
        agrees(found, contract.name, 8 if path.stem in PROVED else 4)


@pytest.mark.parametrize("number", chunks(ci=2, all_of_them=40))
def test_no_changed_program_that_is_violated_is_proved(number: int) -> None:
    rng = random.Random(number)
    names = sorted([*PROVED, "diff1dExchange", "oddEvenSort", "sort_pairs", "allreduce", "ringShift"])
    for _ in range(5):
        changed = next(mutants(rng, FOLDER / f"{rng.choice(names)}.mp"))
        for contract in changed.contracts:
            agrees(changed, contract.name, 4)
