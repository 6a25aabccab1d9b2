"""What a run violates: the first time at each place, with the moves that lead to it."""

from __future__ import annotations

from collections.abc import Collection

from rdma_robust.errors import Span
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.courses import Course
from rdma_robust.messages.machine.matching import Meeting
from rdma_robust.messages.machine.shortening import cut_to_the_end
from rdma_robust.messages.machine.states import said_of
from rdma_robust.messages.message_answers import Granted, Matched, Move, Schedule, Step, Violation

Place = tuple[Span, str]
"""A place of the text, and `assert` or the kind of fault."""


def violations_of(
    program: MessageProgram, buffer: Buffer, schedule: Schedule, known: Collection[Place] = ()
) -> dict[Place, Violation]:
    """Return the first violation at each place of a run but for those that are known."""
    course = Course(program, buffer)
    found: dict[Place, Violation] = {}
    for at, move in enumerate(schedule):
        place = course.rules[move.process].span(course.frames[move.process].pc) if isinstance(move, Step) else None
        kind = _made(course, move)
        if isinstance(move, Step) and place is not None and kind and (place, kind) not in {*found, *known}:
            moves = cut_to_the_end(program, buffer, schedule[: at + 1])
            found[place, kind] = Violation(move.process, kind, place, moves, said_of(course.processes[move.process], kind))
    return found


def _made(course: Course, move: Move) -> str:
    """Make a move of a run; return the kind of violation that it is, or ''."""
    match move:
        case Step(process, choice):
            return course.step(process, choice)
        case Granted(process):
            course.grant(process)
        case Matched(pair):
            receiver, sender = pair.receive.process, pair.send.process
            receive = [op.nth for op in course.frames[receiver].receives].index(pair.receive.nth)
            send = [op.nth for op in course.frames[sender].sends].index(pair.send.nth)
            course.match(receiver, sender, Meeting(receive, send))
    return ""
