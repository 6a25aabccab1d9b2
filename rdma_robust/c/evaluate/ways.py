"""Counting on automata of threads: how often a step can be taken on one way."""

from __future__ import annotations

from collections.abc import Callable

from rdma_robust.c.evaluate.raw_automaton import RawAutomaton, RawEdge
from rdma_robust.c.evaluate.round_facts import UNBOUNDED
from rdma_robust.digraph import components


def most(automaton: RawAutomaton, weight: Callable[[RawEdge], int]) -> int:
    """Return the greatest sum of weights on one way from the start; :data:`UNBOUNDED` if one is on a circle."""
    best: dict[int, int] = {}
    component: dict[int, int] = {}
    following = {place: [edge.to for edge in edges] for place, edges in automaton.edges.items()}
    for number, places in enumerate(components(following)):
        component.update(dict.fromkeys(places, number))
        found = 0
        for place in places:
            for edge in automaton.edges[place]:
                is_inside = component.get(edge.to) == number
                if is_inside and weight(edge):
                    return UNBOUNDED
                if not is_inside:
                    found = max(found, best[component[edge.to]] + weight(edge))
        best[number] = found
    return min(best[component[0]], UNBOUNDED)
