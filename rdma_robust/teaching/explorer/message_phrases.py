"""Moves of a message program in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.messages.language.message_program import (
    Choose,
    CollectiveCall,
    For,
    If,
    InlinedCall,
    IssueReceive,
    IssueSend,
    Loop,
    Statement,
    Wait,
    While,
)
from rdma_robust.messages.language.message_program import Requests as RequestsDeclared
from rdma_robust.messages.language.message_terms import shown_value
from rdma_robust.messages.message_answers import BufferGrant, MatchedPair, MatchMove, Move, OperationId, ProcessStep
from rdma_robust.messages.replay.interpreter import Interpreter
from rdma_robust.messages.replay.world import (
    Active,
    ActiveReceive,
    ActiveSend,
    ForTest,
    ReplayState,
    ReturnPoint,
    UnmatchedReceive,
    UnmatchedSend,
)
from rdma_robust.reports.messages.narration import IssuedRequest
from rdma_robust.reports.messages.operation_names import Direction
from rdma_robust.reports.messages.violation_words import FAULTS, line_of, statement_at
from rdma_robust.teaching.explorer.message_runs import is_local
from rdma_robust.teaching.explorer.message_view import MessageMoveView

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
