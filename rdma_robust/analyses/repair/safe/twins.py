"""A program read from a text with waits, beside the same one made by leaving out waits of the full program.

Their graphs are alike, edge by edge in the order of the source, but for numbers of points and places in the text. So a run
of the one, which was proven from its text, can be told in points and steps of the other, which can be compared with other
sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.errors import NO_SPAN, InternalError
from rdma_robust.language.flow.cfg import Program, Step, Thread
from rdma_robust.semantics.machines.machine import Action, Move
from rdma_robust.semantics.machines.stepping import StepState


@dataclass(frozen=True)
class _Twin:
    """For one thread: the points and steps of the other program."""

    points: Mapping[int, int]
    steps: Mapping[Step, Step]


def told_in(run: SafetyRun, program: Program, other: Program) -> SafetyRun:
    """Return a run of `program` in the points and steps of `other`. Raises InternalError if they are not alike."""
    twins = [_twin(one, two) for one, two in zip(program.threads, other.threads, strict=True)]
    return replace(run, moves=tuple(_move(move, twins) for move in run.moves))


def _twin(one: Thread, two: Thread) -> _Twin:
    points = {one.entry: two.entry, one.exit: two.exit}
    steps: dict[Step, Step] = {}
    for (a, b, step), (c, d, like) in zip(one.edges, two.edges, strict=True):
        if points.setdefault(a, c) != c or points.setdefault(b, d) != d or not _alike(step, like):
            raise InternalError("a program with waits in its text is not the one with these waits")
        steps[step] = like
    if len(set(points.values())) != len(points) or [(n, points[p]) for n, p in one.labels] != list(two.labels):
        raise InternalError("a program with waits in its text has other points than the one with these waits")
    return _Twin(points, steps)


def _alike(one: Step, two: Step) -> bool:
    """Return whether two steps do the same; faults are at other places."""
    kinds = [None if step.fault is None else (step.fault.kind, step.fault.message) for step in (one, two)]
    plain = [replace(step, span=NO_SPAN, fault=None) for step in (one, two)]
    return plain[0] == plain[1] and kinds[0] == kinds[1]


def _move(move: Move, twins: list[_Twin]) -> Move:
    action: Action = move.action
    if action.step is not None:
        action = action._replace(step=twins[action.thread].steps[action.step])
    state: StepState = move.state
    threads = (s._replace(point=twin.points[s.point]) for s, twin in zip(state.threads, twins, strict=True))
    return Move(action, state._replace(threads=tuple(threads)))
