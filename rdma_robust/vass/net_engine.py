"""What the Petri-net engines have in common: what they find on a core, and how they take turns.

An engine is an iterator that does a little work at a time and yields how much it was, counted in elementary operations
(never in seconds, so that the order in which engines take turns is the same in every run). It returns what it found.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from rdma_robust.vass.net import Vector
from rdma_robust.vass.net_kernel import Marking


@dataclass(frozen=True, slots=True)
class Covering:
    """A run of the core from its initial marking that covers `target`."""

    transitions: tuple[int, ...]
    target: int


@dataclass(frozen=True, slots=True)
class UpwardProof:
    """A basis closed under predecessors, but for cones that violate an inequality weights . M <= bound."""

    basis: tuple[Vector, ...]
    weights: tuple[Vector, ...]
    bounds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DownwardProof:
    """Omega-markings whose downward closure is inductive and covers no target."""

    limits: tuple[Marking, ...]


@dataclass(frozen=True, slots=True)
class LinearProof:
    """For every target weights that no transition increases and whose sum the target has above the initial marking."""

    weights: tuple[Vector, ...]


Finding = Covering | UpwardProof | DownwardProof | LinearProof
Steps = Generator[int, None, Finding | None]
"""None where the engine has no answer, although it is at its end."""


class Search(Protocol):
    """An engine at work on one core; `stored` markings or cones are kept, `frontier` of them are still to be looked at."""

    @property
    def stored(self) -> int: ...

    @property
    def frontier(self) -> int: ...

    def steps(self) -> Steps: ...
