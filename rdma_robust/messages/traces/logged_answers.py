"""Answers about logged runs, whose calls are known, and not why they are made: as far as they are true of the program.

A process makes the logged calls as long as its receives take what they took in the log. So a run in which all of them do
is one of the program. One in which a receive takes another message is that only if the process then makes the calls of the
log: a task farm answers another worker. Nor is it a deadlock where a process has only tested what it would wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from rdma_robust.errors import InternalError, Span
from rdma_robust.expr import Const
from rdma_robust.messages.language.message_program import Buffer, IssueReceive, IssueSend, MessageProgram, Statement
from rdma_robust.messages.message_answers import BufferAnswer, MatchMove, Schedule, Violation
from rdma_robust.messages.replay.replaying import confirm_answer

AnswerTo = Callable[[MessageProgram], BufferAnswer]
"""The answer to the same question about another program."""
Tried = Callable[[MessageProgram, Buffer, Schedule], bool]
"""Whether the logged program makes, with the matches of a run, the calls of that run."""

_IF: Final = "something goes wrong if "


def as_far_as_logged(
    program: MessageProgram, answer: BufferAnswer, ask: AnswerTo, tried: Tried | None = None
) -> BufferAnswer:
    """Return an answer with those runs only that are runs of the logged program; the rest is unknown.

    Where a run is doubtful, the program in which all receives take what they took in the log is asked; then the run is
    `tried`.
    """
    if program.logged is None or not _doubts(program, answer):
        return answer
    asked = ask(as_logged(program))
    try:
        confirm_answer(program, asked)
    except InternalError:  # A receive for all senders, posted before, takes what one that names a sender would take.
        asked = replace(asked, violations=(), deadlock=None, leak=None)
    found = _with_sure(program, answer, asked, _never if tried is None else partial(tried, program, answer.buffer))
    doubts = _doubts(program, replace(answer, violations=_missing(answer, found)), found)
    again = "run again so, it was not seen to" if tried is not None and any(_IF in each for each in doubts) else ""
    reasons = [each for each in (found.reason, *dict.fromkeys(doubts), again) if each]
    return replace(found, reason="; ".join(reasons))


def _never(_: Schedule) -> bool:
    return False


def as_logged(program: MessageProgram) -> MessageProgram:
    """Return the program in which receives name the senders and tags of the messages that they took."""
    assert program.logged is not None
    sends = [[each for each in process.body if isinstance(each, IssueSend)] for process in program.processes]
    taken = program.logged.matched

    def bodies(me: int, body: tuple[Statement, ...]) -> Iterator[Statement]:
        nth = 0
        for each in body:
            if not isinstance(each, IssueReceive):
                yield each
                continue
            send = taken.get((me, nth))
            nth += 1
            named = send is not None and each.of is None
            yield replace(each, source=Const(send[0]), tag=sends[send[0]][send[1]].tag) if named and send else each

    processes = (replace(each, body=tuple(bodies(me, each.body))) for me, each in enumerate(program.processes))
    return replace(program, processes=tuple(processes), logged=None)


def _with_sure(
    program: MessageProgram, answer: BufferAnswer, asked: BufferAnswer, tried: Callable[[Schedule], bool]
) -> BufferAnswer:
    """Return an answer with what is sure of it and of another one, or holds when tried."""
    sure = {(each.span, each.kind): each for each in asked.violations if not _doubt_of(program, each)}
    sure |= {
        (each.span, each.kind): each for each in answer.violations if not _doubt_of(program, each) or tried(each.schedule)
    }
    deadlock, leak = answer.deadlock, answer.leak
    if deadlock is not None and _strays(program, deadlock.schedule):
        again = asked.deadlock
        is_again = again is not None and not _tested(program, [each.span for each in again.waiting])
        deadlock = again if is_again else deadlock if tried(deadlock.schedule) else None
    if deadlock is not None and _tested(program, [each.span for each in deadlock.waiting]):
        deadlock = None
    if leak is not None and _strays(program, leak.schedule):
        leak = asked.leak or (leak if tried(leak.schedule) else None)
    return replace(
        answer,
        violations=tuple(sure.values()),
        deadlock=deadlock,
        leak=leak,
        violated="yes" if sure else "unknown" if answer.violated == "yes" else answer.violated,
        deadlocked=answer.deadlocked if (deadlock is None) == (answer.deadlock is None) else "unknown",
        leaking=answer.leaking if (leak is None) == (answer.leak is None) else "unknown",
    )


def _missing(answer: BufferAnswer, found: BufferAnswer) -> tuple[Violation, ...]:
    kept = {(each.span, each.kind) for each in found.violations}
    return tuple(each for each in answer.violations if (each.span, each.kind) not in kept)


def _doubts(program: MessageProgram, answer: BufferAnswer, kept: BufferAnswer | None = None) -> list[str]:
    """Return why the runs of an answer may be none of the logged program, of those that were not kept."""
    found = [_doubt_of(program, each) for each in answer.violations]
    if answer.deadlock is not None and (kept is None or kept.deadlock is None):
        spans = [each.span for each in answer.deadlock.waiting]
        found += [_strays(program, answer.deadlock.schedule), _tested(program, spans)]
    if answer.leak is not None and (kept is None or kept.leak is None):
        found.append(_strays(program, answer.leak.schedule))
    return [each for each in found if each]


def _doubt_of(program: MessageProgram, violation: Violation) -> str:
    """Return why a violation may be none; nothing has been seen yet of a message at whose match something is wrong."""
    schedule = violation.schedule
    at_match = schedule and isinstance(schedule[-1], MatchMove)
    return _strays(program, schedule[:-1] if at_match else schedule)


def _strays(program: MessageProgram, schedule: Schedule) -> str:
    """Return why what a process does in a run may be nothing that it would do, '' if all receives take what they took."""
    assert program.logged is not None
    for move in schedule:
        if isinstance(move, MatchMove) and program.logged.matched.get(move.pair.receive, move.pair.send) != move.pair.send:
            process, nth = move.pair.receive
            receives = [each for each in program.processes[process].body if isinstance(each, IssueReceive)]
            place = f"line {receives[nth].span.line}"
            name = program.processes[process].name
            return (
                f"{_IF}{name} receives another message at {place} than in the log and then makes the "
                "calls of the log, but it may make others"
            )
    return ""


def _tested(program: MessageProgram, spans: list[Span]) -> str:
    assert program.logged is not None
    asked = next((each for each in spans if each in program.logged.tested), None)
    if asked is None:
        return ""
    return f"a process would wait forever at line {asked.line}, where the program can go on with something else"
