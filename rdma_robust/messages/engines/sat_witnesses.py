"""From a model to the run that it stands for, in normal form, and what that run shows."""

from __future__ import annotations

from rdma_robust.errors import InternalError
from rdma_robust.messages.engines.message_goals import Place
from rdma_robust.messages.engines.run_violations import violations_of
from rdma_robust.messages.engines.solved_models import Model
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.courses import Course, Decided, Decisions, blocked, expanded
from rdma_robust.messages.message_answers import (
    Deadlock,
    Issued,
    Leak,
    Violation,
)


def decisions(model: Model, buffer: Buffer) -> Decisions:
    """Return the decisions of a model's run."""
    granted = model.granted() if buffer == "any" else frozenset()
    return Decisions(tuple(model.pairs()), model.choices(), granted)


def violations_in(program: MessageProgram, buffer: Buffer, model: Model) -> dict[Place, Violation]:
    """Return the first violation at each place in a model's run, each with the moves that lead to it."""
    return violations_of(program, buffer, expanded(program, buffer, decisions(model, buffer)))


def deadlock_of(program: MessageProgram, buffer: Buffer, model: Model) -> Deadlock:
    """Return the deadlock that a model ends in. Raises InternalError if it does not."""
    course = _at_rest(program, buffer, model)
    waiting = blocked(course)
    if all(program.processes[each.process].daemon and each.kind == "receive" for each in waiting):
        raise InternalError("a run that was to end in a deadlock ends in none")
    return Deadlock(waiting, tuple(course.moves))


def leak_of(program: MessageProgram, buffer: Buffer, model: Model) -> Leak:
    """Return what is not matched where a model ends. Raises InternalError if nothing is."""
    course = _at_rest(program, buffer, model)
    sends = [Issued(me, op.nth) for me, frame in enumerate(course.frames) for op in frame.sends]
    receives = [
        Issued(me, op.nth)
        for me, frame in enumerate(course.frames)
        if not program.processes[me].daemon
        for op in frame.receives
    ]
    if not sends and not receives:
        raise InternalError("a run that was to leave operations unmatched leaves none")
    return Leak(tuple(sends), tuple(receives), tuple(course.moves))


def decided(program: MessageProgram, buffer: Buffer, model: Model) -> Course:
    """Return the run of a model after all that it decides. Raises InternalError if a match is not enabled where it comes."""
    course = Decided(program, buffer, decisions(model, buffer))
    course.settle_all()
    for pair in model.pairs():
        if not course.try_match(pair):
            raise InternalError(f"the run cannot match {pair}, as it was decided")
    return course


def _at_rest(program: MessageProgram, buffer: Buffer, model: Model) -> Course:
    course = decided(program, buffer, model)
    stepping = any(course.can_step(process) for process in range(len(course.frames)))
    if stepping or any(True for _ in course.enabled()) or any(frame.status == "stopped" for frame in course.frames):
        raise InternalError("a run that was to end where no rule applies goes on")
    return course
