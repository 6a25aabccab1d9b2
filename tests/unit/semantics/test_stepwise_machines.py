"""The stepwise machines of sc, tso, pso, rma and rdma: what each can do, and how they lie within each other."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from rdma_robust.errors import UsageError
from rdma_robust.expr import VALUE, Binary, Const, Name
from rdma_robust.language.flow.cfg import (
    Cell,
    Flush,
    Get,
    MFence,
    Nondet,
    Op,
    Poll,
    Program,
    Put,
    RemoteRmw,
    RFence,
    Rmw,
    Silent,
    Step,
    Thread,
    peer_of,
    steps,
)
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import rdma
from rdma_robust.semantics.machines.by_model import stepwise_machine
from rdma_robust.semantics.machines.machine import Move, Verb
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.pipes import PipesMachine
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.machines.stepping import few
from tests.support.inserted import behind, fenced, flushed
from tests.support.local_programs import random_local_program
from tests.support.random_programs import TINY, random_program

A_X, B_Y = Cell("A", "x"), Cell("B", "y")
STATES = Limits(states=1000)


def load(text: str) -> Program:
    return load_program(text, "machine.rdma")


def finals(program: Program, model: AnyModelName, *names: str) -> set[tuple[int, ...]]:
    """The values of these names (or of all) in the final states, all of which must be found."""
    machine = stepwise_machine(program, model)
    found = explore(machine, Limits())
    assert found.cut is None
    every = [f"{c}" for c in program.cells if not c.hidden]
    every += [f"{t.name}.{r}" for t in program.threads for r, _ in t.registers]
    places = [every.index(name) for name in names or every]
    return {tuple(state[i] for i in places) for state in found.finals}


def alone(*ops: Op | Step, cells: tuple[Cell, ...] = (A_X, B_Y), registers: tuple[str, ...] = ("r",)) -> Program:
    """A program of one thread on A with these steps in a row; reads and atomics go into r."""
    made = [op if isinstance(op, Step) else Step(op, text=type(op).__name__) for op in ops]
    edges = tuple((i, i + 1, step) for i, step in enumerate(made))
    points = tuple(range(len(made) + 1))
    thread = Thread("T", "A", tuple((name, 0) for name in registers), points, edges, 0, len(made))
    return Program("alone", "alone.rdma", "", ("A", "B"), cells, (thread,))


SB = """node A { x, y }
thread T1 on A { reg r; x = 1; r = y }
thread T2 on A { reg r; y = 1; r = x }
"""
MP = """node A { x, y }
thread T1 on A { x = 1; y = 1 }
thread T2 on A { reg r, s; r = y; s = x }
"""


def test_store_buffering() -> None:
    """Both loads may pass the own store under tso and pso, unless a fence stands between."""
    program = load(SB)
    names = ("T1.r", "T2.r")
    assert (0, 0) not in finals(program, "sc", *names)
    assert (0, 0) in finals(program, "tso", *names) and (0, 0) in finals(program, "pso", *names)
    assert finals(fenced(program), "tso") == finals(fenced(program), "pso") == finals(program, "sc")


def test_message_passing() -> None:
    """Only pso lets two stores of one thread reach memory in the other order."""
    program = load(MP)
    names = ("T2.r", "T2.s")
    assert (1, 0) not in finals(program, "tso", *names)
    assert (1, 0) in finals(program, "pso", *names)


def test_a_thread_sees_its_own_newest_store() -> None:
    program = load("node A { x }\nthread T on A { reg r; x = 1; x = 2; r = x }\n")
    for model in ("tso", "pso"):
        machine = stepwise_machine(program, model)
        assert finals(program, model) == {(2, 2)}
        state = machine.initial()[0].state
        for _ in range(2):
            state = machine.successors(state)[0].state
        assert machine.under_way(state) == 2 and not machine.is_drained(state)
        assert machine.describe(state)[-1] == "T buffer: [A.x = 1, A.x = 2]"


def test_stores_of_one_word_stay_in_order_and_a_thread_may_end_with_a_full_buffer() -> None:
    program = load("node A { x, y }\nthread T on A { x = 1; y = 1; x = 2 }\nthread U on A { reg r, s; r = x; s = x }\n")
    for model, both in (("tso", False), ("pso", True)):
        assert (2, 1) not in finals(program, model, "U.r", "U.s")
        seen = {(m.state.memory) for m in _reached(program, model)}
        assert ((2, 0) in seen) == both
        assert {m.action.cell for m in _reached(program, model) if m.action.verb is Verb.FLUSH} == {
            Cell("A", "x"),
            Cell("A", "y"),
        }


def _reached(program: Program, model: AnyModelName) -> list[Move]:
    machine = stepwise_machine(program, model)
    found = machine.initial()
    seen = {found[0].state}
    for move in found:
        for after in machine.successors(move.state):
            if after.state not in seen:
                seen.add(after.state)
                found.append(after)
    return found


def test_atomics_wait_for_the_own_buffer_and_write_memory_at_once() -> None:
    swap = Step(Rmw(A_X, Const(7)), assigns=(("r", VALUE),))
    write = load("node A { x, y }\nthread T on A { reg r; x = 5 }\n").threads[0].edges[0][2]
    program = alone(write, swap, cells=(A_X, Cell("A", "y")))
    for model in ("tso", "pso"):
        machine = stepwise_machine(program, model)
        (stored,) = machine.successors(machine.initial()[0].state)
        (landed,) = machine.successors(stored.state)
        assert landed.action.verb is Verb.FLUSH and landed.state.memory == (5, 0)
        (swapped,) = machine.successors(landed.state)
        assert swapped.state.memory == (7, 0) and machine.is_final(swapped.state)
        assert swapped.action[3:5] == (5, 7)


def test_an_atomic_writes_only_when_it_says_so() -> None:
    step = Step(Rmw(A_X, Binary("+", VALUE, Const(1)), Binary("<", VALUE, Const(1))), assigns=(("r", VALUE),))
    program = alone(step, step, step, cells=(A_X,))
    for model in ("sc", "tso", "pso", "rma"):
        assert finals(program, model) == {(1, 1)}


FIGURE_2 = """node P1 { Y = 1 }
node P2 { R = 0, X = 2 }
thread T on P2 { reg r; put P1.Y = X; X = 3; get R = P1.Y; r = R }
"""


def test_figure_2_of_the_vmcai_paper() -> None:
    """Only 2 under sc, any of 0 to 3 under rma; not 3 with a flush behind the put, and only 2 with both."""
    program = load(FIGURE_2)
    assert finals(program, "sc", "T.r") == {(2,)}
    assert finals(program, "rma", "T.r") == {(0,), (1,), (2,), (3,)}
    assert finals(flushed(program, "put"), "rma", "T.r") == {(0,), (2,)}
    assert finals(flushed(program), "rma", "T.r") == {(2,)}


def test_a_put_is_two_steps_under_sc() -> None:
    """Else flushes everywhere would not give sc: the value is read before the other node's store, and written after it."""
    program = load("""node A { x, w }
node B { y, w }
thread T on A { put B.y = x }
thread U on A { x = 7; put B.w = 1 }
thread V on B { await w == 1; y = 5 }
""")
    for model in ("sc", "rma"):
        assert (0,) in finals(program, model, "B.y")
    assert finals(flushed(program), "rma") == finals(program, "sc")


