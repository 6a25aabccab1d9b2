"""Reachability: against all states of machines that merge and leave out nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import rdma_robust
from rdma_robust import ProgramError, Verdict, check, parse
from rdma_robust.analyses.safety.exploration import explore_machine
from rdma_robust.analyses.safety.goals import StateGoal, watched_by_goals, with_blocking_waits
from rdma_robust.analyses.safety.questions import Answer, Argument, Reached, ReachOutcome
from rdma_robust.analyses.safety.reach import reach_goals
from rdma_robust.analyses.safety.verify import Status
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.load import load_program, load_program_and_target
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA, Model, ModelName, rdma
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.sc import ScMachine
from tests.support.random_programs import SMALL, TINY, random_program
from tests.support.shares import share
from tests.support.targets import everything, random_target, reachable

LIMITS = Limits(states=20_000)


def asked(text: str, target: str, model: ModelName, limits: Limits = LIMITS, hardware: Model = RDMA) -> ReachOutcome:
    program, meant = load_program_and_target(text, "test.rdma", target)
    return reach_goals(with_blocking_waits(program, meant), [StateGoal(meant)], model, limits, hardware)


def answered(text: str, target: str, model: ModelName = "rdma", limits: Limits = LIMITS, hardware: Model = RDMA) -> Reached:
    return asked(text, target, model, limits, hardware).answers[0]


def compare(seed: int, *, loops: bool) -> list[str]:
    """Compare both models' answers for a random question; return what was answered and why."""
    rng = Random(seed)
    text = random_program(rng, rng.choice([TINY, TINY, SMALL]), loops=loops)
    target = random_target(rng, load_program(text, "x"))
    ordered = rng.random() < 0.3
    program, meant = load_program_and_target(text, "x", target)
    look = everything(program)
    found = []
    for model in ("sc", "rdma"):
        machine = ScMachine(program, look) if model == "sc" else RdmaMachine(program, rdma(ordered), look)
        truth = reachable(machine, meant, 1500 if loops else 4000)
        said = answered(text, target, model, Limits(states=1000 if loops else 20_000), rdma(ordered))
        found.append(f"{model} {said.answer.value}: {said.argument.value}")
        if truth is not None:
            wanted = Answer.REACHABLE if truth else Answer.UNREACHABLE
            assert said.answer in (wanted, Answer.UNKNOWN), (seed, model, target, text, said)
            if not loops:
                assert said.answer is wanted, (seed, model, target, text, said)
    return found


def compare_many(seeds: Iterable[int], *, loops: bool) -> None:
    counts = Counter(what for seed in seeds for what in compare(seed, loops=loops))
    for model, arguments in (
        ("sc", ("sc run", "sc exhausted")),
        ("rdma", ("sc run", "rdma run", "robust", "rdma exhausted")),
    ):
        for argument in arguments:
            assert counts[f"{model} reachable: {argument}"] + counts[f"{model} unreachable: {argument}"], (argument, counts)


ONLY_RDMA = (83, 84, 117, 143, 351, 500, 565, 628, 725)
"""Seeds of questions, rare among random ones, whose answer is a run that SC does not have."""


@pytest.mark.parametrize(("loops", "number"), share([(True, 15), (False, 50)], 2))
def test_answers_are_those_of_all_states(loops: bool, number: int) -> None:
    compare_many((*range(number), *ONLY_RDMA), loops=loops)


@pytest.mark.long
@pytest.mark.parametrize("loops", [False, True])
def test_answers_are_those_of_all_states_of_many(loops: bool) -> None:
    compare_many(range(1000, 1300 if loops else 2500), loops=loops)


STEPS = (
    "node A { x = 0 }\nthread T on A { reg r\n x = 1\n r = 1\n r = 2\n}\nthread U on A { reg s\n await x == 1\n s = 1\n}\n"
)
OWNED = "node A { x = 0, s = 0 }\nthread T on A {\n x = 1\n x = 2\n}\nthread U on A {\n s = 1\n s = 0\n}\n"
POSTED = "node A { s = 0 }\nnode B { y = 0 }\nthread T on A {\n put B.y = 1\n}\nthread U on A {\n s = 1\n s = 0\n}\n"


