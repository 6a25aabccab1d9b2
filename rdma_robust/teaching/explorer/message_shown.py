"""From a place in a run of a message program to what is seen there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.messages.language.message_program import (
    Choose,
    CollectiveCall,
    Completion,
    For,
    If,
    InlinedCall,
    IssueReceive,
    IssueSend,
    Loop,
    MessageProgram,
    Statement,
    Wait,
    While,
)
from rdma_robust.messages.language.message_program import Requests as RequestsDeclared
from rdma_robust.messages.language.message_terms import shown_value
from rdma_robust.messages.message_answers import (
    BufferGrant,
    Deadlock,
    MatchedPair,
    MatchMove,
    Move,
    OperationId,
    ProcessStep,
)
from rdma_robust.messages.replay.interpreter import Interpreter
from rdma_robust.messages.replay.replaying import state_ending, waiting_processes
from rdma_robust.messages.replay.world import (
    Active,
    ActiveCall,
    ActiveReceive,
    ActiveSend,
    ForTest,
    HeldMessage,
    ReplayProcess,
    ReplayState,
    RequestArray,
    ReturnPoint,
    UnmatchedReceive,
    UnmatchedSend,
)
from rdma_robust.reports.messages.message_claims import FAULTS, line_of, statement_at
from rdma_robust.reports.messages.narration import Direction, IssuedRequest, Narration, OperationNames, narrated
from rdma_robust.reports.messages.wait_reasons import ChartContents, DeadlockReason, chart_of, deadlock_reason
from rdma_robust.reports.share.chart import Chart
from rdma_robust.teaching.explorer.message_runs import MessageRuns, RunPoint, is_local
from rdma_robust.teaching.explorer.view import (
    EndpointView,
    MessageEndView,
    MessageMoveView,
    PostedView,
    ProcessView,
    Status,
    ValueView,
)
from rdma_robust.text import count


class ShownRun:
    """The view at `at`, one of the points of a run that may go on behind it."""

    def __init__(self, program: MessageProgram, runs: MessageRuns, points: Sequence[RunPoint], at: int) -> None:
        self.program = program
        self.runs = runs
        self.points = [runs.root, *points]
        self.at = self.points[at]
        self.interpreter: Interpreter = runs.interpreter
        buffer = self.interpreter.buffer
        self.told: Narration = narrated(program, buffer, self.at.schedule)
        whole = self.told if at == len(points) else narrated(program, buffer, self.points[-1].schedule)
        self.phrases = MessagePhrases(self.interpreter, whole.requests)

    def moves(self) -> tuple[MessageMoveView, ...]:
        """Return what can happen next."""
        found = enumerate(self.runs.moves(self.at))
        return tuple(self.phrases.move(self.at.world, move, choice, self._event(move)) for choice, move in found)

    def _event(self, move: Move) -> str:
        """Return the kind of the violation that a move is, '' if it is none."""
        event = self.interpreter.after(self.at.world, move)[1] if isinstance(move, ProcessStep) else None
        return "" if event is None else event.kind

    def steps(self) -> tuple[MessageMoveView, ...]:
        """Return all steps of the run."""
        return tuple(
            self.phrases.move(before.world, point.move, point.choice, "" if point.event is None else point.event.kind)
            for before, point in pairwise(self.points)
            if point.move is not None
        )

    def violations(self, steps: Sequence[MessageMoveView]) -> tuple[str, ...]:
        """Return what went wrong on the way here."""
        return tuple(
            f"step {number}: {step.process}, line {step.line}, {step.label}: {', '.join(step.faults)}"
            for number, step in enumerate(steps[: self.at.depth], 1)
            if step.faults
        )

    def processes(self) -> Iterator[ProcessView]:
        """Yield the processes."""
        world = self.at.world
        before = world if self.at.parent is None else self.at.parent.world
        for me, process in enumerate(world.processes):
            awaited = self.interpreter.performer.awaited(me, process)
            status: Status = "ready"
            if process.status != "runs":
                status = process.status
            elif not self.interpreter.can_step(world, me):
                status = "waiting"
            names = self.interpreter.performer.names[me]
            values = zip(names, process.registers, before.processes[me].registers, strict=True)
            requests = zip(self.program.processes[me].requests, process.requests, before.processes[me].requests, strict=True)
            yield ProcessView(
                self.phrases.name(me),
                self.program.processes[me].daemon,
                status,
                None if status in ("ended", "stopped") else self.phrases.line(self.interpreter.span(process)),
                self._text(me),
                self._awaits(world, awaited) if status == "waiting" else "",
                tuple(
                    ValueView(name, shown_value(value), value != old)
                    for name, value, old in values
                    if is_in_use(name, process)
                ),
                tuple(
                    ValueView(name, self._request(world, slot), slot != old)
                    for name, slot, old in requests
                    if slot is not None and not name.startswith("$")
                ),
            )

    def _text(self, me: int) -> str:
        process = self.at.world.processes[me]
        if process.status != "runs":
            return "has ended" if process.status == "ended" else "has stopped"
        top = process.point[-1]
        assert not isinstance(top, ReturnPoint)
        return self.phrases.statement(self.interpreter.performer.statement(top))

    def _awaits(self, world: ReplayState, awaited: Active | None) -> str:
        return "" if awaited is None else f"waits: {self._active(world, awaited)}"

    def _request(self, world: ReplayState, slot: Active | RequestArray | None) -> str:
        if isinstance(slot, RequestArray):
            return f"[{', '.join(self._request(world, each) for each in slot.elements)}]"
        return "-" if slot is None else self._active(world, slot)

    def _active(self, world: ReplayState, active: Active) -> str:
        match active:
            case ActiveReceive(name):
                message = next((each for each in world.delivered if each.receive == name), None)
                if message is not None:
                    return f"has {shown_value(message.value)} from {self.phrases.name(message.sender)}"
                receive = next(each for each in world.receives if each.name == name)
                return f"receive {self.phrases.pattern(receive)}"
            case ActiveSend(name):
                if name in world.sent_off:
                    return "message taken"
                send = next(each for each in world.sends if each.name == name)
                state = "buffered" if name in world.buffered else "not taken"
                return f"send {shown_value(send.value)} to {self.phrases.name(send.to)}, {state}"
            case ActiveCall(group=group, nth=nth):
                entered = [each for each in world.calls if (each.group, each.nth) == (group, nth)]
                what = next(each.name for each in entered if each.process == active.process)
                return f"{what}, entered by {', '.join(self.phrases.name(each.process) for each in entered)}"
            case HeldMessage(name):
                send = next(each for each in world.sends if each.name == name)
                return f"holds {self.phrases.message(send)}"

    def endpoints(self) -> Iterator[EndpointView]:
        """Yield the processes and ports with unmatched operations."""
        world = self.at.world
        places = {(each.to, each.port) for each in world.sends} | {(r.name.process, r.port) for r in world.receives}
        for process, port in sorted(places):
            sends = [each for each in world.sends if (each.to, each.port) == (process, port)]
            receives = [each for each in world.receives if (each.name.process, each.port) == (process, port)]
            yield EndpointView(
                self.phrases.name(process) + self.phrases.port(port),
                tuple(PostedView(self.phrases.message(each), self.phrases.issued_at("send", each.name)) for each in sends),
                tuple(
                    PostedView(
                        self.phrases.pattern(each).replace(self.phrases.port(port), "", 1),
                        self.phrases.issued_at("receive", each.name),
                    )
                    for each in receives
                ),
            )

    def end(self) -> tuple[MessageEndView, Chart]:
        """Return what the run has come to here, and its chart."""
        kind = state_ending(self.interpreter, self.at.world)
        moves = self.runs.moves(self.at)
        if kind == "open" or any(isinstance(move, ProcessStep) for move in moves):
            return MessageEndView(""), self._chart(ChartContents(self.program.name))
        if kind == "deadlock":
            return self._deadlock(refused=bool(moves))
        if kind == "stopped":
            text = "Nothing can happen any more, and a process has stopped: this is neither complete nor a deadlock."
            return MessageEndView("stopped", text), self._chart(ChartContents(self.program.name))
        return self._complete()

    def _deadlock(self, *, refused: bool) -> tuple[MessageEndView, Chart]:
        deadlock = Deadlock(waiting_processes(self.interpreter, self.at.world), self.at.schedule)
        why: DeadlockReason = deadlock_reason(self.program, deadlock, self.told, buffered_is_fine=False)
        text = "If the runtime buffers nothing more, this is forever." if refused else "Nothing can happen any more."
        reasons = (*(each.text for each in why.reasons), *((why.circle,) if why.circle else ()))
        chart = self._chart(ChartContents(self.program.name, why.reasons, why.cycle))
        return MessageEndView("deadlock", text, reasons, why.advice), chart

    def _complete(self) -> tuple[MessageEndView, Chart]:
        daemons = {me for me, process in enumerate(self.program.processes) if process.daemon}
        left = tuple(
            each for each in self.told.unmatched if each.direction == "send" or each.operation.process not in daemons
        )
        text = "Every process has ended."
        if daemons:
            text = "Every process has ended but daemons, which wait for messages."
        sends = sum(each.direction == "send" for each in left)
        parts = [count(sends, "message") + " that nothing takes"] if sends else []
        parts += [count(len(left) - sends, "receive") + " without a message"] if len(left) > sends else []
        reasons = (f"left over: {' and '.join(parts)}",) if parts else ()
        return MessageEndView("complete", text, reasons), self._chart(ChartContents(self.program.name, leaked=left))

    def _chart(self, show: ChartContents) -> Chart:
        return chart_of(self.program, OperationNames(self.program, {}), self.told, show)


def is_in_use(register: str, process: ReplayProcess) -> bool:
    """Return whether a register is one of the process itself, or of a function that it is in."""
    function, point, _ = register.partition(".")
    called = {each.name for each in process.point if isinstance(each, ReturnPoint)}
    return not point or function.partition("@")[0] in called


ASSERT: Final = "the assertion is false"
Requests = Mapping[tuple[Direction, OperationId], IssuedRequest]


@dataclass(frozen=True, slots=True)
class MessagePhrases:
    """Words for the moves and operations of one program; `requests` are the operations of the run that is told."""

    interpreter: Interpreter
    requests: Requests

    def name(self, process: int) -> str:
        return self.interpreter.program.processes[process].name

    def line(self, span: Span) -> int | None:
        return None if span == NO_SPAN else line_of(self.interpreter.program, span)

    def issued_at(self, direction: Direction, operation: OperationId) -> int | None:
        """Return the line that issued an operation of the run."""
        request = self.requests.get((direction, operation))
        return None if request is None else self.line(request.span)

    def move(self, world: ReplayState, move: Move, choice: int, event: str = "") -> MessageMoveView:
        """Return a move of `world` in words; `event` is the kind of the violation that it is, '' if it is none."""
        match move:
            case MatchMove(pair):
                return self._match(world, pair, choice)
            case BufferGrant(process):
                awaited = self.interpreter.performer.awaited(process, world.processes[process])
                assert isinstance(awaited, ActiveSend)
                name = self.name(process)
                line = self.issued_at("send", awaited.send)
                hint = f"the runtime has room for it, and {name} can go on"
                return MessageMoveView(choice, "grant", name, line, "its message is buffered", hint)
            case ProcessStep():
                return self._step(world, move, choice, event)

    def _match(self, world: ReplayState, pair: MatchedPair, choice: int) -> MessageMoveView:
        send = next(each for each in world.sends if each.name == pair.send)
        receive = next(each for each in world.receives if each.name == pair.receive)
        sent = self.issued_at("send", pair.send)
        where = "" if sent is None else f" (line {sent})"
        label = f"takes {shown_value(send.value)} from {self.name(pair.send.process)}{where}"
        line = self.issued_at("receive", pair.receive)
        hint = f"by its receive {self.pattern(receive)}"
        return MessageMoveView(choice, "match", self.name(pair.receive.process), line, label, hint)

    def _step(self, world: ReplayState, step: ProcessStep, choice: int, event: str) -> MessageMoveView:
        process = world.processes[step.process]
        top = process.point[-1]
        assert not isinstance(top, ReturnPoint)
        statement = self.interpreter.performer.statement(top)
        return MessageMoveView(
            choice,
            "step",
            self.name(step.process),
            self.line(self.interpreter.span(process)),
            self._does(statement, step.choice, isinstance(top, ForTest)),
            self._passes(world, self.interpreter.performer.awaited(step.process, process))
            if isinstance(statement, Wait)
            else "",
            (ASSERT if event == "assert" else FAULTS.get(event, event),) if event else (),
            is_local(step),
        )

    def statement(self, statement: Statement) -> str:
        """Return the text of a statement, of a compound one its head, of one of a library procedure what it is."""
        text = statement_at(self.interpreter.program, statement.span)
        if isinstance(statement, If | While | For | Loop | Choose | InlinedCall):
            text = text.partition("{")[0].strip()
        return text or type(statement).__name__.lower()

    def _does(self, statement: Statement, way: int | None, counting: bool) -> str:
        text = f"`{self.statement(statement)}`"
        match statement:
            case IssueSend():
                return f"sends: {text}"
            case IssueReceive():
                return f"posts its receive: {text}"
            case Wait():
                return f"goes on behind {text}"
            case Completion():
                return f"completes requests: {text}" if way else f"completes none: {text}"
            case Loop():
                return "goes round the loop once more" if way == 1 else "leaves the loop"
            case Choose(branches):
                inside = branches[way or 0]
                first = f": `{self.statement(inside[0])}`" if inside else ""
                return f"chooses branch {(way or 0) + 1}{first}"
            case If() | While():
                return f"tests {text}"
            case For():
                return f"takes the next of {text}" if counting else f"begins {text}"
            case RequestsDeclared(name):
                return f"declares the request `{name}`"
            case CollectiveCall(name):
                return f"calls `{name}`"
            case _:
                return text

    def _passes(self, world: ReplayState, awaited: Active | None) -> str:
        match awaited:
            case ActiveReceive(receive):
                message = next((each for each in world.delivered if each.receive == receive), None)
                return "" if message is None else f"it stores {shown_value(message.value)} from {self.name(message.sender)}"
            case ActiveSend(send):
                return "its message was taken" if send in world.sent_off else "its message is buffered"
            case _:
                return "nothing is to be waited for"

    def pattern(self, receive: UnmatchedReceive) -> str:
        """Return what a receive takes."""
        source = "any" if receive.source is None else self.name(receive.source)
        tag = "" if not receive.tag else f" tag {receive.tag}"
        return f"from {source}{self.port(receive.port)}{tag}"

    def message(self, send: UnmatchedSend) -> str:
        """Return an unmatched message."""
        tag = "" if not send.tag else f" tag {send.tag}"
        return f"{shown_value(send.value)} from {self.name(send.name.process)}{tag}"

    def port(self, port: int) -> str:
        return f" on {self.interpreter.program.ports[port]}" if port else ""
