"""Every rule of barriers, left out or changed, in the machines, brute force, the axioms and the search: a program of
litmus/barriers notices it. The checker has no rules for them (tests/unit/certify/test_barriers_certified.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from rdma_robust.expr import TRUE
from rdma_robust.language.flow.cfg import BarrierWait, Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA, Model
from rdma_robust.robustness.barriers import Barriers
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.semantics import axioms, vertices
from rdma_robust.semantics.machines import deployed, deployed_sc, meeting, threadcode
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_sc import DeployedScMachine
from rdma_robust.semantics.machines.shapes import shape_of
from rdma_robust.semantics.machines.state_space import explore
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from rdma_robust.semantics.oracle.candidate import CandidateExecution
from rdma_robust.semantics.oracle.partial import Partial
from tests.agreement.test_region_mutants import by_search
from tests.conftest import ROOT
from tests.support.patches import Patch, mutated
from tests.support.random_deployed import model_of

Mutants = dict[str, tuple[tuple[Patch, ...], str]]

_AFTER, _FOUND, _ROUND, _MEETING = (
    meeting.after_leaving,
    CandidateExecution._meet,
    Partial._meet,
    CriticalCycles._meeting,
)


def load(name: str) -> Program:
    path = ROOT / f"litmus/barriers/{name}.rdma"
    return load_program(path.read_text(encoding="utf-8"), path.name)


def in_machines(name: str, changed: Callable[..., Any]) -> tuple[Patch, ...]:
    return (deployed, name, changed), (deployed_sc, name, changed)


def _not_fencing(op: object, model: Model = RDMA) -> Any:
    shape = shape_of(op, model)
    return replace(shape, fences=False) if isinstance(op, BarrierWait) else shape


def _at_any(code: Any, point: int, _registers: Any, _members: Any) -> bool:
    return any(each.members for each in code.visible.get(point, ()))


# ---- the machines


MACHINES: Final[Mutants] = {
    "a round begins before all have come": (
        in_machines("after_leaving", lambda command, t, found, _stands: _AFTER(command, t, found, lambda _other: True)),
        "barrier-halo-flushed",
    ),
    "each leaves alone": (in_machines("after_leaving", lambda *_: meeting.NO_MEETING), "barrier-put-flushed"),
    "any barrier is that of the others": (in_machines("at_barrier", _at_any), "barrier-other-first"),
    "others may go on in a round": (
        in_machines("commands_in", lambda code, point, _t, _meeting: code.visible.get(point, ())),
        "barrier-two-of-three",
    ),
    "store buffers need not be empty": (((threadcode, "shape_of", _not_fencing),), "barrier-stores"),
}


def by_machines(name: str) -> tuple[object, ...]:
    program = load(name)
    both = (DeployedMachine(program, model_of(program)), DeployedScMachine(program))
    return tuple((found.finals, bool(found.stuck)) for found in (explore(each, Limits()) for each in both))


@pytest.mark.parametrize("rule", MACHINES)
def test_the_machines_need_the_rule(rule: str) -> None:
    patches, name = MACHINES[rule]
    right = by_machines(name)
    with mutated(patches):
        assert by_machines(name) != right


# ---- brute force and the axioms


def _without_rounds(self: CandidateExecution) -> None:
    _FOUND(self)
    self.rounds, self.at_once = [], self.sections


def _unfinished_rounds(self: CandidateExecution) -> None:
    connected = self.connected
    _FOUND(self)
    self.connected = connected


def _not_in_sc(self: Partial, members: list[int]) -> bool:
    before = list(self.sc_before)
    made = _ROUND(self, members)
    self.sc_before[:] = before
    return made


BRUTE_FORCE: Final[Mutants] = {
    "barriers are one after the other": (((CandidateExecution, "_meet", _without_rounds),), "barrier-put-flushed"),
    "a round is there without one of its threads": (
        ((CandidateExecution, "_meet", _unfinished_rounds),),
        "barrier-missed",
    ),
    "a round orders nothing in sc": (((Partial, "_meet", _not_in_sc),), "barrier-put"),
    "a round orders nothing": (((Partial, "_meet", lambda *_: True),), "barrier-source-polled"),
}


def by_brute_force(name: str) -> tuple[object, ...]:
    program = load(name)
    return oracle_robust(program, model_of(program)) is None, axiomatic_outcomes(program, model_of(program))


@pytest.mark.parametrize("rule", BRUTE_FORCE)
def test_brute_force_needs_the_rule(rule: str) -> None:
    patches, name = BRUTE_FORCE[rule]
    right = by_brute_force(name)
    with mutated(patches):
        assert by_brute_force(name) != right


def test_the_axioms_need_rounds() -> None:
    trace = oracle_robust(load("barrier-put"))
    assert trace is not None and axioms.is_violating(trace)
    with mutated(((vertices, "rounds_of", lambda *_: []),)):
        assert not axioms.is_violating(trace)


# ---- the search


def _not_one_vertex(self: CriticalCycles, e: EventEdge) -> int:
    return 0 if e.members else _MEETING(self, e)


SEARCH: Final[Mutants] = {
    "barriers wait for nobody": (((Barriers, "enabled", lambda *_: TRUE),), "barrier-put"),
    "a round is over when the first has left": (((Barriers, "updates", lambda *_: []),), "barrier-put"),
    "a round is of one thread": (((EventEdge, "threads", property(lambda self: (self.thread,))),), "barrier-source"),
    "no cycle goes through a round": (((CriticalCycles, "_meeting", _not_one_vertex),), "barrier-put-polled"),
}
"""That the others stand at it before the first leaves (`Barriers._stands`) is not needed: nothing else happens until each
has left, and who does not stand there cannot, so that such a run leads nowhere."""


@pytest.mark.parametrize("rule", SEARCH)
def test_the_search_needs_the_rule(rule: str) -> None:
    patches, name = SEARCH[rule]
    program = load(name)
    right = "robust" if program.expect_robust else "not-robust"
    assert by_search(program) == right
    with mutated(patches):
        assert by_search(load(name)) != right
