"""Which counters of a counter program are bounded, by the longest path of its process graph."""

from __future__ import annotations

from typing import Any

import networkx as nx

from rdma_robust.counters.program import Add, CounterProgram, Process


def counter_bounds(program: CounterProgram[Any]) -> dict[str, int | None]:
    """Return for every counter an upper bound on its values in all runs, or None where none is found.

    A counter touched by one process only, whose graph has no cycle that increases it, is at most the weight of the
    heaviest path from the entry: guards and decrements that would block are ignored, which only adds paths.
    """
    owners: dict[str, list[Process[Any]]] = {c: [] for c in program.counters}
    for process in program.processes:
        touched = {s.counter for c in process.commands for path in c.body.leaves() for s in path if isinstance(s, Add)}
        for counter in sorted(touched):
            owners[counter].append(process)
    bounds = {c: _bound(c, found[0]) if len(found) == 1 else (None if found else 0) for c, found in owners.items()}
    for small, large in program.below:
        bounds[small] = min((b for b in (bounds[small], bounds[large]) if b is not None), default=None)
    return bounds


def _bound(counter: str, process: Process[Any]) -> int | None:
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_node(process.entry)
    for command in process.commands:
        for path in command.body.leaves():
            gain = sum(s.amount for s in path if isinstance(s, Add) and s.counter == counter)
            old = graph.get_edge_data(command.source, command.target, {"weight": 0 - gain})["weight"]
            graph.add_edge(command.source, command.target, weight=min(old, -gain))
    reachable = graph.subgraph(nx.descendants(graph, process.entry) | {process.entry})
    try:
        lengths = nx.single_source_bellman_ford_path_length(reachable, process.entry)
    except nx.NetworkXUnbounded:
        return None
    return -min(int(length) for length in dict(lengths).values())