def test_a_flush_waits_for_the_node_of_the_operation() -> None:
    """Also for the local write of a get that has been read, not for operations with other nodes, nor other threads."""
    program = load(
        "node A { x }\nnode B { y = 4 }\nnode C { z }\nthread T on A { reg r; get x = B.y; put C.z = 1; r = x }\n"
    )
    waits_for_c = behind(program, lambda step: Flush("C") if step.text.startswith("put") else None)
    assert finals(waits_for_c, "rma", "T.r") == {(0,), (4,)}
    waits_for_b = behind(program, lambda step: Flush("B") if step.text.startswith("put") else None)
    assert finals(waits_for_b, "rma", "T.r") == {(4,)}
    machine = stepwise_machine(waits_for_b, "rma")
    state = machine.initial()[0].state
    for verb in (Verb.ISSUE, Verb.NIC_READ, Verb.ISSUE):
        (move,) = [m for m in machine.successors(state) if m.action.verb is verb]
        state = move.state
    assert [m.action.verb for m in machine.successors(state)] == [Verb.NIC_WRITE, Verb.NIC_WRITE]
    assert machine.describe(state)[-1] == "T pending: {get x = B.y (read 4), put C.z = 1 (read 1)}"


def test_like_operations_under_way_are_each_served() -> None:
    """Three puts of one statement are three elements, also where they are the same."""
    step = load("node A { x }\nnode B { y }\nthread T on A { put B.y = x }\n").threads[0].edges[0][2]
    thread = Thread("T", "A", (), (0, 1, 2, 3), ((0, 1, step), (1, 2, step), (2, 3, step)), 0, 3)
    program = Program("three", "three.rdma", "", ("A", "B"), (A_X, B_Y), (thread,))
    machine = stepwise_machine(program, "rma")
    state = machine.initial()[0].state
    for _ in range(3):
        state = next(m.state for m in machine.successors(state) if m.action.verb is Verb.ISSUE)
    verbs = []
    while moves := machine.successors(state):
        verbs.append(moves[0].action.verb)
        state = moves[0].state
    assert sorted(v.value for v in verbs) == ["nic read"] * 3 + ["nic write"] * 3


