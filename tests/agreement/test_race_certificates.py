"""Certificates of races: the checker accepts two accesses of a trace if and only if they race by the definition. Of race
free programs: its own search finds a race if and only if the tool does, and it accepts the states that this goes through.

The programs are those of the other tests of races. The checker has its own happens-before, and its own reading of what
synchronises.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from rdma_robust.analyses.races.find_races import find_races
from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.certify.hardware import ORDERS, Platform
from rdma_robust.certify.race_invariants import check_race_free
from rdma_robust.certify.racing_traces import KIND, check_race
from rdma_robust.errors import InternalError
from rdma_robust.evidence.of_races import race_free_evidence
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.looking import with_looks
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.orders.known_orders import order_table, told_in_full
from rdma_robust.semantics.happens_before import races_of, synchronising_accesses
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.waits import messages_wait
from tests.support.race_agreement import SOURCES, with_accesses, with_words


def judged(program: Program, model: Model) -> Iterator[tuple[bool, str]]:
    """Yield, for every two events of a trace with a race, whether they race by definition, and why the checker refuses."""
    found = find_races(program, model, Limits(states=20_000))
    looking, accesses = with_looks(program), synchronising_accesses(program)
    platform, first = Platform(model.cpu, model.atomics, model.order, model.ordered_reads), len(program.cells)
    for race in found.races[:2]:
        trace = trace_of_order([event for _, mine in race.run for event in mine], looking, model)
        evidence = {**trace_evidence(looking, trace), "kind": KIND}
        racing = {frozenset((one.index, other.index)) for one, other in races_of(trace, model, accesses)}
        for b in range(first, len(trace.events)):
            for a in range(first, b):
                yield (
                    frozenset((a, b)) in racing,
                    refusal(program, platform, {**evidence, "first": a - first, "second": b - first}),
                )


def refusal(program: Program, platform: Platform, evidence: object) -> str:
    try:
        check_race(program, platform, evidence)
    except InvalidCertificate as refused:
        return str(refused)
    return ""


def agreeing(source: str, seeds: range) -> tuple[int, int, int]:
    """Compare the programs of these seeds; return how many pairs race, how many do not, and how many it cannot tell."""
    racing = free = unsure = 0
    for program, model in SOURCES[source](seeds):
        program = with_words(program, Random(program.file))
        program = with_accesses(program, Random(f"said {program.file}")) if len(program.file) % 2 else program
        if model.order not in ORDERS or any(thread.crowd for thread in program.threads if hasattr(thread, "crowd")):
            continue
        for races, why in judged(program, model):
            unsure += races and "several kinds" in why
            assert races == (why == "") or "several kinds" in why, f"{why}\n{program.source}\n{model}"
            racing, free = racing + races, free + (not races)
    return racing, free, unsure


@pytest.mark.ci
@pytest.mark.parametrize("source", SOURCES)
def test_the_checker_accepts_races_and_nothing_else(source: str) -> None:
    racing, free, unsure = agreeing(source, range(40, 48))
    assert source == "own orders" or (racing >= 1 and free >= 1), (racing, free, unsure)


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES)
def test_it_does_so_on_many(source: str) -> None:
    racing, free, _ = agreeing(source, range(5_000, 5_300))
    assert source == "own orders" or (racing >= 10 and free >= 10)


def free_alike(source: str, seeds: range) -> tuple[int, int]:
    """Compare programs with the search of the checker's own rules; return how many race, and how many do not."""
    racing = free = 0
    for program, model in SOURCES[source](seeds):
        program = with_words(program, Random(program.file))
        program = with_accesses(program, Random(f"said {program.file}")) if Random(program.file).random() < 0.3 else program
        if messages_wait(program):
            continue
        found = find_races(program, model, Limits(states=20_000))
        order = model.order if model.order in ORDERS else told_in_full(replace(order_table(model.order), why={}), ORDERS)
        platform = Platform(model.cpu, model.atomics, order, model.ordered_reads)
        if found.reason:
            continue
        try:
            evidence = race_free_evidence(program, platform, RECV_DEPTH, Limits(states=20_000))
        except InternalError:
            assert found.races, f"{program.source}\n{model}"
            racing += 1
        else:
            assert not found.races, f"{program.source}\n{model}"
            check_race_free(program, platform, json.loads(json.dumps(evidence)))
            free += 1
    return racing, free


@pytest.mark.parametrize("source", SOURCES)
def test_race_free_programs_have_certificates(source: str) -> None:
    assert sum(free_alike(source, range(60, 62))) or source == "long messages", "of these most have messages that wait"


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES)
def test_many_race_free_programs_have_certificates(source: str) -> None:
    racing, free = free_alike(source, range(8_000, 8_300))
    assert racing >= 10 and free >= 10
