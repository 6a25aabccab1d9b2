"""Axioms, well-formedness and brute force against the naive judge, which shares nothing with them, on tiny programs.

Every mistake in the axioms of a list is noticed by a program of the design; those of the other list change no verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from rdma_robust.expr import VALUE, names
from rdma_robust.language.flow.cfg import Program, Recv, RemoteRmw, Rmw, steps
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.semantics import axioms
from rdma_robust.semantics.linearise import pf_of_positions, po_of_positions
from rdma_robust.semantics.machines.chosen import machine_of
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, Event, EventType, Relation, Trace
from rdma_robust.semantics.wellformed import check_well_formed
from tests.support.naive_axioms import Choice, Naive
from tests.support.random_deployed import FAMILIES, loaded, most_events, mutants, named_texts, random_deployed

Pairs = set[tuple[int, int]]


def tiny(family: str, seeds: range, events: int) -> Iterator[tuple[Program, Model]]:
    found = mutants(seeds) if family == "mutants" else random_deployed(family, seeds)
    return ((p, model) for p, model in found if most_events(p, model) <= events and not grows(p))


def grows(program: Program) -> bool:
    """Whether the naive judge, which takes every value that is written anywhere for one that may be read, finds no end."""
    atomics = (step.op for thread in program.threads for _, _, step in steps(thread) if isinstance(step.op, Rmw | RemoteRmw))
    return program.domain is None and any(VALUE.name in names(op.new) for op in atomics)


def compare(program: Program, model: Model, most: int = 4_000) -> bool | None:
    """Whether a program is robust, by brute force with and without prefixes that go on, as by the naive judge."""
    naive = Naive(program, model, most)
    robust, outcomes = naive.robust(), naive.outcomes()
    note = f"{program.file}, {model}\n{program.source}"
    if robust is not None:
        assert (oracle_robust(program, model) is None) == robust, note
        assert (oracle_robust(program, model, all_prefixes=True) is None) == robust, note
    if outcomes is not None:
        flat = {tuple(value for part in state for value in part) for state in outcomes}
        assert axiomatic_outcomes(program, model).rdma == flat, note
    return robust


@pytest.mark.ci
@pytest.mark.parametrize("family", [*FAMILIES, "accumulated", "operands", "mutants"])
def test_brute_force_agrees(family: str) -> None:
    verdicts = Counter(compare(*each, 500) for each in tiny(family, range(48), 6))
    assert verdicts[True] + verdicts[False] >= 2


@pytest.mark.long
@pytest.mark.parametrize("family", [*FAMILIES, "accumulated", "operands", "mutants"])
def test_brute_force_agrees_on_more(family: str) -> None:
    verdicts = Counter(compare(*each) for each in tiny(family, range(24, 700), 8))
    assert min(verdicts[True], verdicts[False]) > 10


def trace_of(choice: Choice, program: Program, way: tuple[tuple[str, Pairs], ...]) -> Trace:
    """The choice as a trace, for threads without branches. Of its events only V have their step."""
    n = len(choice.events)
    posts = [iter([s for _, _, s in steps(thread) if isinstance(s.op, Recv)]) for thread in program.threads]
    events = tuple(
        Event(
            i,
            EventType(e.kind),
            e.thread,
            e.position,
            e.remote,
            None if e.kind == "V" else e.cell,
            e.read,
            e.written,
            next(posts[e.thread]) if e.kind == "V" else None,
            unsignaled=e.completing and not e.signaled,
            completing=e.completing,
            peer=program.threads[e.peer].name if e.peer >= 0 else None,
        )
        for i, e in enumerate(choice.events)
    )
    nfo, rao = (set().union(*(pairs for what, pairs in way if what == name)) for name in ("nfo", "rao"))
    of = lambda pairs: Relation.of(n, pairs)  # noqa: E731
    optional = (of(pairs) if pairs else None for pairs in (rao, choice.sm, choice.rpf))
    po, pf = po_of_positions(events), pf_of_positions(events)
    return Trace(events, po, pf, of(choice.rf), of(choice.mo), of(nfo), *optional)


def judge(program: Program, model: Model, most: int = 60) -> Counter[tuple[bool, bool]]:
    """Compare what the axioms say of some traces of a program, of any choice of everything, with the naive judge.

    Return how many have a cycle of sc, and how many are RDMA-consistent.
    """
    naive, rng = Naive(program, model), Random(program.source)
    judged: Counter[tuple[bool, bool]] = Counter()
    longest = [sorted(runs, key=lambda run: -len(run.events))[:12] for runs in naive.runs]
    combinations = list(product(*longest)) if longest else []
    rng.shuffle(combinations)
    for chosen in combinations[:most]:
        choices = list(islice(naive.choices(chosen), 200))
        for choice in rng.sample(choices, min(len(choices), 4)):
            way = tuple(rng.choice(ways) for ways in choice.ways if ways)
            if len(way) < len(choice.ways):
                continue
            trace = trace_of(choice, program, way)
            check_well_formed(program, trace, model)
            cycle = axioms.sc_violation(trace)
            assert (cycle is not None) == choice.violating
            assert (axioms.rdma_violation(trace, model) is None) == naive.keeps(choice, way)
            if cycle is not None:
                ends = zip(cycle.edges, [*cycle.edges[1:], cycle.edges[0]], strict=True)
                assert all(one.target == other.source for one, other in ends)
            judged[choice.violating, naive.keeps(choice, way)] += 1
    return judged


JUDGED = """
    two-faa put-into-rmw one-word-cpu-and-nic one-word-cpu-and-nic-glob faa-then-put polled-send-tells-of-receive
    receive-after-put receive-and-get send-flag-multipath rmw-and-message-relaxed immediates-in-order herd sb-mfence-one
    sb-forwarded sb-recv-between unsignaled-get-then-put
