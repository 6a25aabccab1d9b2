"""Our few questions about graphs have networkx's answers."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from rdma_robust.digraph import components, reachable

EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30)


def following(edges: list[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for source, target in edges:
        found.setdefault(source, []).append(target)
    return found


@given(EDGES, st.sets(st.integers(0, 9), min_size=1, max_size=3))
def test_reachable(edges: list[tuple[int, int]], starts: set[int]) -> None:
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(starts)
    assert reachable(starts, following(edges)) == starts.union(*(nx.descendants(graph, start) for start in starts))


@given(EDGES)
def test_components(edges: list[tuple[int, int]]) -> None:
    graph = nx.DiGraph(edges)
    found = components(following(edges))
    assert sorted(map(sorted, found)) == sorted(map(sorted, nx.strongly_connected_components(graph)))
    place = {point: k for k, component in enumerate(found) for point in component}
    assert all(place[target] <= place[source] for source, target in edges)


def test_long_paths_and_circles() -> None:
    """Without recursion, and in linear time."""
    path = {k: (k + 1,) for k in range(50_000)}
    assert components(path)[0] == [50_000]
    assert len(components({**path, 50_000: (0,)})[0]) == 50_001
    assert len(reachable([0], path)) == 50_001
