"""A program whose threads also look at a word where they do not go on.

A thread at `await x == 1`, or at an `assume`, reads `x` whatever it finds there. Under the rules of flow graphs a step that
is not enabled makes no event, so that such a read would be in no trace. Here it is one: at each read that its value may
stop there is a second step, by which the thread looks, finds another value, and stays where it is for good.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rdma_robust.expr import TRUE, VALUE, Expr, conj, conjunction_parts, names, negate
from rdma_robust.language.flow.cfg import Program, Read, Step, Thread


def with_looks(program: Program) -> Program:
    """Return the program with a step for each read that may find a value with which its thread does not go on; its other
    runs are those of `program`."""
    return replace(program, threads=tuple(map(_looking, program.threads)))


def decided_by_value(step: Step) -> tuple[Expr, Expr]:
    """Return the parts of the guard of a read that registers decide, and those about the value that is read."""
    parts = list(conjunction_parts(step.guard))
    of_value = [part for part in parts if VALUE.name in names(part)]
    return conj(*(part for part in parts if part not in of_value)), conj(*of_value)


def waits_for_value(step: Step) -> bool:
    """Return whether a step is a read that goes on, or not, by the value that it finds."""
    return isinstance(step.op, Read) and decided_by_value(step)[1] != TRUE


def _looking(thread: Thread) -> Thread:
    found = list(dict.fromkeys(_looks(thread)))
    if not found:
        return thread
    new = max(thread.points, default=0) + 1
    edges = (*thread.edges, *((point, new, step) for point, step in found))
    return replace(thread, points=(*thread.points, new), edges=edges)


def _looks(thread: Thread) -> Iterator[tuple[int, Step]]:
    for source, _, step in thread.edges:
        if waits_for_value(step):
            before, value = decided_by_value(step)
            yield source, replace(step, guard=conj(before, negate(value)), assigns=(), fault=None)
