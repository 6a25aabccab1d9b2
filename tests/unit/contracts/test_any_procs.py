"""Proofs for every number of processes: what is proved is never violated for some n, also in programs with one change."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import pytest

from rdma_robust.contracts.any_procs.any_proof import EveryProcs
from rdma_robust.contracts.checks.function_checks import Checking, checked
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.limits import NO_LIMITS, Limits
from tests.support.contract_mutations import FOLDER, mutants
from tests.support.patterns_for_every_n import pattern_text
from tests.support.shares import chunks, share

PROVED: Final[dict[str, tuple[str, ...]]] = {
    "bcast": ("bcast",),
    "gather": ("gather",),
    "scatter": ("scatter",),
    "alltoall": ("alltoall",),
    "figure_9_5-repaired": ("ring",),
    "allgather": ("gather", "bcast", "allgather"),
    "alltoall2": ("scatter", "alltoall2"),
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
    "allgather-message-across": "a message across a collective call",
    "leaves-early": "not proved that all processes call this",
    "alltoall2-shifted-roots": "not proved of scatter: what it requires",
    "weak-no-waitsfor": "not proved: line 12: waitsfor",
    "diff1dIter-in-place": "a value depends on too many others",
    "allgather_w": "gather_w requires others to be quiet",
}
"""Programs of which some function is not proved, and why."""


def program(stem: str) -> ContractProgram:
    path = FOLDER / f"{stem}.mp"
    return load_contracts(path.read_text(encoding="utf-8"), path.name)


@pytest.mark.parametrize("stem", share(PROVED, 10))
def test_patterns_are_proved_for_every_n(stem: str) -> None:
    for name in PROVED[stem]:
        found = EveryProcs(program(stem), NO_LIMITS).answer(name)
        assert (found.verdict, found.inputs, found.reason) == ("VERIFIED", "all", "")


@pytest.mark.parametrize("stem", share(UNPROVED, 20))
def test_what_is_not_proved_has_its_reason(stem: str) -> None:
    proofs = EveryProcs(program(stem), NO_LIMITS)
    found = [proofs.answer(each.name) for each in program(stem).contracts]
    assert any(UNPROVED[stem] in each.reason for each in found), found
    assert {each.verdict for each in found if each.reason} == {"UNKNOWN"}


def test_arrays_limit_the_number_of_processes() -> None:
    """No array has more than a million elements, and gather makes one with an element for each process."""
    assert EveryProcs(program("gather"), NO_LIMITS).answer("gather").most == 1_000_000
    assert EveryProcs(program("bcast"), NO_LIMITS).answer("bcast").most is None


NOT_A_NUMBER: Final = """
fun sum(v, k) contract local { requires k >= 1; assigns \\nothing; ensures 1 == 1; } {
  for i in 1..k { v += i }
  return v
}
"""


def test_the_first_addition_to_an_array_is_a_fault() -> None:
    found = EveryProcs(load_contracts(NOT_A_NUMBER, "n.mp"), NO_LIMITS).answer("sum")
    assert (found.verdict, found.inputs) == ("VERIFIED", "kinds")


PIPELINE: Final = """
fun pipe(x) contract collective { bounds x in PID..PID; assigns \\nothing; ensures \\result == \\on(0, x); } {
  if PID > 0 { recv x from PID - 1 }
  if PID < NPROCS - 1 { send x to PID + 1 }
  return x
}
"""


def test_a_value_that_went_through_all_processes_is_not_followed() -> None:
    """There is a matching and an order, by the numbers of processes; what the last one gets has no closed form."""
    found = EveryProcs(load_contracts(PIPELINE, "pipe.mp"), NO_LIMITS).answer("pipe")
    assert found.verdict == "UNKNOWN"
    assert found.reason.startswith("a value depends on too many others")
    moved = PIPELINE.replace("ensures \\result == \\on(0, x);", "waitsfor PID - 1;")
    assert EveryProcs(load_contracts(moved, "pipe.mp"), NO_LIMITS).answer("pipe").verdict == "VERIFIED"


def agrees(found: ContractProgram, name: str, most: int) -> None:
    """What is proved for every n is not violated for any of these."""
    proof = EveryProcs(found, Limits.of(60)).answer(name)
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


@pytest.mark.parametrize("number", chunks(ci=1, all_of_them=40))
def test_no_random_pattern_that_is_violated_is_proved(number: int) -> None:
    rng = random.Random(number)
    for _ in range(10):
        agrees(load_contracts(pattern_text(rng), "pattern.mp"), "f", 6)


@pytest.mark.parametrize("number", chunks(ci=1, all_of_them=40))
def test_no_changed_program_that_is_violated_is_proved(number: int) -> None:
    rng = random.Random(number)
    more = (
        "diff1dExchange",
        "oddEvenSort",
        "sort_pairs",
        "allreduce",
        "ringShift",
        "matmat",
        "diff1dIter",
        "local-requires",
    )
    names = sorted([*PROVED, *more])
    for _ in range(5):
        changed = next(mutants(rng, FOLDER / f"{rng.choice(names)}.mp"))
        for contract in changed.contracts:
            agrees(changed, contract.name, 4)
