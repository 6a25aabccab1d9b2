"""No instrumentation: the program itself under sequential consistency, event by event, with its faults as targets.

Its states are those of phase 1 of the pivot instrumentation; it is what a model checker would verify without asking about
robustness, and the measure for what robustness costs.

Source: docs/theory-search.md, "The search" (phase 1).
"""

from __future__ import annotations

from rdma_robust.counters.program import Add, Command, CounterProgram, ProcessGraph, Statement, Target, leaf
from rdma_robust.expr import Expr, conj, substitute
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import RDMA, Model
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import EventLabel, InstrumentationFrame, edge_effect
from rdma_robust.semantics.trace import EventType


def instrument_plain(program: Program, model: Model = RDMA) -> CounterProgram[EventLabel]:
    """Return the counter program whose runs are the SC executions and whose targets are the faults that can be met.

    A put or get is two steps with a carried value; a fault is met where a thread can take a step that has one.
    """
    frame = InstrumentationFrame.of(program, model).with_faults()
    return sequential(frame, fault_targets(frame))


PlainTarget = Target[EventLabel | None]


def fault_targets(frame: InstrumentationFrame) -> tuple[PlainTarget, ...]:
    """Return a target for every edge that has a fault, reached where the edge can be taken."""
    return tuple(
        Target(EventLabel(e, 0), _enabled(frame, e), e.thread, e.source) for g in frame.graphs for e in g.edges if e.fault
    )


def sequential(frame: InstrumentationFrame, targets: tuple[PlainTarget, ...]) -> CounterProgram[EventLabel]:
    """Return the counter program whose runs are the SC executions of the frame's program, with these targets."""
    variables = (
        *((str(c), c.init) for c in frame.cells),
        *frame.registers(),
        *((name, 0) for name in frame.in_flight()),
    )
    queues = (*frame.messages.variables(), *frame.barriers.variables())
    processes = tuple(
        ProcessGraph(
            g.name,
            g.entry,
            tuple(
                Command(
                    e.source, e.target, leaf(EventLabel(e, 1 if e.type else 0), *edge_effect(frame, e), *_polls(frame, e))
                )
                for e in g.edges
            ),
        )
        for g in frame.graphs
    )
    counters = tuple(frame.unpolled(qp) for qp in frame.polled)
    ranges = (*((name, *frame.value_range) for name, _ in variables), *frame.messages.ranges())
    return CounterProgram(frame.program.name, (*variables, *queues), counters, processes, targets, ranges=ranges)


def _enabled(frame: InstrumentationFrame, edge: EventEdge) -> Expr:
    return conj(frame.messages.enabled(edge), substitute(edge.guard, frame.values_for(edge)))


def _polls(frame: InstrumentationFrame, edge: EventEdge) -> tuple[Statement, ...]:
    if edge.remote is None:
        return ()
    counter = frame.unpolled((edge.thread, edge.remote))
    if edge.type is EventType.P:
        return (Add(counter, -1),)
    return (Add(counter, 1),) if edge.completes and frame.counted(edge) else ()
