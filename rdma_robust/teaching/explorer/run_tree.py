"""Runs by the choices made: a tree of the points that have been asked for, whatever machine makes the steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar

from rdma_robust.errors import UsageError
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.machine import Move, Verb
from rdma_robust.semantics.machines.run_history import request_of
from rdma_robust.semantics.machines.sc import ScMachine

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


AnyMachine = DeployedMachine | ScMachine


@dataclass(eq=False)
class RunPoint:
    """A place in a run: the machine's state, None before the start of a machine that can start in several ways.

    `operation` is the number (from 1, in the order of posting) of the remote operation that the last move is about, on the
    RDMA machine; `posted` has for each thread the numbers of its operations so far.
    """

    state: Any
    parent: RunPoint | None = None
    choice: int = -1
    move: Move | None = None
    depth: int = 0
    operation: int | None = None
    posted: tuple[tuple[int, ...], ...] = ()
    moves: Sequence[Move] | None = None
    children: dict[int, RunPoint] = field(default_factory=dict)

    def path(self) -> list[RunPoint]:
        """Return the points after each step, oldest first."""
        return path_to(self)


class Runs(RunTree[RunPoint]):
    """The runs of one machine. A machine that starts in one way has started before the first choice."""

    def __init__(self, machine: AnyMachine) -> None:
        self.machine = machine
        self.starts = machine.initial()
        super().__init__()

    def start(self) -> RunPoint:
        """Return the state before the first choice, which is none where there are several to start in."""
        alone = self.starts[0] if self.starts.number == 1 else None
        return RunPoint(None if alone is None else alone.state, move=alone, posted=((),) * len(self.machine.codes))

    def moves(self, point: RunPoint) -> Sequence[Move]:
        """Return what the machine can do next, in its order; ways to start are made when they are asked for."""
        if point.moves is None:
            point.moves = self.starts if point.state is None else tuple(self.machine.successors(point.state))
        return point.moves

    def number(self, point: RunPoint) -> int:
        """Return how many moves there are."""
        return self.starts.number if point.state is None else len(self.moves(point))

    def step(self, point: RunPoint, choice: int) -> RunPoint:
        """Return the point behind a move. Raises UsageError if there is no such move, or the run is too long."""
        moves = self.moves(point)
        if not 0 <= choice < self.number(point):
            raise wrong_choice(point.depth, choice, self.number(point))
        must_not_end(point.depth)
        return behind(self.machine, point, choice, moves[choice])

    def points(self, choices: Sequence[int]) -> Iterator[RunPoint]:
        """Yield the points of a run, the start first."""
        point = self.point(())
        yield point
        for choice in choices:
            point = self.after(point, choice)
            yield point


def behind(machine: AnyMachine, point: RunPoint, choice: int, move: Move) -> RunPoint:
    """Return the point behind `move`, which must be the move number `choice` of the machine at `point`."""
    posted, operation = point.posted, None
    if isinstance(machine, DeployedMachine) and point.state is not None:
        t, number = move.action.thread, request_of(machine, point.state, move)
        if move.action.verb is Verb.ISSUE:
            mine = (*posted[t], sum(map(len, posted)) + 1)
            posted = (*posted[:t], mine, *posted[t + 1 :])
        operation = None if number is None else posted[t][number - 1]
    return RunPoint(move.state, point, choice, move, point.depth + 1, operation, posted)
