"""Programs with a step of their own behind others, made in the flow graph: what the text would say there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rdma_robust.language.flow.cfg import Flush, Get, MFence, Op, Program, Put, RemoteRmw, Step, Write


def behind(program: Program, waits: Callable[[Step], Op | None]) -> Program:
    """Return `program` with a step of the operation that `waits` gives for a step right behind it, where it gives one."""
    threads = []
    for thread in program.threads:
        edges, points = [], list(thread.points)
        for source, target, step in thread.edges:
            op = waits(step)
            if op is None:
                edges.append((source, target, step))
                continue
            between = max(points) + 1
            points.append(between)
            edges += [(source, between, step), (between, target, Step(op, span=step.span, text=type(op).__name__.lower()))]
        threads.append(replace(thread, edges=tuple(edges), points=tuple(points)))
    return replace(program, threads=tuple(threads))


def flushed(program: Program, only: str = "") -> Program:
    """Return `program` with a flush behind every remote operation, or those whose text starts with `only`."""

    def waits(step: Step) -> Op | None:
        if not step.text.startswith(only):
            return None
        match step.op:
            case Put(target=target):
                return Flush(target.node)
            case Get(source=source) | RemoteRmw(source=source):
                return Flush(source.node)
            case _:
                return None

    return behind(program, waits)


def fenced(program: Program) -> Program:
    """Return `program` with an `mfence` behind every store."""
    return behind(program, lambda step: MFence() if isinstance(step.op, Write) else None)
