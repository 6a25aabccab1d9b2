"""The engine with symbolic data and clocks, on functions whose contracts are written out here."""

from __future__ import annotations

import pytest

from rdma_robust.contracts.language.contract_program import StateClause
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.language.spec_terms import Apply, Parameter, SpecNumber
from rdma_robust.contracts.runs.runs_engine import runs
from rdma_robust.limits import Limits
from tests.support.gathering import CLAUSES, QUIET, TEXT, WAITS, Gathering

GATHERING = Gathering(runs)


@pytest.mark.parametrize(("procs", "runs"), [(1, 1), (2, 2), (3, 6), (4, 24)])
def test_a_right_function(procs: int, runs: int) -> None:
    found = GATHERING.answer(procs, WAITS, QUIET)
    assert (found.verdict, found.runs, found.reason) == ("VERIFIED", runs, "")


def test_without_bounds_all_numbers_are_looked_at() -> None:
    found = GATHERING.answer(3, WAITS, QUIET, bounds=())
    assert (found.verdict, found.runs) == ("VERIFIED", 6)
    first = StateClause("ensures", Apply("!=", (Parameter("val"), SpecNumber(4711))))
    found = GATHERING.answer(2, WAITS, QUIET, bounds=(), clauses=(*CLAUSES, first))
    assert found.counterexample is not None
    assert 4711 in [each["val"] for each in found.counterexample.inputs]


def test_each_class_is_noticed() -> None:
    GATHERING.notices_each_class()


def test_what_is_cut_short_is_unknown() -> None:
    assert GATHERING.answer(3, QUIET, limits=Limits(states=1)).reason == "the limit of 1 states"
    forever = TEXT.replace("return all", "while 1 { skip }\n return all")
    assert GATHERING.answer(1, text=forever).reason == "a process makes more than 100,000 steps"


def test_nothing_to_look_at() -> None:
    GATHERING.has_nothing_to_look_at()


GROWING = """
fun squares(x) contract collective { bounds x in 2..2; } { while 1 { x = x * x } }
fun powers(x) contract collective { assigns \\nothing; } { while 1 { x = x * x } }
fun remainders(x) contract collective { assigns \\nothing; } { while 1 { x = x * x % 7 + 1 } }
"""


def test_what_grows_without_end_is_given_up() -> None:
    program = load_contracts(GROWING, "a.mp")
    reasons = [runs(program, each.name, 1).reason for each in program.contracts]
    nested = "what is computed is nested too deeply to be followed"
    assert reasons == ["a number becomes too large to be followed", nested, nested]
