"""The check that a trace is one of a program: it accepts what is, and names what is wrong with what is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rdma_robust.errors import InternalError
from rdma_robust.language.load import load_program
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.trace import Event, EventType, Relation, Trace
from rdma_robust.semantics.wellformed import check_well_formed
from tests.support.traces import run_in_order, trace_in_order

TEXT = """
node A { x = 0, w = 3 }
node B { y = 0 }
thread T on A { reg r; get x = B.y; put B.y = w; poll B; poll B; r = x; x = r == 0 }
thread U on B { reg s; s = cas(y, 0, 2); assume s == 0 }
"""
ORDER = "T:0 T:1 U:0 T:2 T:3 T:4 T:5 T:6 T:7"


def changed(trace: Trace, index: int, **values: object) -> Trace:
    events = [replace(e, **values) if e.index == index else e for e in trace.events]  # type: ignore[arg-type]
    return replace(trace, events=tuple(events))


def without(relation: Relation) -> Relation:
    """The relation without its last edge."""
    return Relation.of(len(relation.rows), list(relation)[:-1])


def test_every_prefix_of_a_run_is_a_trace() -> None:
    program, _ = trace_in_order(TEXT, ORDER)
    order = [(0, 0), (0, 1), (1, 0), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7)]
    for length in range(len(order) + 1):
        check_well_formed(program, run_in_order(program, order[:length]))


def index_of(trace: Trace, type_: EventType) -> int:
    return next(e.index for e in trace.events if e.type is type_)


BREAKAGES: list[tuple[str, Callable[[Trace], Trace]]] = [
    ("does not write the initial value", lambda t: changed(t, 0, written=1)),
    ("exactly one initial write", lambda t: changed(t, 0, cell=t.events[1].cell, written=3)),
    ("belongs to no thread", lambda t: changed(t, index_of(t, EventType.LR), thread=7)),
    ("two events at position", lambda t: changed(t, index_of(t, EventType.LR), position=7)),
    ("po lacks", lambda t: replace(t, po=without(t.po))),
    ("pf lacks", lambda t: replace(t, pf=without(t.pf))),
    ("reads from 0 writes", lambda t: replace(t, rf=without(t.rf))),
    ("cannot read from", lambda t: replace(t, rf=Relation.of(len(t.events), [(1, b) for _, b in t.rf]))),
    ("mo lacks", lambda t: replace(t, mo=without(t.mo))),
    ("is not first in mo", lambda t: replace(t, mo=t.mo.inverse())),
    ("mo has", lambda t: replace(t, mo=t.mo | Relation.of(len(t.events), [(0, 2)]))),
    ("nfo does not order", lambda t: replace(t, nfo=without(t.nfo))),
    ("nfo does not order", lambda t: replace(t, nfo=t.nfo | t.nfo.inverse())),
    ("nfo has", lambda t: replace(t, nfo=t.nfo | Relation.of(len(t.events), [(0, 1)]))),
    ("has nothing to poll", lambda t: changed(t, index_of(t, EventType.P), remote="A")),
    ("has no path", lambda t: changed(t, index_of(t, EventType.LW), written=0)),
    ("has no path", lambda t: changed(t, index_of(t, EventType.NLR), step=t.events[-1].step)),
    ("has index", lambda t: replace(t, events=(*t.events[:-2], t.events[-1], t.events[-2]))),
]


@pytest.mark.parametrize(("message", "breakage"), BREAKAGES)
def test_what_is_wrong_is_named(message: str, breakage: Callable[[Trace], Trace]) -> None:
    program, trace = trace_in_order(TEXT, ORDER)
    check_well_formed(program, trace)
    with pytest.raises(InternalError, match=message):
        check_well_formed(program, breakage(trace))


def test_a_failed_swap_needs_another_value() -> None:
    program, trace = trace_in_order("node A { x = 1 }\nthread T on A { cas(x, 0, 2) }", "T:0")
    check_well_formed(program, trace)
    swap = Event(-1, EventType.CAS, 0, 0, None, program.cells[0], 1, 2)
    with pytest.raises(InternalError, match="has no path"):
        check_well_formed(program, trace_of_order([swap], program))


def test_a_blocked_assume_makes_no_event() -> None:
    program, _ = trace_in_order("node A { x = 1 }\nthread T on A { assume x == 0 }", "")
    read = Event(-1, EventType.LR, 0, 0, None, program.cells[0], 1)
    with pytest.raises(InternalError, match="has no path"):
        check_well_formed(program, trace_of_order([read], program))


def test_a_poll_without_an_operation_is_refused() -> None:
    program, trace = trace_in_order("node A { x }\nnode B { y }\nthread T on A { poll B; put B.y = x }", "T:0")
    with pytest.raises(InternalError, match="nothing to poll"):
        check_well_formed(program, trace)
    _, trace = trace_in_order("node A { x }\nnode B { y }\nthread T on A { poll B; put B.y = x }", "T:0 T:1 T:2")
    with pytest.raises(InternalError, match="not earlier in program order"):
        check_well_formed(program, trace)


def test_a_thread_goes_through_branches_and_faults() -> None:
    text = "domain 0..1\nnode A { x }\nthread T on A { reg r; r = x; if r == 0 { x = 1 } else { x = 0 }; r = r - 1; x = 0 }"
    program = load_program(text, "t.rdma")
    cell = program.cells[0]
    read = Event(-1, EventType.LR, 0, 0, None, cell, 0)
    write = Event(-1, EventType.LW, 0, 1, None, cell, None, 1)
    check_well_formed(program, trace_of_order([read, write], program))
    with pytest.raises(InternalError, match="has no path"):
        check_well_formed(program, trace_of_order([read, replace(write, written=0)], program))
    # r - 1 leaves the domain, so nothing can follow.
    with pytest.raises(InternalError, match="has no path"):
        check_well_formed(program, trace_of_order([read, write, replace(write, position=2, written=0)], program))
