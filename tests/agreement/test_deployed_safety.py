"""Runs, faults and hangs of programs with anything deployed: the answers of `reach` against all states of the machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import Any, Final

import pytest

from rdma_robust.analyses.safety.goals import FaultGoal, Goal, HangGoal, HangMet, StateGoal, faults
from rdma_robust.analyses.safety.questions import Answer, Argument
from rdma_robust.analyses.safety.reach import answer_goals
from rdma_robust.expr import Const, Expr, Name, conj, equals
from rdma_robust.language.check.targets import StateTarget
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import Model, ModelName
from rdma_robust.semantics.machines.chosen import SomeMachine, machine_of, sc_machine_of
from rdma_robust.semantics.machines.machine import state_names
from tests.support.random_deployed import FAMILIES, loaded, mutants, named_texts, random_deployed

MOST: Final = 12_000
SOME: Final = ("sb-stores", "lock-release-cas", "two-buffers", "ping-pong", "rnr", "recv-behind-a-store")


class Truth:
    """Everything that a machine can do, without reductions; None where it has more than MOST states."""

    def __init__(self, machine: SomeMachine) -> None:
        self.finals: set[tuple[int, ...]] = set()
        self.faults: set[Any] = set()
        self.hangs = False
        self.whole = True
        any_machine: Any = machine
        met = HangMet(machine)
        seen = {move.state for move in any_machine.initial()}
        for move in any_machine.initial():
            self.faults.update(move.faults)
        todo = list(seen)
        while todo:
            state = todo.pop()
            self.hangs |= bool(met.hanging(state))
            if any_machine.is_final(state):
                self.finals.add(any_machine.final(state))
            for move in any_machine.successors(state):
                self.faults.update(move.faults)
                if move.state not in seen:
                    seen.add(move.state)
                    todo.append(move.state)
            if len(seen) > MOST:
                self.whole = False
                return

    def reaches(self, program: Program, goal: Goal) -> bool:
        match goal:
            case HangGoal():
                return self.hangs
            case FaultGoal(fault):
                return fault in self.faults
        names = state_names(program)
        wanted = dict(zip((n.name for n in _names(goal)), _values(goal), strict=True))
        return any(all(dict(zip(names, final, strict=True))[n] == v for n, v in wanted.items()) for final in self.finals)


def _names(goal: StateGoal) -> list[Name]:
    return [part.left for part in _parts(goal.target.condition)]


def _values(goal: StateGoal) -> list[int]:
    return [part.right.value for part in _parts(goal.target.condition)]


def _parts(condition: Any) -> list[Any]:
    return [*_parts(condition.left), *_parts(condition.right)] if condition.op == "&&" else [condition]


def goals_of(program: Program, rng: Random) -> list[Goal]:
    """A hang, all faults, and values of two words or registers in the end."""
    names = list(state_names(program))
    found: list[Goal] = [HangGoal(), *map(FaultGoal, faults(program))]
    for _ in range(3):
        chosen = rng.sample(names, min(2, len(names)))
        condition: Expr = conj(*(equals(Name(name), Const(rng.randint(0, 2))) for name in chosen))
        found.append(StateGoal(StateTarget(str(condition), condition), final=True))
    return found


def agree(cases: Iterable[tuple[Program, Model]], rng: Random) -> Counter[tuple[str, str]]:
    """Ask for every goal under both models; return how often each argument was given."""
    seen: Counter[tuple[str, str]] = Counter()
    models: tuple[ModelName, ...] = ("sc", "rdma")
    for program, model in cases:
        truths = {"sc": Truth(sc_machine_of(program)), "rdma": Truth(machine_of(program, model))}
        if not all(truth.whole for truth in truths.values()):
            continue
        questions = [(goal, which) for goal in goals_of(program, rng) for which in models]
        asked = answer_goals(program, questions, Limits.of(60.0), model)
        for (goal, which), found in zip(questions, asked.answers, strict=True):
            if found.answer is not Answer.UNKNOWN:
                expected = truths[which].reaches(program, goal)
                assert (found.answer is Answer.REACHABLE) == expected, f"{program.source}\n{model} {which} {goal} {found}"
            seen[which, found.argument.value] += 1
    return seen


def test_named_programs_are_answered_as_by_all_states() -> None:
    texts = named_texts()
    seen = agree((loaded(texts[name], name) for name in SOME if name in texts), Random(1))
    assert seen["rdma", Argument.RDMA_EXHAUSTED.value] and seen["rdma", Argument.SC_RUN.value]


@pytest.mark.ci
def test_random_programs_are_answered_as_by_all_states() -> None:
    for family in FAMILIES:
        assert agree(random_deployed(family, range(2)), Random(family))


@pytest.mark.long
def test_long_programs_are_answered_as_by_all_states() -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for family in FAMILIES:
        seen += agree(random_deployed(family, range(300)), Random(family))
    seen += agree(mutants(range(500)), Random(7))
    arguments = (Argument.SC_RUN, Argument.RDMA_RUN, Argument.ROBUST, Argument.RDMA_EXHAUSTED, Argument.THREAD)
    assert all(seen["rdma", each.value] for each in arguments)
