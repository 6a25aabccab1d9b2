"""Reachability for any number of copies against P(0), P(1), ..., and against the textbook's search of the same system."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.analyses.safety.crowds.any_number import numbers_from, search_any_number
from rdma_robust.analyses.safety.crowds.instances import goal_in
from rdma_robust.analyses.safety.crowds.safety_system import SafetySystem
from rdma_robust.analyses.safety.goals import Goal, HangGoal, StateGoal
from rdma_robust.analyses.safety.questions import Answer
from rdma_robust.analyses.safety.reach import reach_goals
from rdma_robust.language.check.targets import StateTarget
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.limits import Limits
from tests.support.naive_counting import TooLargeError, coverable, least
from tests.support.random_crowd_claims import Asked, random_asked
from tests.support.shares import chunks

PER_CHUNK = 60
MOST = 3


def asked_of(seed: int) -> Asked:
    return random_asked(Random(seed), loops=seed % 3 == 0, templates=1 + (seed % 5 == 0))


def first_that_reaches(program: Program, goal: Goal, most: int) -> tuple[int | None, bool]:
    """Return the fewest copies in all with which P(n) reaches a goal under SC, and whether every search was finished."""
    for numbers in numbers_from(program, 0, most):
        there = copies_of(program, numbers)
        found = reach_goals(there, [goal_in(goal, program, numbers)], "sc", Limits.of(5, 20_000)).answers[0]
        if found.answer is Answer.REACHABLE:
            return sum(numbers.values()), True
        if found.answer is Answer.UNKNOWN:
            return None, False
    return None, True


def compare(seed: int) -> str:
    """Compare one random program; return what was found, for the tests of the tests."""
    asked = asked_of(seed)
    goal = StateGoal(asked.target)
    found = search_any_number(asked.program, [goal], Limits.of(10, 20_000))
    if found.open:
        return "open"
    first, whole = first_that_reaches(asked.program, goal, MOST)
    instance = found.found.get(0)
    if instance is None:
        assert first is None, (seed, asked.text)
        return "unreachable"
    copies = sum(number for _, number in instance.lifted.numbers)
    assert first is None or copies >= first, (seed, asked.text)
    if whole and copies <= MOST:
        assert first is not None, (seed, asked.text)
    if instance.least and whole and copies <= MOST:
        assert copies == first, (seed, asked.text)
    return f"{copies} copies"


def compare_with_the_textbook(seed: int) -> None:
    asked = asked_of(seed)
    goal = StateGoal(asked.target)
    system = SafetySystem(asked.program, [goal])
    try:
        covered = coverable(system, 2000)
        number = least(SafetySystem(asked.program, [goal]), MOST, 10_000)
    except TooLargeError:
        return
    found = search_any_number(asked.program, [goal], Limits.of(10, 20_000))
    if found.open or system.steps.inexact:
        return
    assert (covered >= 0) == (0 in found.found), (seed, asked.text)
    if 0 in found.found and found.found[0].least:
        copies = sum(n for _, n in found.found[0].lifted.numbers)
        assert number == (copies if copies <= MOST else None), (seed, asked.text)


def compare_absences(seed: int) -> str:
    """What is said never to happen, whatever the number of copies, does not happen with 0 to 2."""
    asked = asked_of(seed)
    counts = asked.target.counts
    final = StateGoal(
        StateTarget("final", asked.target.condition, (), tuple((n, c) for n, c in counts if not c.atoms)), final=True
    )
    goals: list[Goal] = [HangGoal()]
    if final.target.counts == counts:
        goals.append(final)
    seen = ""
    for goal in goals:
        found = reach_goals(asked.program, [goal], "sc", Limits.of(5, 20_000)).answers[0]
        first, _ = first_that_reaches(asked.program, goal, 2)
        seen += f"{found.answer.value} "
        if found.answer is Answer.UNREACHABLE:
            assert first is None, (seed, goal, asked.text)
        elif found.answer is Answer.REACHABLE:
            assert found.copies is not None
            assert first is None or sum(n for _, n in found.copies.numbers) == first, (seed, goal, asked.text)
        else:
            assert first is None, (seed, goal, asked.text)
    return seen


def compare_on_hardware(seed: int) -> str:
    """What is said of the hardware for any number of copies agrees with its machine for 0 to 2."""
    asked = asked_of(seed)
    goals: list[Goal] = [StateGoal(asked.target), HangGoal()]
    seen = ""
    for goal, found in zip(goals, reach_goals(asked.program, goals, "rdma", Limits.of(5, 3000)).answers, strict=True):
        seen += f"{found.argument.value} "
        for numbers in numbers_from(asked.program, 0, 2):
            there = copies_of(asked.program, numbers)
            explicit = reach_goals(there, [goal_in(goal, asked.program, numbers)], "rdma", Limits.of(2, 3000)).answers[0]
            if explicit.answer is Answer.REACHABLE:
                assert found.answer is not Answer.UNREACHABLE, (seed, goal, numbers, asked.text)
            if found.copies is not None and explicit.answer is Answer.REACHABLE and found.copies.least:
                copies = sum(number for _, number in found.copies.numbers)
                assert copies <= sum(numbers.values()), (seed, goal, numbers, asked.text)
    return seen


@pytest.mark.parametrize("seed", [0, 4, 6, 15, 21])
def test_a_few_random_templates(seed: int) -> None:
    compare(seed)
    compare_with_the_textbook(seed)
    compare_absences(seed)


@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_random_templates_against_small_numbers(chunk: int) -> None:
    seen = [compare(seed) for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK)]
    assert len(set(seen)) > 2, "the programs are all alike"


@pytest.mark.parametrize("chunk", chunks(1, 30))
def test_random_templates_against_the_textbook(chunk: int) -> None:
    for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
        compare_with_the_textbook(seed)


@pytest.mark.parametrize("chunk", chunks(1, 40))
def test_random_templates_on_the_hardware(chunk: int) -> None:
    seen = {compare_on_hardware(seed) for seed in range(chunk * 20, (chunk + 1) * 20)}
    assert len(seen) > 1, "the programs are all alike"


@pytest.mark.parametrize("chunk", chunks(1, 30))
def test_what_never_happens_against_small_numbers(chunk: int) -> None:
    seen = {compare_absences(seed) for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK)}
    assert len(seen) > 1, "the programs are all alike"
