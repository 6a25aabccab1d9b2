"""The answer of `prove` for one model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from rdma_robust.analyses.prove.transition_system import (
    AbstractPath,
    Control,
    EngineName,
    Region,
    SafetyClaim,
    TransitionSystem,
)
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.semantics.machines.machine import Machine, Move

ReductionName = Literal["slots", "sets"]


class Safety(Enum):
    """SAFE comes with an inductive invariant, UNSAFE with a run that the machine replayed, UNKNOWN with a reason."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class SafetyRun:
    """A run of the model's machine: its moves, each with the state after it, the first being the start, and the last state
    in words."""

    model: AnyModelName
    moves: tuple[Move, ...]
    end: tuple[str, ...]

    @classmethod
    def of(cls, machine: Machine, model: AnyModelName, moves: tuple[Move, ...]) -> SafetyRun:
        """Return a run of a machine."""
        return cls(model, moves, tuple(machine.describe(moves[-1].state)))


@dataclass(frozen=True)
class ReductionOptions:
    """How a program is reduced: `slots` with at most `bound` stores in a buffer or like operations under way (more are
    `many`, or without `many` an overflow, as for stores), or the `sets` of the VMCAI paper. `lazy`: cards move only
    directly before somebody can tell (section 3). `narrow`: at most so many values are kept apart, variables that may have
    more are wide."""

    kind: ReductionName = "slots"
    bound: int = 1
    lazy: bool = True
    many: bool = True
    narrow: int = 8


@dataclass(frozen=True)
class AllowedClaim:
    """An outcome that is claimed to be possible, and whether it is: with a replayed run, None if that is not known."""

    claim: SafetyClaim
    possible: bool | None
    run: SafetyRun | None = None
    reason: str = ""


@dataclass(frozen=True)
class SafetyOutcome:
    """The answer whether a program is safe under a model, with the engine and the reduction that found it.

    SAFE: `system` and `invariant` are the proof (see :class:`EngineResult`), None if the program claims nothing; there is no
    `invariant` if all states were searched compiled. `about_nothing` are claims that hold only because nothing comes to
    where they are looked at. UNSAFE: `claim` is violated by `run`. UNKNOWN: `reason` names the limit, or `suspect` is a path
    that was not decided.
    """

    program: Program
    model: AnyModelName
    safety: Safety
    reason: str
    claims: tuple[SafetyClaim, ...]
    engine: EngineName | None = None
    reduction: ReductionOptions = ReductionOptions()
    system: TransitionSystem | None = None
    invariant: Mapping[Control, tuple[Region, ...]] | None = None
    claim: SafetyClaim | None = None
    run: SafetyRun | None = None
    suspect: AbstractPath | None = None
    allowed: tuple[AllowedClaim, ...] = ()
    about_nothing: tuple[SafetyClaim, ...] = ()
    states: int = 0
    taken: int = 0
    counts: Mapping[str, int | float] = field(default_factory=dict)
    time_s: float = 0.0
