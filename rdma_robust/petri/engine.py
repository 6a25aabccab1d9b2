"""The interface of the Petri-net engines: the proofs and runs that they find on a core, and how they take turns.

An engine is an iterator that does a little work at a time and yields how much it was, counted in elementary operations
(never in seconds, so that the order in which engines take turns is the same in every run). It returns what it found.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from rdma_robust.petri.kernel import loops
from rdma_robust.petri.kernel.loops import Firing, Marking, MarkingSet, Relaxation, Tree
from rdma_robust.petri.kernel.pair_table import PairTable
from rdma_robust.petri.net import Firing as Step
from rdma_robust.petri.net import Vector
from rdma_robust.petri.state_equation import LinearCut


def _compiled(name: str) -> Any:
    try:
        return import_module(f"rdma_robust.petri.kernel.{name}")
    except ImportError:
        return None


@dataclass(frozen=True, slots=True)
class Kernel:
    """The inner loops in one implementation; the compiled one raises OverflowError where numbers exceed 2**60.

    `forest` is a Karp-Miller search as a whole, None where it has to be put together from the others.
    """

    marking_set: type[MarkingSet]
    tree: type[Tree]
    firing: type[Firing]
    relaxation: type[Relaxation]
    pairs: type[PairTable]
    forest: Any = None


def _kernels() -> tuple[Kernel, ...]:
    found = []
    for module in (_compiled("compiled"), loops):
        if module is not None:
            pairs = getattr(module, "PairTable", PairTable)
            forest = getattr(module, "Forest", None)
            found.append(Kernel(module.MarkingSet, module.Tree, module.Firing, module.Relaxation, pairs, forest))
    return tuple(found)


KERNELS = _kernels()
"""The implementations in the order of preference; the last one has no limits."""
PYTHON = KERNELS[-1]


@dataclass(frozen=True, slots=True)
class Covering:
    """A run of the core from its initial marking that covers `target`."""

    transitions: tuple[Step, ...]
    target: int


@dataclass(frozen=True, slots=True)
class UpwardProof:
    """A basis closed under predecessors, but for cones that violate one of the inequalities."""

    basis: tuple[Vector, ...]
    cuts: tuple[LinearCut, ...]
    traps: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class DownwardProof:
    """Omega-markings whose downward closure is inductive and covers no target."""

    limits: tuple[Marking, ...]


@dataclass(frozen=True, slots=True)
class FullEnumeration:
    """All reachable markings were stored, too many to be listed; none covers a target."""

    markings: int


@dataclass(frozen=True, slots=True)
class LinearProof:
    """For every target weights that no transition increases and whose sum the target has above the initial marking."""

    weights: tuple[Vector, ...]


@dataclass(frozen=True, slots=True)
class ForbiddenCones:
    """Cones that are never entered, and closed under predecessors: not an answer, but transitions that never fire."""

    basis: tuple[Vector, ...]


Finding = Covering | UpwardProof | DownwardProof | FullEnumeration | LinearProof | ForbiddenCones
Steps = Generator[int, None, Finding | None]
"""None where the engine has no answer, although it is at its end."""


class EngineSearch(Protocol):
    """An engine at work on one core; `stored` markings or cones are kept, `frontier` of them are still to be looked at."""

    @property
    def stored(self) -> int: ...

    @property
    def frontier(self) -> int: ...

    def steps(self) -> Steps: ...