"""


def test_the_axioms_judge_traces_as_the_naive_judge() -> None:
    total: Counter[tuple[bool, bool]] = Counter()
    for name in JUDGED.split():
        total += judge(*loaded(named_texts()[name], name), 20)
    assert len(total) == 4 and min(total.values()) > 5, total


@pytest.mark.long
def test_the_axioms_judge_more_traces_as_the_naive_judge() -> None:
    for family in (*FAMILIES, "accumulated", "mutants"):
        for program, model in tiny(family, range(80), 8):
            judge(program, model, 30)


def without(*names: str) -> Any:
    original = axioms._deployed

    def left(trace: Trace, model: Model, **parts: bool) -> dict[str, Relation]:
        return {name: part for name, part in original(trace, model, **parts).items() if name not in names}

    return left


def none_of(trace: Trace, *_: object) -> Relation:
    return Relation.of(len(trace.events), ())


SC_PARTS = axioms.sc_parts
AXIOMS: dict[str, tuple[str, Any, str]] = {
    "rao": ("_deployed", without("rao"), "two-faa"),
    "sm": ("_deployed", without("sm"), "polled-send-tells-of-receive"),
    "rpf": ("_deployed", without("rpf"), "receive-and-get"),
    "rpf of earlier writes": ("receive_order", lambda trace, _, **__: trace.rpf, "send-flag-multipath"),
    "pf of earlier operations": ("poll_order", lambda trace: trace.pf, "unsignaled-get-then-put"),
    "completions give order": ("polled_between", none_of, "acknowledged-flag"),
    "rfb": ("rfb", none_of, "sb-forwarded"),
    "rbb": ("rbb", none_of, "sb-forwarded"),
    "stores are not instantaneous": ("delayed_types", lambda _: NIC_WRITE_TYPES, "sb-mfence-one"),
    "same operation": ("same_operation", none_of, "put-into-rmw-relaxed"),
    "one vertex": ("steps_of", lambda _: {}, "put-into-rmw"),
    "sm in sc": ("sc_parts", lambda t: SC_PARTS(replace(t, sm=None)), "receive-after-put"),
    "rpf in sc": ("sc_parts", lambda t: SC_PARTS(replace(t, rpf=None)), "receive-and-get"),
}
"""What of the axioms is left out: the attribute, what replaces it, and a program on whose traces it is noticed."""


@pytest.mark.parametrize("name", AXIOMS)
def test_every_axiom_is_noticed(name: str) -> None:
    attribute, replacement, program = AXIOMS[name]
    with patch.object(axioms, attribute, replacement), pytest.raises(AssertionError):
        judge(*loaded(named_texts()[program], program), 400)


def test_a_store_does_not_wait_for_a_receive_that_is_posted_before_it() -> None:
    """x = 1; recv b; w = 1; r = y may read y before x = 1 has left the buffer, with w = 1 as without it."""
    program, model = loaded(named_texts()["sb-recv-between"], "sb-recv-between")
    found = axiomatic_outcomes(program, model)
    assert len(found.sc) == 3 and len(found.rdma) == 4
    assert found.rdma == explore(machine_of(program, model), Limits()).finals
