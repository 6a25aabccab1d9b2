"""Every rule of barriers, left out or changed, in the machines, brute force, the axioms and the search: a program of
litmus/barriers notices it. Of the checker these are its rules for traces and those for ROBUST."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest

from rdma_robust.certify import violations
from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.certify.invariants import check_robust
from rdma_robust.certify.mailboxes import meetings_of
from rdma_robust.certify.normal_form import NormalFormRules
from rdma_robust.certify.remembered import Marks
from rdma_robust.certify.thread_events import ThreadEvent, ThreadMove
from rdma_robust.certify.violations import check_not_robust
from rdma_robust.evidence import checkers_search
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.evidence.produce import checkers_evidence
from rdma_robust.expr import TRUE
from rdma_robust.language.flow.cfg import BarrierWait, Program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA, Model
from rdma_robust.options import RECV_DEPTH, CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.barriers import Barriers
from rdma_robust.robustness.by_axioms import witness_of
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.semantics import axioms, vertices
from rdma_robust.semantics.machines import deployed, meeting, sc, threadcode
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.machines.shapes import shape_of
from rdma_robust.semantics.oracle import brute_force
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from rdma_robust.semantics.oracle.candidate import CandidateExecution
from rdma_robust.semantics.oracle.partial import Partial
from tests.agreement.test_checker_deployed import compared
from tests.support import checker_search
from tests.support.checker_search import Search, platform_of
from tests.support.left_out import search_needs, suite_program
from tests.support.patches import Patch, mutated
from tests.support.random_barriers import KINDS, random_barriers
from tests.support.random_deployed import model_of

Mutants = dict[str, tuple[tuple[Patch, ...], str]]

_AFTER, _FOUND, _ROUND, _MEETING = (
    meeting.after_leaving,
    CandidateExecution._meet,
    Partial._meet,
    CriticalCycles._meeting,
)


def load(name: str) -> Program:
    return suite_program(f"barriers/{name}")


def in_machines(name: str, changed: Callable[..., Any]) -> tuple[Patch, ...]:
    return (deployed, name, changed), (sc, name, changed)


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
    both = (DeployedMachine(program, model_of(program)), ScMachine(program))
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
    search_needs(patches, partial(load, name))


# ---- the checker of traces


def _only_in_sc(self: Partial, members: list[int]) -> bool:
    for e in members:
        arriving = 1 << e - 1 if e > self.base.offsets[self.base.thread[e]] else 0
        for other in members:
            self.sc_before[other] |= arriving if other != e else 0
    return True


def verdict_on(name: str, evidence: Any) -> str:
    """What the checker says of evidence that a program is not robust."""
    program = load(name)
    try:
        return check_not_robust(program, platform_of(model_of(program)), evidence)
    except InvalidCertificate as error:
        return str(error)


def trace_of(name: str) -> Any:
    program = load(name)
    trace = oracle_robust(program, model_of(program))
    assert trace is not None
    return trace_evidence(program, witness_of(trace, program, model_of(program)).trace)


def forged(name: str) -> Any:
    """A trace that would show the program not robust if a round ordered nothing in RDMA."""
    program = load(name)
    believed = ((brute_force, "is_violating", lambda *_: True), (brute_force, "is_sequential", lambda *_: False))
    with mutated(((Partial, "_meet", _only_in_sc), *believed)):
        trace = oracle_robust(program, model_of(program))
        assert trace is not None
    return trace_evidence(program, trace)


def _without_barriers(judge: Callable[..., Any]) -> Callable[..., Any]:
    return lambda trace, *platform: judge(replace(trace, joined=()), *platform)


def test_the_checker_needs_rounds_in_rdma() -> None:
    evidence = forged("barrier-source-polled")
    assert "RDMA does not allow the trace" in verdict_on("barrier-source-polled", evidence)
    with mutated(((violations, "rdma_cycle", _without_barriers(violations.rdma_cycle)),)):
        assert "a trace of" in verdict_on("barrier-source-polled", evidence)


def test_the_checker_needs_rounds_in_sc() -> None:
    evidence = trace_of("barrier-put")
    assert "a trace of" in verdict_on("barrier-put", evidence)
    with mutated(((violations, "sc_cycle", _without_barriers(violations.sc_cycle)),)):
        assert "sequential consistency allows the trace" in verdict_on("barrier-put", evidence)


@pytest.mark.parametrize("changed", ["left out", "others", "nobody"])
def test_rounds_that_are_none_are_rejected(changed: str) -> None:
    """A barrier of a thread left out at its end, and threads that are not those of the statement."""
    evidence = trace_of("barrier-put")
    at = next(i for i, e in enumerate(evidence["events"]) if e["type"] == "BAR" and e["thread"] == "T")
    if changed == "left out":
        later = [{**e, "reads_from": _moved(e["reads_from"], at)} for i, e in enumerate(evidence["events"]) if i != at]
        writes = {cell: [_moved(number, at) for number in order] for cell, order in evidence["mo"].items()}
        assert "equally often" in verdict_on("barrier-put", {**evidence, "events": later, "mo": writes})
        return
    evidence["events"][at]["meets"] = ["U", "T"] if changed == "others" else []
    assert "cannot make event" in verdict_on("barrier-put", evidence)


def _moved(number: Any, left_out: int) -> Any:
    return number - 1 if isinstance(number, int) and number > left_out else number


# ---- the checker of ROBUST


def _with_whoever_came(arriving: Iterable[ThreadMove]) -> Iterator[ThreadMove]:
    """Rounds of all that stand at a barrier, whoever is missing."""
    came: dict[tuple[str, ...], list[ThreadMove]] = {}
    for move in arriving:
        came.setdefault(move.event.meets, []).append(move)
    for moves in came.values():
        few = tuple(str(move.event.thread) for move in moves)
        yield from _ROUNDS(replace(move, event=replace(move.event, meets=few)) for move in moves)


def _of_one(rule: str) -> tuple[Patch, ...]:
    """A rule of the normal form as if a round were of its first thread alone."""
    right = getattr(NormalFormRules, rule)

    def changed(self: NormalFormRules, marks: Marks, event: ThreadEvent, *more: Any) -> Any:
        return right(self, marks, replace(event, others=()), *more)

    return ((NormalFormRules, rule, changed),)


_ROUNDS = meetings_of

ROBUST: Final[Mutants] = {
    "each leaves alone": (((checker_search, "meetings_of", iter),), "barrier-put"),
    "nobody leaves": (((checker_search, "meetings_of", lambda _: iter(())),), "barrier-put"),
    "a round begins before all have come": (((checker_search, "meetings_of", _with_whoever_came),), "barrier-never-all"),
    "a round is of one thread": (((ThreadEvent, "threads", property(lambda self: (self.thread,))),), "barrier-source"),
    "a round is forced by its first thread alone": (_of_one("_forced"), "barrier-stores"),
    "a round in beta forces its first thread alone": (_of_one("_cpu_in_beta"), "barrier-two-of-three"),
    "taint passes a round in its first thread alone": (_of_one("_in_alpha"), "barrier-halo"),
}
"""That the pivot's thread has no round in beta (`_in_beta`) is not needed: what follows is in beta, and so is the pivot."""


