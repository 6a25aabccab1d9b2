"""Threads that are started and joined: the search, brute force, both machines, certificates, and the edges themselves.

The language makes words of `start` and `join`, which every engine knows. `naive_lifetimes` knows edges between events
instead: that both say the same is the lemma of docs/theory.md, "Threads that are started".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.semantics.machines.chosen import machine_of, sc_machine_of
from rdma_robust.semantics.machines.state_space import explore
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from tests.agreement.test_checker_deployed import compared as certified
from tests.agreement.test_deployed import agreeing
from tests.support.naive_lifetimes import NaiveLifetimes
from tests.support.random_lifetimes import random_lifetimes
from tests.support.shares import chunks

Case = tuple[Program, Model]


def same_outcomes(cases: Iterable[Case]) -> int:
    """Compare both machines with the axioms; return how many programs have a complete run."""
    complete = 0
    for program, model in cases:
        wanted = axiomatic_outcomes(program, model)
        for machine, expected in ((machine_of(program, model), wanted.rdma), (sc_machine_of(program), wanted.sc)):
            found = explore(machine, Limits(states=60_000))
            assert found.cut is not None or found.finals == expected, f"{program.file}, {model}\n{program.source}"
        complete += bool(wanted.rdma)
    return complete


def same_by_edges(cases: Iterable[Case], most: int) -> Counter[bool | None]:
    """Compare verdicts of brute force with those of edges that no word makes; return how often each is."""
    found: Counter[bool | None] = Counter()
    for program, model in cases:
        robust = NaiveLifetimes(program, model, most).robust()
        if robust is not None:
            assert robust == (oracle_robust(program, model) is None), f"{program.file}, {model}\n{program.source}"
        found[robust] += 1
    return found


def test_a_few_random_programs() -> None:
    assert agreeing(random_lifetimes(range(30)), 1) >= 15


def test_a_few_outcomes() -> None:
    assert same_outcomes(random_lifetimes(range(100, 120))) >= 3


def test_a_few_by_edges() -> None:
    found = same_by_edges(random_lifetimes(range(200, 320)), 300)
    assert found[True] > 1
    assert found[False] > 1


@pytest.mark.parametrize("chunk", chunks(2, 100))
def test_many_random_programs(chunk: int) -> None:
    """200 programs a chunk, 20,000 in all."""
    assert agreeing(random_lifetimes(range(10_000 + 300 * chunk, 10_300 + 300 * chunk)), 1, 200) >= 190


@pytest.mark.parametrize("chunk", chunks(1, 50))
def test_many_outcomes(chunk: int) -> None:
    """About 120 programs a chunk, 6,000 in all."""
    assert same_outcomes(random_lifetimes(range(50_000 + 150 * chunk, 50_150 + 150 * chunk))) > 10


@pytest.mark.parametrize("chunk", chunks(1, 50))
def test_many_by_edges(chunk: int) -> None:
    found = same_by_edges(random_lifetimes(range(70_000 + 60 * chunk, 70_060 + 60 * chunk)), 1_000)
    assert found[True] > 2
    assert found[False] > 2


@pytest.mark.parametrize("chunk", chunks(1, 30))
def test_many_certificates(chunk: int) -> None:
    cases = random_lifetimes(range(90_000 + 200 * chunk, 90_200 + 200 * chunk))
    assert certified(cases, 40, certified=True).total() >= 40
