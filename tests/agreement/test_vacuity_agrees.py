"""Which claims are about nothing: `verify` against all states of both machines, in random programs and in named ones."""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from rdma_robust.analyses.safety import verify
from rdma_robust.analyses.safety.goals import FaultGoal, StateGoal
from rdma_robust.analyses.safety.verify import Claim, Status, check_claims
from rdma_robust.expr import evaluate
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.machine import valuation
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.machines.threadcode import Observables
from tests.agreement.test_hangs_agree import waiting_program
from tests.support.naive_hangs import TooLarge
from tests.support.shares import share

MOST = 4000


def all_states(machine: Any) -> set[Any]:
    """Every state, by every move, each register-only step for itself. Raises TooLarge."""
    seen = {move.state for move in machine.initial()}
    todo = list(seen)
    while todo:
        for move in machine.successors(todo.pop()):
            if move.state not in seen:
                if len(seen) >= MOST:
                    raise TooLarge
                seen.add(move.state)
                todo.append(move.state)
    return seen


def expected(program: Program, machine: Any, states: set[Any], claim: Claim) -> bool:
    """Whether a state of the machine is one that the claim is about."""
    if isinstance(claim.goal, FaultGoal):
        places = set()
        for t, thread in enumerate(program.threads):
            spans = {s.span for _, _, s in thread.edges if s.fault == claim.goal.fault}
            places |= {(t, source) for source, _, s in thread.edges if s.span in spans}
        return any((t, state.threads[t].point) in places for state in states for t in range(len(program.threads)))
    return any(map(machine.is_final, states))


def compare(text: str, counts: Counter[str]) -> None:
    program = blocking(load_program(text, "x.rdma"))
    look = Observables(frozenset(range(len(program.threads))))
    machines = {"sc": ScMachine(program, look), "rdma": RdmaMachine(program, watched=look)}
    try:
        states = {model: all_states(machine) for model, machine in machines.items()}
    except TooLarge:
        return
    for each in check_claims(program, Limits(), hangs=False).checked:
        claim = each.claim
        if claim.kind == "hang" or claim.allowed or each.status is Status.VIOLATED:
            assert each.reached is None
            continue
        truth = expected(program, machines[claim.model], states[claim.model], claim)
        if "no state can" in each.answer.reason:
            assert each.status is Status.UNREACHABLE
            assert isinstance(claim.goal, StateGoal)
            assert not any(_meets(program, machines[m], s, claim.goal) for m in machines for s in states[m])
            counts["values"] += 1
            continue
        assert (each.status, each.reached) == ((Status.HOLDS, True) if truth else (Status.UNREACHABLE, False)), each
        counts[f"{claim.kind} {each.status.value}"] += 1
        if "every execution hangs" in each.answer.reason:
            assert not any(map(machines["sc"].is_final, states["sc"]))
            counts["hangs"] += 1


def _meets(program: Program, machine: Any, state: Any, goal: StateGoal) -> bool:
    return bool(evaluate(goal.target.condition, valuation(program, machine.final(state))))


def claiming_program(rng: Random, *, loops: bool) -> str:
    """A random program with many assertions, and outcomes that are sometimes nonsense."""
    lines = []
    for line in waiting_program(rng, loops=loops).splitlines():
        lines.append(line)
        if re.match(r" *r\d = [x-z]", line) and rng.random() < 0.5:
            lines.append(f"  assert {line.split()[0]} {rng.choice(['<', '>', '!='])} {rng.randint(0, 5)}")
    text = "\n".join(lines) + "\n"
    program = load_program(text, "x")
    words = [str(c) for c in program.cells if not c.hidden]
    words += [f"{t.name}.{r}" for t in program.threads for r, _ in t.registers]
    for model in ("sc", "rdma"):
        text += f"outcome {rng.choice(words)} == {rng.randint(0, 2)} && {rng.choice(words)} == {rng.randint(0, 1)}"
        text += f" : forbidden under {model}\n"
    return text