def test_the_operands_of_a_remote_atomic_are_those_of_its_posting() -> None:
    """The sum is made in one step of the card, and its old value is written in a second one."""
    y = Cell("B", "y", 3)
    post = Step(RemoteRmw(A_X, y, Binary("+", VALUE, Name("r"))), assigns=(("r", Const(100)),))
    cells = (A_X, y)
    one = Thread("T", "A", (("r", 2),), (0, 1), ((0, 1, post),), 0, 1)
    program = Program("two", "two.rdma", "", ("A", "B"), cells, (one,))
    assert finals(program, "sc") == finals(program, "rma") == {(3, 5, 100)}
    both = Program("two", "two.rdma", "", ("A", "B"), cells, (one, Thread("U", "A", (("r", 4),), (0, 1), one.edges, 0, 1)))
    assert finals(both, "rma", "B.y", "A.x") == {(9, 3), (9, 5), (9, 7)} == finals(both, "sc", "B.y", "A.x")


def test_a_remote_atomic_without_effect_still_gives_the_old_value() -> None:
    y = Cell("B", "y", 3)
    program = alone(Step(RemoteRmw(A_X, y, Const(9), Binary("==", VALUE, Const(1)))), cells=(A_X, y))
    assert finals(program, "rma") == finals(program, "sc") == {(3, 3, 0)}


def test_any_value_of_a_nondet_can_be_drawn() -> None:
    draw = Step(Nondet(Const(-1), Const(2)), assigns=(("r", VALUE),))
    program = alone(draw)
    assert finals(program, "sc", "T.r") == {(-1,), (0,), (1,), (2,)}
    machine = stepwise_machine(alone(Step(Nondet(Const(5)), assigns=(("r", VALUE),))), "sc", lambda _low, _high: [4, 900])
    assert [(m.action.read, m.state.threads[0].registers) for m in machine.successors(machine.initial()[0].state)] == [
        (900, (900,))
    ]


@pytest.mark.parametrize(
    ("low", "high", "some"),
    [(None, None, {-3, 0, 3}), (10, None, {10, 13}), (None, -10, {-13, -10}), (0, 1000, {0, 997, 1000})],
)
def test_some_values_of_a_nondet_without_ends(low: int | None, high: int | None, some: set[int]) -> None:
    found = set(few(low, high))
    assert some <= found and len(found) < 12
    assert all((low is None or low <= v) and (high is None or v <= high) for v in found)


def test_an_empty_nondet_blocks() -> None:
    program = alone(Nondet(Const(2), Const(1)))
    machine = stepwise_machine(program, "sc")
    assert machine.successors(machine.initial()[0].state) == []


def test_register_only_steps_and_faults_are_moves_of_their_own() -> None:
    program = load("node A { x }\nthread T on A { reg r; r = 1; assert r == 0; x = r }\n")
    for model in ("sc", "tso", "pso", "rma"):
        machine = stepwise_machine(program, model)
        (first,) = machine.successors(machine.initial()[0].state)
        (second,) = machine.successors(first.state)
        assert not first.faults and [f.kind for f in second.faults] == ["assertion"]


def test_an_mfence_waits_for_nothing_where_there_are_no_buffers() -> None:
    for model in ("sc", "rma"):
        assert len(finals(alone(MFence()), model)) == 1


def test_a_flush_takes_no_completion_under_sc() -> None:
    """As under rdma: a poll behind it finds its own."""
    put = load("node A { x }\nnode B { y }\nthread T on A { put B.y = x; poll B }\n")
    ops = [step for _, _, step in steps(put.threads[0])]
    assert finals(put, "sc")
    assert finals(alone(ops[0], Flush("B"), ops[1]), "sc") == finals(alone(ops[0], ops[1]), "sc") != set()
    assert isinstance(ops[0].op, Put) and isinstance(ops[1].op, Poll)


def test_there_are_no_other_machines() -> None:
    name: AnyModelName = "power"  # type: ignore[assignment]
    with pytest.raises(UsageError, match="no stepwise machine runs model power; there are those of sc, tso, pso, rma, rdma"):
        stepwise_machine(load(SB), name)


