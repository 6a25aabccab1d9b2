"""A schedule, move by move, as events: what was issued, matched and waited for, with values and places in the text.

The schedule was replayed by the module that shares nothing with the machine; here the machine tells what its moves did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.errors import Span
from rdma_robust.expr import Const
from rdma_robust.messages.language.message_program import (
    Assert,
    Assume,
    Block,
    Buffer,
    Choose,
    CollectiveCall,
    Completion,
    For,
    Halt,
    If,
    InlinedCall,
    IssueCollective,
    IssueReceive,
    IssueSend,
    Loop,
    MessageProgram,
    Probe,
    Return,
    Statement,
    While,
)
from rdma_robust.messages.language.message_terms import Term, Value, shown_value, term_names
from rdma_robust.messages.machine.courses import Course
from rdma_robust.messages.machine.flat_code import BranchChoice, WaitFor
from rdma_robust.messages.machine.group_calls import absent_members
from rdma_robust.messages.machine.process_state import ANYTHING, ProcessFrame, singles
from rdma_robust.messages.message_answers import BufferGrant, MatchMove, Move, OperationId, ProcessStep, Schedule
from rdma_robust.reports.messages.message_claims import line_of

Direction = Literal["send", "receive"]

MOST: Final = 2_000
"""Operations of a process whose places are looked for; of later ones none is known."""

Counts = frozenset[int]
"""How many operations may have been issued where control comes to a point."""


@dataclass
class _Walk:
    """All paths of one process at once, for its operations of one kind. What `return` leaves waits in `returned`."""

    kind: type[IssueSend | IssueReceive]
    places: dict[int, dict[int, Span]] = field(default_factory=dict)
    returned: Counts = frozenset()

    def block(self, body: Block, at: Counts) -> Counts:
        for statement in body:
            if not at:
                break
            at = self.statement(statement, at)
        return at

    def statement(self, statement: Statement, at: Counts) -> Counts:
        match statement:
            case IssueSend(span=span) | IssueReceive(span=span):
                return self._issued(span, at) if isinstance(statement, self.kind) else at
            case If(then=then, other=other):
                return self.block(then, at) | self.block(other, at)
            case Choose(branches):
                return frozenset().union(*(self.block(each, at) for each in branches))
            case For(low=Const(low), high=Const(high), body=body):
                for _ in range(min(high - low + 1, MOST)):
                    at = self.block(body, at)
                return at
            case While(body=body) | Loop(body=body) | For(body=body):
                return self._any_number(body, at)
            case InlinedCall(body=body):
                outer, self.returned = self.returned, frozenset()
                left = self.block(body, at) | self.returned
                self.returned = outer
                return left
            case Return():
                self.returned |= at
                return frozenset()
            case Halt():
                return frozenset()
            case _:
                return at

    def _issued(self, span: Span, at: Counts) -> Counts:
        for count in at:
            self.places.setdefault(count, {})[span.start] = span
        return frozenset(count + 1 for count in at if count + 1 < MOST)

    def _any_number(self, body: Block, at: Counts) -> Counts:
        seen, new = at, at
        while new:
            new = self.block(body, new) - seen
            seen |= new
        return seen


@dataclass(frozen=True)
class OperationNames:
    """Names for the operations of a program; see :func:`operation_names`."""

    program: MessageProgram
    places: dict[tuple[Direction, OperationId], tuple[Span, ...]]

    def spans(self, direction: Direction, operation: OperationId) -> tuple[Span, ...]:
        """Return every place of the text where the operation can be issued, the first first; none if that is not known."""
        return self.places.get((direction, operation), ())

    def line(self, direction: Direction, operation: OperationId) -> int | None:
        """Return the line of the operation if it is the same in all runs."""
        lines = {line_of(self.program, span) for span in self.spans(direction, operation)}
        return lines.pop() if len(lines) == 1 else None

    def told(self, direction: Direction, operation: OperationId) -> str:
        """Return the operation for people, as in `receive 2 of Server (line 9)`; they count from 1."""
        name = self.program.processes[operation.process].name
        return f"{direction} {operation.nth + 1} of {name}{self.where(direction, operation)}"

    def where(self, direction: Direction, operation: OperationId) -> str:
        """Return ` (line 9)`, or '' if that is not known."""
        lines = sorted({line_of(self.program, span) for span in self.spans(direction, operation)})
        return f" (line {' or '.join(map(str, lines))})" if 0 < len(lines) <= 3 else ""


def operation_names(program: MessageProgram) -> OperationNames:
    """Return the names of the operations of `program`.

    All paths of each process are followed, whatever the conditions: so an operation is at no other places than those found,
    and one that has one place is there in every run.
    """
    kinds: tuple[tuple[Direction, type[IssueSend | IssueReceive]], ...] = (("send", IssueSend), ("receive", IssueReceive))
    found: dict[tuple[Direction, OperationId], tuple[Span, ...]] = {}
    for number, process in enumerate(program.processes):
        for direction, kind in kinds:
            walk = _Walk(kind)
            walk.block(process.body, frozenset({0}))
            for nth, spans in walk.places.items():
                found[direction, OperationId(number, nth)] = tuple(spans[start] for start in sorted(spans))
    return OperationNames(program, found)


EventKind = Literal[
    "send",
    "post",
    "match",
    "wait",
    "grant",
    "choice",
    "false",
    "stop",
    "fault",
    "collective",
    "look",
    "hold",
    "enter",
    "leave",
]


@dataclass(frozen=True, slots=True)
class IssuedRequest:
    """A send or receive that was issued. `peer` is the destination or the named source; it and `tag` are None for any.

    `hidden` if the statement waits for it by itself.
    """

    operation: OperationId
    direction: Direction
    peer: int | None
    port: int
    tag: int | None
    hidden: bool
    span: Span
    value: Value = 0


@dataclass(frozen=True, slots=True)
class RunEvent:
    """A move of a run, to be told. `request` is what is issued, or waited for, or for a match the receive, and `taken`
    its send; what a wait for a receive stores is the value of `taken`. `text` is said of the others."""

    kind: EventKind
    process: int
    span: Span
    request: IssuedRequest | None = None
    taken: IssuedRequest | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Narration:
    """The events of a run, and its end: operations that nothing matched, and the processes that ended and that stopped."""

    events: tuple[RunEvent, ...]
    unmatched: tuple[IssuedRequest, ...]
    ended: frozenset[int]
    stopped: frozenset[int]
    requests: Mapping[tuple[Direction, OperationId], IssuedRequest]
    matches: Mapping[OperationId, OperationId]
    """The send of each receive that is matched."""
    absent: Mapping[int, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    """The collective operation that a process waits in at the end, and the members that have not entered it."""


def narrated(program: MessageProgram, buffer: Buffer, schedule: Schedule) -> Narration:
    """Return what happens in a schedule that was replayed. A move that the machine does not have ends it there."""
    teller = _Teller(program, buffer)
    events = [event for move in schedule for event in teller.told(move)]
    matched = {("receive", each) for each in teller.matches} | {("send", each) for each in teller.matches.values()}
    return Narration(
        tuple(events),
        tuple(each for key, each in teller.requests.items() if key not in matched),
        frozenset(number for number, frame in enumerate(teller.frames) if frame.status == "ended"),
        frozenset(number for number, frame in enumerate(teller.frames) if frame.status == "stopped"),
        teller.requests | dict(teller.open_looks()),
        teller.matches,
        dict(teller.absent()),
    )


class _Teller(Course):
    """A run as it grows by moves, and which operation each active request is."""

    def __init__(self, program: MessageProgram, buffer: Buffer) -> None:
        super().__init__(program, buffer)
        self.requests: dict[tuple[Direction, OperationId], IssuedRequest] = {}
        self.matches: dict[OperationId, OperationId] = {}
        self.slots: dict[tuple[int, str, int], IssuedRequest] = {}

    def told(self, move: Move) -> Iterator[RunEvent]:
        match move:
            case MatchMove((receive, send)):
                wrong = self.make(move)
                self.matches[receive] = send
                request = self.requests["receive", receive]
                yield RunEvent("match", receive.process, request.span, request, self.requests["send", send])
                if wrong:
                    yield RunEvent("fault", receive.process, request.span, text=wrong)
            case BufferGrant(process):
                nth = self.waited_send(process)
                assert nth is not None
                self.make(move)
                if nth == ANYTHING:
                    yield RunEvent("leave", process, self.rules[process].span(self.frames[process].pc))
                    return
                request = self.requests["send", OperationId(process, nth)]
                yield RunEvent("grant", process, request.span, request)
            case ProcessStep(process, choice):
                yield from self._step(process, choice)

    def absent(self) -> Iterator[tuple[int, tuple[str, tuple[int, ...]]]]:
        """Yield the processes that wait in a collective operation, its name and the members that have not entered."""
        for process, (rules, frame) in enumerate(zip(self.rules, self.frames, strict=True)):
            handle = rules.held_up(frame) if frame.status == "runs" else None
            found = absent_members(process, handle, self.frames, self.groups)
            if found is not None:
                yield process, found

    def open_looks(self) -> Iterator[tuple[tuple[Direction, OperationId], IssuedRequest]]:
        """Yield the looks that processes stand before, as the receives that would take what they wait to see."""
        for process, (rules, frame) in enumerate(zip(self.rules, self.frames, strict=True)):
            look = rules.look(frame) if frame.status == "runs" else None
            if look is not None:
                at, span = OperationId(process, look.nth), rules.span(frame.pc)
                yield (
                    ("receive", at),
                    IssuedRequest(at, "receive", _any(look.source), look.port, _any(look.tag), hidden=True, span=span),
                )

    def _step(self, process: int, choice: int | None) -> Iterator[RunEvent]:
        rules, frame = self.rules[process], self.frames[process]
        instruction, span = rules.process.code[frame.pc], rules.span(frame.pc)
        before, registers, clashes = _slots(frame), dict(frame.registers), len(self.clashes)
        kind = self.step(process, choice)
        if kind not in ("", "assert"):
            yield RunEvent("fault", process, span, text=kind)
            return
        changed = [slot for slot, handle in _slots(frame).items() if before.get(slot) != handle]
        match instruction:
            case IssueSend() | IssueReceive():
                yield self._issued(process, instruction, changed)
            case Probe(taken=held) if choice:
                yield RunEvent("look" if held is None else "hold", process, span, text=f"{choice - 1}")
            case WaitFor() | Completion():
                for slot in changed:
                    request = self.slots.pop((process, *slot), None)
                    if request is not None:
                        taken = self.matches.get(request.operation) if request.direction == "receive" else None
                        message = None if taken is None else self.requests["send", taken]
                        yield RunEvent("wait", process, span, request, message)
            case Assert(condition) if kind:
                yield RunEvent("false", process, span, text=_values(condition, registers))
            case Assume(condition) if frame.status == "stopped":
                yield RunEvent("stop", process, span, text=_values(condition, registers))
            case BranchChoice():
                yield RunEvent("choice", process, span, text=str((choice or 0) + 1))
            case CollectiveCall(name):
                yield RunEvent("collective", process, span, text=name)
            case IssueCollective(name=name):
                yield RunEvent("enter", process, span, text=name)
                for (place, wrong), whose in list(self.clashes.items())[clashes:]:
                    yield RunEvent("fault", whose, place, text=wrong)

    def _issued(self, process: int, issue: IssueSend | IssueReceive, changed: list[tuple[str, int]]) -> RunEvent:
        frame = self.frames[process]
        hidden = issue.request.name.startswith("$")
        if isinstance(issue, IssueSend):
            sent = frame.sends[-1]
            at = OperationId(process, sent.nth)
            request = IssuedRequest(at, "send", sent.to, sent.port, sent.tag, hidden, issue.span, sent.value)
        else:
            op = frame.receives[-1]
            at = OperationId(process, op.nth)
            request = IssuedRequest(at, "receive", _any(op.source), op.port, _any(op.tag), hidden, issue.span)
        self.requests[request.direction, at] = request
        for name, index in changed:
            self.slots[process, name, index] = request
        return RunEvent("send" if request.direction == "send" else "post", process, issue.span, request)


def _any(number: int) -> int | None:
    return None if number == ANYTHING else number


def _slots(frame: ProcessFrame) -> dict[tuple[str, int], object]:
    """Return the requests of a process one by one."""
    return {(name, index): handle for name, slot in frame.requests.items() for index, handle in singles(slot)}


def _values(condition: Term, registers: Mapping[str, Value]) -> str:
    """Return what the registers of a condition were, as in `v is 2, w is 0`."""
    names = dict.fromkeys(term_names(condition))
    return ", ".join(f"{name} is {shown_value(registers[name])}" for name in names if name in registers)
