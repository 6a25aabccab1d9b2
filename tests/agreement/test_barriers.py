"""Barriers: the pivot search and brute force over the axioms, the machines and the axioms, and programs in which a thread
that takes a message of each and answers each stands in for every barrier."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.outcome import Verdict
from rdma_robust.semantics.machines.chosen import machine_of, sc_machine_of
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes
from tests.agreement.test_deployed import agreeing, decided
from tests.support.random_barriers import KINDS, coordinated, random_barriers
from tests.support.random_deployed import loaded
from tests.support.shares import chunks, share

Case = tuple[Program, Model]


def same_outcomes(cases: Iterable[Case]) -> int:
    """Compare both machines, with and without reduction, with the axioms; return how many programs were compared."""
    limits = Limits.of(20, 100_000, None)
    compared = 0
    for program, model in cases:
        try:
            wanted = axiomatic_outcomes(program, model)
        except SizeLimitError:
            continue
        for reduce in (True, False):
            sc = explore(sc_machine_of(program), limits, reduce=reduce)
            hardware = explore(machine_of(program, model), limits, reduce=reduce)
            if sc.cut or hardware.cut:
                break
            assert (sc.finals, hardware.finals) == (wanted.sc, wanted.rdma), f"{program.file}, {model}\n{program.source}"
        else:
            compared += 1
    return compared


def as_coordinated(cases: Iterable[Case]) -> int:
    """Compare verdicts with those of programs with a coordinator; return for how many both were decided."""
    compared = 0
    for program, model in cases:
        text = coordinated(program.source)
        if text is None:
            continue
        native, by_messages = (decided(*case, "all").verdict for case in ((program, model), loaded(text, "coordinated")))
        if Verdict.UNKNOWN not in (native, by_messages):
            compared += 1
            assert native is by_messages, f"{program.file}, {model}\n{program.source}\n{text}"
    return compared


@pytest.mark.parametrize("kind", share(KINDS, 4))
def test_the_search_is_brute_force(kind: str) -> None:
    assert agreeing(random_barriers(kind, range(6)), 1) >= 1


@pytest.mark.parametrize("kind", share(KINDS, 4))
def test_machines_end_as_the_axioms_say(kind: str) -> None:
    assert same_outcomes(random_barriers(kind, range(3))) >= 1


@pytest.mark.parametrize("kind", share(KINDS, 4))
def test_a_coordinator_gives_the_same_verdicts(kind: str) -> None:
    assert as_coordinated(random_barriers(kind, range(4))) >= 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_many_programs_by_brute_force(kind: str, chunk: int) -> None:
    """40 programs of every kind a chunk: one chunk in .ci/run, 60 in `make test-long`."""
    assert agreeing(random_barriers(kind, range(10_000 * (chunk + 1), 10_000 * (chunk + 2))), 1, 40) == 40


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_many_programs_by_machines_and_coordinators(kind: str) -> None:
    assert same_outcomes(random_barriers(kind, range(100, 200))) >= 50
    assert as_coordinated(random_barriers(kind, range(100, 300))) >= 50
