"""What the checker asks of a boolean program, however it was made: by cube search or by extrapolation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rdma_robust.analyses.prove.predicates.cube_search import Cube
from rdma_robust.analyses.prove.predicates.statement import Vocabulary
from rdma_robust.analyses.prove.transition_system import Update
from rdma_robust.expr import Expr


@dataclass(frozen=True)
class Choice:
    """A predicate becomes true where one of `true` holds before, false where one of `false` does, else unknown."""

    true: tuple[Cube, ...]
    false: tuple[Cube, ...]

    def after(self, before: Cube) -> bool | None:
        """Return the value that the predicate gets, None if it is not known."""
        if any(each.within(before) for each in self.true):
            return True
        if any(each.within(before) for each in self.false):
            return False
        return None


UNKNOWN = Choice((), ())


class ProgramWay(Protocol):
    """One way in which a statement of a boolean program can go."""

    @property
    def always(self) -> bool:
        """Whether it has no guard."""

    @property
    def copies(self) -> Mapping[str, str]:
        """Fresh names in its conditions to the folded variables that they are one value of."""

    @property
    def guard_atoms(self) -> frozenset[Expr]:
        """The predicates that its guard is made of."""

    def writes(self, number: int) -> bool:
        """Return whether it writes a variable of a predicate."""

    def blocking(self) -> Sequence[Cube]:
        """Return cubes with which its guard cannot be true."""

    def choice(self, number: int) -> Choice:
        """Return the transformer of a predicate that it writes."""

    def excludes(self, before: Cube) -> bool:
        """Return whether all that is known before, together, contradicts the guard, if that is found out."""


class BooleanProgram(Protocol):
    """A boolean program over the predicates of `vocabulary`. `contradictions` are cubes that cannot be true."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The predicates."""

    @property
    def contradictions(self) -> Sequence[Cube]:
        """Cubes that cannot be true, wherever they are."""

    def names_of(self, number: int) -> frozenset[str]:
        """Return the variables of a predicate."""

    def steps(self, updates: tuple[Update, ...]) -> tuple[Sequence[ProgramWay], ...]:
        """Return the statements that updates are, in order, each with its ways."""
