"""Lanes: machine, axioms, pivot search, brute force and the certificate checker agree on programs with several queue pairs
of one thread to one node. The programs are those of the other agreement tests, spread over lanes (:mod:`random_lanes`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

from rdma_robust.certify.invariants import fences_matter
from rdma_robust.language.flow.cfg import Program, named_lane
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.reports.explanation.explanation_text import explanation_text
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes
from tests.agreement.test_checker_deployed import compared
from tests.agreement.test_deployed import agreeing, check_unrollings, looping
from tests.conftest import ROOT
from tests.support.explained import explained
from tests.support.naive_axioms import Naive
from tests.support.random_deployed import FAMILIES, loaded, most_events, mutants, named, random_deployed
from tests.support.random_lanes import on_lanes, with_lanes
from tests.support.region_programs import relaxed_text
from tests.support.shares import chunks

KINDS = (*FAMILIES, "mutations")


def programs(kind: str, seeds: range, *, shared: bool = False) -> Iterator[tuple[Program, Model]]:
    return on_lanes(mutants(seeds) if kind == "mutations" else random_deployed(kind, seeds), shared=shared)


def same_outcomes(cases: Iterator[tuple[Program, Model]], enough: int) -> int:
    """Compare both machines with the axioms on so many programs; return for how many the axioms are the naive ones too."""
    naive = 0
    for program, model in islice(cases, enough):
        found, under_sc = (
            explore(DeployedMachine(program, model), Limits(states=5_000)),
            explore(ScMachine(program), Limits()),
        )
        if found.cut is not None:
            continue
        axioms = axiomatic_outcomes(program, model)
        assert found.finals == axioms.rdma, f"{program.file}\n{program.source}"
        assert under_sc.finals == axioms.sc, f"{program.file}\n{program.source}"
        if most_events(program, model) > 6:  # what the naive ones can take
            continue
        second = Naive(program, model, 400)
        if (outcomes := second.outcomes()) is not None:
            naive += 1
            assert len(outcomes) == len(axioms.rdma), f"{program.file}\n{program.source}"
    return naive


def test_search_and_brute_force_agree() -> None:
    assert agreeing(on_lanes(islice(named(), 1, None, 6)), 1) >= 5
    assert sum(agreeing(programs(kind, range(3)), 0) for kind in KINDS) >= 8


def test_the_checker_looks_at_fences_of_lanes() -> None:
    """R3 on a lane: a get, a fence and a put of it, and none on the queue pair without a name."""
    text = (
        "node A { x, y }\nnode B { z, w }\nthread T on A {\n qp l to B\n get x = B.z on l\n rfence l\n put B.w = y on l\n}\n"
    )
    assert fences_matter(load_program(text, "fences.rdma")) == {(0, "l")}


def test_each_lane_is_drawn_as_a_pipe_of_its_own() -> None:
    told = explained((ROOT / "litmus/lanes/message-overtakes-data.rdma").read_text(encoding="utf-8"))
    assert "T NIC to bulk" in "\n".join(explanation_text(told, 200)) and "T NIC to ctl" in "\n".join(
        explanation_text(told, 200)
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", chunks(1, 150))
def test_many_programs(kind: str, chunk: int) -> None:
    """40 programs of every kind in .ci/run, 6,000 in `make test-long`."""
    start = 20_000 * (chunk + 1)
    assert agreeing(programs(kind, range(start, start + 400)), 1, 40) == 40


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_machines_end_as_the_axioms_say(kind: str, chunk: int) -> None:
    start = 40_000 * (chunk + 1)
    assert same_outcomes(programs(kind, range(start, start + 400)), 40)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_the_checker_decides_as_brute_force_does(kind: str, chunk: int) -> None:
    start = 60_000 * (chunk + 1)
    assert compared(programs(kind, range(start, start + 200)), 8, certified=True).total() >= 8


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_completion_queues_that_lanes_share(kind: str, chunk: int) -> None:
    """All of that with `poll a or b` and `trypoll`: 3 of every kind in .ci/run, 40 a chunk in `make test-long`."""
    start, enough = 90_000 * (chunk + 1), 40 if chunk else 3
    seeds = range(start, start + 1_000)
    assert agreeing(programs(kind, seeds, shared=True), 1, enough) == enough
    same_outcomes(programs(kind, seeds, shared=True), enough)
    assert compared(programs(kind, seeds, shared=True), enough, certified=True).total() >= enough


def looping_on_lanes(seeds: range) -> Iterator[tuple[Program, Model]]:
    """Looping programs of `test_deployed` on lanes, half of them with relaxed regions, a third under `order multipath`."""
    for seed in seeds:
        case, rng = looping(seed), Random(f"lanes {seed}")
        if case is None:
            continue
        text = with_lanes(case[0].source, rng)
        text = relaxed_text(text, rng) if seed % 2 else text
        text = text if seed % 3 else text.replace(text[: text.index("\n")], "hardware order multipath", 1)
        program, model = loaded(text, f"looping {seed}, on lanes")
        if any(named_lane(step.op) for thread in program.threads for _, _, step in thread.edges):
            yield program, model


@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_looping_programs_and_their_unrollings(chunk: int) -> None:
    """8 looping programs on lanes in .ci/run, 100 a chunk in `make test-long`."""
    enough = 100 if chunk else 8
    cases = looping_on_lanes(range(10_000 * chunk, 10_000 * (chunk + 1)))
    assert sum(check_unrollings(*case) for case in islice(cases, 2 * enough)) >= enough
