"""Runs of a message program by the choices made: a tree of the states that have been asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from sys import maxsize
from typing import Final

from rdma_robust.errors import InternalError
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import MatchMove, Move, ProcessStep, Schedule
from rdma_robust.messages.replay.interpreter import Interpreter
from rdma_robust.messages.replay.world import ReplayState, StepViolation
from rdma_robust.teaching.explorer.run_tree import LONGEST, Choices, RunTree, must_not_end, path_to, wrong_choice

MOST_LOCAL: Final = 200
"""Steps of one process that are taken at a time without a match or a choice."""


@dataclass(eq=False)
class RunPoint:
    """A place in a run: the state, and the move that led there with the violation that it is."""

    world: ReplayState
    parent: RunPoint | None = None
    choice: int = -1
    move: Move | None = None
    event: StepViolation | None = None
    depth: int = 0
    moves: tuple[Move, ...] | None = None
    children: dict[int, RunPoint] = field(default_factory=dict)

    def path(self) -> list[RunPoint]:
        """Return the points after each step, oldest first."""
        return path_to(self)

    @property
    def schedule(self) -> Schedule:
        """The moves that lead here."""
        return tuple(point.move for point in self.path() if point.move is not None)


class MessageRuns(RunTree[RunPoint]):
    """The runs of one program under one buffer semantics, by the interpreter that checks runs."""

    def __init__(self, program: MessageProgram, buffer: Buffer) -> None:
        self.interpreter = Interpreter(program, buffer)
        super().__init__()

    def start(self) -> RunPoint:
        """Return the state before the first move."""
        return RunPoint(self.interpreter.start())

    def moves(self, point: RunPoint) -> tuple[Move, ...]:
        """Return every move that a rule allows next, in the interpreter's order."""
        if point.moves is None:
            point.moves = tuple(self.interpreter.moves(point.world))
        return point.moves

    def _moves(self, point: RunPoint) -> Iterator[Move]:
        """Yield the moves; steps are first, and matches take time that grows with the operations that are not matched."""
        return self.interpreter.moves(point.world) if point.moves is None else iter(point.moves)

    def step(self, point: RunPoint, choice: int) -> RunPoint:
        """Return the point behind a move. Raises UsageError if there is no such move, or the run is too long."""
        move = next(islice(self._moves(point), choice, None), None) if 0 <= choice <= maxsize else None
        if move is None:
            raise wrong_choice(point.depth, choice, len(self.moves(point)))
        must_not_end(point.depth)
        world, event = self.interpreter.after(point.world, move)
        return RunPoint(world, point, choice, move, event, point.depth + 1)

    def choices_of(self, schedule: Sequence[Move]) -> Choices:
        """Return a run by its choices, as far as its moves are allowed and it is not too long."""
        point = self.point(())
        for move in schedule[:LONGEST]:
            if move not in self.moves(point):
                break
            point = self.after(point, self.moves(point).index(move))
        return tuple(each.choice for each in point.path())

    def whole(self, schedule: Sequence[Move]) -> Choices | None:
        """Return a run that was found by its choices, None if it is too long. Raises InternalError if it is no run."""
        choices = self.choices_of(schedule)
        if len(choices) < min(len(schedule), LONGEST):
            raise InternalError(f"move {len(choices) + 1} of a run that was found is not allowed")
        return choices if len(schedule) <= LONGEST else None

    def local(self, start: RunPoint) -> Iterator[int]:
        """Yield the choices that let every process run until it waits, chooses, or has come back to where it was.

        A process that computes for long is left after MOST_LOCAL steps.
        """
        point = start
        taken = [0] * len(start.world.processes)
        seen = set(enumerate(start.world.processes))
        left: set[int] = set()
        while point.depth < LONGEST:
            steps = enumerate(takewhile(lambda move: not isinstance(move, MatchMove), self._moves(point)))
            found = next(((at, move) for at, move in steps if is_local(move) and _who(move) not in left), None)
            if found is None:
                return
            choice, move = found
            point = self.after(point, choice)
            me = _who(move)
            taken[me] += 1
            now = me, point.world.processes[me]
            if now in seen or taken[me] >= MOST_LOCAL:
                left.add(me)
            seen.add(now)
            yield choice


def is_local(move: Move | None) -> bool:
    """Return whether a move is a step without a choice: it takes no move from the others."""
    return isinstance(move, ProcessStep) and move.choice is None


def _who(move: Move) -> int:
    return move.process if isinstance(move, ProcessStep) else -1
