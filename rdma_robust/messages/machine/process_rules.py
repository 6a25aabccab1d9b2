"""The rules local, issue and wait for one process, and `match` between two: which are enabled, what each changes.

In a frame of a process that `runs`, :meth:`ProcessRules.step` executes the next instruction, and
:meth:`ProcessRules.blocking` says what the process waits for if there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.messages.language.message_program import (
    Assert,
    Assign,
    Assume,
    Buffer,
    CollectiveCall,
    Halt,
    IssueReceive,
    IssueSend,
    Place,
    Requests,
    completion_of,
)
from rdma_robust.messages.language.message_terms import (
    FaultError,
    Value,
    require_number,
    value_of,
    value_size,
    with_element,
    zeros,
)
from rdma_robust.messages.machine.flat_code import BranchChoice, FlatProcess, Jump, LoopBounds, Round, Test, WaitFor
from rdma_robust.messages.machine.process_state import (
    ANYTHING,
    Handle,
    LocalState,
    ProcessFrame,
    ReceiveHandle,
    ReceiveOp,
    SendHandle,
    SendOp,
    Spot,
    singles,
)
from rdma_robust.messages.message_answers import MatchedPair

_CALLS: Final = 1000
"""Library procedures that are kept of a process, to be compared with those of others."""


@dataclass(frozen=True, slots=True)
class ProcessRules:
    """The rules for process number `me` of `count`, under a buffer semantics."""

    process: FlatProcess
    me: int
    count: int
    buffer: Buffer
    eager: int | None = None

    def span(self, at: int) -> Span:
        """Return the place of an instruction in the text."""
        instruction = self.process.code[at]
        return NO_SPAN if isinstance(instruction, Jump) else instruction.span

    def choices(self, frame: ProcessFrame) -> int:
        """Return how many choices the next step has, 0 if it is none of `choose` or `loop`."""
        instruction = self.process.code[frame.pc]
        return len(instruction.targets) if isinstance(instruction, BranchChoice) else 0

    def awaited(self, frame: ProcessFrame) -> Single | None:
        """Return the single request that the next step passes, if it is a wait for one."""
        instruction = self.process.code[frame.pc]
        if not isinstance(instruction, WaitFor):
            return None
        try:
            return instruction.place.name, self._awaited(frame, instruction.place)[0]
        except FaultError:
            return None

    def issued(self, frame: ProcessFrame) -> Single | None:
        """Return the request that the operation issued by the last step has, if the next step issues one."""
        instruction = self.process.code[frame.pc]
        if not isinstance(instruction, IssueSend | IssueReceive):
            return None
        try:
            return instruction.request.name, self._single(frame, instruction.request)[0]
        except FaultError:
            return None

    def blocking(self, frame: ProcessFrame) -> Handle | None:
        """Return the request that the process waits for and whose wait is not open, None if its next step is enabled."""
        instruction = self.process.code[frame.pc]
        if not isinstance(instruction, WaitFor):
            return None
        try:
            handle = self._awaited(frame, instruction.place)[1]
        except FaultError:
            return None
        match handle:
            case SendHandle(nth) if nth != ANYTHING:
                return handle
            case ReceiveHandle(got=None):
                return handle
            case _:
                return None

    def step(self, frame: ProcessFrame, choice: int = 0) -> str:
        """Execute the next instruction, which is not blocked. Return the kind of violation that it is, or ''."""
        try:
            return self._execute(frame, choice)
        except FaultError as fault:
            frame.status = "stopped"
            return fault.kind

    def _execute(self, frame: ProcessFrame, choice: int) -> str:
        instruction, registers = self.process.code[frame.pc], frame.registers
        goes_to = self.process.following[frame.pc]
        violation = ""
        match instruction:
            case Assign(target, value):
                spot = _spot(target, registers)
                _store(spot, value_of(value, registers), registers)
            case Requests(name, size):
                frame.requests[name] = None if size is None else (None,) * len(zeros(value_of(size, registers)))
            case IssueSend():
                self._send(frame, instruction)
            case IssueReceive():
                self._receive(frame, instruction)
            case WaitFor(place):
                if self._wait(frame, place):
                    return ""
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
            case CollectiveCall():
                if len(frame.calls) < _CALLS:
                    frame.calls = (*frame.calls, _called(instruction, frame))
            case Assume(condition):
                if not require_number(value_of(condition, registers)):
                    frame.status = "stopped"
                    return ""
            case Assert(condition):
                violation = "" if require_number(value_of(condition, registers)) else "assert"
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

    def _send(self, frame: ProcessFrame, send: IssueSend) -> None:
        registers = frame.registers
        value = value_of(send.value, registers)
        to = self._process_number(value_of(send.to, registers), "destination")
        tag = _tag(value_of(send.tag, registers))
        opened = completion_of(send.mode, value_size(value), self.buffer, self.eager)
        handle = SendHandle(ANYTHING) if opened == "infinite" else SendHandle(frame.sent, opened == "zero")
        self._activate(frame, send.request, handle)
        frame.sends.append(SendOp(frame.sent, to, send.port, tag, value))
        frame.sent += 1

    def _receive(self, frame: ProcessFrame, receive: IssueReceive) -> None:
        registers = frame.registers
        source = ANYTHING
        if receive.source is not None:
            source = self._process_number(value_of(receive.source, registers), "source")
        tag = ANYTHING if receive.tag is None else _tag(value_of(receive.tag, registers))
        target = _spot(receive.target, registers)
        sender = None if receive.sender is None else _spot(receive.sender, registers)
        which = None if receive.which is None else _spot(receive.which, registers)
        self._activate(frame, receive.request, ReceiveHandle(frame.received, target, sender, which))
        frame.receives.append(ReceiveOp(frame.received, receive.port, source, tag))
        frame.received += 1

    def _process_number(self, value: Value, kind: str) -> int:
        at = require_number(value)
        if not 0 <= at < self.count:
            raise FaultError("destination" if kind == "destination" else "source")
        return at

    def _activate(self, frame: ProcessFrame, request: Place, handle: Handle) -> None:
        """Make the request active; one that is active is lost, its operation stays."""
        at, _ = self._single(frame, request)
        _put(frame, request.name, at, handle)

    def _single(self, frame: ProcessFrame, request: Place) -> tuple[int, Handle | None]:
        """Return the index (ANYTHING for none) of one request, and what it is. Raises FaultError."""
        slot = frame.requests[request.name]
        if not request.indices:
            if isinstance(slot, tuple):
                raise FaultError("kind")
            return ANYTHING, slot
        at = require_number(value_of(request.indices[0], frame.registers))
        if not isinstance(slot, tuple):
            raise FaultError("kind")
        if not 0 <= at < len(slot):
            raise FaultError("index")
        return at, slot[at]

    def _awaited(self, frame: ProcessFrame, place: Place) -> tuple[int, Handle | None]:
        """Return the index and what is waited for next; of an array the element at the cursor, of an empty one nothing."""
        slot = frame.requests[place.name]
        if place.indices or not isinstance(slot, tuple):
            return self._single(frame, place)
        return (frame.cursor, slot[frame.cursor]) if slot else (ANYTHING, None)

    def _wait(self, frame: ProcessFrame, place: Place) -> bool:
        """Pass one request; return whether the wait goes on with the next element of an array."""
        at, handle = self._awaited(frame, place)
        if handle is not None:
            _put(frame, place.name, at, None)
        if isinstance(handle, ReceiveHandle):
            assert handle.got is not None
            spots = (handle.target, handle.sender, handle.which)
            for spot, value in zip(spots, handle.got, strict=True):
                if spot is not None:
                    _store(spot, value, frame.registers)
        slot = frame.requests[place.name]
        if not place.indices and isinstance(slot, tuple) and frame.cursor + 1 < len(slot):
            frame.cursor += 1
            return True
        frame.cursor = 0
        return False


Single = tuple[str, int]
"""One request: its name and its index, ANYTHING if it is in no array."""


def holder(frame: ProcessFrame, kind: type[SendHandle] | type[ReceiveHandle], nth: int) -> Single | None:
    """Return the request of an unmatched operation, if it is not lost."""
    for name, slot in frame.requests.items():
        for index, handle in singles(slot):
            if isinstance(handle, kind) and handle.nth == nth:
                return name, index
    return None


def handle_of(frame: ProcessFrame, single: Single) -> Handle | None:
    """Return what one request is."""
    slot = frame.requests[single[0]]
    return slot[single[1]] if isinstance(slot, tuple) else slot


def take(frame: ProcessFrame, at: int, message: SendOp, sender: int) -> None:
    """`match`, for the receiver: its unmatched receive number `at` leaves and gets the message."""
    single = holder(frame, ReceiveHandle, frame.receives.pop(at).nth)
    if single is not None:
        handle = handle_of(frame, single)
        assert isinstance(handle, ReceiveHandle)
        got = (message.value, sender, message.tag)
        _put(frame, *single, ReceiveHandle(ANYTHING, handle.target, handle.sender, handle.which, got))


def give(frame: ProcessFrame, at: int) -> None:
    """`match`, for the sender: its unmatched send number `at` leaves, and its wait is open."""
    open_send(frame, frame.sends.pop(at).nth)


def open_send(frame: ProcessFrame, nth: int) -> None:
    """Open the wait for a send, if its request is not lost."""
    single = holder(frame, SendHandle, nth)
    if single is not None:
        _put(frame, *single, SendHandle(ANYTHING))


def _put(frame: ProcessFrame, name: str, at: int, handle: Handle | None) -> None:
    slot = frame.requests[name]
    if isinstance(slot, tuple):
        frame.requests[name] = (*slot[:at], handle, *slot[at + 1 :])
    else:
        frame.requests[name] = handle


def _spot(place: Place, registers: dict[str, Value]) -> Spot:
    return place.name, tuple(require_number(value_of(each, registers)) for each in place.indices)


def _store(spot: Spot, value: Value, registers: dict[str, Value]) -> None:
    name, indices = spot
    registers[name] = with_element(registers[name], indices, value)


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


class Meeting(NamedTuple):
    """A match that is enabled: which unmatched receive of the receiver, and which unmatched send of the sender."""

    receive: int
    send: int


def receive_accepts(receive: ReceiveOp, send: SendOp, sender: int) -> bool:
    """Whether a receive takes a send of process `sender` to its process: port, source and tag fit."""
    return receive.port == send.port and receive.source in (ANYTHING, sender) and receive.tag in (ANYTHING, send.tag)


def acceptable_sends(receive: ReceiveOp, receiver: int, sender: int, sends: Sequence[SendOp]) -> Iterator[int]:
    """Yield which unmatched send of a process a receive can take: the first of the channel that it accepts.

    That is the first condition of `match`: no earlier unmatched send of the channel is accepted.
    """
    for at, send in enumerate(sends):
        if send.to == receiver and receive_accepts(receive, send, sender):
            yield at
            return


def is_taken_earlier(send: SendOp, sender: int, earlier: Sequence[ReceiveOp]) -> bool:
    """Whether a receive that is posted earlier accepts the send: what the second condition of `match` forbids."""
    return any(receive_accepts(each, send, sender) for each in earlier)


def meetings(
    receiver: int, receives: LocalState | ProcessFrame, sender: int, sends: LocalState | ProcessFrame
) -> Iterator[Meeting]:
    """Yield the matches that are enabled between a receiving and a sending process: the rule `match`."""
    for at, op in enumerate(receives.receives):
        for number in acceptable_sends(op, receiver, sender, sends.sends):
            if not is_taken_earlier(sends.sends[number], sender, receives.receives[:at]):
                yield Meeting(at, number)


def are_enabled(pair: MatchedPair, receives: ProcessFrame, sends: ProcessFrame) -> bool:
    """Whether the match of two operations is enabled, which are unmatched or not issued."""
    sender = pair.send.process
    at = next((at for at, op in enumerate(receives.receives) if op.nth == pair.receive.nth), None)
    for number in () if at is None else acceptable_sends(receives.receives[at], pair.receive.process, sender, sends.sends):
        if sends.sends[number].nth == pair.send.nth:
            return not is_taken_earlier(sends.sends[number], sender, receives.receives[:at])
    return False
