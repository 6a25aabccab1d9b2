"""Bounded unrolling: the loop-free program whose threads take at most so many control-flow steps."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx

from rdma_robust.language.flow.cfg import Program, Thread, steps


def unrolled(program: Program, bound: int) -> Program:
    """Return `program` with every thread cut after `bound` steps; its traces are among those of `program`.

    So every unrolling of a robust program is robust, and a non-robust program has a non-robust unrolling.
    """
    return replace(program, threads=tuple(_unrolled(t, bound) for t in program.threads))


def _unrolled(thread: Thread, bound: int) -> Thread:
    if nx.is_directed_acyclic_graph(thread.graph):
        return thread
    points = max([thread.entry, thread.exit, *thread.graph]) + 1
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    graph.add_node(thread.entry)
    out: dict[int, list[tuple[int, object]]] = {}
    for source, target, step in steps(thread):
        out.setdefault(source, []).append((target, step))
    layer = [thread.entry]
    end = points * (bound + 1)
    for depth in range(bound):
        following = {}
        for point in layer:
            for target, step in out.get(point, []):
                copy = end if target == thread.exit else target + points * (depth + 1)
                graph.add_edge(point + points * depth, copy, step=step)
                if target != thread.exit:
                    following[target] = None
        layer = list(following)
    graph.add_node(end)
    return replace(thread, graph=graph, exit=end)
