"""What every engine takes and gives, so that each is a file of its own and the decision can try one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from rdma_robust.analyses.prove.transition_system import Bad, Control, Transition, TransitionSystem
from rdma_robust.expr import Expr
from rdma_robust.language.flow.cfg import Step
from rdma_robust.limits import Limits, Progress

EngineName = Literal["explicit", "zones", "predicates", "spacer"]

Region = tuple[Expr, ...]
"""A conjunction over wide variables: with zones `x <= c`, `-x <= c` and `x - y <= c`, with predicates any conditions."""


@dataclass(frozen=True)
class AbstractPath:
    """A path of a transition system from its initial state that the engine could not rule out.

    It ends with the `fault` of its last transition (then `bad` is None), or in a control state that `bad` says violates a
    claim.
    """

    transitions: tuple[Transition, ...]
    bad: Bad | None

    @property
    def exact(self) -> bool:
        """Whether the model's machine has each of its steps, so that a solution for the wide variables is a run."""
        return all(t.exact for t in self.transitions) and (self.bad is None or self.bad.exact)


@dataclass(frozen=True)
class Searched:
    """What an engine found.

    With `path` a way to violate a claim. Without: if nothing was `cut` (a limit by its name, as of :class:`Limits`, or what
    else the engine ran out of, in words) and no buffer `overflowed`, then `invariant` is inductive: it has the initial
    state, is closed under all transitions of the system, and violates no claim; at each control state it is a disjunction of
    regions.
    Without an invariant `taken_steps` are the steps that can be taken, each with its thread's number.
    `states` are stored, `taken` transitions taken; `counts` what else is worth telling, as in the papers' tables.
    """

    engine: EngineName
    path: AbstractPath | None
    invariant: Mapping[Control, tuple[Region, ...]] | None
    overflowed: bool
    cut: str
    states: int
    taken: int
    counts: Mapping[str, int | float] = field(default_factory=dict)
    taken_steps: frozenset[tuple[int, Step]] | None = None


Engine = Callable[[TransitionSystem, Limits, Progress], Searched]
"""An engine looks for claims that are not `allowed` (what must not happen); the others are asked one by one, see claims."""
