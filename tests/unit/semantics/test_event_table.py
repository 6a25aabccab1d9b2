"""The event table: what it says of every operation, what it can say at all, and operations that only this test knows.

The toy operations are added by a row each, without a change anywhere else, and decided like others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import get_args

import pytest

from rdma_robust import CheckOptions, Verdict
from rdma_robust.errors import InternalError, SizeLimitError, UsageError
from rdma_robust.expr import FALSE, TRUE, VALUE, Binary, Const, Expr, Name, value_of
from rdma_robust.language.flow.cfg import (
    BarrierWait,
    Cas,
    Cell,
    Flush,
    Get,
    ImmPut,
    InlinePut,
    MFence,
    Nondet,
    Op,
    OrderFence,
    Payload,
    Poll,
    Program,
    Put,
    Read,
    Recv,
    RecvPoll,
    RemoteRmw,
    RFence,
    Rmw,
    Section,
    Send,
    Silent,
    Thread,
    Write,
    steps,
)
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.event_graph import event_graph
from rdma_robust.semantics.event_table import (
    TABLE,
    Act,
    Agent,
    Case,
    MessageContent,
    OperationRow,
    acts_of,
    cells_read,
    cells_written,
    completes_on,
    expressions_of,
    polls_of,
    remote_of,
)
from rdma_robust.semantics.machines.chosen import machine_of, sc_machine_of
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.machines.shapes import shape_of
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from rdma_robust.semantics.order_table import table_cell
from rdma_robust.semantics.trace import EventType
from rdma_robust.semantics.values import possible_values
from rdma_robust.semantics.wording import LABEL, Words, deed, lane
from tests.support.random_programs import SMALL, random_program

X, Y, Z = Cell("A", "x", 1), Cell("B", "y"), Cell("B", "z")
EVERY = (
    Silent(),
    Read(X),
    Write(X, Const(1)),
    Cas(X, Const(0), Const(1)),
    Rmw(X, Const(2), Binary("==", VALUE, Const(1))),
    Put(Y, X),
    Get(X, Y),
    Poll("B"),
    RFence("B"),
    Flush("B"),
    MFence(),
)
DEPLOYED = (
    InlinePut(Y, Payload(X, VALUE, inline=True)),
    RemoteRmw(X, Y, Const(2), Binary("==", VALUE, Const(1))),
    RemoteRmw(None, Y, Const(2), Binary("==", VALUE, Const(1))),
    RemoteRmw(X, Y, VALUE, FALSE),
    Send("U", "B", Payload(X)),
    Send("U", "B", None),
    ImmPut(Y, Payload(X), Const(3), "U"),
    Recv(X, "U"),
    RecvPoll("U"),
    BarrierWait(("T", "U")),
    OrderFence("B"),
)
"""Rows that not every consumer knows."""

SECTIONS = (Section((X, Z), ((1, value_of(0)),)),)
"""Several words at one moment, which a program with a network card does not have."""

BEYOND = {Nondet}
"""What has no events here: robustness is not decided for it."""


@dataclass(frozen=True)
class Swap:
    """A local exchange: VALUE is the old value, and `value`, which may depend on it, is written in the same event."""

    cell: Cell
    value: Expr


@dataclass(frozen=True)
class Scatter:
    """One read by the card and two writes of the value, of which the last completes: three events."""

    source: Cell
    first: Cell
    second: Cell


@dataclass(frozen=True)
class Unsignaled:
    """A put that no poll can take."""

    target: Cell
    source: Cell


T = EventType


def scatter(op: Scatter) -> tuple[Case, ...]:
    first, second = ((op.first, VALUE),), ((op.second, VALUE),)
    return (Case((Act(T.NLR, (op.source,)), Act(T.NRW, (), first), Act(T.NRW, (), second, completes=True))),)


ROWS = {
    Swap: OperationRow("swap", "", lambda op: (Case((Act(T.CAS, (op.cell,), ((op.cell, op.value),)),)),)),
    Scatter: OperationRow("scatter", "", scatter, lambda op: op.first.node),
    Unsignaled: OperationRow(
        "unsignaled put",
        "",
        lambda op: (Case((Act(T.NLR, (op.source,)), Act(T.NRW, (), ((op.target, VALUE),), completing=True))),),
        lambda op: op.target.node,
    ),
}


@pytest.fixture(autouse=True)
def rows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for kind, row in ROWS.items():
        monkeypatch.setitem(TABLE, kind, row)
    yield


def test_every_operation_has_a_row_and_is_in_this_test() -> None:
    assert {type(op) for op in (*EVERY, *DEPLOYED, *SECTIONS)} == set(get_args(Op)) - BEYOND == set(TABLE) - set(ROWS)


@pytest.mark.parametrize("op", EVERY, ids=lambda op: type(op).__name__)
def test_every_consumer_handles_every_operation(op: Op) -> None:
    program = with_op(op)
    acts = acts_of(op)
    assert [e.type for e in event_graph(program, 0).edges if e.step.op == op and e.type] == [a.type for a in acts]
    assert shape_of(op).nic == tuple(a.type for a in acts if a.agent is Agent.NIC)
    assert all(a.type in LABEL for a in acts)
    assert all(table_cell(a.type, b.type) for a in acts for b in acts)
    outcomes = axiomatic_outcomes(program)
    assert outcomes.sc == explore(ScMachine(program), Limits()).finals
    assert outcomes.rdma == explore(RdmaMachine(program), Limits()).finals
    machine = RdmaMachine(program)
    for move in machine.successors(machine.initial()[0].state):
        assert lane(program, move.action).startswith("T ") and deed(program, move.action)
    assert possible_values(program).keys() == set(program.cells)
    assert oracle_robust(program) is None and decide(program, CheckOptions()).verdict is Verdict.ROBUST


def test_what_the_table_says() -> None:
    put, get, cas = Put(Y, X), Get(X, Y), Cas(X, Name("r"), Const(2))
    assert (remote_of(put), completes_on(put), polls_of(put)) == ("B", "B", None)
    assert (remote_of(Poll("B")), completes_on(Poll("B")), polls_of(Poll("B"))) == ("B", None, "B")
    assert (cells_read(get), cells_written(get)) == ({Y}, {X})
    assert cells_read(get, Agent.CPU) == cells_written(put, Agent.CPU) == frozenset()
    assert set(expressions_of(cas)) >= {Const(2), Binary("==", VALUE, Name("r"))}
    with pytest.raises(InternalError, match="no row for int"):
        remote_of(3)


def test_what_the_table_can_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shapes of operations to come. What no consumer supports yet is refused where it is met, not misread."""
    read, stored, back = Act(T.NRR, (Y,)), Act(T.NRW, (), ((Y, Const(2)),)), Act(T.NLW, (), ((X, VALUE),), True)
    met = Binary("==", VALUE, Const(1))
    remote_cas = (Case((read, stored, back), met), Case((read, back), Binary("!=", VALUE, Const(1))))
    assert [len(case.acts) for case in remote_cas] == [3, 2]
    wide = Act(T.NRW, (), ((Y, VALUE), (Z, VALUE)))
    matched = Act(T.NRW, peer="U", message=MessageContent(VALUE, Const(0)))
    assert Act(T.NF).cell is None and Act(T.NF).written is None
    for act in (wide, matched):
        with pytest.raises(InternalError, match="not supported here"):
            assert act.cell
    assert shape_of(Scatter(X, Y, Z)).deployed
    two_reads = OperationRow("two reads", "", lambda _: (Case((Act(T.NRR, (Y,)), Act(T.NRR, (Z,)))),), lambda _: "B")
    monkeypatch.setitem(TABLE, int, two_reads)
    with pytest.raises(UsageError, match="cannot run operations like two reads"):
        shape_of(3)