@pytest.mark.parametrize("seed", range(40))
def test_sc_agrees_with_the_other_machine_of_sc(seed: int) -> None:
    program = load(random_program(Random(seed), TINY, loops=seed % 2 == 0))
    ours, theirs = explore(stepwise_machine(program, "sc"), STATES), explore(ScMachine(program), STATES)
    if ours.cut is None and theirs.cut is None:
        assert ours.finals == theirs.finals
        assert set(ours.faults) == set(theirs.faults)
        assert not ours.stuck or theirs.stuck


@pytest.mark.parametrize("seed", range(60))
def test_rdma_agrees_with_the_machine_made_of_the_order_tables(seed: int) -> None:
    ordered = seed % 3 == 0
    rng = Random(seed)
    program = load(random_program(rng, TINY, loops=seed % 4 == 1))
    if seed % 2:
        program = behind(program, lambda step: Flush(node) if (node := peer_of(step.op)) and rng.random() < 0.5 else None)
    machine = PipesMachine(program)
    machine.ordered_reads = ordered
    ours, theirs = explore(machine, STATES), explore(RdmaMachine(program, rdma(ordered)), STATES)
    if ours.cut is None and theirs.cut is None:
        assert ours.finals == theirs.finals
        assert set(ours.faults) == set(theirs.faults)
        assert not ours.stuck or theirs.stuck


def test_an_rdma_flush_waits_for_the_queue_pair_and_takes_no_completion() -> None:
    """A put and a get that are polled may both still be on their way, and a poll behind a flush finds its own."""
    text = "node A { x }\nnode B { y = 4 }\nthread T on A { reg r; get x = B.y; put B.y = 1; r = x; poll B }\n"
    program = load(text)
    waiting = behind(program, lambda step: Flush("B") if step.text.startswith("put") else None)
    machine = stepwise_machine(waiting, "rdma")
    found = explore(machine, Limits())
    assert (found.finals, found.stuck) == ({(4, 1, 4), (1, 1, 1)}, 0)
    twice = behind(waiting, lambda step: Flush("B") if isinstance(step.op, Flush) else None)
    assert explore(stepwise_machine(twice, "rdma"), Limits()).finals == found.finals
    unpolled = load(text.replace("; poll B", ""))
    assert finals(unpolled, "rdma", "T.r") == {(0,), (1,), (4,)}
    assert finals(flushed(unpolled), "rdma") == finals(unpolled, "sc") == {(4, 1, 4)}


@pytest.mark.parametrize("seed", range(40))
def test_sc_lies_within_tso_and_that_within_pso(seed: int) -> None:
    program = load(random_local_program(Random(seed)))
    sc, tso, pso, rma = (explore(stepwise_machine(program, model), STATES) for model in ("sc", "tso", "pso", "rma"))
    assert rma.finals == sc.finals or rma.cut
    for less, more in ((sc, tso), (tso, pso)):
        if less.cut is None and more.cut is None:
            assert less.finals <= more.finals
            assert set(less.faults) <= set(more.faults)
    strict = explore(stepwise_machine(fenced(program), "pso"), STATES)
    if sc.cut is None and strict.cut is None:
        assert strict.finals == sc.finals and set(strict.faults) == set(sc.faults)


@pytest.mark.parametrize("seed", range(40))
def test_rma_with_a_flush_behind_every_operation_is_sc(seed: int) -> None:
    """Polls and remote fences, which rma does not have, are left out."""
    program = _without_polls(load(random_program(Random(seed), TINY)))
    sc = explore(stepwise_machine(program, "sc"), STATES)
    free = explore(stepwise_machine(program, "rma"), STATES)
    strict = explore(stepwise_machine(flushed(program), "rma"), STATES)
    if sc.cut is None and strict.cut is None:
        assert strict.finals == sc.finals and set(strict.faults) == set(sc.faults)
        assert sc.finals <= free.finals or free.cut
    if not sc.cut and not any(isinstance(s.op, Get | Put) for t in program.threads for _, _, s in steps(t)):
        assert free.finals == sc.finals


def _without_polls(program: Program) -> Program:
    def told(step: Step) -> Step:
        return replace(step, op=Silent()) if isinstance(step.op, Poll | RFence) else step

    threads = (replace(t, edges=tuple((a, b, told(s)) for a, b, s in t.edges)) for t in program.threads)
    return replace(program, threads=tuple(threads))
