"""Claims of a program about itself: outcomes, invariants, and what is expected of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.expr import Expr

AnyModelName = Literal["sc", "tso", "pso", "rma", "rdma"]
"""The memory models that claims can be about."""


@dataclass(frozen=True, slots=True)
class OutcomeClaim:
    """`allowed under rdma` or `forbidden under sc`."""

    allowed: bool
    model: AnyModelName


@dataclass(frozen=True, slots=True)
class PointAt:
    """`T at LABEL`: the thread is at the program point with that label, so that the labelled statement is its next one."""

    thread: str
    label: str


@dataclass(frozen=True, slots=True)
class EndedAtom:
    """`T ended`: the thread is at its exit."""

    thread: str


@dataclass(frozen=True, slots=True)
class CopiesWith:
    """How many copies of the template `thread` are in a state with this condition: over names as `C.register`, words of
    their own node as `Client.word`, what several threads can name, and `atoms`."""

    thread: str
    condition: Expr
    atoms: tuple[tuple[str, PointAt | EndedAtom], ...] = ()


@dataclass(frozen=True, slots=True)
class NeedsLine:
    """A `needs` line: guarantees of a network, by their names, that are enough for the program to be robust."""

    guarantees: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """An `outcome` line: a condition over final states and its claims.

    Its names are `Thread.register`, `Node.cell` and those of `counts`, which are numbers of copies.
    """

    condition: Expr
    claims: tuple[OutcomeClaim, ...]
    span: Span
    text: str
    counts: tuple[tuple[str, CopiesWith], ...] = ()


@dataclass(frozen=True, slots=True)
class InvariantLine:
    """An `invariant` line: true in every reachable state.

    `condition` is over the names `Thread.register`, `Node.cell` (memory, not a buffer), those of `atoms`, which are 0 or 1,
    and those of `counts`, which are numbers of copies. A condition that is undefined (division by zero) does not hold.
    """

    condition: Expr
    atoms: tuple[tuple[str, PointAt | EndedAtom], ...]
    span: Span
    text: str
    counts: tuple[tuple[str, CopiesWith], ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """The claim of an `expect` line: `kind` holds, or does not if it is `negated`, under `model`, if that matters to the
    kind.

    `span` is the place of the claim, not of its line.
    """

    kind: Literal["robust", "hang", "safe", "violated", "race"]
    negated: bool
    model: AnyModelName | None
    span: Span = NO_SPAN

    @property
    def text(self) -> str:
        """The claim as it is written."""
        if self.kind == "race":
            return f"race{' free' if self.negated else ''}"
        if self.model is None:
            return f"{'not ' if self.negated else ''}{self.kind}"
        if self.kind == "safe":
            return f"{'un' if self.negated else ''}safe under {self.model}"
        return f"{'no ' if self.negated else ''}{self.kind} under {self.model}"
