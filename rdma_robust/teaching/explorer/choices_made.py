"""Runs of a machine by the choices made: a tree of the states that have been asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_runs import nothing_held, renumbered
from rdma_robust.semantics.machines.machine import Machine, Move, Verb
from rdma_robust.semantics.machines.operations import NUMBERLESS, Numbered, Numbers, following
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.resting import SomeMachine
from rdma_robust.teaching.explorer.run_tree import RunTree, must_not_end, path_to, wrong_choice


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
    moves: Sequence[Move] | None = None
    children: dict[int, Point] = field(default_factory=dict)

    def path(self) -> list[Point]:
        """Return the points after each step, oldest first."""
        return path_to(self)


class Runs(RunTree[Point]):
    """The runs of one machine. A machine that starts in one way has started before the first choice."""

    def __init__(self, machine: SomeMachine) -> None:
        self.machine = machine
        self.starts = machine.initial()
        super().__init__()

    def start(self) -> Point:
        """Return the state before the first choice, which is none where there are several to start in."""
        empty: Numbers = tuple(((),) * len(code.remotes) for code in self.machine.codes)
        if isinstance(self.machine, DeployedMachine):
            empty = nothing_held(self.machine)
        alone = self.starts[0] if self.starts.number == 1 else None
        return Point(None if alone is None else alone.state, move=alone, numbers=empty)

    def moves(self, point: Point) -> Sequence[Move]:
        """Return what the machine can do next, in its order; ways to start are made when they are asked for."""
        if point.moves is None:
            machine: Machine = self.machine
            point.moves = self.starts if point.state is None else tuple(machine.successors(point.state))
        return point.moves

    def number(self, point: Point) -> int:
        """Return how many moves there are."""
        return self.starts.number if point.state is None else len(self.moves(point))

    def step(self, point: Point, choice: int) -> Point:
        """Return the point behind a move. Raises UsageError if there is no such move, or the run is too long."""
        moves = self.moves(point)
        if not 0 <= choice < self.number(point):
            raise wrong_choice(point.depth, choice, self.number(point))
        must_not_end(point.depth)
        return behind(self.machine, point, choice, moves[choice])

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
