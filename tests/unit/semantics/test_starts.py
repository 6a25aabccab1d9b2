"""The ways in which threads begin are as many as the product of their own ways, and none is made before it is asked for."""

from __future__ import annotations

from itertools import islice, product

import pytest

from rdma_robust.analyses.safety.hangs import find_hang
from rdma_robust.analyses.safety.verify import Status, check_claims
from rdma_robust.errors import UsageError
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.pipeline import check_text
from rdma_robust.semantics.machines.chosen import machine_of, sc_machine_of
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.hang_words import every_execution_hangs
from rdma_robust.semantics.machines.machine import Action, Machine, Verb
from rdma_robust.semantics.machines.outcomes import explore, explore_outcomes
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.teaching.explorer.run_tree import Runs
from rdma_robust.teaching.explorer.sides import LISTED, SideViews


def choosers(threads: int, *, last: str = "x = r") -> str:
    """Return a program of threads that each begin in four ways."""
    does = [last if t == threads - 1 else f"y{t} = r" for t in range(threads)]
    bodies = [f"thread T{t} on A {{\n  reg r\n  r = nondet(0, 3)\n  {what}\n}}" for t, what in enumerate(does)]
    words = ", ".join(["x"] + [f"y{t}" for t in range(threads)])
    return "\n".join([f"node A {{ {words} }}", "node B { z }", *bodies])


def machines(text: str) -> list[Machine]:
    program = load_decidable(text, "starts.rdma")
    return [sc_machine_of(program), machine_of(program), DeployedMachine(program), ScMachine(program)]


@pytest.mark.parametrize("kind", range(4))
def test_starts_are_the_product_of_what_the_threads_do_first_in_its_order(kind: int) -> None:
    starts = machines(choosers(3))[kind].initial()
    every = list(starts)
    registers = [tuple(thread.registers[0] for thread in move.state.threads) for move in every]
    assert registers == list(product(range(4), repeat=3))
    assert [starts[place] for place in range(len(starts))] == every
    assert starts[-1] == every[-1] and starts[1:5:2] == tuple(every[1:5:2])
    with pytest.raises(IndexError):
        starts[len(every)]
    assert all(move in starts for move in every)


@pytest.mark.parametrize("kind", range(4))
def test_what_no_thread_does_is_no_start(kind: int) -> None:
    machine = machines(choosers(3))[kind]
    start = machine.initial()[0]
    assert start._replace(action=Action(-1, Verb.START, None)) not in machine.initial()
    moved = machine.successors(start.state)[0]
    assert moved not in machine.initial()


@pytest.mark.parametrize("kind", range(4))
def test_more_starts_than_memory_cost_nothing_until_they_are_made(kind: int) -> None:
    starts = machines(choosers(60))[kind].initial()
    assert starts.number == 4**60
    assert len(list(islice(starts, 5))) == 5
    assert starts[4**60 - 1] in starts and starts
    assert [m.state.threads[59].registers[0] for m in starts.of_threads([59])] == [0, 1, 2, 3]


def test_searches_keep_their_limits_among_starts() -> None:
    program = load_decidable(choosers(40), "starts.rdma")
    few = Limits(states=50)
    assert explore(sc_machine_of(program), few).cut == "50 states"
    assert explore_outcomes(program, max_states=50).sc.states <= 51
    assert every_execution_hangs(program, few) == ()
    assert find_hang(program, "sc", few).answer.reason
    gone = Limits.of(0.0)
    assert explore(sc_machine_of(program), gone).cut == "0 s"


def test_a_note_about_hangs_costs_no_verdict_of_many_starts() -> None:
    waiting = choosers(40, last="await x == 1")
    outcome = check_text(waiting, "starts.rdma", CheckOptions())
    assert outcome.verdict is Verdict.ROBUST


def test_a_run_is_told_of_a_program_with_many_starts() -> None:
    program = load_decidable(choosers(14, last="x = r\n  assert r != 2"), "starts.rdma")
    checked = check_claims(program, Limits.of(60.0), Model(), hangs=False).checked
    (violated,) = (each for each in checked if each.claim.kind == "assertion")
    assert violated.status is Status.VIOLATED and violated.answer.run


def test_the_explorer_lists_some_of_the_starts_and_says_so() -> None:
    program = load_decidable(choosers(40), "starts.rdma")
    runs = Runs(sc_machine_of(program))
    view = SideViews(program, runs, "sc").view((), 0)
    assert len(view.moves) == LISTED
    assert f"{4**40:,}" in view.ending_text
    last = runs.point((4**40 - 1,))
    assert [thread.registers[0] for thread in last.state.threads] == [3] * 40
    with pytest.raises(UsageError):
        runs.point((4**40,))
