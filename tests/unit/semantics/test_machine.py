"""The operational machines step by step, and the search through them."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import rdma
from rdma_robust.semantics.machines.chosen import sc_machine_of
from rdma_robust.semantics.machines.machine import Action, Machine, State, Verb
from rdma_robust.semantics.machines.outcomes import Exploration, explore, explore_outcomes
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.wording import deed, event_name
from tests.conftest import ROOT
from tests.support.random_programs import TINY, random_program
from tests.support.shares import share

SB = """
node A { x = 0 }
node B { y = 0 }
thread T1 on A { reg r; put B.y = 1; r = x }
thread T2 on B { reg r; put A.x = 1; r = y }
outcome T1.r == 0 && T2.r == 0 : forbidden under sc, allowed under rdma
outcome T1.r == 1 && T2.r == 0 : forbidden under sc, allowed under rdma
"""


def load(text: str) -> Program:
    return load_program(text, "machine.rdma")


def wording(program: Program, action: Action) -> str:
    """Return the statement of a move, and its event, or what it does where it is no event of its own."""
    name = "" if action.verb is Verb.FLUSH else event_name(action)
    text = action.step.text if action.step else ""
    return f"{program.threads[action.thread].name}: {text} | {name or deed(program, action)}"


def run(machine: Machine, words: str) -> tuple[State, list[str]]:
    """Take, for each word in turn, the only move whose wording contains it."""
    state = machine.initial()[0].state
    said = []
    for word in words.split(";"):
        moves = [m for m in machine.successors(state) if word.strip() in wording(machine.program, m.action)]
        assert len(moves) == 1, (word, [wording(machine.program, m.action) for m in machine.successors(state)])
        state = moves[0].state
        said.append(wording(machine.program, moves[0].action))
    return state, said


def offered(machine: Machine, state: State) -> list[str]:
    return [wording(machine.program, move.action) for move in machine.successors(state)]


def finals(text: str, *registers: str, ordered_reads: bool = False) -> dict[str, set[tuple[int, ...]]]:
    """The values of these names in the final states, by model."""
    report = explore_outcomes(load(text), rdma(ordered_reads))
    assert report.complete
    places = [report.names.index(name) for name in registers]
    models = {"sc": [s for s in report.states if s.sc], "rdma": [s for s in report.states if s.rdma]}
    return {model: {tuple(s.values[p] for p in places) for s in states} for model, states in models.items()}


def test_a_put_passes_through_pipe_and_buffer() -> None:
    machine = RdmaMachine(load("node A { x = 3 }\nnode B { y = 0 }\nthread T on A { put B.y = x; poll B }"))
    state, said = run(machine, "posts; nlR; nrW")
    assert said == [
        "T: put B.y = x | posts put B.y = x",
        "T: put B.y = x | nlR(A.x, 3)",
        "T: put B.y = x | nrW(B.y, 3)",
    ]
    assert machine.describe(state) == [
        "T at poll B",
        "memory: A.x = 3, B.y = 0",
        "T -> B: wbR: [B.y = 3] unpolled: [put B.y = x]",
    ]
    assert offered(machine, state) == ["T: poll B | P(B)", "T: put B.y = x | writes B.y = 3 in memory"]
    state, _ = run(machine, "posts; nlR; nrW; P(B); in memory")
    assert machine.is_final(state) and machine.final(state) == (3, 3)
    assert machine.successors(state) == []


def test_a_get_is_polled_only_when_its_write_is_in_memory() -> None:
    machine = RdmaMachine(load("node A { x = 0 }\nnode B { y = 5 }\nthread T on A { get x = B.y; poll B }"))
    state, _ = run(machine, "posts; nrR; nlW")
    assert offered(machine, state) == ["T: get x = B.y | writes x = 5 in memory"]
    state, _ = run(machine, "posts; nrR; nlW; in memory")
    assert offered(machine, state) == ["T: poll B | P(B)"]


def test_completions_are_consumed_in_issue_order() -> None:
    machine = RdmaMachine(load("node A { x, w = 1 }\nnode B { y, z }\nthread T on A { get x = B.y; put B.z = w; poll B }"))
    state, _ = run(machine, "get x; put B.z; nlR; nrW")
    assert not any("P(B)" in text for text in offered(machine, state))
    assert any("in memory" in text for text in offered(machine, state))
    state, _ = run(machine, "get x; put B.z; nrR; nlW; x = 0 in memory")
    assert any("P(B)" in text for text in offered(machine, state))


def test_a_fence_holds_back_what_comes_later() -> None:
    machine = RdmaMachine(load("node A { x, w = 1 }\nnode B { y, z }\nthread T on A { get x = B.y; rfence B; get w = B.z }"))
    state, _ = run(machine, "get x; rfence; get w")
    assert offered(machine, state) == ["T: get x = B.y | nrR(B.y, 0)"]
    state, _ = run(machine, "get x; rfence; get w; nrR; nlW; nF(B)")
    assert offered(machine, state) == ["T: get x = B.y | writes x = 0 in memory", "T: get w = B.z | nrR(B.z, 0)"]


@pytest.mark.parametrize(("ordered_reads", "count"), [(False, 2), (True, 1)])
def test_ordered_reads_keep_gets_in_order(ordered_reads: bool, count: int) -> None:
    machine = RdmaMachine(
        load("node A { x, w }\nnode B { y, z }\nthread T on A { get x = B.y; get w = B.z }"), rdma(ordered_reads)
    )
    state, _ = run(machine, "get x; get w")
    assert len(offered(machine, state)) == count


def test_a_put_does_not_read_its_source_over_a_buffered_get() -> None:
    machine = RdmaMachine(load("node A { x, w }\nnode B { y, z }\nthread T on A { get x = B.y; put B.z = w }"))
    state, _ = run(machine, "get x; put B; nrR; nlW")
    assert offered(machine, state) == ["T: get x = B.y | writes x = 0 in memory"]


def test_a_get_does_not_read_over_a_buffered_put() -> None:
    machine = RdmaMachine(load("node A { x, w }\nnode B { y, z }\nthread T on A { put B.z = w; get x = B.y }"))
    state, _ = run(machine, "put B; get x; nlR; nrW")
    assert offered(machine, state) == ["T: put B.z = w | writes B.z = 0 in memory"]


def test_under_sc_a_put_is_two_steps_and_a_poll_waits_for_them() -> None:
    machine = ScMachine(load("node A { x = 3 }\nnode B { y = 0 }\nthread T on A { put B.y = x; rfence B; poll B }"))
    state, said = run(machine, "nlR; nrW; nF; P(B)")
    assert said[:2] == ["T: put B.y = x | nlR(A.x, 3)", "T: put B.y = x | nrW(B.y, 3)"]
    assert machine.is_final(state)
    assert machine.describe(state) == ["T ended", "memory: A.x = 3, B.y = 3"]


def test_a_swap_is_one_step() -> None:
    machine = ScMachine(load("node A { x }\nthread T on A { reg r; r = cas(x, 0, 1); r = cas(x, 0, 1) }"))
    state, said = run(machine, "CAS(A.x, 0, 1); lR(A.x, 1)")
    assert machine.final(state) == (1, 1)
    assert all("cas" in text for text in said)


def test_register_steps_are_merged_and_told() -> None:
    machine = ScMachine(load("node A { x }\nthread T on A { reg r; r = 1; choose { r = x } or { r = r == 1; x = r } }"))
    starts = machine.initial()
    assert len(starts) == 2
    assert all(move.action.verb is Verb.START for move in starts)
    assert sorted([step.text for step in move.action.silent] for move in starts)[0][0] == "r = 1"


@pytest.mark.parametrize("model", [ScMachine, RdmaMachine])
def test_faults_and_stuck_states_are_found(model: type[ScMachine] | type[RdmaMachine]) -> None:
    text = """
    domain 0..1
    node A { x }
    thread T on A { reg r; r = x; assert r == 0; r = r + 1; assume x == 0 }
    thread U on A { x = 1 }
    """
    found = explore(model(load(text)), Limits())
    assert [fault.kind for fault in found.faults] == ["assertion", "overflow"]
    assert found.stuck == 2  # after the overflow, and before an assume that stays false
    assert len(found.finals) == 1


def test_a_thread_that_only_spins_is_no_obstacle_to_the_search() -> None:
    found = explore(
        ScMachine(load("node A { x }\nthread T on A { reg r; while r == 0 { } }\nthread U on A { x = 1 }")), Limits()
    )
    assert (found.states, found.finals, found.cut) == (2, frozenset(), None)


def test_limits_cut_the_search() -> None:
    loop = load("node A { x }\nnode B { y }\nthread T on A { loop { put B.y = x } }")
    assert explore(RdmaMachine(loop), Limits(depth=6)).cut == "depth 6"
    assert explore(RdmaMachine(loop), Limits(states=50)).cut == "50 states"
    assert explore(RdmaMachine(loop), Limits.of(0.0)).cut == "0 s"
    found = explore(ScMachine(load(SB)), Limits(depth=6))
    assert found.cut is None
    assert explore(ScMachine(load(SB)), Limits(depth=5)).cut == "depth 5"


def same(a: Exploration, b: Exploration) -> bool:
    return (a.finals, a.stuck, set(a.faults)) == (b.finals, b.stuck, set(b.faults))


@pytest.mark.ci
@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("first", share(range(0, 200, 50), 4))
def test_the_reduction_loses_nothing(first: int, loops: bool) -> None:
    limits = Limits(states=3_000)
    compared = 0
    for seed in range(first, first + 50):
        program = load_program(random_program(Random(seed), TINY, loops=loops), f"random-{seed}.rdma")
        for machine in (ScMachine(program), RdmaMachine(program)):
            full = explore(machine, limits, reduce=False)
            if full.cut is None:
                compared += 1
                assert same(explore(machine, limits), full), program.source
    assert compared >= (50 if loops else 100)


def test_the_outcome_report_puts_the_models_side_by_side() -> None:
    report = explore_outcomes(load(SB))
    assert report.names == ("A.x", "B.y", "T1.r", "T2.r")
    assert [(s.values, s.sc, s.rdma) for s in report.states] == [
        ((1, 1, 0, 0), False, True),
        ((1, 1, 0, 1), True, True),
        ((1, 1, 1, 0), True, True),
        ((1, 1, 1, 1), True, True),
    ]
    assert [s.values for s in report.only_rdma] == [(1, 1, 0, 0)]
    assert [[c.holds for c in line.claims] for line in report.lines] == [[True, True], [False, True]]
    assert report.lines[1].claims[0].example == (1, 1, 1, 0)
    assert report.complete


def test_a_cut_search_leaves_claims_open() -> None:
    for most, holds in ((4, [[None, None], [None, None]]), (15, [[True, None], [False, None]])):
        report = explore_outcomes(load(SB), max_states=most)
        assert not report.complete and report.rdma.cut == f"{most} states"
        assert [[c.holds for c in line.claims] for line in report.lines] == holds


def test_programs_with_loops_are_searched_up_to_a_default() -> None:
    spin = load("node A { x }\nthread T on A { while x == 0 { } }\nthread U on A { x = 1 }")
    for report in (explore_outcomes(spin), explore_outcomes(spin, max_states=1000)):
        assert report.complete and [s.values for s in report.states] == [(1,)]
    unbounded = load("node A { x }\nnode B { y }\nthread T on A { loop { put B.y = x } }")
    assert explore_outcomes(unbounded, depth=10).rdma.cut == "depth 10"
    report = explore_outcomes(unbounded)
    assert report.sc.cut is None and report.rdma.cut == "16 operations of a queue pair in flight"


def test_operations_under_way_bound_both_searches_and_are_no_deadlock() -> None:
    text = "node A { x }\nnode B { y }\nthread T on A { reg i\n while i != 3 { put B.y = 1; i = i + 1 }\n poll B; x = 1 }"
    program = load(f"domain 0..3\n{text}")
    whole = explore_outcomes(program, max_states=10_000)
    assert whole.complete
    for most in (1, 2, 3, 4):
        report = explore_outcomes(program, under_way=most)
        assert report.complete == (most >= 3)
        cut = None if most >= 3 else f"{most} operation{'s' * (most > 1)} of a queue pair in flight"
        assert report.sc.cut == report.rdma.cut == cut
        assert report.sc.stuck == report.rdma.stuck == 0
        assert report.states == (whole.states if most >= 3 else ())


@pytest.mark.ci
def test_a_search_up_to_a_bound_finds_what_the_whole_search_does() -> None:
    compared = 0
    for path in sorted((ROOT / "litmus").glob("*-loop-*.rdma")):
        program = load_program(path.read_text(), path.name)
        whole = explore_outcomes(program, max_states=2_000)
        if whole.complete:
            compared += 1
            assert explore_outcomes(program).states == whole.states
            some = explore_outcomes(program, under_way=1)
            assert {s.values for s in some.states if s.rdma} <= {s.values for s in whole.states if s.rdma}
    assert compared > 8


def test_polls_tell_gets_from_puts() -> None:
    get = "node A { x }\nnode B { y = 1 }\nthread T on A { reg r; get x = B.y; poll B; r = x }"
    assert finals(get, "T.r") == {"sc": {(1,)}, "rdma": {(1,)}}
    put = """
    node A { x, z }
    node B { y }
    thread T on A { put B.y = 1; poll B; z = 1 }
    thread U on A { assume z == 1; put B.y = 2 }
    """
    assert finals(put, "B.y") == {"sc": {(2,)}, "rdma": {(1,), (2,)}}


@pytest.mark.parametrize("most", [8, 1 << 15])
def test_moves_that_are_kept_are_those_of_every_thread(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also at barriers, and where messages wait, however few are kept."""
    monkeypatch.setattr("rdma_robust.semantics.machines.sc._MOST_KEPT", most)
    for name in ("mailbox-plain", "peterson-server", "barriers/barrier-family", "rnr/told-that-it-is-posted"):
        machine = sc_machine_of(load((ROOT / "litmus" / f"{name}.rdma").read_text(encoding="utf-8")))
        states = [move.state for move in machine.initial()]
        for state in states:
            moves = machine.successors(state)
            assert moves == [move for t in range(len(state.threads)) for move in machine.moves_of(state, t)], name
            states += [move.state for move in moves if len(states) < 200 and move.state not in states]
