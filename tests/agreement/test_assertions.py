"""A failed assertion is reported and the thread goes on: `assert C` does what `if C { }` does, whoever is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

from rdma_robust import Answer, Status, Verdict, check, reach, verify
from rdma_robust.exports import VARIANTS, promela_of
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.semantics.machines.machine import FinalState
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes
from rdma_robust.semantics.trace import EventType
from tests.support.compare import Method, by, by_oracle
from tests.support.random_programs import TINY, random_program

TEXT = """
node A { x, g }
node B { z }
thread T on A {
  assert x == 1
  put B.z = g
  g = 1
}
outcome B.z == 1 : allowed under rdma, forbidden under sc
"""
METHODS: tuple[Method, ...] = (by("pivot"), by("paper"), by_oracle)
FinalStates = tuple[frozenset[FinalState], frozenset[FinalState]]


def test_the_example() -> None:
    """x is 0, so the assertion fails; only what comes after it makes the program not robust."""
    program = load_program(TEXT, "goes-on.rdma")
    assert {method(program, False) for method in METHODS} == {"not-robust"}
    outcome = check(program)
    assert outcome.verdict is Verdict.NOT_ROBUST
    assert [fault.kind for fault in outcome.faults] == ["assertion"]
    assert outcome.witness is not None
    assert EventType.LR in {event.type for event in outcome.witness.order}
    assert reach(program, "T ended && B.z == 1").answer is Answer.REACHABLE
    assert [checked.status for checked in verify(program).checked] == [Status.VIOLATED, *[Status.HOLDS] * 3]
    assert machines(program) == axioms(program) == machines(twin(TEXT))
    assert all("assert(false)" in promela_of(program, question).text for question in VARIANTS)


def twin(text: str) -> Program:
    """The program with `if` for `assert`."""
    return load_program(re.sub(r"assert (.*)$", r"if \1 { }", text, flags=re.MULTILINE), "twin.rdma")


def machines(program: Program) -> FinalStates:
    found = explore_outcomes(program)
    return frozenset(s.values for s in found.states if s.sc), frozenset(s.values for s in found.states if s.rdma)


def axioms(program: Program) -> FinalStates:
    found = axiomatic_outcomes(program)
    return found.sc, found.rdma


def texts() -> Iterator[str]:
    """Random programs in which some assertion fails and some stands before something else."""
    for seed in range(100_000, 101_000):
        text = random_program(Random(seed), TINY).replace("assume ", "assert ")
        if re.search(r"assert .*\n +[a-z]", text) and explore_outcomes(load_program(text, f"seed {seed}")).sc.faults:
            yield text


@pytest.mark.ci
@pytest.mark.parametrize("ordered", [False, True])
def test_random_programs(ordered: bool) -> None:
    verdicts = set()
    for text in islice(texts(), 25 * ordered, 25 + 25 * ordered):
        program, other = load_program(text, "random.rdma"), twin(text)
        found = {method(each, ordered) for method in METHODS for each in (program, other)}
        assert len(found) == 1, text
        assert machines(program) == axioms(program) == machines(other), text
        verdicts |= found
    assert verdicts == {"robust", "not-robust"}
