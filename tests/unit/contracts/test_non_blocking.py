"""Functions with non-blocking operations are decided by all interleavings, also where runs are asked for."""

from __future__ import annotations

import pytest

from rdma_robust.contracts.checks.function_checks import Checking, checked
from rdma_robust.limits import NO_LIMITS
from tests.support.class_programs import class_programs

NAMES = [name for name, each in class_programs().items() if "irecv" in each.text or "isend" in each.text]


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_of_the_default_engine(name: str) -> None:
    program = class_programs()[name]
    (answer,) = checked(program.loaded(), Checking(tuple(program.shows), only=("f",)), NO_LIMITS)
    for each, shows in zip(answer.answers, program.shows.values(), strict=True):
        assert (each.verdict, each.engine) == ("VIOLATED" if shows else "VERIFIED", "explicit"), each
        assert each.counterexample is None or each.counterexample.error in shows
