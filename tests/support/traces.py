"""Traces written down by hand: a straight-line program and the order in which its events take effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rdma_robust.expr import VALUE, evaluate
from rdma_robust.language.flow.cfg import Cas, Cell, Get, Poll, Program, Put, Read, RFence, Silent, Step, Write, steps
from rdma_robust.language.load import load_program
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.trace import Event, EventType, Trace

Place = tuple[int, int]
"""A thread's index and a position in its program order."""


def trace_in_order(text: str, order: str) -> tuple[Program, Trace]:
    """Return the program and its trace for an order like `T1:0 T2:0 T1:1`; see `run_in_order`."""
    program = load_program(text, "by-hand.rdma")
    names = [thread.name for thread in program.threads]
    places = [(names.index(name), int(position)) for name, position in (word.split(":") for word in order.split())]
    return program, run_in_order(program, places)


def run_in_order(program: Program, order: Sequence[Place]) -> Trace:
    """Return T(order) with the values that one memory gives when the events take effect in that order.

    Every thread must be straight-line; a NIC read must come before its NIC write, CPU events in program order.
    """
    memory = {cell: cell.init for cell in program.cells}
    env = [dict(thread.registers) for thread in program.threads]
    carried: dict[Place, int] = {}
    shapes = [list(_shapes(program, t)) for t in range(len(program.threads))]
    events = []
    for t, position in order:
        type_, cell, remote, step = shapes[t][position]
        read = memory[cell] if cell is not None and type_ in (EventType.LR, EventType.NLR, EventType.NRR) else None
        written = None
        if isinstance(step.op, Cas):
            read = memory[step.op.cell]
            if read == evaluate(step.op.expected, env[t]):
                type_, written = EventType.CAS, evaluate(step.op.new, env[t])
        elif isinstance(step.op, Write):
            written = evaluate(step.op.value, env[t])
        elif type_ in (EventType.NRW, EventType.NLW):
            written = carried[t, position - 1]
        if isinstance(step.op, Put | Get) and read is not None:
            carried[t, position] = read
        if written is not None and cell is not None:
            memory[cell] = written
        here = {**env[t], VALUE.name: read or 0}
        env[t] |= {name: evaluate(expr, here) for name, expr in step.assigns}
        events.append(Event(-1, type_, t, position, remote, cell, read, written, step))
    return trace_of_order(events, program)


def places(program: Program) -> list[list[Place]]:
    """Return every thread's events, in program order."""
    return [[(t, i) for i in range(len(list(_shapes(program, t))))] for t in range(len(program.threads))]


def event_types(program: Program, thread: int) -> list[EventType]:
    """Return the types of a thread's events, in program order."""
    return [shape[0] for shape in _shapes(program, thread)]


def _shapes(program: Program, t: int) -> Iterator[tuple[EventType, Cell | None, str | None, Step]]:
    for _, _, step in steps(program.threads[t]):
        match step.op:
            case Silent():
                pass
            case Read(cell) | Cas(cell, _, _):
                yield EventType.LR, cell, None, step
            case Write(cell, _):
                yield EventType.LW, cell, None, step
            case Put(target, source):
                yield EventType.NLR, source, target.node, step
                yield EventType.NRW, target, target.node, step
            case Get(target, source):
                yield EventType.NRR, source, source.node, step
                yield EventType.NLW, target, source.node, step
            case Poll(node):
                yield EventType.P, None, node, step
            case RFence(node):
                yield EventType.NF, None, node, step
