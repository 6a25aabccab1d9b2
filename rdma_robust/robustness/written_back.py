"""Compare-and-swaps that the search takes as ones that write what they have read where they fail.

What is compared may be an operand in memory. Where a card, or another thread, writes such an operand, it may depend on the
pivot, and then the operation goes the other way without the pivot although its word does not change: what reads the word
behind one that has failed depends on the pivot, and sc does not lead there. If it writes back what it has read, at once, sc
does, values flow as through every atomic that writes, and a violation stays one: from an SC order what is written back can
be left out. So a program is robust if it is with these. Nothing comes between such a read and its write (`may_tear` of an
edge). The witness is executed with the operations as they are (:mod:`lift`).

Stores of the own thread need none of this: an operand that reads one that comes behind it in program order is on a cycle
with it.

Source: docs/theory.md, "Operands of atomics in memory".
"""

from __future__ import annotations

from dataclasses import replace

from rdma_robust.expr import VALUE, names
from rdma_robust.language.flow.cfg import Cell, Program, RemoteRmw, steps
from rdma_robust.model import Model
from rdma_robust.robustness.event_graph import EventGraph
from rdma_robust.semantics.connections import buffers_of, connections
from rdma_robust.semantics.event_table import Agent, cells_written, operands_read
from rdma_robust.semantics.trace import EventType


def compared_with_changes(program: Program, thread: int) -> frozenset[RemoteRmw]:
    """Return the atomics of a thread that compare with a word which a card or another thread writes."""
    ops = (step.op for _, _, step in steps(program.threads[thread]))
    compared = {op: cells for op in ops if isinstance(op, RemoteRmw) and (cells := _compared(op))}
    changed = _written_by_others(program, thread) if compared else frozenset()
    return frozenset(op for op, cells in compared.items() if cells & changed)


def with_writes_back(program: Program, graph: EventGraph, model: Model) -> EventGraph:
    """Return the event graph of a thread in which such atomics write what they have read where they fail."""
    back = compared_with_changes(program, graph.thread)
    kind, also = (EventType.NA, None) if model.atomics == "glob" else (EventType.NAR, EventType.NAW)
    edges = (
        replace(e, type=kind, also=also, written=VALUE, back=True)
        if e.type is EventType.NAR and e.also is None and e.step.op in back
        else e
        for e in graph.edges
    )
    return replace(graph, edges=tuple(edges)) if back else graph


def _compared(op: RemoteRmw) -> frozenset[Cell]:
    used = set(names(op.when))
    return frozenset(cell for name, cell in operands_read(op).items() if name in used)


def _written_by_others(program: Program, thread: int) -> frozenset[Cell]:
    """The words that something else than the CPU of the thread writes."""
    found = {cell for each in connections(program) for cell in buffers_of(program, each)}
    for number, each in enumerate(program.threads):
        for _, _, step in steps(each):
            found |= cells_written(step.op, Agent.NIC if number == thread else None)
    return frozenset(found)
