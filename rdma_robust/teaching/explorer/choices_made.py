"""Runs of a machine by the choices made: a tree of the states that have been asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_sc import DeployedScMachine
from rdma_robust.semantics.machines.machine import Move, Verb
from rdma_robust.semantics.machines.run_history import request_of
from rdma_robust.teaching.explorer.run_tree import RunTree, must_not_end, path_to, wrong_choice

AnyMachine = DeployedMachine | DeployedScMachine


@dataclass(eq=False)
class Point:
    """A place in a run: the machine's state, None before the start of a machine that can start in several ways.

    `operation` is the number (from 1, in the order of posting) of the remote operation that the last move is about, on the
    RDMA machine; `posted` has for each thread the numbers of its operations so far.
    """

    state: Any
    parent: Point | None = None
    choice: int = -1
    move: Move | None = None
    depth: int = 0
    operation: int | None = None
    posted: tuple[tuple[int, ...], ...] = ()
    moves: Sequence[Move] | None = None
    children: dict[int, Point] = field(default_factory=dict)

    def path(self) -> list[Point]:
        """Return the points after each step, oldest first."""
        return path_to(self)


class Runs(RunTree[Point]):
    """The runs of one machine. A machine that starts in one way has started before the first choice."""

    def __init__(self, machine: AnyMachine) -> None:
        self.machine = machine
        self.starts = machine.initial()
        super().__init__()

    def start(self) -> Point:
        """Return the state before the first choice, which is none where there are several to start in."""
        alone = self.starts[0] if self.starts.number == 1 else None
        return Point(None if alone is None else alone.state, move=alone, posted=((),) * len(self.machine.codes))

    def moves(self, point: Point) -> Sequence[Move]:
        """Return what the machine can do next, in its order; ways to start are made when they are asked for."""
        if point.moves is None:
            point.moves = self.starts if point.state is None else tuple(self.machine.successors(point.state))
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


def behind(machine: AnyMachine, point: Point, choice: int, move: Move) -> Point:
    """Return the point behind `move`, which must be the move number `choice` of the machine at `point`."""
    posted, operation = point.posted, None
    if isinstance(machine, DeployedMachine) and point.state is not None:
        t, number = move.action.thread, request_of(machine, point.state, move)
        if move.action.verb is Verb.ISSUE:
            mine = (*posted[t], sum(map(len, posted)) + 1)
            posted = (*posted[:t], mine, *posted[t + 1 :])
        operation = None if number is None else posted[t][number - 1]
    return Point(move.state, point, choice, move, point.depth + 1, operation, posted)
