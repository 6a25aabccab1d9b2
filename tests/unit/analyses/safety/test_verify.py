"""Verification: claims against the final states and faults of both machines, and the arguments that are given."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.analyses.safety.exploration import confirmed_events, explore_machine
from rdma_robust.analyses.safety.goals import FaultGoal, StateGoal
from rdma_robust.analyses.safety.questions import Argument
from rdma_robust.analyses.safety.verify import Status, Verified, check_claims, claims
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA, Model, rdma
from rdma_robust.semantics.machines.outcomes import explore, explore_outcomes
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.sc import ScMachine
from tests.support.random_programs import SMALL, TINY, random_program

NODES = "node A { x = 0, s = 0 }\nnode B { y = 0 }\n"
SHARED_WORD = (
    NODES + "thread T on A { reg r\n s = 1\n put B.y = s\n s = 2\n}\nthread U on B { reg r\n r = y\n assert r != 2\n}\n"
)
POLLED = SHARED_WORD.replace("put B.y = s\n", "put B.y = s\n poll B\n")
ENDLESS = (
    NODES + "thread T on A { s = 1\n loop { put B.y = s }\n s = 2\n }\nthread U on B { reg r\n r = y\n assert r != 3\n}\n"
)
COUNTING = NODES + "domain 0..3\nthread T on A { reg i\n loop { put B.y = s\n i = (i + 1) % 2 }\n s = 1 }\n"
LIMITS = Limits(states=20_000)


def verified(text: str, limits: Limits = LIMITS, hardware: Model = RDMA) -> Verified:
    return check_claims(blocking(load_program(text, "test.rdma")), limits, hardware, hangs=False)


def only(text: str) -> tuple[Status, Argument]:
    (checked,) = verified(text).checked
    return checked.status, checked.answer.argument


def test_the_argument_fits_the_program() -> None:
    assert only(SHARED_WORD) == (Status.VIOLATED, Argument.RDMA_RUN)
    assert only(POLLED) == (Status.HOLDS, Argument.ROBUST)
    assert only(POLLED.replace("!= 2", "!= 1")) == (Status.VIOLATED, Argument.SC_RUN)
    assert only(SHARED_WORD.replace("r != 2", "r < 3")) == (Status.HOLDS, Argument.THREAD)
    assert only(SHARED_WORD.replace("r != 2", "r == 0 || r == r")) == (Status.HOLDS, Argument.THREAD)
    two = SHARED_WORD.replace("r = y\n assert r != 2", "r = y\n r = y\n r = y == 0 && r == 1\n assert r == 0").replace(
        " s = 2\n", " s = 1\n"
    )
    assert only(two) == (Status.HOLDS, Argument.RDMA_EXHAUSTED)


def test_queues_without_bound_end_at_a_limit_that_is_named() -> None:
    text = ENDLESS.replace("r != 3", "r != 2 || r == 1").replace("s = 1\n loop", "s = 1\n loop")
    assert only(text) == (Status.VIOLATED, Argument.RDMA_RUN)
    endless = ENDLESS.replace("r = y\n assert r != 3", "r = y\n x2 = r\n r = y\n assert x2 <= r").replace(
        "reg r\n r = y", "reg r, x2\n r = y"
    )
    (checked,) = verified(endless, Limits(states=3000)).checked
    assert (checked.status, checked.answer.argument) == (Status.UNKNOWN, Argument.LIMIT)
    assert "the limit of 3000 states" in checked.answer.reason
    assert "operations of a queue pair in flight" in checked.answer.reason


def test_what_no_thread_can_do_needs_no_search() -> None:
    found = verified(COUNTING)
    assert {c.claim.kind for c in found.checked} == {"overflow"}
    assert {c.answer.argument for c in found.checked} == {Argument.THREAD}


@pytest.mark.parametrize("body", ["loop { assert r == 1\n }", "while 1 == 1 { assert r == 1\n }"])
def test_an_assertion_that_is_all_of_a_loop_is_checked(body: str) -> None:
    assert only(f"{NODES}thread T on A {{ reg r\n {body}\n}}\n") == (Status.VIOLATED, Argument.SC_RUN)


def test_truth_values_outside_the_domain_end_the_execution() -> None:
    text = (
        "domain 10..100\nnode A { f = 10, b = 20 }\nthread L on A { reg q\n loop { q = b\n q = q + 1\n b = q\n }\n}\n"
        "thread T on A { reg q, r\n q = b\n r = b\n r = q == r\n f = r\n}\n"
        "thread U on A { reg s\n s = f\n assert s != 1\n}\n"
    )
    found = {(c.claim.kind, c.claim.text): c.status for c in verified(text).checked}
    assert found["assertion", "assert s != 1"] is Status.HOLDS
    assert found["overflow", "q == r"] is Status.VIOLATED


def holds_by_outcomes(program: Program, ordered: bool) -> dict[tuple[int, str], bool | None]:
    report = explore_outcomes(program, rdma(ordered), max_states=2000)
    return {(line.line.span.start, c.claim.model): c.holds for line in report.lines for c in line.claims}


@pytest.mark.ci
@pytest.mark.parametrize(("loops", "number"), [(False, 40), (True, 12)])
def test_claims_are_decided_as_by_all_final_states(loops: bool, number: int) -> None:
    violated = 0
    for seed in range(number):
        rng = Random(seed)
        text = random_program(rng, rng.choice([TINY, SMALL]), loops=loops)
        bare = load_program(text, "x")
        words = [str(c) for c in bare.cells if not c.hidden]
        words += [f"{t.name}.{r}" for t in bare.threads for r, _ in t.registers]
        for _ in range(2):
            condition = " && ".join(f"{rng.choice(words)} == {rng.randint(0, 2)}" for _ in range(2))
            text += f"\noutcome {condition} : {rng.choice(['allowed', 'forbidden'])} under sc, forbidden under rdma"
        ordered = rng.random() < 0.3
        program = load_program(text + "\n", "test.rdma")
        truth = holds_by_outcomes(program, ordered)
        searches = {
            "rdma": explore(RdmaMachine(program, rdma(ordered)), Limits(states=2000)),
            "sc": explore(ScMachine(program), Limits()),
        }
        for checked in verified(text + "\n", Limits(states=1000 if loops else 20_000), rdma(ordered)).checked:
            claim = checked.claim
            if isinstance(claim.goal, FaultGoal):
                met = claim.goal.fault in searches["rdma"].faults
                known = met or searches["rdma"].cut is None
                wanted: bool | None = not met if known else None
            else:
                wanted = truth[claim.span.start, claim.model]
            if wanted is not None and (not loops or checked.status is not Status.UNKNOWN):
                hold = (Status.HOLDS, Status.UNREACHABLE) if wanted else (Status.VIOLATED,)
                assert checked.status in hold, (seed, claim, checked.answer, text)
            if checked.reached is not None and isinstance(claim.goal, StateGoal):
                finals = searches[claim.model].finals
                assert not checked.reached or finals or searches[claim.model].cut, (seed, claim, text)
                assert checked.reached or not finals or "no state can" in checked.answer.reason, (seed, claim, text)
            violated += checked.status is Status.VIOLATED
    assert violated > 5


def test_a_run_that_is_none_is_refused() -> None:
    program = load_program(SHARED_WORD, "test.rdma")
    (goal,) = (claim.goal for claim in claims(program, hangs=False))
    machine = RdmaMachine(program)
    (run,) = explore_machine(machine, [goal], Limits()).runs.values()
    assert [str(e) for e in confirmed_events(machine, run, goal)]
    with pytest.raises(InternalError, match="none of the RDMA machine"):
        confirmed_events(machine, (*run[:2], *run[3:]), goal)
    with pytest.raises(InternalError, match="does not lead to the goal"):
        confirmed_events(machine, run[:-1], goal)


def test_final_goals_are_met_only_when_all_is_over() -> None:
    text = NODES + "thread T on A { put B.y = 1 }\noutcome B.y == 0 : forbidden under rdma\n"
    assert only(text) == (Status.HOLDS, Argument.ROBUST)
    assert isinstance(claims(load_program(text, "x"))[0].goal, StateGoal)
