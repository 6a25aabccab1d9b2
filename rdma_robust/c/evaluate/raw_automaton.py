"""The automaton of a thread before names are given: places, and the steps between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from rdma_robust.c.evaluate.operations import Chain, Choice, ThreadStatement
from rdma_robust.errors import Diagnostic


@dataclass(frozen=True, slots=True)
class RawEdge:
    """A step of the automaton: what is done, or nothing that others see."""

    operation: ThreadStatement | Choice | None
    chain: Chain
    to: int


@dataclass(slots=True)
class RawAutomaton:
    """The steps from each place; 0 is the first."""

    edges: dict[int, list[RawEdge]] = field(default_factory=dict)
    refused: list[Diagnostic] = field(default_factory=list)

    def new_place(self) -> int:
        """Return a place without steps."""
        self.edges[len(self.edges)] = []
        return len(self.edges) - 1
