"""Writing the trace of a run: what each process did, with names in place of registers, which change.

What a register holds is an expression over the names that the trace of its process defines.

More than 400 lines: what each statement of a process becomes in a trace is read as one table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.errors import InternalError, Span
from rdma_robust.expr import Const, Name
from rdma_robust.messages.language.message_printer import expression_text
from rdma_robust.messages.language.message_program import (
    Assert,
    Assign,
    Assume,
    Buffer,
    Completion,
    IssueCollective,
    IssueReceive,
    IssueSend,
    MessageProgram,
    Place,
    Probe,
)
from rdma_robust.messages.language.message_terms import (
    Element,
    FaultError,
    Length,
    Operation,
    Term,
    Value,
    Zeros,
    require_number,
    value_of,
)
from rdma_robust.messages.language.written_terms import number_text as number_written
from rdma_robust.messages.machine.courses import Course
from rdma_robust.messages.machine.flat_code import LoopBounds, Round, Test, WaitFor
from rdma_robust.messages.machine.process_state import CollectiveHandle, ReceiveHandle
from rdma_robust.messages.machine.request_rules import Single, active_singles, handle_of
from rdma_robust.messages.message_answers import MatchMove, Move, OperationId, ProcessStep, Schedule
from rdma_robust.messages.traces.trace_record import Field, MessageTrace, TraceEvent, TraceProcess, trace_json
from rdma_robust.text import free_name

Symbolic = Term | tuple["Symbolic", ...]
"""An expression, or an array whose length is known."""

ZERO = Const(0)


class NotConcreteError(Exception):
    """An index that is no number in this run, or of no element, though it has to say which element is meant."""


class RegisterExpressions:
    """The registers of one process; `assume` is told of conditions that make the run what it is."""

    def __init__(self, concrete: Mapping[str, Value], assume: Callable[[Term], None]) -> None:
        self.concrete = concrete
        self.held: dict[str, Symbolic] = {}
        self.assume = assume

    def of(self, term: Term) -> Symbolic:
        """Return what a term is, over the names of the trace. Raises FaultError and NotConcreteError."""
        match term:
            case Const():
                return term
            case Name(name):
                return self.held.get(name, ZERO)
            case Element(array, index):
                return self.element(self.of(array), index)
            case Length(array):
                inner = self.of(array)
                return Const(len(inner)) if isinstance(inner, tuple) else Length(inner)
            case Zeros(size):
                return (ZERO,) * self.fixed(size)
            case Operation("?", (condition, then, other)):
                return self.of(then if self.decided(condition) else other)
            case Operation("&&" | "||" as op, (left, right)):
                first = self.scalar(left)
                try:
                    return Operation(op, (first, self.scalar(right)))
                except NotConcreteError:
                    return Const(int(self.decided(left)))
            case Operation(op, operands):
                return Operation(op, tuple(self.scalar(each) for each in operands))

    def scalar(self, term: Term) -> Term:
        """Return what a term is, which must not be an array. Raises FaultError and NotConcreteError."""
        found = self.of(term)
        if isinstance(found, tuple):
            raise FaultError("kind")
        return found

    def element(self, array: Symbolic, index: Term) -> Symbolic:
        if not isinstance(array, tuple):
            return Element(array, self.scalar(index))
        at = self.fixed(index)
        if not 0 <= at < len(array):
            raise NotConcreteError
        return array[at]

    def fixed(self, term: Term) -> int:
        """Return the number that a term is in this run, and assume that it is that one."""
        try:
            value = require_number(value_of(term, self.concrete))
        except FaultError:
            raise NotConcreteError from None
        found = self.scalar(term)
        if not isinstance(found, Const):
            self.assume(Operation("==", (found, Const(value))))
        return value

    def decided(self, condition: Term) -> bool:
        """Return whether a condition is true in this run, and assume that it is so."""
        value = bool(require_number(value_of(condition, self.concrete)))
        found = self.scalar(condition)
        if not isinstance(found, Const):
            self.assume(found if value else Operation("!", (found,)))
        return value

    def store(self, name: str, indices: tuple[int, ...], value: Symbolic) -> None:
        """Put a value into a register, or into an element of what it holds, which exists."""
        self.held[name] = self._stored(self.held.get(name, ZERO), self.concrete[name], indices, value)

    def _stored(self, held: Symbolic, concrete: Value, indices: tuple[int, ...], value: Symbolic) -> Symbolic:
        if not indices:
            return value
        if not isinstance(concrete, tuple) or not 0 <= indices[0] < len(concrete):
            raise NotConcreteError
        if not isinstance(held, tuple):
            self.assume(Operation("==", (Length(held), Const(len(concrete)))))
            held = tuple(Element(held, Const(at)) for at in range(len(concrete)))
        at = indices[0]
        return (*held[:at], self._stored(held[at], concrete[at], indices[1:], value), *held[at + 1 :])


def expression_of_term(term: Term) -> str:
    """Return a term as `.mp` text."""
    match term:
        case Const(value):
            text = expression_text(number_written(value))
            return text if text.isdigit() else f"({text})"
        case Name(name):
            return name
        case Element(array, index):
            return f"{expression_of_term(array)}[{expression_of_term(index)}]"
        case Length(array):
            return f"len({expression_of_term(array)})"
        case Zeros(size):
            return f"new({expression_of_term(size)})"
        case Operation(op, (only,)):
            return f"{op}{_operand(only)}"
        case Operation(op, (left, right)):
            return f"{_operand(left)} {op} {_operand(right)}"
        case _:
            raise ValueError(f"no text for {term}")


def _operand(term: Term) -> str:
    text = expression_of_term(term)
    return f"({text})" if isinstance(term, Operation) else text


LIBRARY_PORT: Final = "collective"
"""What the port of library procedures is called in a trace, which has the messages that they consist of."""

_RESERVED: Final = "coll"


def write_trace(program: MessageProgram, buffer: Buffer, schedule: Schedule, notes: tuple[str, ...] = ()) -> str:
    """Return the JSON of the trace of a run: its events in each process, and what its receives took.

    What decided its control flow is assumed, so the trace has the runs of the program that take the same way. A fault is
    written as an assertion that fails. Raises InternalError if the schedule is no run of the program.
    """
    course = _Writing(program, buffer)
    for move in schedule:
        course.record(move)
    return trace_json(course.trace(notes))


class _Writing(Course):
    def __init__(self, program: MessageProgram, buffer: Buffer) -> None:
        super().__init__(program, buffer)
        self.program = program
        self.writers = [_ProcessWriter(self, me) for me in range(len(self.frames))]
        self.matched: dict[OperationId, OperationId] = {}

    def record(self, move: Move) -> None:
        """Make a move, and write what it is."""
        if isinstance(move, ProcessStep):
            self.writers[move.process].step(move.choice)
            return
        self.make(move)
        if isinstance(move, MatchMove):
            self.matched[move.pair.receive] = move.pair.send

    def trace(self, notes: tuple[str, ...]) -> MessageTrace:
        processes = zip(self.program.processes, self.writers, strict=True)
        made = (TraceProcess(each.name, writer.finished(), each.daemon) for each, writer in processes)
        return MessageTrace(self.program.name, tuple(made), notes)

    def port(self, number: int) -> Field:
        name = self.program.ports[number]
        if name != _RESERVED:
            return name or None
        free = LIBRARY_PORT
        while free in self.program.ports:
            free += "_"
        return free


class _ProcessWriter:
    """The events of one process."""

    def __init__(self, course: _Writing, me: int) -> None:
        self.course = course
        self.me = me
        self.events: list[TraceEvent] = []
        self.line: int | None = None
        self.frame = course.frames[me]
        self.symbols = RegisterExpressions(self.frame.registers, self.assumed)
        self.used: set[str] = set()
        self.requests: dict[Single, str] = {}
        self.issued = 0
        self.receives: dict[int, int] = {}
        """The number of a receive to that of its event."""
        self.stores: dict[str, str] = {}
        """Under which name a call stores what it gets, by its request."""

    def fresh(self, base: str) -> str:
        """Return a name that is not used yet, like `base`."""
        return free_name(re.sub(r"\W", "_", base).strip("_") or "v", self.used)

    def add(self, op: str, **fields: Field) -> None:
        self.events.append(TraceEvent(op, fields, self.line))

    def assumed(self, condition: Term) -> None:
        self.add("assume", expr=expression_of_term(condition))

    def step(self, choice: int | None) -> None:
        """Make a step, and write what it is."""
        before, failed = len(self.events), False
        span = self.course.rules[self.me].span(self.frame.pc)
        self.line = _line(span)
        try:
            late = self.write(choice)
        except (FaultError, NotConcreteError):
            late, failed = None, True
        kind = self.course.step(self.me, choice)
        if kind not in ("", "assert"):
            del self.events[before:]
            self.add("assert", expr="0")
            self.add("assume", expr="0")
        elif failed:
            raise InternalError(f"step {len(self.course.moves)} of the run cannot be written into a trace")
        elif late is not None:
            name, indices, value = late
            self.symbols.store(name, indices, value)

    def write(self, choice: int | None) -> tuple[str, tuple[int, ...], Symbolic] | None:
        """Write the next step; return what it stores, if it is an assignment."""
        symbols = self.symbols
        match self.course.processes[self.me].code[self.frame.pc]:
            case Assign(target, value):
                return target.name, self.indices(target), self.named(target.name, symbols.of(value))
            case IssueSend() as send:
                self.send(send)
            case IssueReceive() as receive:
                self.receive(receive)
            case Probe() as probe:
                self.probe(probe, choice or 0)
            case IssueCollective() as call:
                self.enter(call)
            case WaitFor(place):
                self.indices(place)
                self.passed(self.course.rules[self.me].awaited(self.frame))
            case Completion() as wanted:
                self.complete(wanted, choice or 0)
            case Test(condition):
                symbols.decided(condition)
            case LoopBounds(low, high, following, last):
                symbols.held[following], symbols.held[last] = Const(symbols.fixed(low)), Const(symbols.fixed(high))
            case Round(counter, following):
                at = self.frame.registers[following]
                assert isinstance(at, int)
                symbols.held[counter], symbols.held[following] = Const(at), Const(at + 1)
            case Assume(condition):
                self.add("assume", expr=expression_of_term(symbols.scalar(condition)))
            case Assert(condition):
                self.add("assert", expr=expression_of_term(symbols.scalar(condition)))
            case _:
                pass
        return None

    def indices(self, place: Place) -> tuple[int, ...]:
        return tuple(self.symbols.fixed(each) for each in place.indices)

    def named(self, base: str, value: Symbolic) -> Symbolic:
        """Return a value, by a name if it is more than a name or a number."""
        if not isinstance(value, Operation):
            return value
        name = self.fresh(base)
        self.add("assign", to=name, value=expression_of_term(value))
        return Name(name)

    def array(self, base: str, value: Symbolic) -> Term:
        """Return a value that an expression can have; an array is put together under a name."""
        if not isinstance(value, tuple):
            return value
        name = self.fresh(base)
        items = [(at, self.array(base, each)) for at, each in enumerate(value) if each != Const(0)]
        self.add("assign", to=name, value=expression_of_term(Zeros(Const(len(value)))))
        for at, item in items:
            self.add("assign", to=f"{name}[{at}]", value=expression_of_term(item))
        return Name(name)

    def send(self, send: IssueSend) -> None:
        value = expression_of_term(self.array("message", self.symbols.of(send.value)))
        to, tag = self.symbols.fixed(send.to), self.symbols.fixed(send.tag)
        request = self.request(send.request)
        mode: dict[str, Field] = {} if send.mode == "standard" else {send.mode: True}
        said = self.said(type=send.of_type, size=send.size)
        self.add("isend", to=to, port=self.course.port(send.port), tag=tag, value=value, **mode, **said, request=request)

    def receive(self, receive: IssueReceive) -> None:
        fixed = self.symbols.fixed
        source: Field = "any" if receive.source is None else fixed(receive.source)
        tag: Field = "any" if receive.tag is None else fixed(receive.tag)
        fields: dict[str, Field] = {"into": self.fresh(receive.target.name), "from": source}
        for member, place, known in (("sender", receive.sender, source), ("which", receive.which, tag)):
            if place is not None:
                self.indices(place)
                if known == "any":
                    fields[member] = self.fresh(place.name)
        self.indices(receive.target)
        held = None if receive.of is None else self.requests.get(self.single(receive.of), "")
        if held == "":
            raise FaultError("message")
        request = self.request(receive.request)
        self.receives[self.frame.received] = len(self.events)
        if held is not None:
            self.add("imrecv", into=fields["into"], of=held, request=request)
            return
        fields |= self.said(type=receive.of_type, room=receive.room)
        self.add("irecv", **fields, port=self.course.port(receive.port), tag=tag, request=request)

    def enter(self, call: IssueCollective) -> None:
        root, members = self.said(root=call.root), self.course.groups[call.group]
        if self.me not in members or root.get("root", self.me) not in (self.me, *members):
            raise FaultError("member")
        operation: dict[str, Field] = {"operation": call.fold} if call.fold else self.said(operation=call.op)
        group: dict[str, Field] = {"group": members} if call.group else {}
        fields = {"name": call.name, **group, **root, **operation, **self.said(type=call.sig)}
        if call.give is not None:
            fields["value"] = expression_of_term(self.array("given", self.symbols.of(call.give)))
        if call.get is not None:
            self.indices(call.get)
            fields["into"] = self.fresh(call.get.name)
        request = self.request(call.request)
        self.stores[request] = str(fields.get("into", ""))
        if call.blocking:
            self.add("enter", **fields)
        else:
            self.add("ienter", **fields, request=request)

    def said(self, **terms: Term | None) -> dict[str, Field]:
        """Return what an operation says of type and length, as it is in the run."""
        return {name: self.symbols.fixed(each) for name, each in terms.items() if each is not None}

    def probe(self, probe: Probe, choice: int) -> None:
        """Write a look that saw a message, whose sender and tag are known then; one that saw none is no event."""
        seen = self.course.seen(self.me, choice)
        stored: list[tuple[Place | None, int]] = [(probe.flag, int(seen is not None))]
        if seen is not None:
            sender = choice - 1
            fields: dict[str, Field] = {"from": sender, "port": self.course.port(probe.port), "tag": seen.tag}
            if probe.taken is None:
                self.add("probe", **fields)
            else:
                self.add("mprobe", taken=self.request(probe.taken), **fields)
            stored += [(probe.sender, sender), (probe.which, seen.tag)]
        for place, value in stored:
            if place is not None:
                self.symbols.store(place.name, self.indices(place), Const(value))

    def request(self, place: Place) -> str:
        """Return a new name for a request."""
        single = self.single(place)
        self.issued += 1
        name = self.requests[single] = f"h{self.issued}"
        return name

    def single(self, place: Place) -> Single:
        """Return which request a place is."""
        indices = self.indices(place)
        return place.name, indices[0] if indices else -1

    def complete(self, wanted: Completion, choice: int) -> None:
        """Write the waits for what is complete, one after the other, and keep which it was, which is known then."""
        for place in wanted.requests:
            self.indices(place)
        done = self.course.rules[self.me].completed(self.frame, wanted, choice)
        for single in done.requests:
            self.passed(single)
        for place, values in done.stored(wanted):
            indices = self.indices(place)
            for at, value in values:
                self.symbols.store(place.name, (*indices, *at), Const(value))

    def passed(self, single: Single | None) -> None:
        """Write the wait for an active request, and keep under which names its receive stores."""
        handle = None if single is None else handle_of(self.frame, single)
        if single is None or handle is None:
            return
        name = self.requests[single]
        if isinstance(handle, CollectiveHandle):
            if single[0] != "$collective":
                self.add("wait", request=name)
            if handle.target is not None and handle.got:
                self.symbols.store(*handle.target, Name(self.stores[name]))
            return
        self.add("wait", request=name)
        if isinstance(handle, ReceiveHandle):
            issued = next(each for each in self.events if each.fields.get("request") == name)
            known = (None, issued.fields.get("from"), issued.fields.get("tag"))
            members = (("into", handle.target), ("sender", handle.sender), ("which", handle.which))
            for (member, spot), number in zip(members, known, strict=True):
                stored = issued.fields.get(member)
                if spot is not None:
                    self.symbols.store(*spot, Name(stored) if isinstance(stored, str) else _number(number))

    def finished(self) -> tuple[TraceEvent, ...]:
        """Return the events, with the wait at which the process stays, and what receives took."""
        rules = self.course.rules[self.me]
        handle = rules.held_up(self.frame) if self.frame.status == "runs" else None
        single = next((single for single, each in active_singles(self.frame) if each is handle), None)
        if single is not None and single[0] != "$collective":
            self.line = _line(rules.span(self.frame.pc))
            self.add("wait", request=self.requests[single])
        for nth, at in self.receives.items():
            send = self.course.matched.get(OperationId(self.me, nth))
            if send is not None:
                event = self.events[at]
                self.events[at] = TraceEvent(event.op, {**event.fields, "matched": (send.process, send.nth)}, event.line)
        return tuple(_blocking(self.events))


def _blocking(events: list[TraceEvent]) -> list[TraceEvent]:
    """Return the events with an issue and the wait behind it as one."""
    found: list[TraceEvent] = []
    for event in events:
        before = found[-1] if found else None
        is_issued = before is not None and before.op != "ienter"
        if (
            event.op == "wait"
            and before is not None
            and is_issued
            and before.fields.get("request") == event.fields["request"]
        ):
            rest = {name: value for name, value in before.fields.items() if name != "request"}
            found[-1] = TraceEvent(before.op.removeprefix("i"), rest, before.line)
        else:
            found.append(event)
    return found


def _number(known: Field) -> Const:
    assert isinstance(known, int)
    return Const(known)


def _line(span: Span) -> int | None:
    """Return the line of the program that a statement is on; of one of the library, that of the call."""
    while span.origin is not None:
        span = span.origin
    return span.line if span.end > span.start or span.line > 1 else None
