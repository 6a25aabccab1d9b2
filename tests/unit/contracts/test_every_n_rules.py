"""What is asked of proofs for every number of processes: with one question left out, a wrong program would be proved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from rdma_robust.contracts.any_procs import any_proof
from rdma_robust.contracts.any_procs.any_answers import EveryProcs
from rdma_robust.contracts.any_procs.any_calls import Calls
from rdma_robust.contracts.any_procs.any_matching import Matching
from rdma_robust.contracts.any_procs.any_proof import Proof
from rdma_robust.contracts.any_procs.any_specs import MomentReader
from rdma_robust.contracts.checks.function_checks import Checking, checked
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.limits import NO_LIMITS
from tests.support.contract_mutations import FOLDER
from tests.support.shares import share

OVERTAKEN: Final = """
fun overtaken(x) contract collective { bounds x in PID..PID; assigns \\nothing; } {
  reg v, w
  send x to (PID + 1) % NPROCS tag 1
  send x to (PID + 1) % NPROCS tag 2
  recv v from (PID + NPROCS - 1) % NPROCS
  recv w from (PID + NPROCS - 1) % NPROCS tag 1
}
"""
TOO_MANY: Final = """
fun too_many(x) contract collective { bounds x in PID..PID; assigns \\nothing; } {
  if PID == 0 { for i in 0..NPROCS - 1 { send x to i } }
  else { recv x from 0 }
}
"""
ALONE: Final = """
fun alone(x) contract local { bounds x in 0..1; requires PID == 0; assigns \\nothing; ensures NPROCS == 1; } { return x }
"""


def yes(*_: object, **__: object) -> bool:
    return True


def nothing(*_: object, **__: object) -> list[object]:
    return []


LEFT_OUT: Final[tuple[tuple[str, object, str, Callable[..., object]], ...]] = (
    (OVERTAKEN, Matching, "in_order", yes),
    (TOO_MANY, Matching, "_inverse", yes),
    ("alltoall-receives-first", any_proof, "well_founded", yes),
    ("assert-fails", Proof, "_faults", nothing),
    ("bcast-counts-calls", any_proof, "unchanged_goals", nothing),
    ("gather-nobody-waits", any_proof, "promised", nothing),
    ("figure_9_5-printed", MomentReader, "goals", nothing),
    ("allgather-message-across", Calls, "_apart", nothing),
    ("leaves-early", Calls, "_by_all", nothing),
    ("local-requires", Calls, "_required", nothing),
)
"""A program, and where the question is that shows that it is not proved."""


def read(named: str) -> ContractProgram:
    text = named if "\n" in named else (FOLDER / f"{named}.mp").read_text(encoding="utf-8")
    return load_contracts(text, "rules.mp")


@pytest.mark.parametrize(("named", "owner", "question", "instead"), share(LEFT_OUT, 10))
def test_each_question_is_needed(
    named: str, owner: object, question: str, instead: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = read(named)
    proofs = EveryProcs(program, NO_LIMITS)
    unproved = {each.name for each in program.contracts if proofs.answer(each.name).verdict == "UNKNOWN"}
    wrong = {each.name for each in checked(program, Checking(procs=(1, 2, 3)), NO_LIMITS) if each.verdict == "VIOLATED"}
    assert wrong
    assert wrong <= unproved
    monkeypatch.setattr(owner, question, instead)
    without = EveryProcs(program, NO_LIMITS)
    assert any(without.answer(name).verdict == "VERIFIED" for name in wrong)


FAULTY: Final = """
reg u
fun frame(x) contract collective { bounds x in 0..0; bounds u len 1..1 in 0..0; assigns u[1 / x]; } { }
"""


@pytest.mark.parametrize("clause", ["assigns u[1 / x];", "assigns u; quiet to 0 tag 1 / x until 0;"])
def test_a_fault_in_a_clause_is_one_though_nothing_changes_and_nothing_is_sent(clause: str) -> None:
    program = read(FAULTY.replace("assigns u[1 / x];", clause))
    (answer,) = checked(program, Checking(procs=(1,)), NO_LIMITS)
    assert answer.verdict == "VIOLATED"
    assert EveryProcs(program, NO_LIMITS).answer("frame").verdict == "UNKNOWN"


def test_a_local_function_speaks_for_one_process() -> None:
    """If the requirement `PID == 0` were one of all processes, there would be one only."""
    assert EveryProcs(read(ALONE), NO_LIMITS).answer("alone").verdict == "UNKNOWN"
