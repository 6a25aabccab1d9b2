"""The interpreter that runs counterexamples again: what does not happen, or does not show the violation, is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rdma_robust.contracts.contract_answers import Counterexample
from rdma_robust.contracts.language.contract_program import ContractProgram, ErrorClass
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.contracts.rerun.confirming import confirmed
from rdma_robust.errors import InternalError
from rdma_robust.limits import NO_LIMITS
from tests.support.class_programs import class_programs
from tests.support.contracts_oracle.interleavings import searched

TEXT = r"""
fun f(x) contract collective { bounds x in PID..PID + 1; requires x < 3; ensures \result == 0; } {
  reg v
  if PID == 0 { recv v from any tag 4 } else { send x to 0 tag 4 }
  return v
}
"""


def shown(name: str, procs: int, error: ErrorClass) -> tuple[ContractProgram, Counterexample]:
    """Return a program and its counterexample of a class."""
    program = class_programs()[name].loaded()
    return program, searched(program, "f", procs, NO_LIMITS).counterexamples[error]


def refused(program: ContractProgram, counterexample: Counterexample, said: str | None = None) -> None:
    with pytest.raises(InternalError, match=said):
        confirmed(program, "f", counterexample)


def sgv() -> tuple[ContractProgram, Counterexample]:
    program = load_contracts(TEXT, "f.mp")
    found = searched(program, "f", 2, NO_LIMITS).counterexamples["SGV"]
    confirmed(program, "f", found)
    return program, found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda of: replace(of, events=of.events[1:]), "instead of"),
        (lambda of: replace(of, events=of.events[:-1]), "does not show SGV"),
        (lambda of: replace(of, events=tuple(replace(each, value=9) for each in of.events)), "instead of"),
        (lambda of: replace(of, events=tuple(replace(each, tag=9) for each in of.events)), "instead of"),
        (lambda of: replace(of, events=tuple(replace(each, peer=1) for each in of.events)), "instead of"),
        (lambda of: replace(of, events=tuple(replace(each, choices=(0,)) for each in of.events)), "does not come to"),
        (lambda of: replace(of, events=(*of.events, of.events[-1])), "does not come to"),
        (lambda of: replace(of, process=1), "does not show SGV"),
        (lambda of: replace(of, process=2), "has no process 2"),
        (lambda of: replace(of, error="DL"), "does not show DL"),
        (lambda of: replace(of, inputs=({"x": 0}, {"x": 5})), "instead of|need not do anything"),
        (lambda of: replace(of, inputs=({"x": 2}, of.inputs[1])), "need not do anything"),
    ],
)
def test_a_run_that_is_changed(change: Callable[[Counterexample], Counterexample], said: str) -> None:
    program, found = sgv()
    refused(program, change(found), said)


def test_a_run_from_where_requires_is_false() -> None:
    _, found = sgv()
    refused(load_contracts(TEXT.replace("x < 3", "x < 0"), "f.mp"), found, "need not do anything")


def test_a_message_that_is_not_there() -> None:
    program, found = sgv()
    order = [next(each for each in found.events if (each.process, each.event) == key) for key in ((0, "enter"), (0, "recv"))]
    refused(program, replace(found, events=tuple(order)), "there is no message")


@pytest.mark.parametrize(
    ("name", "procs", "error"),
    [
        ("does not wait", 2, "PGV"),
        ("sends too early", 2, "PGV"),
        ("a fault in a guarantee", 2, "PGV"),
        ("different calls", 2, "CCM"),
        ("requires of a callee", 2, "SRV"),
        ("a message across a callee", 2, "SRV"),
        ("a message into a gathering", 2, "PRV"),
        ("a message before the other even calls", 2, "PRV"),
        ("a fault in what a callee requires", 2, "PRV"),
        ("a message is left", 2, "SGV"),
        ("nothing keeps them away", 3, "ITF"),
    ],
)
def test_every_event_is_needed(name: str, procs: int, error: ErrorClass) -> None:
    program, found = shown(name, procs, error)
    refused(program, replace(found, events=found.events[:-1]))


@pytest.mark.parametrize(
    ("name", "procs", "error"),
    [("sends too early", 3, "PGV"), ("a message into a gathering", 3, "PRV"), ("nothing keeps them away", 3, "ITF")],
)
def test_of_whom_it_is_said(name: str, procs: int, error: ErrorClass) -> None:
    program, found = shown(name, procs, error)
    refused(program, replace(found, process=(found.process + 1) % procs), f"does not show {error}")


def test_what_collates_had() -> None:
    program, found = sgv()
    (own,) = confirmed(program, "f", found)
    assert (own.function, own.number, own.entries) == ("f", 0, found.inputs)
    assert own.exits == ({"\\result": found.inputs[1]["x"]}, {"\\result": 0})
    callee, across = shown("a message into a gathering", 3, "PRV")
    assert [each.function for each in confirmed(callee, "f", across)] == ["f", "collect"]
