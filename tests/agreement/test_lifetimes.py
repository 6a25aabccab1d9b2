"""Threads that are started and joined: the search, brute force, both machines, certificates, and the edges themselves.

The language makes words of `start` and `join`, which every engine knows. `naive_lifetimes` knows edges between events
instead: that both say the same is the lemma of docs/theory-deployed.md, "Threads that are started".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random
from unittest.mock import patch

import pytest

from rdma_robust.analyses.safety.verify import check_claims
from rdma_robust.errors import InternalError, ProgramError
from rdma_robust.expr import TRUE, Const, Expr
from rdma_robust.language.flow.cfg import Cas, MFence, Op, Program, Read, Rmw, Silent, Write
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.machines.chosen import machine_of, sc_machine_of
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.resting import _Local
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from rdma_robust.semantics.values import is_loop_free
from tests.agreement.test_checker_deployed import compared as certified
from tests.agreement.test_deployed import HARDWARE, SMALL, agreeing, check_unrollings
from tests.agreement.test_hangs_agree import compare as compare_hangs
from tests.agreement.test_hangs_agree import waiting_program
from tests.conftest import ROOT
from tests.support.naive_lifetimes import NaiveLifetimes
from tests.support.random_deployed import model_of
from tests.support.random_lifetimes import random_lifetimes, with_lifetimes
from tests.support.random_programs import random_program
from tests.support.shares import chunks

Case = tuple[Program, Model]
LITMUS = ROOT / "litmus" / "lifetimes"


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


def same_hangs(seeds: Iterable[int], *, loops: bool) -> Counter[str]:
    """Compare the hangs of both machines with those of a graph search of its own, as for programs that only wait."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        rng = Random(f"waiting {seed}")
        text = with_lifetimes(waiting_program(rng, loops=loops), rng)
        if text is not None and (program := well_formed(text)) is not None:
            compare_hangs(program, seed % 3 == 0, counts)
    return counts


def well_formed(text: str) -> Program | None:
    """Return the program, None if a thread is started in a loop."""
    try:
        return load_program(text, "random.rdma")
    except ProgramError as error:
        assert {each.code for each in error.diagnostics} == {"RR441"}, error
        return None


def unrollings(seeds: Iterable[int]) -> int:
    """Compare programs with loops with their unrollings; return how many could be decided."""
    found = 0
    for seed in seeds:
        rng = Random(f"looping {seed}")
        text = with_lifetimes(random_program(rng, SMALL, loops=True), rng)
        program = None if text is None else well_formed(f"hardware {HARDWARE[seed % len(HARDWARE)]}\n{text}")
        if program is not None and not is_loop_free(program):
            found += check_unrollings(program, model_of(program))
    return found


def changed(program: Program, change: Callable[[Op], Op | Expr | None]) -> Program:
    """Return the program with other operations or guards in the steps of threads that begin and end."""
    threads = []
    for thread in program.threads:
        edges = []
        for source, target, step in thread.edges:
            new = change(step.op)
            made = replace(step, guard=new) if isinstance(new, Expr) else replace(step, op=new) if new else step
            edges.append((source, target, made))
        threads.append(replace(thread, edges=tuple(edges)))
    return replace(program, threads=tuple(threads))


def is_moment(op: Op, what: str) -> bool:
    return isinstance(op, Rmw | Read | Cas) and op.cell.moment and op.cell.name.startswith(what)


MUTANTS: dict[str, tuple[str, Callable[[Op], Op | Expr | None]]] = {
    "a start is no fence": (
        "start-drains-stores",
        lambda op: Write(op.cell, Const(1)) if isinstance(op, Rmw) and is_moment(op, "start") else None,
    ),
    "a join is no fence": ("join-is-a-fence", lambda op: Silent() if isinstance(op, MFence) else None),
    "a thread begins at once": (
        "start-publishes",
        lambda op: TRUE if isinstance(op, Read) and is_moment(op, "start") else None,
    ),
    "a join waits for nothing": (
        "join-polled-put",
        lambda op: TRUE if isinstance(op, Read) and is_moment(op, "end") else None,
    ),
    "nobody tells that a thread is never started": (
        "start-in-a-branch",
        lambda op: Silent() if isinstance(op, Cas) and is_moment(op, "start") else None,
    ),
}
"""For each mutant the program that notices it, and what becomes of operations, or of the guards of their steps."""


def answers(program: Program) -> list[object]:
    """The verdict, and what becomes of the claims; nothing if engines contradict each other."""
    options = CheckOptions(hardware=model_of(program))
    try:
        claims = check_claims(program, Limits(states=5_000), options.hardware).checked
    except InternalError:
        return []
    return [decide(program, options).verdict, *(checked.status for checked in claims)]


@pytest.mark.parametrize("name", MUTANTS)
def test_every_rule_is_noticed(name: str) -> None:
    file, change = MUTANTS[name]
    program = load_program((LITMUS / f"{file}.rdma").read_text(encoding="utf-8"), file)
    assert answers(changed(program, change)) != answers(program)


def test_a_thread_that_was_never_started_would_hang() -> None:
    name = "start-by-who-serves-for-ever"
    program = load_program((LITMUS / f"{name}.rdma").read_text(encoding="utf-8"), name)
    expected = answers(program)
    with patch.object(_Local, "_waits_for_start", lambda *_: False):
        assert answers(program) != expected


def test_a_few_hangs_and_loops() -> None:
    assert same_hangs(range(30), loops=True)["hangs"] >= 3
    assert unrollings(range(40)) >= 2


@pytest.mark.parametrize("chunk", chunks(1, 30))
def test_many_hangs_and_loops(chunk: int) -> None:
    seeds = range(1_000 + 100 * chunk, 1_100 + 100 * chunk)
    assert same_hangs(seeds, loops=bool(chunk % 2))["hangs"] >= 10
    assert unrollings(seeds) >= 5


def test_a_few_random_programs() -> None:
    assert agreeing(random_lifetimes(range(30)), 1) >= 15


def test_a_few_outcomes() -> None:
    assert same_outcomes(random_lifetimes(range(100, 120))) >= 3


def test_a_few_by_edges() -> None:
    found = same_by_edges(random_lifetimes(range(200, 320)), 300)
    assert found[True] > 1
    assert found[False] > 1


@pytest.mark.parametrize("chunk", chunks(1, 100))
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