@pytest.mark.parametrize(
    ("text", "target", "forgotten"),
    [
        (STEPS, "T.r == 1 && U.s == 1", {"threads": frozenset()}),
        (OWNED, "A.x == 1 && A.s == 1", {"cells": frozenset()}),
        (POSTED, "drained && B.y == 0 && A.s == 1", {"drained": False}),
    ],
    ids=["threads", "cells", "drained"],
)
def test_a_reduced_search_must_watch_what_is_asked_about(text: str, target: str, forgotten: dict[str, Any]) -> None:
    program, meant = load_program_and_target(text, "test.rdma", target)
    goals = [StateGoal(meant)]
    look = watched_by_goals(program, goals)
    assert explore_machine(RdmaMachine(program, RDMA, look), goals, Limits()).runs
    blind = RdmaMachine(program, RDMA, replace(look, **forgotten))
    assert not explore_machine(blind, goals, Limits()).runs
    assert explore_machine(RdmaMachine(program, RDMA, everything(program)), goals, Limits(), reduce=False).runs


IN_FLIGHT = "node A { v = 1 }\nnode B { d = 0 }\nthread T on A {\n put B.d = v\n}\n"


def test_robustness_says_nothing_of_memory_while_operations_are_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def verdict(target: str) -> tuple[Answer, Argument]:
        said = answered(IN_FLIGHT, target)
        return said.answer, said.argument

    assert check(IN_FLIGHT).verdict is Verdict.ROBUST
    assert verdict("T ended && B.d == 0") == (Answer.REACHABLE, Argument.RDMA_RUN)
    assert answered(IN_FLIGHT, "T ended && B.d == 0", "sc").answer is Answer.UNREACHABLE
    assert verdict("drained && T ended && B.d == 0") == (Answer.UNREACHABLE, Argument.ROBUST)
    assert verdict("(drained || B.d == 5) && T ended && B.d == 0") == (Answer.UNREACHABLE, Argument.RDMA_EXHAUSTED)
    monkeypatch.setattr("rdma_robust.analyses.safety.reach.concerns_threads", lambda _program, _target: True)
    assert verdict("T ended && B.d == 0") == (Answer.UNREACHABLE, Argument.ROBUST)


def test_counting_without_bound_is_decided_under_sc() -> None:
    text = (
        "node A { s = 1 }\nnode B { y = 0 }\nthread T on A {\n loop { put B.y = s }\n poll B\n poll B\n poll B\n s = 2\n}\n"
    )
    assert answered(text, "T ended", "sc").argument is Argument.SC_RUN
    assert answered(text.replace("poll B\n", "poll B\n", 1), "A.s == 3", "sc").argument is Argument.SC_EXHAUSTED
    assert answered(text, "T ended").argument is Argument.SC_RUN


def test_a_loop_of_several_statements_that_only_waits_keeps_its_lines() -> None:
    text = """node A { x, y }
thread T on A {
  while 1 {
    choose {
      assume x == 0
    } or {
      assume x == 1
      halt
    }
  }
}
thread U on A { x = 1 }
"""
    program = parse(text)
    assert blocking(program) != program
    for model in ("sc", "rdma"):
        for line in (5, 7):
            assert rdma_robust.reach(program, f"T at {line}", model=model).answer is Answer.REACHABLE
            assert answered(text, f"T at {line}", model).answer is Answer.REACHABLE
    # Where a loop is one statement its failed reads are left out.
    one = text.replace("choose {\n      assume x == 0\n    } or {", "if x == 1 {").replace("      assume x == 1\n", "")
    loaded, meant = load_program_and_target(one, "one.rdma", "T at 4")
    assert with_blocking_waits(loaded, meant) == blocking(loaded) != loaded


def test_the_elements_of_an_array_may_stand_in_any_order() -> None:
    program = parse("node A { x[3] }\nthread T on A { x[1] = 1 }")
    for given in (program, replace(program, cells=program.cells[::-1])):
        found = [rdma_robust.reach(given, f"A.x[{k}] == 1").answer for k in range(3)]
        assert found == [Answer.UNREACHABLE, Answer.REACHABLE, Answer.UNREACHABLE]


def test_the_python_interface_takes_text_programs_and_paths(tmp_path: Path) -> None:
    path = tmp_path / "flight.rdma"
    path.write_text(IN_FLIGHT + "outcome B.d == 0 : forbidden under rdma\n")
    for program in (IN_FLIGHT, parse(IN_FLIGHT), path):
        assert rdma_robust.reach(program, "T ended && B.d == 0").answer is Answer.REACHABLE
        assert rdma_robust.reach(program, "T ended && B.d == 0", model="sc").answer is Answer.UNREACHABLE
    assert [c.status for c in rdma_robust.verify(path).checked] == [Status.HOLDS, Status.HOLDS]
    with pytest.raises(ProgramError, match="no thread"):
        rdma_robust.reach(IN_FLIGHT, "U ended")