def test_three_events_are_three_edges_of_which_the_last_completes() -> None:
    edges = event_graph(with_op(Scatter(X, Y, Z)), 0).edges
    assert [(e.type, e.cell, e.carries, e.completes) for e in edges] == [
        (T.NLR, X, True, False),
        (T.NRW, Y, True, False),
        (T.NRW, Z, False, True),
    ]


def with_op(op: object) -> Program:
    """A thread that does the operation once, after a put where it would wait for one."""
    base = load_program("node A { x = 1 }\nnode B { y, z }\nthread T on A { reg r\n skip; put B.y = x }", "toy")
    put = next(s for _, _, s in steps(base.threads[0]) if isinstance(s.op, Put))
    chain = [*([put] if isinstance(op, Poll) else []), replace(put, op=op, text=type(op).__name__, guard=TRUE)]
    edges = tuple((point, point + 1, step) for point, step in enumerate(chain))
    thread = replace(base.threads[0], edges=edges, points=tuple(range(len(chain) + 1)), entry=0, exit=len(chain))
    return replace(base, threads=(thread,))


def exchanged(program: Program, rng: Random) -> Program:
    """The program with some of its writes exchanges, and some of its puts scattered or unsignaled."""

    def other(thread: Thread, op: object) -> object:
        match op:
            case Write(cell, value) if rng.random() < 0.7:
                grown = Binary("|", VALUE, value) if rng.random() < 0.3 else value
                return Swap(cell, grown)
            case Put(target, source) if rng.random() < 0.7:
                second = [c for c in program.cells if c.node == target.node and not c.hidden]
                polled = any(isinstance(s.op, Poll) and s.op.node == target.node for _, _, s in steps(thread))
                unsignaled = not polled and rng.random() < 0.4
                return Unsignaled(target, source) if unsignaled else Scatter(source, target, rng.choice(second))
        return op

    def changed(thread: Thread) -> Thread:
        return replace(thread, edges=tuple((u, v, replace(s, op=other(thread, s.op))) for u, v, s in thread.edges))

    return replace(program, threads=tuple(changed(thread) for thread in program.threads))


