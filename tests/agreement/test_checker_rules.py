"""The rules of the certificate checker, followed from state to state, against brute force and the other instrumentations.

That the checker accepts the invariants which the pivot instrumentation makes shows that both agree where programs are
robust. This shows that its rules find the violations of programs that are not. Its order table is compared cell by cell, its
axioms on random traces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest

from rdma_robust.certify import hardware
from rdma_robust.certify.consistency import Execution, polls_from, rdma_cycle, sc_cycle
from rdma_robust.certify.document import MODEL
from rdma_robust.certify.hardware import EventKind, Platform, issued_in_order, observed_in_order
from rdma_robust.certify.thread_events import ThreadEvent
from rdma_robust.certify.violations import usual_completion
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import Model, rdma
from rdma_robust.semantics import trace as words
from rdma_robust.semantics.axioms import rdma_violation, sc_violation
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.order_table import delayed_types, includes, ippo_scope, oppo_scope
from rdma_robust.semantics.trace import EventType, Relation, Trace
from tests.litmus.goldens import PROGRAMS, load, read_golden
from tests.support.checker_mutants import MUTANTS, mutant
from tests.support.checker_search import Search, platform_of
from tests.support.compare import REGRESSIONS, Method, by, by_oracle, count_agreeing
from tests.support.mutations import FOLDER
from tests.support.random_programs import Size
from tests.support.random_splits import PROGRAM, random_split
from tests.support.shares import share

OWN = Path(__file__).parent / "checker"
NAMED = sorted([*FOLDER.glob("*.rdma"), *REGRESSIONS.glob("*.rdma"), *OWN.glob("*.rdma")])
"""Small programs, each of which some mistake in the rules gets wrong."""

FEW = 60
"""States of the pivot search, with all reductions, of litmus programs that are compared in every run."""

USUAL = Size()
SMALL = Size(threads=(2, 2), instructions=(1, 3), total=6)
LARGE = Size(threads=(2, 4), instructions=(2, 6), total=12)


def by_checker(most: int) -> Method:
    def method(program: Program, ordered_reads: bool) -> str:
        return Search.of(program, Platform(ordered_reads=ordered_reads)).verdict(most)

    return method


# ---- the rules


@pytest.mark.ci
@pytest.mark.parametrize("chunk", share(range(3)))
def test_the_checkers_rules_are_brute_force(chunk: int) -> None:
    """50 loop-free programs a chunk, 150 in all."""
    seeds = range(100_000 * chunk + 80_000, 100_000 * chunk + 80_120)
    assert count_agreeing(seeds, USUAL, by_checker(1_200), by_oracle, enough=50) == 50


def test_looping_programs() -> None:
    """50 programs, many with loops; those with unbounded completions have no finite search and are left out."""
    seeds = range(690_000, 690_200)
    assert count_agreeing(seeds, SMALL, by_checker(800), by("pivot", 10_000), loops=True, enough=50) == 50


@pytest.mark.parametrize("path", NAMED, ids=lambda p: p.stem)
@pytest.mark.parametrize("ordered_reads", [False, True])
def test_named_programs(path: Path, ordered_reads: bool) -> None:
    program = load_program(path.read_text(encoding="utf-8"), path.name)
    answers = {method(program, ordered_reads) for method in (by_checker(60_000), by("pivot"), by_oracle)}
    assert len({a for a in answers if not a.startswith("(")}) == 1, answers


def litmus_agrees(path: Path, ordered_reads: bool, most: int) -> None:
    golden = read_golden(path)["pivot"]
    found = by_checker(most)(load(path), ordered_reads)
    assert found.startswith("(") or found == golden["ordered_reads" if ordered_reads else "verdict"]


@pytest.mark.parametrize(
    "path",
    share([p for i, p in enumerate(PROGRAMS) if i % 3 == 1 and read_golden(p)["pivot"]["states"] <= FEW]),
    ids=lambda p: p.stem,
)
def test_litmus_programs(path: Path) -> None:
    litmus_agrees(path, False, 400)


@pytest.mark.parametrize("name", MUTANTS)
def test_every_rule_is_needed(name: str) -> None:
    """Some named program is decided wrongly when a rule of the checker is changed."""
    for path in NAMED:
        program = load_program(path.read_text(encoding="utf-8"), path.name)
        truth = by_oracle(program, False)
        with mutant(name):
            found = by_checker(20_000)(program, False)
        if not truth.startswith("(") and found not in (truth, "(20000 states)"):
            return
    raise AssertionError(f"no program notices: {name}")


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(30))
def test_long_the_checkers_rules_are_brute_force(chunk: int) -> None:
    """200 loop-free programs a chunk, 6,000 in all, a third of them larger."""
    seeds = range(40_000_000 + 1000 * chunk, 40_000_000 + 1000 * chunk + 500)
    assert count_agreeing(seeds, LARGE if chunk % 3 == 0 else USUAL, by_checker(10_000), by_oracle, enough=200) == 200


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(20))
def test_long_looping_programs(chunk: int) -> None:
    """100 programs a chunk, 2,000 in all."""
    seeds = range(41_000_000 + 1000 * chunk, 41_000_000 + 1000 * chunk + 400)
    assert count_agreeing(seeds, USUAL, by_checker(4_000), by("pivot", 50_000), loops=True, enough=100) == 100


@pytest.mark.long
@pytest.mark.parametrize("ordered_reads", [False, True])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_long_litmus_programs(path: Path, ordered_reads: bool) -> None:
    litmus_agrees(path, ordered_reads, 3_000)


# ---- the order table and the axioms

# The checker refuses programs with barriers, and so has no kind for them.
TYPES = {t: EventKind(t.value) for t in EventType if t is not EventType.INIT}


MODELS = [
    Model(cpu=cpu, atomics=atomics, order=order, ordered_reads=ordered)
    for cpu, atomics, order, ordered in product(("sc", "tso"), ("hca", "glob"), MODEL["order"], (False, True))
]


@pytest.mark.parametrize("model", [model for model in MODELS if model.atomics == "hca"], ids=str)
def test_the_order_tables_are_the_same(model: Model) -> None:
    platform = platform_of(model)
    for (a, one), (b, two), near, there in product(TYPES.items(), TYPES.items(), (False, True), (False, True)):
        if near and {one, two} & (hardware.CPU - {EventKind.POLL}):
            continue
        for kept, scope in ((observed_in_order, oppo_scope(a, b, model)), (issued_in_order, ippo_scope(a, b, model))):
            told = hardware.EventWords(same=there)
            assert kept(one, two, near, platform, told) == includes(scope, same_queue=near, same_word=there), (one, two)
    assert {t for t in TYPES if not platform.instantaneous(TYPES[t])} == delayed_types(model)


OF_ROWS = {EventKind.ANSWERS_RELAXED, *hardware.VARIANT_KINDS.values()}
"""Kinds that only rows of tables have: events of traces are not told apart by them."""


def test_the_kinds_of_events_are_the_same() -> None:
    for mine, theirs in (
        (hardware.CPU, words.CPU_TYPES),
        (hardware.READS, words.READ_TYPES),
        (hardware.WRITES, words.WRITE_TYPES - {EventType.INIT}),
        (hardware.NIC_WRITES, words.NIC_WRITE_TYPES),
    ):
        assert mine - OF_ROWS == {TYPES[t] for t in theirs if t in TYPES}
    assert set(TYPES.values()) == set(EventKind) - OF_ROWS
    assert {TYPES[t] for t in words.STORE_TYPES} == hardware.STORES


def random_execution(random: Random) -> tuple[Trace, Execution]:
    """A trace in the words of both sides, whose reads-from and modification order often fit no single memory."""
    order, _ = random_split(random)
    trace = trace_of_order(order, PROGRAM)
    events, first = trace.events, len(PROGRAM.cells)
    writes = [[e.index for e in events if e.cell == cell and e.type in words.WRITE_TYPES] for cell in PROGRAM.cells]
    source = {r: w for w, r in trace.rf}
    if random.random() < 0.7:
        for written in writes:
            if random.random() < 0.3:
                written[1:] = random.sample(written[1:], len(written) - 1)
        for read in source:
            if random.random() < 0.2:
                cell = events[read].cell
                source[read] = random.choice([w for w in writes[PROGRAM.cells.index(cell)] if w != read])  # type: ignore[arg-type]
    n = len(events)
    later = ((a, b) for written in writes for i, a in enumerate(written) for b in written[i + 1 :])
    mixed = replace(trace, rf=Relation.of(n, ((w, r) for r, w in source.items())), mo=Relation.of(n, later))
    threads = sorted({e.thread for e in events[first:]})
    in_order = [[e.index for e in sorted(events[first:], key=lambda e: e.position) if e.thread == t] for t in threads]
    mine = [
        None
        if e.type is EventType.INIT
        else ThreadEvent(e.thread, TYPES[e.type], e.cell, e.remote, usual_completion(TYPES[e.type]))
        for e in events
    ]
    return mixed, Execution(mine, in_order, source, writes)


def is_cycle(trace: Trace, cycle: Sequence[int]) -> bool:
    return len(set(cycle)) == len(cycle) > 0 and all(0 <= e < len(trace.events) for e in cycle)


@pytest.mark.parametrize("ordered_reads", [False, True])
def test_the_axioms_are_the_same(ordered_reads: bool) -> None:
    random = Random(f"axioms {ordered_reads}")
    seen = {(a, b): 0 for a in (False, True) for b in (False, True)}
    for _ in range(200):
        trace, execution = random_execution(random)
        assert set(polls_from(execution)) == set(trace.pf)
        forbidden, unordered = rdma_cycle(execution, Platform(ordered_reads=ordered_reads)), sc_cycle(execution)
        assert (forbidden is None) == (rdma_violation(trace, rdma(ordered_reads)) is None)
        assert (unordered is None) == (sc_violation(trace) is None)
        assert all(is_cycle(trace, cycle) for cycle in (forbidden, unordered) if cycle is not None)
        seen[forbidden is None, unordered is None] += 1
    assert min(seen.values()) > 5, seen
