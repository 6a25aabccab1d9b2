"""Our few questions about graphs have networkx's answers."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from rdma_robust.digraph import components, live_names, reachable, sets_of

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


NAMES = st.sets(st.sampled_from("abcd"))
FLOWS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), NAMES, st.dictionaries(st.sampled_from("abcd"), NAMES, max_size=2)),
    max_size=12,
)


@given(FLOWS, st.dictionaries(st.integers(0, 5), NAMES, max_size=2))
def test_live_names_are_those_from_which_a_use_follows(
    flows: list[tuple[int, int, set[str], dict[str, set[str]]]], held: dict[int, set[str]]
) -> None:
    """As a graph: a use, or what is held, leads to a name at a point, and that to what makes it live before."""
    graph = nx.DiGraph()
    graph.add_node("use")
    graph.add_edges_from(("use", (point, name)) for point, names in held.items() for name in names)
    for source, target, used, sets in flows:
        graph.add_edges_from(("use", (source, name)) for name in used)
        graph.add_edges_from(((target, name), (source, name)) for name in set("abcd") - sets.keys())
        graph.add_edges_from(((target, name), (source, of)) for name, made_of in sets.items() for of in made_of)
    found = live_names(flows, held)
    assert {(point, name) for point, names in found.items() for name in names} == nx.descendants(graph, "use")
    assert found.keys() == held.keys() | {point for flow in flows for point in flow[:2]}


def test_a_name_is_dead_where_it_is_set_before_it_is_used() -> None:
    flows = [(0, 1, {"a"}, sets_of("b")), (1, 2, {"b"}, sets_of("a"))]
    assert live_names(flows, {2: {"a"}}) == {0: {"a"}, 1: {"b"}, 2: {"a"}}
