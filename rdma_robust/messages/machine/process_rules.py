"""The rules local, issue and wait for one process, and `match` between two: which are enabled, what each changes.

In a frame of a process that `runs`, :meth:`ProcessRules.step` executes the next instruction, and
:meth:`ProcessRules.blocking` says what the process waits for if there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.messages.language.message_program import (
    Abort,
    Assert,
    Assign,
    Assume,
    CollectiveCall,
    Completion,
    Halt,
    IssueCollective,
    IssueReceive,
    IssueSend,
    Place,
    Probe,
    Requests,
    completion_of,
)
from rdma_robust.messages.language.message_terms import (
    FaultError,
    Term,
    Value,
    require_number,
    value_of,
    value_size,
    zeros,
)
from rdma_robust.messages.machine.flat_code import BranchChoice, Jump, LoopBounds, Round, Test, WaitFor
from rdma_robust.messages.machine.process_state import (
    ANYTHING,
    CollectiveHandle,
    CollectiveOp,
    MessageHandle,
    ProcessFrame,
    ReceiveHandle,
    ReceiveOp,
    SendHandle,
    SendOp,
    singles,
)
from rdma_robust.messages.machine.request_rules import (
    RequestRules,
    Single,
    handle_of,
    holder,
    open_send,
    put_request,
    spot_of,
    store_at,
)

_CALLS: Final = 1000
"""Library procedures that are kept of a process, to be compared with those of others."""


@dataclass(frozen=True, slots=True)
class ProcessRules(RequestRules):
    """The rules for process number `me` of `count`, under a buffer semantics."""

    def span(self, at: int) -> Span:
        """Return the place of an instruction in the text."""
        instruction = self.process.code[at]
        return NO_SPAN if isinstance(instruction, Jump) else instruction.span

    def choices(self, frame: ProcessFrame) -> Sequence[int]:
        """Return the choices that the next step has by itself, if it has to choose; of an `iprobe`, to see nothing."""
        match self.process.code[frame.pc]:
            case BranchChoice(targets):
                return range(len(targets))
            case Probe(flag=Place()) if self.look(frame) is not None:
                return (0,)
            case Completion() as wanted:
                return self.completions(frame, wanted)
            case _:
                return ()

    def is_held_up(self, frame: ProcessFrame) -> bool:
        """Whether the next step is to complete requests, and cannot be made."""
        return bool(self.lacks(frame)) and not self.choices(frame)

    def issued(self, frame: ProcessFrame) -> Single | None:
        """Return the request that the operation issued by the last step has, if the next step issues one."""
        instruction = self.process.code[frame.pc]
        if not isinstance(instruction, IssueSend | IssueReceive):
            return None
        try:
            return instruction.request.name, self.single(frame, instruction.request)[0]
        except FaultError:
            return None

    def look(self, frame: ProcessFrame) -> ReceiveOp | None:
        """Return what the process looks for, as the receive that would take it, if a look without a fault is next."""
        instruction = self.process.code[frame.pc]
        try:
            return self._takes(frame, instruction) if isinstance(instruction, Probe) else None
        except FaultError:
            return None

    def is_seen(self, frame: ProcessFrame) -> bool:
        """Whether others see when the next step is made: a receive where it may be expected, or a send that expects one."""
        match self.process.code[frame.pc]:
            case IssueReceive(port=port, of=None):
                return port in self.expecting
            case IssueSend(mode=mode):
                return mode == "ready"
            case _:
                return False

    def expects(self, frame: ProcessFrame) -> SendOp | None:
        """Return the message that the next step sends ready, if it does and that is no fault by itself."""
        instruction = self.process.code[frame.pc]
        if not isinstance(instruction, IssueSend) or instruction.mode != "ready":
            return None
        try:
            return self._message(frame, instruction)
        except FaultError:
            return None

    def _message(self, frame: ProcessFrame, send: IssueSend) -> SendOp:
        registers = frame.registers
        value = value_of(send.value, registers)
        to = self._process_number(value_of(send.to, registers), "destination")
        tag = _tag(value_of(send.tag, registers))
        return SendOp(frame.sent, to, send.port, tag, value, said=_said(frame, send.of_type, send.size))

    def _takes(self, frame: ProcessFrame, wanted: Probe | IssueReceive) -> ReceiveOp:
        """Return the receive that is posted next, or that stands for a look; raises FaultError."""
        if isinstance(wanted, IssueReceive) and wanted.of is not None:
            held = self.single(frame, wanted.of)[1]
            if not isinstance(held, MessageHandle):
                raise FaultError("message")
            return ReceiveOp(frame.received, held.port, held.sender, held.tag, held.key)
        source = ANYTHING
        if wanted.source is not None:
            source = self._process_number(value_of(wanted.source, frame.registers), "source")
        tag = ANYTHING if wanted.tag is None else _tag(value_of(wanted.tag, frame.registers))
        if isinstance(wanted, Probe):
            self.spare(frame, wanted.taken)
            return ReceiveOp(frame.received, wanted.port, source, tag)
        said = _said(frame, wanted.of_type, wanted.room)
        at = frame.pc if wanted.is_checked else 0
        return ReceiveOp(frame.received, wanted.port, source, tag, said=said, at=at)

    def _probe(self, frame: ProcessFrame, probe: Probe, seen: SendOp | None, sender: int) -> None:
        """Store what was seen, if something was, and hold it if it is taken; else store that nothing was."""
        self._takes(frame, probe)
        at = self.spare(frame, probe.taken)
        found = (0, None, None) if seen is None else (1, sender, seen.tag)
        for place, value in zip((probe.flag, probe.sender, probe.which), found, strict=True):
            if place is not None and value is not None:
                store_at(spot_of(place, frame.registers), value, frame.registers)
        if probe.taken is not None and seen is not None:
            put_request(frame, probe.taken.name, at, MessageHandle(sender, seen.port, seen.tag, seen.key))

    def see(self, frame: ProcessFrame, others: ProcessFrame, sender: int, number: int) -> str:
        """Make a look that sees the message `number` of `others`, the process `sender`, and mark that if it is taken.

        Return the kind of violation that it is, or ''.
        """
        message, look = others.sends[number], self.process.code[frame.pc]
        if isinstance(look, Probe) and look.taken is not None:
            message = message._replace(key=_unused_key(frame))
        violation = self.step(frame, sender + 1, message)
        if not violation:
            others.sends[number] = message
        return violation

    def step(self, frame: ProcessFrame, choice: int = 0, seen: SendOp | None = None, *, expected: bool = False) -> str:
        """Execute the next instruction, which is not blocked. Return the kind of violation that it is, or ''.

        A look has `seen` the message of process `choice` - 1. What is sent ready is `expected` if a posted receive takes it.
        """
        try:
            return self._execute(frame, choice, seen, expected)
        except FaultError as fault:
            frame.status = "stopped"
            return fault.kind

    def _execute(self, frame: ProcessFrame, choice: int, seen: SendOp | None, expected: bool) -> str:
        instruction, registers = self.process.code[frame.pc], frame.registers
        goes_to = self.process.following[frame.pc]
        violation = ""
        match instruction:
            case Assign(target, value):
                spot = spot_of(target, registers)
                store_at(spot, value_of(value, registers), registers)
            case Requests():
                _declare(frame, instruction)
            case IssueSend():
                self._send(frame, instruction, expected=expected)
            case IssueReceive():
                self._receive(frame, instruction)
            case Probe():
                self._probe(frame, instruction, seen, choice - 1)
            case IssueCollective():
                self._enter(frame, instruction)
            case WaitFor(place):
                if self.pass_wait(frame, place):
                    return ""
            case Completion():
                self.complete(frame, instruction, choice)
            case Test(condition, otherwise):
                if not require_number(value_of(condition, registers)):
                    goes_to = self.process.landing(otherwise)
            case BranchChoice(targets):
                goes_to = self.process.landing(targets[choice])
            case LoopBounds(low, high, following, last):
                first = require_number(value_of(low, registers))
                registers[following], registers[last] = first, require_number(value_of(high, registers))
            case Round():
                goes_to = self._round(frame, instruction)
            case CollectiveCall() if len(frame.calls) < _CALLS:
                frame.calls = (*frame.calls, _called(instruction, frame))
            case Assume(condition):
                if not require_number(value_of(condition, registers)):
                    frame.status = "stopped"
                    return ""
            case Assert(condition):
                violation = "" if require_number(value_of(condition, registers)) else "assert"
            case Abort(error):
                value_of(error, registers)
                raise FaultError("abort")
            case Halt():
                goes_to = self.process.end
        frame.pc = goes_to
        if goes_to == self.process.end:
            frame.status = "ended"
        return violation

    def _round(self, frame: ProcessFrame, loop: Round) -> int:
        registers = frame.registers
        at = require_number(registers[loop.following])
        if at <= require_number(registers[loop.last]):
            registers[loop.counter], registers[loop.following] = at, at + 1
            return self.process.following[frame.pc]
        registers[loop.following] = registers[loop.last] = 0
        return self.process.landing(loop.otherwise)

    def _send(self, frame: ProcessFrame, send: IssueSend, *, expected: bool) -> None:
        message = self._message(frame, send)
        if send.mode == "ready" and not expected:
            raise FaultError("ready")
        opened = completion_of(send.mode, value_size(message.value), self.buffer, self.eager)
        handle = SendHandle(ANYTHING) if opened == "infinite" else SendHandle(frame.sent, opened == "zero")
        self.activate(frame, send.request, handle)
        frame.sends.append(message)
        frame.sent += 1

    def _receive(self, frame: ProcessFrame, receive: IssueReceive) -> None:
        registers = frame.registers
        posted = self._takes(frame, receive)
        target = spot_of(receive.target, registers)
        sender = None if receive.sender is None else spot_of(receive.sender, registers)
        which = None if receive.which is None else spot_of(receive.which, registers)
        if receive.of is not None:
            put_request(frame, receive.of.name, self.single(frame, receive.of)[0], None)
        self.activate(frame, receive.request, ReceiveHandle(frame.received, target, sender, which))
        frame.receives.append(posted)
        frame.received += 1

    def _enter(self, frame: ProcessFrame, call: IssueCollective) -> None:
        members, registers = self.groups[call.group], frame.registers
        root, op = _said(frame, call.root, call.op)
        if self.me not in members or (root is not None and root not in members):
            raise FaultError("member")
        sig = _said(frame, call.sig, None)[0]
        value = 0 if call.give is None else value_of(call.give, registers)
        target = None if call.get is None else spot_of(call.get, registers)
        nth, rule = len([op for op in frame.ops if op.group == call.group]), self.buffer
        rule = completion_of("standard", value_size(value), rule, self.eager)
        self.activate(frame, call.request, CollectiveHandle(call.group, nth, target))
        said = call.name, call.blocking, root, call.fold or op, sig, value
        frame.ops = (*frame.ops, CollectiveOp(call.group, nth, *said, frame.pc, rule))

    def _process_number(self, value: Value, kind: str) -> int:
        at = require_number(value)
        if not 0 <= at < self.count:
            raise FaultError("destination" if kind == "destination" else "source")
        return at


def _unused_key(frame: ProcessFrame) -> int:
    """Return the smallest key by which a process holds nothing: neither in a request nor by a posted receive."""
    held = (each for slot in frame.requests.values() for _, each in singles(slot))
    used = {op.key for op in frame.receives} | {each.key for each in held if isinstance(each, MessageHandle)}
    return next(key for key in count() if key not in used)


def take(frame: ProcessFrame, at: int, message: SendOp, sender: int) -> None:
    """`match`, for the receiver: its unmatched receive number `at` leaves and gets the message."""
    single = holder(frame, ReceiveHandle, frame.receives.pop(at).nth)
    if single is not None:
        handle = handle_of(frame, single)
        assert isinstance(handle, ReceiveHandle)
        got = (message.value, sender, message.tag)
        put_request(frame, *single, ReceiveHandle(ANYTHING, handle.target, handle.sender, handle.which, got))


def give(frame: ProcessFrame, at: int) -> None:
    """`match`, for the sender: its unmatched send number `at` leaves, and its wait is open."""
    open_send(frame, frame.sends.pop(at).nth)


def _said(frame: ProcessFrame, *terms: Term | None) -> tuple[int | None, int | None]:
    one, other = (None if each is None else require_number(value_of(each, frame.registers)) for each in terms)
    return one, other


def _tag(value: Value) -> int:
    tag = require_number(value)
    if tag < 0:
        raise FaultError("tag")
    return tag


def _called(call: CollectiveCall, frame: ProcessFrame) -> str:
    if call.root is None:
        return call.name
    try:
        return f"{call.name}, root {require_number(value_of(call.root, frame.registers))}"
    except FaultError:
        return f"{call.name}, root unknown"


def _declare(frame: ProcessFrame, declared: Requests) -> None:
    """Make the requests of a declaration anew. Raises FaultError where one of them holds a message."""
    if any(isinstance(each, MessageHandle) for _, each in singles(frame.requests[declared.name])):
        raise FaultError("held")
    size = declared.size
    frame.requests[declared.name] = None if size is None else (None,) * len(zeros(value_of(size, frame.registers)))
