"""The pass that turns loops that only wait into blocking reads (option `--await-loops`).

A thread waits at a program point that one read leaves and every other read comes back to at once: of the reads of a
`while x != 1 { }` all but the last fail, and change nothing but that they were made. The pass takes the failed reads away,
so that the thread can only make the last one. It works on the graph alone, whatever the program was written in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rdma_robust.expr import Expr
from rdma_robust.language.flow.cfg import Program, Read, Silent, Step, Thread, steps
from rdma_robust.language.flow.exclusive import equality_cases, exclusive


def blocking(program: Program, wanted: bool = True) -> Program:
    """Return `program` without the failed reads of loops that only wait; unchanged if it has none, or if not `wanted`."""
    threads = tuple(_blocking(thread) for thread in program.threads) if wanted else program.threads
    return program if threads == program.threads else replace(program, threads=threads)


def waits(program: Program) -> bool:
    """Return whether some thread has a loop that only waits."""
    return any(waiting_points(thread) for thread in program.threads)


def waiting_points(thread: Thread) -> tuple[int, ...]:
    """Return the program points at which `thread` only waits for what it reads.

    Such a point has steps back to itself that assign nothing and cannot go wrong, at least one of which reads; and where
    one of them can be taken, no step that leaves can, but for one that goes wrong and ends the execution.
    """
    out: dict[int, tuple[list[Step], list[Step]]] = {}
    for source, target, step in steps(thread):
        out.setdefault(source, ([], []))[source != target].append(step)
    return tuple(point for point, (back, leaving) in out.items() if _only_waits(back, leaving))


def _blocking(thread: Thread) -> Thread:
    points = frozenset(waiting_points(thread))
    if not points:
        return thread
    return replace(thread, edges=tuple(e for e in steps(thread) if e[0] != e[1] or e[0] not in points))


def _only_waits(back: list[Step], leaving: list[Step]) -> bool:
    onward = [step for step in leaving if step.fault is None or step.fault.kind == "assertion"]
    idle = all(isinstance(s.op, Read | Silent) and not s.assigns and s.fault is None for s in back)
    if not onward or not idle or not any(isinstance(s.op, Read) for s in back):
        return False
    return all(
        exclusive(b.guard, s.guard, same_read=isinstance(b.op, Read) and b.op == s.op) for b, s in _compatible(back, onward)
    )


def _compatible(back: list[Step], onward: list[Step]) -> Iterator[tuple[Step, Step]]:
    """Yield the pairs of steps, but for those that differ in the index of an array: there are many of them."""
    index = next((term for step in back for term, _ in equality_cases(step.guard)), None)
    sorted_out: dict[int | None, list[Step]] = {}
    for step in onward:
        sorted_out.setdefault(_case(step, index), []).append(step)
    for step in back:
        at = _case(step, index)
        for key in (at, None) if at is not None else tuple(sorted_out):
            yield from ((step, other) for other in sorted_out.get(key, ()))


def _case(step: Step, index: Expr | None) -> int | None:
    return next((value for term, value in equality_cases(step.guard) if term == index), None)