def random_toys(seeds: range) -> Iterator[Program]:
    for seed in seeds:
        rng = Random(f"toys {seed}")
        program = exchanged(load_program(random_program(rng, SMALL), f"toys {seed}"), rng)
        if any(type(s.op) in ROWS for t in program.threads for _, _, s in steps(t)):
            yield program


def kinds(program: Program) -> set[type]:
    return {type(step.op) for thread in program.threads for _, _, step in steps(thread)}


@pytest.mark.ci
def test_toy_operations_are_decided_as_by_brute_force() -> None:
    agree_on_toys(range(24))


@pytest.mark.long
def test_long_toy_operations_are_decided_as_by_brute_force() -> None:
    agree_on_toys(range(24, 600))


def agree_on_toys(seeds: range) -> None:
    """Both instrumentations, with all reductions at once and with none, against the axioms."""
    seen: Counter[tuple[type, Verdict]] = Counter()
    for program in random_toys(seeds):
        try:
            truth = Verdict.ROBUST if oracle_robust(program) is None else Verdict.NOT_ROBUST
        except SizeLimitError:
            continue
        for options in (CheckOptions(), CheckOptions(large=0), CheckOptions(reductions=frozenset()), CheckOptions("paper")):
            outcome = decide(program, replace(options, max_states=4_000))
            assert outcome.verdict in (truth, Verdict.UNKNOWN), program.file
            if outcome.witness is not None:
                assert all(Words(program).clause(event) for event in outcome.witness.order)
        seen.update((kind, truth) for kind in kinds(program) & set(ROWS))
    assert all(seen[kind, verdict] for kind in ROWS for verdict in (Verdict.ROBUST, Verdict.NOT_ROBUST)), seen


@pytest.mark.ci
def test_the_machines_run_toy_operations_as_the_axioms_say() -> None:
    compared: Counter[type] = Counter()
    for program in random_toys(range(120)):
        axioms = axiomatic_outcomes(program)
        assert explore(sc_machine_of(program), Limits()).finals == axioms.sc, program.file
        assert explore(machine_of(program), Limits()).finals == axioms.rdma, program.file
        compared.update(kinds(program) & set(ROWS))
    assert all(compared[kind] > 5 for kind in ROWS), compared
