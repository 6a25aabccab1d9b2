"""Bounded unrolling: the loop-free program whose threads take at most so many control-flow steps."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx

from rdma_robust.language.flow.cfg import Edge, Program, Step, Thread, steps


def unrolled(program: Program, bound: int) -> Program:
    """Return `program` with every thread cut after `bound` steps; its traces are among those of `program`.

    So every unrolling of a robust program is robust, and a non-robust program has a non-robust unrolling.
    """
    return replace(program, threads=tuple(_unrolled(t, bound) for t in program.threads))


def _unrolled(thread: Thread, bound: int) -> Thread:
    if nx.is_directed_acyclic_graph(thread.graph):
        return thread
    points = max([thread.entry, thread.exit, *thread.points]) + 1
    edges: list[Edge] = []
    out: dict[int, list[tuple[int, Step]]] = {}
    for source, target, step in steps(thread):
        out.setdefault(source, []).append((target, step))
    layer = [thread.entry]
    end = points * (bound + 1)
    for depth in range(bound):
        following = {}
        for point in layer:
            for target, step in out.get(point, []):
                copy = end if target == thread.exit else target + points * (depth + 1)
                edges.append((point + points * depth, copy, step))
                if target != thread.exit:
                    following[target] = None
        layer = list(following)
    shown = dict.fromkeys([thread.entry, *(point for u, v, _ in edges for point in (u, v)), end])
    return replace(thread, points=tuple(shown), edges=tuple(edges), exit=end)
