"""The rules local, issue and wait for one process, and `match` between two: which are enabled, what each changes.

In a frame of a process that `runs`, :meth:`ProcessRules.step` executes the next instruction, and
:meth:`ProcessRules.blocking` says what the process waits for if there is none.

More than 400 lines: one class with a rule for each instruction, and what they share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, count
from typing import Final

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.messages.language.message_program import (
    Abort,
    Assert,
    Assign,
    Assume,
    Buffer,
    CollectiveCall,
    Completion,
    Halt,
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
    with_element,
    zeros,
)
from rdma_robust.messages.machine.flat_code import BranchChoice, FlatProcess, Jump, LoopBounds, Round, Test, WaitFor
from rdma_robust.messages.machine.process_state import (
    ANYTHING,
    Handle,
    MessageHandle,
    ProcessFrame,
    ReceiveHandle,
    ReceiveOp,
    SendHandle,
    SendOp,
    Spot,
    singles,
)

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
    expecting: frozenset[int] = frozenset()

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
                return self._completions(frame, wanted)
            case _:
                return ()

    def _completions(self, frame: ProcessFrame, wanted: Completion) -> Sequence[int]:
        """Return the choices that requests leave as they are now, none for a fault; of many only one each, and all."""
        try:
            requests = [(name, at) for name, at, _ in self._singles(frame, wanted)]
        except FaultError:
            return ()
        active = [number for number, each in enumerate(requests) if handle_of(frame, each) is not None]
        ready = [number for number in active if self._is_complete(handle_of(frame, requests[number]))]
        nothing = (0,) if wanted.tests or not active else ()
        match wanted.how:
            case "any":
                return (*nothing, *(number + 1 for number in ready))
            case "all":
                return (*nothing, 1) if active and ready == active else nothing
            case "some":
                sizes = range(1, len(ready) + 1) if len(ready) <= _MOST_AT_ONCE else (1, len(ready))
                groups = chain.from_iterable(combinations(ready, size) for size in sizes)
                once = (each for each in groups if len({requests[number] for number in each}) == len(each))
                return (*nothing, *(sum(1 << number for number in each) for each in once))

    def _is_complete(self, handle: Handle | None) -> bool:
        """Whether a request is, or can be at any time: under `any` a buffer may be given to a send."""
        return is_handle_open(handle) or (isinstance(handle, SendHandle) and not handle.matched)

    def _singles(self, frame: ProcessFrame, wanted: Completion) -> list[tuple[str, int, Handle | None]]:
        """Return the requests one by one, each with its index and what it is. Raises FaultError."""
        found: list[tuple[str, int, Handle | None]] = []
        for place in wanted.requests:
            whole = () if place.indices else singles(frame.requests[place.name])
            found += [(place.name, *each) for each in whole or (self._single(frame, place),)]
        if any(isinstance(handle, MessageHandle) for _, _, handle in found):
            raise FaultError("held")
        return found

    def lacks(self, frame: ProcessFrame) -> Sequence[SendHandle | ReceiveHandle]:
        """Return the active requests of the next step, if it completes some, that nothing but a match or a buffer opens."""
        wanted = self.process.code[frame.pc]
        try:
            found = self._singles(frame, wanted) if isinstance(wanted, Completion) else []
        except FaultError:
            return ()
        return [each for _, _, each in found if isinstance(each, SendHandle | ReceiveHandle) and not is_handle_open(each)]

    def buffers(self, frame: ProcessFrame, choice: int) -> list[int]:
        """Return the sends that a choice completes by a buffer: under `any`, of a step that completes requests."""
        wanted = self.process.code[frame.pc]
        done = self.completed(frame, wanted, choice).requests if isinstance(wanted, Completion) else ()
        handles = (handle_of(frame, each) for each in done)
        return [each.nth for each in handles if isinstance(each, SendHandle) and not is_handle_open(each)]

    def is_held_up(self, frame: ProcessFrame) -> bool:
        """Whether the next step is to complete requests, and cannot be made."""
        return bool(self.lacks(frame)) and not self.choices(frame)

    def chooses_among_many(self, frame: ProcessFrame) -> bool:
        """Whether the next step completes some of more requests than are tried in every way."""
        wanted = self.process.code[frame.pc]
        some = isinstance(wanted, Completion) and wanted.how == "some"
        return some and any(choice.bit_count() > _MOST_AT_ONCE for choice in self.choices(frame))

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
            held = self._single(frame, wanted.of)[1]
            if not isinstance(held, MessageHandle):
                raise FaultError("message")
            return ReceiveOp(frame.received, held.port, held.sender, held.tag, held.key)
        source = ANYTHING
        if wanted.source is not None:
            source = self._process_number(value_of(wanted.source, frame.registers), "source")
        tag = ANYTHING if wanted.tag is None else _tag(value_of(wanted.tag, frame.registers))
        if isinstance(wanted, Probe):
            self._spare(frame, wanted.taken)
            return ReceiveOp(frame.received, wanted.port, source, tag)
        said = _said(frame, wanted.of_type, wanted.room)
        at = frame.pc if wanted.is_checked else 0
        return ReceiveOp(frame.received, wanted.port, source, tag, said=said, at=at)

    def _probe(self, frame: ProcessFrame, probe: Probe, seen: SendOp | None, sender: int) -> None:
        """Store what was seen, if something was, and hold it if it is taken; else store that nothing was."""
        self._takes(frame, probe)
        at = self._spare(frame, probe.taken)
        found = (0, None, None) if seen is None else (1, sender, seen.tag)
        for place, value in zip((probe.flag, probe.sender, probe.which), found, strict=True):
            if place is not None and value is not None:
                _store(_spot(place, frame.registers), value, frame.registers)
        if probe.taken is not None and seen is not None:
            _put(frame, probe.taken.name, at, MessageHandle(sender, seen.port, seen.tag, seen.key))

    def _spare(self, frame: ProcessFrame, request: Place | None) -> int:
        """Return the index of a request that holds no message. Raises FaultError."""
        if request is None:
            return ANYTHING
        at, handle = self._single(frame, request)
        if isinstance(handle, MessageHandle):
            raise FaultError("held")
        return at

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

    def blocking(self, frame: ProcessFrame) -> SendHandle | ReceiveHandle | None:
        """Return the request that the process waits for and whose wait is not open, None if its next step is enabled."""
        instruction = self.process.code[frame.pc]
        if not isinstance(instruction, WaitFor):
            return None
        try:
            handle = self._awaited(frame, instruction.place)[1]
        except FaultError:
            return None
        return handle if isinstance(handle, SendHandle | ReceiveHandle) and not is_handle_open(handle) else None

    def held_up(self, frame: ProcessFrame) -> SendHandle | ReceiveHandle | None:
        """Return the same, also where the process waits for one of several: the first send that is not matched, else the
        first receive; under `any` a buffer may let it go on."""
        wanted = self.process.code[frame.pc]
        if not isinstance(wanted, Completion):
            return self.blocking(frame)
        lacking = () if wanted.tests else self.lacks(frame)
        if not lacking or len(lacking) < sum(handle is not None for _, _, handle in self._singles(frame, wanted)):
            return None
        return next((each for each in lacking if isinstance(each, SendHandle)), lacking[0])

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
                spot = _spot(target, registers)
                _store(spot, value_of(value, registers), registers)
            case Requests(name, size):
                if any(isinstance(each, MessageHandle) for _, each in singles(frame.requests[name])):
                    raise FaultError("held")
                frame.requests[name] = None if size is None else (None,) * len(zeros(value_of(size, registers)))
            case IssueSend():
                self._send(frame, instruction, expected=expected)
            case IssueReceive():
                self._receive(frame, instruction)
            case Probe():
                self._probe(frame, instruction, seen, choice - 1)
            case WaitFor(place):
                if self._wait(frame, place):
                    return ""
            case Completion():
                self._complete(frame, instruction, choice)
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
        self._activate(frame, send.request, handle)
        frame.sends.append(message)
        frame.sent += 1

    def _receive(self, frame: ProcessFrame, receive: IssueReceive) -> None:
        registers = frame.registers
        posted = self._takes(frame, receive)
        target = _spot(receive.target, registers)
        sender = None if receive.sender is None else _spot(receive.sender, registers)
        which = None if receive.which is None else _spot(receive.which, registers)
        if receive.of is not None:
            _put(frame, receive.of.name, self._single(frame, receive.of)[0], None)
        self._activate(frame, receive.request, ReceiveHandle(frame.received, target, sender, which))
        frame.receives.append(posted)
        frame.received += 1

    def _process_number(self, value: Value, kind: str) -> int:
        at = require_number(value)
        if not 0 <= at < self.count:
            raise FaultError("destination" if kind == "destination" else "source")
        return at

    def _activate(self, frame: ProcessFrame, request: Place, handle: Handle) -> None:
        """Make the request active; one that is active is lost, its operation stays."""
        _put(frame, request.name, self._spare(frame, request), handle)

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
        if isinstance(handle, MessageHandle):
            raise FaultError("held")
        _pass(frame, place.name, at, handle)
        slot = frame.requests[place.name]
        if not place.indices and isinstance(slot, tuple) and frame.cursor + 1 < len(slot):
            frame.cursor += 1
            return True
        frame.cursor = 0
        return False

    def _complete(self, frame: ProcessFrame, wanted: Completion, choice: int) -> None:
        """Complete what is chosen, and store which that is."""
        done = self.completed(frame, wanted, choice)
        for single in done.requests:
            _pass(frame, *single, handle_of(frame, single))
        for place, values in done.stored(wanted):
            name, indices = _spot(place, frame.registers)
            for at, value in values:
                _store((name, (*indices, *at)), value, frame.registers)

    def completed(self, frame: ProcessFrame, wanted: Completion, choice: int) -> CompletionChoice:
        """Return what a choice completes. Raises FaultError."""
        found = self._singles(frame, wanted)
        numbers = tuple(_chosen(wanted, choice, len(found)))
        active = any(handle is not None for _, _, handle in found)
        return CompletionChoice(choice, numbers, tuple([found[number][:2] for number in numbers]), active)


@dataclass(frozen=True, slots=True)
class CompletionChoice:
    """A choice and what it completes: the numbers of the requests, and which they are; and whether any of all was active."""

    choice: int
    numbers: tuple[int, ...]
    requests: tuple[Single, ...]
    active: bool

    def stored(self, wanted: Completion) -> Iterator[tuple[Place, list[tuple[tuple[int, ...], int]]]]:
        """Yield the places to which something is stored, in order, with the index and value of what is."""
        number = self.choice - 1 if wanted.how == "any" else len(self.numbers) if self.active else -1
        if wanted.flag is not None:
            yield wanted.flag, [((), int(self.choice > 0 or not self.active))]
        if wanted.which is not None:
            yield wanted.which, [((), number)]
        if wanted.places is not None:
            yield wanted.places, [((at,), each) for at, each in enumerate(self.numbers)]


_MOST_AT_ONCE: Final = 10
"""Of so many complete requests every set is tried that can be seen at once."""


def is_handle_open(handle: Handle | None) -> bool:
    """Whether the wait for an active request can be passed."""
    match handle:
        case SendHandle(nth):
            return nth == ANYTHING
        case ReceiveHandle(got=got):
            return got is not None
        case _:
            return False


def _chosen(wanted: Completion, choice: int, count: int) -> Iterator[int]:
    """Yield which of so many requests a choice completes."""
    match wanted.how:
        case "any":
            yield from (choice - 1,) if choice else ()
        case "all":
            yield from range(count) if choice else ()
        case "some":
            yield from (number for number in range(count) if choice >> number & 1)


def _pass(frame: ProcessFrame, name: str, at: int, handle: Handle | None) -> None:
    """Pass the wait for one request, which is open: it is inactive then, and what it has received is stored."""
    if handle is not None:
        _put(frame, name, at, None)
    if isinstance(handle, ReceiveHandle):
        assert handle.got is not None
        spots = (handle.target, handle.sender, handle.which)
        for spot, value in zip(spots, handle.got, strict=True):
            if spot is not None:
                _store(spot, value, frame.registers)


Single = tuple[str, int]
"""One request: its name and its index, ANYTHING if it is in no array."""


def holder(frame: ProcessFrame, kind: type[SendHandle] | type[ReceiveHandle], nth: int) -> Single | None:
    """Return the request of an unmatched operation, if it is not lost."""
    for name, slot in frame.requests.items():
        for index, handle in singles(slot):
            if isinstance(handle, kind) and handle.nth == nth:
                return name, index
    return None


def _unused_key(frame: ProcessFrame) -> int:
    """Return the smallest key by which a process holds nothing: neither in a request nor by a posted receive."""
    held = (each for slot in frame.requests.values() for _, each in singles(slot))
    used = {op.key for op in frame.receives} | {each.key for each in held if isinstance(each, MessageHandle)}
    return next(key for key in count() if key not in used)


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


def active_singles(frame: ProcessFrame) -> Iterator[tuple[Single, Handle]]:
    """Yield the requests that are active, one by one."""
    for name, slot in frame.requests.items():
        yield from (((name, at), handle) for at, handle in singles(slot) if handle is not None)


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