def by_checkers_rules(name: str) -> str:
    program = load(name)
    return Search.of(program, platform_of(model_of(program))).verdict()


@pytest.mark.parametrize("rule", ROBUST)
def test_the_checker_of_robust_needs_the_rule(rule: str) -> None:
    patches, name = ROBUST[rule]
    right = by_checkers_rules(name)
    assert right == ("robust" if oracle_robust(load(name), model_of(load(name))) is None else "not-robust")
    with mutated(patches):
        assert by_checkers_rules(name) == {"robust": "not-robust", "not-robust": "robust"}[right]


def _proofs(name: str, patches: tuple[Patch, ...] = ()) -> Any:
    """What proves a program robust, by changed rules."""
    program = load(name)
    with mutated(patches):
        return json.loads(json.dumps(checkers_evidence(program, model_of(program), RECV_DEPTH, Limits(states=5_000))))


FORGED: Final = {
    "nobody leaves": (((checkers_search, "meetings_of", lambda _: iter(())),), "barrier-put"),
    "each leaves alone": (((checkers_search, "meetings_of", iter),), "barrier-put"),
    "a round is of one thread": ROBUST["a round is of one thread"],
    "taint passes a round in its first thread alone": ROBUST["taint passes a round in its first thread alone"],
}


@pytest.mark.parametrize("rule", FORGED)
def test_what_is_inductive_by_changed_rules_only_is_rejected(rule: str) -> None:
    """Evidence that a program which is not robust is: a round, or what follows from it, leads out of it."""
    patches, name = FORGED[rule]
    program, evidence = load(name), _proofs(name, patches)
    with pytest.raises(InvalidCertificate, match=r"not inductive|contains a violation"):
        check_robust(program, platform_of(model_of(program)), evidence)


@pytest.mark.parametrize("name", ["barrier-halo-flushed", "barrier-stores", "barrier-missed"])
def test_an_invariant_needs_all_of_its_states(name: str) -> None:
    program, evidence = load(name), _proofs(name)
    platform = platform_of(model_of(program))
    assert check_robust(program, platform, evidence)
    for i in range(0, len(evidence["states"]), 1 + len(evidence["states"]) // 12):
        states = evidence["states"][:i] + evidence["states"][i + 1 :]
        with pytest.raises(InvalidCertificate):
            check_robust(program, platform, {**evidence, "states": states})


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=pytest.mark.ci) for kind in KINDS])
def test_the_checkers_rules_are_brute_force(kind: str) -> None:
    assert compared(random_barriers(kind, range(800, 900)), 12, certified=True)["robust"]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", range(8))
def test_the_checkers_rules_are_brute_force_on_many(kind: str, chunk: int) -> None:
    start = 10_000 * (chunk + 1)
    assert compared(random_barriers(kind, range(start, start + 4_000)), 250, certified=True).total() >= 250


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=pytest.mark.ci) for kind in KINDS])
def test_violations_with_barriers_are_certified(kind: str) -> None:
    certified = 0
    for program, model in random_barriers(kind, range(700, 720)):
        outcome = decide(program, CheckOptions(hardware=model))
        if outcome.verdict is Verdict.NOT_ROBUST and outcome.witness is not None:
            evidence = trace_evidence(program, outcome.witness.trace)
            certified += "a trace of" in check_not_robust(program, platform_of(model), evidence)
    assert certified
