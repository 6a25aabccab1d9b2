"""Functions with non-blocking operations are decided by runs, without a look at all interleavings."""

from __future__ import annotations

import pytest

from rdma_robust.contracts.checks.function_checks import Checking, checked
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.limits import NO_LIMITS
from tests.support.class_programs import class_programs

NAMES = [name for name, each in class_programs().items() if "irecv" in each.text or "isend" in each.text]


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_of_the_default_engine(name: str) -> None:
    program = class_programs()[name]
    (answer,) = checked(program.loaded(), Checking(tuple(program.shows), only=("f",)), NO_LIMITS)
    for each, shows in zip(answer.answers, program.shows.values(), strict=True):
        assert (each.verdict, each.engine) == ("VIOLATED" if shows else "VERIFIED", "runs"), each
        assert each.counterexample is None or each.counterexample.error in shows


AROUND = """
fun f(x) contract collective {{
  bounds x in PID..PID; assigns \\nothing; ensures \\result == \\on((PID + 1) % NPROCS, x); }} {{
  req h
  reg v
  {}
  return v
}}
"""
POST, SEND = "h = irecv v from (PID + 1) % NPROCS", "send x to (PID + NPROCS - 1) % NPROCS"


@pytest.mark.parametrize(
    ("lines", "mode"),
    [
        (("barrier()", POST, SEND, "wait h"), "modular"),
        ((POST, SEND, "wait h", "barrier()"), "modular"),
        ((POST, "barrier()", SEND, "wait h"), "inlined"),
        ((POST.replace("(PID + 1) % NPROCS", "any"), SEND, "wait h", "barrier()"), "inlined"),
    ],
)
def test_posted_receives_and_the_contracts_of_callees(lines: tuple[str, ...], mode: str) -> None:
    """A receive from any that is posted, or one across a call, takes the callee's body; nobody's contract is weak then."""
    program = load_contracts(AROUND.format("\n  ".join(lines)), "a.mp")
    (answer,) = checked(program, Checking((2,)), NO_LIMITS)
    (found,) = answer.answers
    assert (found.verdict, found.mode, found.weak) == ("VERIFIED", mode, ())
    (answer,) = checked(program, Checking((2,), mode="modular"), NO_LIMITS)
    assert answer.answers[0].reason.startswith("non-blocking: a receive ") == (mode == "inlined")
