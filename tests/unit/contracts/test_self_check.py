"""The comparison of `--self-check`: an answer that another way contradicts is an internal error."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rdma_robust.contracts.checks import self_check
from rdma_robust.contracts.checks.function_checks import Checking, checked, compare_answers
from rdma_robust.contracts.contract_answers import FunctionAnswer
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.language.load_contracts import load_contracts
from rdma_robust.errors import InternalError
from rdma_robust.limits import NO_LIMITS, Limits
from tests.support.class_programs import class_programs
from tests.support.random_contracts import random_contracts
from tests.support.random_loops import random_loop
from tests.support.shares import chunks, share

VIOLATED = [(each.name, procs) for each in class_programs().values() for procs, classes in each.shows.items() if classes]


def answer_for(name: str, procs: int) -> tuple[ContractProgram, FunctionAnswer]:
    program = class_programs()[name].loaded()
    (answer,) = checked(program, Checking((procs,), only=("f",)), NO_LIMITS)
    return program, answer


def called_verified(answer: FunctionAnswer) -> list[FunctionAnswer]:
    return [
        replace(answer, answers=tuple(replace(each, verdict="VERIFIED", counterexample=None) for each in answer.answers))
    ]


@pytest.mark.parametrize(("name", "procs"), share(VIOLATED, 12), ids=str)
def test_that_a_violation_is_called_verified_is_noticed(name: str, procs: int) -> None:
    program, answer = answer_for(name, procs)
    if answer.verdict == "VIOLATED":
        right = [answer]
        compare_answers(program, right, NO_LIMITS)
        assert right == [answer] or "needs bounds" in str(right[0].warnings)
        if right == [answer]:
            with pytest.raises(InternalError, match="contradicts the numbers: VIOLATED"):
                compare_answers(program, called_verified(answer), NO_LIMITS)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a fault", "divi"),
        ("an assertion", "assert"),
        ("nothing comes", "deadlock"),
        ("a message is left", "nothing matches"),
    ],
)
def test_interleavings_notice_it_without_the_engine(name: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_check, "_numbers", lambda *_: ("", ""))
    procs = next(number for number, classes in class_programs()[name].shows.items() if classes)
    program, answer = answer_for(name, procs)
    assert answer.verdict == "VIOLATED"
    with pytest.raises(InternalError, match=f"contradicts the interleavings: .*{said}"):
        compare_answers(program, called_verified(answer), NO_LIMITS)


def test_that_what_is_verified_is_called_violated_is_noticed() -> None:
    program = load_contracts(
        "fun f(x) contract collective { bounds x in 0..2; ensures \\result == x; } { return x }", "f.mp"
    )
    (answer,) = checked(program, Checking((2,)), NO_LIMITS)
    with pytest.raises(InternalError, match="contradicts the numbers: VERIFIED"):
        compare_answers(program, [replace(answer, answers=(replace(answer.answers[0], verdict="VIOLATED"),))], NO_LIMITS)


def compared_random(seed: int) -> int:
    """Compare the answers about random functions and loops; return how many were compared in all ways."""
    whole = 0
    for text in (random_contracts(seed), random_loop(seed)):
        for buffer in ("infinite", "zero"):
            program = replace(load_contracts(text, f"{seed}.mp"), buffer=buffer)
            limits = Limits.of(60)
            answers = list(checked(program, Checking((1, 2), buffer=program.buffer), limits))
            compare_answers(program, answers, limits)
            whole += sum(not each.warnings for each in answers)
    return whole


def test_random_functions_are_answered_alike() -> None:
    assert compared_random(3) > 4


@pytest.mark.parametrize("chunk", chunks(1, 40))
def test_more_random_functions_are_answered_alike(chunk: int) -> None:
    assert sum(map(compared_random, range(100 + chunk * 5, 105 + chunk * 5))) > 20
