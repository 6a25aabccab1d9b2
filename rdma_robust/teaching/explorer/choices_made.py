"""Runs of a machine by the choices made: a tree of the states that have been asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rdma_robust.errors import UsageError
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_runs import nothing_held, renumbered
from rdma_robust.semantics.machines.machine import Machine, Move, Verb
from rdma_robust.semantics.machines.operations import NUMBERLESS, Numbered, Numbers, following
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.resting import SomeMachine

Choices = tuple[int, ...]
"""A run: for every step the number of the move among those that the machine lists, from 0."""

LONGEST = 1_000
"""Steps of a run that can be looked at; what follows the other machine needs time that grows with the run."""

KEPT = 20_000
"""States kept in the tree before it starts anew."""


@dataclass(eq=False)
class Point:
    """A place in a run: the machine's state, None before the start of a machine that can start in several ways.

    `operation` is the number (from 1, in the order of posting) of the remote operation that the last move is about, on the
    RDMA machine; `numbers` are those of the operations in its queues.
    """

    state: Any
    parent: Point | None = None
    choice: int = -1
    move: Move | None = None
    depth: int = 0
    operation: int | None = None
    posted: int = 0
    numbers: Numbers = NUMBERLESS
    moves: tuple[Move, ...] | None = None
    children: dict[int, Point] = field(default_factory=dict)

    def path(self) -> list[Point]:
        """Return the points after each step, oldest first."""
        points = []
        point: Point | None = self
        while point is not None and point.parent is not None:
            points.append(point)
            point = point.parent
        return points[::-1]


class Runs:
    """The runs of one machine. A machine that starts in one way has started before the first choice."""

    def __init__(self, machine: SomeMachine) -> None:
        self.machine = machine
        self.starts = tuple(machine.initial())
        self._begin()

    def _begin(self) -> None:
        empty: Numbers = tuple(((),) * len(code.remotes) for code in self.machine.codes)
        if isinstance(self.machine, DeployedMachine):
            empty = nothing_held(self.machine)
        alone = self.starts[0] if len(self.starts) == 1 else None
        self.root = Point(None if alone is None else alone.state, move=alone, numbers=empty)
        self.kept = 1

    def moves(self, point: Point) -> tuple[Move, ...]:
        """Return what the machine can do next, in its order."""
        if point.moves is None:
            machine: Machine = self.machine
            point.moves = self.starts if point.state is None else tuple(machine.successors(point.state))
        return point.moves

    def after(self, point: Point, choice: int) -> Point:
        """Return the point behind a move. Raises UsageError if there is no such move, or the run is too long."""
        found = point.children.get(choice)
        if found is None:
            found = point.children[choice] = self._step(point, choice)
            self.kept += 1
        return found

    def _step(self, point: Point, choice: int) -> Point:
        moves = self.moves(point)
        if not 0 <= choice < len(moves):
            raise wrong_choice(point.depth, choice, len(moves))
        if point.depth >= LONGEST:
            raise UsageError(f"a run ends after {LONGEST} steps here")
        return behind(self.machine, point, choice, moves[choice])

    def point(self, choices: Sequence[int]) -> Point:
        """Return where a run ends. Raises UsageError for one that the machine does not have."""
        if self.kept > KEPT:
            self._begin()
        point = self.root
        for choice in choices:
            point = self.after(point, choice)
        return point

    def points(self, choices: Sequence[int]) -> Iterator[Point]:
        """Yield the points of a run, the start first."""
        point = self.point(())
        yield point
        for choice in choices:
            point = self.after(point, choice)
            yield point


def behind(machine: SomeMachine, point: Point, choice: int, move: Move) -> Point:
    """Return the point behind `move`, which must be the move number `choice` of the machine at `point`."""
    if isinstance(machine, DeployedMachine) and point.state is not None:
        posted = point.posted + (move.action.verb is Verb.ISSUE)
        about, held = renumbered(machine, point.state, move, point.numbers, posted)
        return Point(move.state, point, choice, move, point.depth + 1, about, posted, held)
    if isinstance(machine, RdmaMachine) and point.move is not None:
        now = following(machine, Numbered(point.move, point.operation, point.posted, point.numbers), move)
        return Point(move.state, point, choice, move, point.depth + 1, now.operation, now.posted, now.numbers)
    return Point(move.state, point, choice, move, point.depth + 1, numbers=point.numbers)


def wrong_choice(depth: int, choice: int, number: int) -> UsageError:
    """Return what to raise where a run of `depth` steps has a choice that is none of the `number` moves."""
    there = f"there {_are(number)} to choose from" if number else "nothing can happen any more"
    return UsageError(f"step {depth + 1} is choice {choice}, but {there} (counted from 0)")


def _are(number: int) -> str:
    return "is one move" if number == 1 else f"are {number} moves"
