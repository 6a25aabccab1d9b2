"""The automaton of a thread before names are given: places, and the steps between them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from rdma_robust.c.evaluate.operations import Chain, Choice, ThreadStatement
from rdma_robust.digraph import components
from rdma_robust.errors import Diagnostic

UNBOUNDED = 10**6
"""A number of steps on one way that nothing bounds."""


@dataclass(frozen=True, slots=True)
class RawEdge:
    """A step of the automaton: what is done, or nothing that others see."""

    operation: ThreadStatement | Choice | None
    chain: Chain
    to: int


@dataclass(slots=True)
class RawAutomaton:
    """The steps from each place; 0 is the first. What is refused, and what is so only if nothing else is."""

    edges: dict[int, list[RawEdge]] = field(default_factory=dict)
    refused: list[Diagnostic] = field(default_factory=list)
    follows: list[Diagnostic] = field(default_factory=list)

    def new_place(self) -> int:
        """Return a place without steps."""
        self.edges[len(self.edges)] = []
        return len(self.edges) - 1


def most(automaton: RawAutomaton, weight: Callable[[RawEdge], int], starts: Collection[int] = (0,)) -> int:
    """Return the greatest sum of weights on one way from one of `starts`; :data:`UNBOUNDED` if one is on a circle."""
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
    return min(max(best[component[start]] for start in starts), UNBOUNDED)
