"""Replaying a schedule, and confirming by that what an engine says it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rdma_robust.errors import InternalError, Span
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.language.message_terms import Value
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    Deadlock,
    Leak,
    MatchedPair,
    OperationId,
    Schedule,
    Violation,
    WaitingProcess,
    WaitKind,
)
from rdma_robust.messages.replay.interpreter import Interpreter, NotEnabled
from rdma_robust.messages.replay.world import ActiveCall, ActiveReceive, ActiveSend, ReplayProcess, ReplayState

Ending = Literal["complete", "deadlock", "stopped", "open"]
"""`stopped`: no rule applies, and some process stopped by a false assume or a fault; `open`: some rule applies."""


@dataclass(frozen=True, slots=True)
class ReplayViolation:
    """A violation that a replay met: by which move, of which process, what, and where in the text."""

    move: int
    process: int
    kind: str
    span: Span


@dataclass(frozen=True, slots=True)
class Replay:
    """The findings at the end of a run; leaks are the unmatched operations but for receives of daemons."""

    violations: tuple[ReplayViolation, ...]
    ending: Ending
    waiting: tuple[WaitingProcess, ...]
    statuses: tuple[Literal["runs", "ended", "stopped"], ...]
    pairs: frozenset[MatchedPair]
    unmatched_sends: tuple[OperationId, ...]
    unmatched_receives: tuple[OperationId, ...]
    registers: tuple[Mapping[str, Value], ...]
    leaked: tuple[tuple[OperationId, ...], tuple[OperationId, ...]]


def replay_schedule(program: MessageProgram, buffer: Buffer, schedule: Schedule) -> Replay:
    """Run a schedule move by move. Raises NotEnabled, an InternalError, at a move that no rule allows."""
    interpreter = Interpreter(program, buffer)
    world = interpreter.start()
    violations = []
    for number, move in enumerate(schedule):
        try:
            world, event = interpreter.after(world, move)
        except NotEnabled as refused:
            raise NotEnabled(f"move {number}, {move}, is not enabled: {refused}") from None
        for each in () if event is None else (event, *event.more):
            span = interpreter.performer.statement(each.statement).span
            violations.append(ReplayViolation(number, each.process, each.kind, span))
    return _described(interpreter, world, tuple(violations))


def _described(interpreter: Interpreter, world: ReplayState, violations: tuple[ReplayViolation, ...]) -> Replay:
    daemons = [each.daemon for each in interpreter.program.processes]
    sends = tuple(each.name for each in world.sends)
    receives = tuple(each.name for each in world.receives)
    return Replay(
        violations,
        state_ending(interpreter, world),
        waiting_processes(interpreter, world),
        tuple(each.status for each in world.processes),
        world.pairs,
        sends,
        receives,
        tuple(
            dict(zip(names, each.registers, strict=True))
            for names, each in zip(interpreter.performer.names, world.processes, strict=True)
        ),
        (sends, tuple(each for each in receives if not daemons[each.process])),
    )


def state_ending(interpreter: Interpreter, world: ReplayState) -> Ending:
    """Return what a state is: complete and deadlock as they are defined, under `any` a deadlock by zero's rule for sends."""
    if any(interpreter.can_match(world, receive, send) for receive in world.receives for send in world.sends):
        return "open"
    waits = waiting_processes(interpreter, world)
    idle = {each.process for each in waits}
    if any(each.status == "runs" and me not in idle for me, each in enumerate(world.processes)):
        return "open"
    if any(each.status == "stopped" or interpreter.is_stuck(world, me) for me, each in enumerate(world.processes)):
        return "stopped"
    processes = interpreter.program.processes
    if all(processes[each.process].daemon and each.kind == "receive" for each in waits):
        return "complete"
    return "deadlock"


def waiting_processes(interpreter: Interpreter, world: ReplayState) -> tuple[WaitingProcess, ...]:
    """Return who waits at a wait that is closed; under `any` also at one that only a buffer opens or has opened."""
    found = []
    for me, process in enumerate(world.processes):
        if interpreter.performer.looked_for(me, process) is not None and not interpreter.can_step(world, me):
            found.append(_waits(interpreter, me, process, "receive", OperationId(me, process.received)))
        one = interpreter.waited_for_one(world, me)
        match one or interpreter.performer.awaited(me, process):
            case ActiveReceive(name) as request if interpreter.is_closed(world, request):
                found.append(_waits(interpreter, me, process, "receive", name))
            case ActiveSend(name) if one is not None or interpreter.is_unbuffered(world, name):
                found.append(_waits(interpreter, me, process, "send", name))
            case ActiveCall(group=group) as call if one is not None or not interpreter.is_over(world, call):
                found.append(_waits(interpreter, me, process, "collective", OperationId(me, group)))
            case _:
                pass
    return tuple(found)


def _waits(interpreter: Interpreter, me: int, process: ReplayProcess, kind: WaitKind, name: OperationId) -> WaitingProcess:
    return WaitingProcess(me, kind, name, interpreter.span(process))


def confirm_violation(program: MessageProgram, buffer: Buffer, violation: Violation) -> None:
    """Raise InternalError unless the last move of the schedule is the violation."""
    end = replay_schedule(program, buffer, violation.schedule)
    expected = ReplayViolation(len(violation.schedule) - 1, violation.process, violation.kind, violation.span)
    if expected not in end.violations:
        raise InternalError(
            f"the run does not end with the violation that it should show: {violation.text or violation.kind}"
        )


def confirm_deadlock(program: MessageProgram, buffer: Buffer, deadlock: Deadlock) -> None:
    """Raise InternalError unless the schedule ends in a deadlock in which these wait."""
    end = replay_schedule(program, buffer, deadlock.schedule)
    if end.ending != "deadlock" or set(end.waiting) != set(deadlock.waiting):
        raise InternalError("the run does not end in the deadlock that it should show")


def confirm_leak(program: MessageProgram, buffer: Buffer, leak: Leak) -> None:
    """Raise InternalError unless the schedule is complete and leaves exactly these operations."""
    end = replay_schedule(program, buffer, leak.schedule)
    left = tuple(set(each) for each in end.leaked)
    if end.ending != "complete" or left != (set(leak.sends), set(leak.receives)) or left == (set(), set()):
        raise InternalError("the run does not end with the leak that it should show")


def confirm_answer(program: MessageProgram, answer: BufferAnswer) -> None:
    """Replay every run of an answer. Raises InternalError where one does not show what it should."""
    for violation in answer.violations:
        confirm_violation(program, answer.buffer, violation)
    if answer.deadlock is not None:
        confirm_deadlock(program, answer.buffer, answer.deadlock)
    if answer.leak is not None:
        confirm_leak(program, answer.buffer, answer.leak)
