"""Runs by the choices made: a tree of the points that have been asked for, whatever machine makes the steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final, Generic, Protocol, TypeVar

from rdma_robust.errors import UsageError

Choices = tuple[int, ...]
"""A run: for every step the number of the move among those that are listed, from 0."""

LONGEST: Final = 1_000
"""Steps of a run that can be looked at; what follows the other machine needs time that grows with the run."""

KEPT: Final = 20_000
"""States kept in the tree before it starts anew."""


class TreePoint(Protocol):
    """A place in a run: how many steps lead there, from which place the last does, and the places behind its moves."""

    parent: Any
    depth: int
    children: Any


P = TypeVar("P", bound=TreePoint)


class RunTree(ABC, Generic[P]):
    """The runs of one program."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.root = self.start()
        self.kept = 1

    @abstractmethod
    def start(self) -> P:
        """Return the point before the first choice."""

    @abstractmethod
    def step(self, point: P, choice: int) -> P:
        """Return a new point behind a move. Raises UsageError if there is no such move, or the run is too long."""

    def after(self, point: P, choice: int) -> P:
        """Return the point behind a move. Raises as :meth:`step`."""
        found: P | None = point.children.get(choice)
        if found is None:
            found = point.children[choice] = self.step(point, choice)
            self.kept += 1
        return found

    def point(self, choices: Sequence[int]) -> P:
        """Return where a run ends. Raises UsageError for one that there is not."""
        if self.kept > KEPT:
            self._begin()
        point = self.root
        for choice in choices:
            point = self.after(point, choice)
        return point


def path_to(point: P) -> list[P]:
    """Return the points after each step, oldest first."""
    points = []
    while point.parent is not None:
        points.append(point)
        point = point.parent
    return points[::-1]


def must_not_end(depth: int) -> None:
    """Raise UsageError for a step of a run that is as long as can be looked at."""
    if depth >= LONGEST:
        raise UsageError(f"a run ends after {LONGEST} steps here")


def wrong_choice(depth: int, choice: int, number: int) -> UsageError:
    """Return what to raise where a run of `depth` steps has a choice that is none of the `number` moves."""
    there = f"there {_are(number)} to choose from" if number else "nothing can happen any more"
    return UsageError(f"step {depth + 1} is choice {choice}, but {there} (counted from 0)")


def _are(number: int) -> str:
    return "is one move" if number == 1 else f"are {number} moves"