@pytest.mark.ci
@pytest.mark.parametrize("loops", share([False, True], 2))
def test_claims_about_nothing_in_random_programs(loops: bool) -> None:
    counts: Counter[str] = Counter()
    for seed in range(40 if loops else 80):
        text = claiming_program(Random(seed), loops=loops)
        try:
            compare(text, counts)
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}:\n{text}") from wrong
    for kind in ("assertion holds", "assertion unreachable", "outcome holds", "outcome unreachable", "values", "hangs"):
        assert counts[kind] > 0, counts


HEAD = "node A { x }\nnode B { y }\n"
NAMED = {
    "behind a starved poll": "thread T on A { poll B\n assert x == 0 }",
    "before it": "thread T on A { assert x == 0\n poll B }",
    "behind an assume": "thread T on A { assume x == 1\n assert x == 1 }",
    "in a branch": "thread T on A { reg r\n r = x\n if r == 1 { assert r == 1 } else { assert r == 0 } }",
    "in the branch that RDMA takes": (
        "thread T on A { reg r\n x = 1\n put B.y = x\n x = 2\n }\n"
        "thread U on B { reg r\n r = y\n if r == 2 { assert r != 1 } }\noutcome U.r == 1 && B.y == 2 : forbidden under sc"
    ),
    "two in a line": "thread T on A { reg r; r = x; if r == 1 { assert r != 0 }; assert r != 1 }",
    "an end that SC has not": (
        "thread T on A { x = 1\n put B.y = x\n x = 2 }\nthread U on B { await y == 2 }\n"
        "outcome B.y == 1 : forbidden under sc\noutcome B.y == 1 : forbidden under rdma"
    ),
    "no end at all": "thread T on A { while 1 == 1 { x = 1 } }\noutcome A.x == 1 : forbidden under rdma",
}


@pytest.mark.parametrize("name", NAMED)
def test_claims_about_nothing_in_named_programs(name: str) -> None:
    compare(f"{HEAD}{NAMED[name]}\n", counts := Counter())
    assert counts.total() > 0


def _judging(instead: Any) -> Any:
    return lambda *arguments, **_: [verify.Vacuity(*instead) for _ in arguments[1]]


_PLACE, _ANSWER = verify._place, verify.answer_goals


def _any_place_of_the_thread(program: Program, goal: Any) -> StateGoal:
    threads = {t.name: t for t in program.threads}
    found = _PLACE(program, goal)
    atoms = tuple(
        (name, verify.ThreadAtPoints(atom.thread, threads[atom.thread].points))
        if isinstance(atom, verify.ThreadAtPoints)
        else (name, atom)
        for name, atom in found.target.atoms
    )
    return StateGoal(verify.StateTarget(found.target.text, found.target.condition, atoms), found.final)


MUTANTS: dict[str, tuple[str, Any]] = {
    "everything-is-reached": ("vacuities", _judging((True,))),
    "nothing-is-reached": ("vacuities", _judging((False, "never"))),
    "sc-is-asked-alone": (
        "answer_goals",
        lambda program, questions, *rest, **more: _ANSWER(program, [(goal, "sc") for goal, _ in questions], *rest, **more),
    ),
    "a-thread-is-enough": ("_place", _any_place_of_the_thread),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_judgements_are_noticed(name: str) -> None:
    what, instead = MUTANTS[name]
    with patch.object(verify, what, instead):
        assert any(_differs(f"{HEAD}{text}\n") for text in NAMED.values())


def _differs(text: str) -> bool:
    try:
        compare(text, Counter())
    except AssertionError:
        return True
    return False


def test_a_claim_whose_reach_is_unknown_holds_and_says_so() -> None:
    text = HEAD + "thread T on A { x = 1\n loop { put B.y = x }\n x = 2\n put B.y = x\n }\n"
    text += "thread U on B { reg r\n await y == 2\n await y == 1\n assert r == 0 }\n"
    (found,) = check_claims(load_program(text, "x.rdma"), Limits(states=400), hangs=False).checked
    assert (found.status, found.reached) == (Status.HOLDS, None)
    assert "it is not known whether it is about anything" in found.answer.reason
    assert "the limit of 400 states" in found.answer.reason
