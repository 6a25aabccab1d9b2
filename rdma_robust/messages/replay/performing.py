"""The statements of one process at work, on the structured program.

More than 400 lines: one class with a rule for each statement, and what they share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from rdma_robust.messages.language.message_program import (
    Abort,
    Assert,
    Assign,
    Assume,
    Block,
    Choose,
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
    Place,
    Probe,
    Requests,
    Return,
    Statement,
    Wait,
    While,
)
from rdma_robust.messages.language.message_terms import LONGEST, FaultError, Term, Value
from rdma_robust.messages.message_answers import OperationId
from rdma_robust.messages.replay.collective_calls import gotten
from rdma_robust.messages.replay.world import (
    Active,
    ActiveCall,
    ActiveReceive,
    ActiveSend,
    BlockPoint,
    ForTest,
    HeldMessage,
    ReplayProcess,
    ReplayState,
    RequestArray,
    ReturnPoint,
    Target,
    UnfinishedCall,
    UnmatchedReceive,
    UnmatchedSend,
)
from rdma_robust.messages.replay.worth import replay_number, replay_value, with_replacement

_ListedRequest = tuple[str, int | None, Active | None]
"""One request: its name, its index in an array, and what it is active with."""


@dataclass(slots=True)
class ProcessInStep:
    """A process while it makes a step: its record, which changes, and what the step changes in the state around it."""

    me: int
    point: list[BlockPoint | ForTest | ReturnPoint]
    status: Literal["runs", "ended", "stopped"]
    registers: dict[str, Value]
    requests: dict[str, Active | RequestArray | None]
    sent: int
    received: int
    entered: list[int]
    send: UnmatchedSend | None = None
    receive: UnmatchedReceive | None = None
    call: UnfinishedCall | None = None
    passed: list[Active] = field(default_factory=list)
    seen: UnmatchedSend | None = None
    holds: OperationId | None = None
    expected: Callable[[UnmatchedSend], bool] = lambda _: False
    violation: str = ""


class Performer:
    """The statements of one program; blocks have numbers, so that points are small."""

    def __init__(self, program: MessageProgram) -> None:
        self.program = program
        self.groups = [each.members for each in program.groups]
        self.blocks: list[Block] = []
        self.numbers: dict[int, int] = {}
        self.names: list[tuple[str, ...]] = []
        for process in program.processes:
            counters: list[str] = []
            self._number(process.body, counters)
            self.names.append(tuple(dict.fromkeys((*process.registers, *counters))))

    def _number(self, block: Block, counters: list[str]) -> None:
        """Give numbers to a block and those in it, and collect the counters of `for`."""
        if id(block) not in self.numbers:
            self.numbers[id(block)] = len(self.blocks)
            self.blocks.append(block)
        for statement in block:
            if isinstance(statement, For):
                counters.append(statement.counter)
            for inner in _inner(statement):
                self._number(inner, counters)

    def start(self, me: int) -> ReplayProcess:
        """Return a process that has done nothing: registers are 0, requests inactive."""
        process = self.program.processes[me]
        registers: dict[str, Value] = dict.fromkeys(self.names[me], 0)
        requests: dict[str, Active | RequestArray | None] = dict.fromkeys(process.requests)
        entered = [0] * len(self.groups) if self.program.gathers else []
        opened = ProcessInStep(me, [self._at(process.body)], "runs", registers, requests, 0, 0, entered)
        self.advance(opened)
        return self.closed(opened)

    def opened(self, me: int, process: ReplayProcess) -> ProcessInStep:
        """Return a process for a step that it makes."""
        registers = dict(zip(self.names[me], process.registers, strict=True))
        requests = dict(zip(self.program.processes[me].requests, process.requests, strict=True))
        counts = process.sent, process.received, list(process.entered)
        return ProcessInStep(me, list(process.point), process.status, registers, requests, *counts)

    def closed(self, opened: ProcessInStep) -> ReplayProcess:
        """Return the process after the step."""
        registers, requests = tuple(opened.registers.values()), tuple(opened.requests.values())
        counts = opened.sent, opened.received, tuple(opened.entered)
        return ReplayProcess(tuple(opened.point), opened.status, registers, requests, *counts)

    def statement(self, at: BlockPoint | ForTest) -> Statement:
        """Return the statement at a point."""
        return self.blocks[at.block][at.index]

    def awaited(self, me: int, process: ReplayProcess) -> Active | None:
        """Return the active request that a process's next step waits for, None if there is none."""
        top = process.point[-1] if process.point else None
        if not isinstance(top, BlockPoint) or process.status != "runs":
            return None
        statement = self.statement(top)
        if not isinstance(statement, Wait):
            return None
        try:
            return self._awaited(self.opened(me, process), statement.requests[top.place], top.element)[1]
        except FaultError:
            return None

    def execute(self, world: ReplayState, opened: ProcessInStep, choice: int | None) -> None:
        """Do what the statement on top says, and move the point behind it."""
        top, registers = opened.point.pop(), opened.registers
        assert not isinstance(top, ReturnPoint)
        statement = self.statement(top)
        if isinstance(top, ForTest):
            assert isinstance(statement, For)
            self._count(opened, top, statement)
            return
        if isinstance(statement, Wait):
            self._wait(world, opened, top, statement)
            return
        opened.point.append(BlockPoint(top.block, top.index + 1))
        match statement:
            case Assign(target, value):
                _store(_target(target, registers), replay_value(value, registers), registers)
            case Requests(name, size):
                self._holds_none(opened, name)
                places = None if size is None else (None,) * _size(replay_number(size, registers))
                opened.requests[name] = None if places is None else RequestArray(places)
            case IssueSend():
                self._send(opened, statement)
            case IssueReceive():
                self._receive(opened, statement)
            case Probe():
                self._probe(opened, statement)
            case IssueCollective():
                self._enter(opened, statement)
            case Completion():
                self._complete(world, opened, statement, choice or 0)
            case Abort(error):
                replay_value(error, registers)
                raise FaultError("abort")
            case Assume(condition) if replay_number(condition, registers) == 0:
                opened.status = "stopped"
            case Assert(condition) if replay_number(condition, registers) == 0:
                opened.violation = "assert"
            case Halt():
                opened.point.clear()
            case _:
                self._branch(opened, top, statement, choice)

    def _branch(self, opened: ProcessInStep, top: BlockPoint, statement: Statement, choice: int | None) -> None:
        """Go into a block of a statement, or behind the statement."""
        registers = opened.registers
        match statement:
            case If(condition, then, other):
                opened.point.append(self._at(then if replay_number(condition, registers) != 0 else other))
            case While(condition, body):
                if replay_number(condition, registers) != 0:
                    opened.point[-1] = top
                    opened.point.append(self._at(body))
            case Loop(body):
                if choice == 1:
                    opened.point[-1] = top
                    opened.point.append(self._at(body))
            case Choose(branches):
                assert choice is not None
                opened.point.append(self._at(branches[choice]))
            case For(_, low, high):
                ends = replay_number(low, registers), replay_number(high, registers)
                opened.point.append(ForTest(top.block, top.index, *ends))

    def _count(self, opened: ProcessInStep, top: ForTest, statement: For) -> None:
        """The test of a `for`: go in with the following number, or leave it."""
        if top.following <= top.last:
            opened.registers[statement.counter] = top.following
            opened.point += [replace(top, following=top.following + 1), self._at(statement.body)]

    def _send(self, opened: ProcessInStep, send: IssueSend) -> None:
        value = replay_value(send.value, opened.registers)
        to = self._process(replay_number(send.to, opened.registers), "destination")
        tag = _tag(replay_number(send.tag, opened.registers))
        name = OperationId(opened.me, opened.sent)
        of_type, size = self._numbers(opened, send.of_type, send.size)
        message = UnmatchedSend(name, to, send.port, tag, value, send.mode, of_type, size)
        if send.mode == "ready" and not opened.expected(message):
            raise FaultError("ready")
        self._activate(opened, send.request, ActiveSend(name))
        opened.send = message
        opened.sent += 1

    def _receive(self, opened: ProcessInStep, receive: IssueReceive) -> None:
        registers = opened.registers
        source = None if receive.source is None else self._process(replay_number(receive.source, registers), "source")
        tag = None if receive.tag is None else _tag(replay_number(receive.tag, registers))
        of_type, room = self._numbers(opened, receive.of_type, receive.room)
        at, held = (None, None) if receive.of is None else self._awaited(opened, receive.of, None)
        if receive.of is not None and not isinstance(held, HeldMessage):
            raise FaultError("message")
        places = (receive.target, receive.sender, receive.which)
        stores = tuple(None if place is None else _target(place, registers) for place in places)
        name = OperationId(opened.me, opened.received)
        posted = UnmatchedReceive(name, receive.port, source, tag)
        if receive.is_checked:
            posted = posted._replace(of_type=of_type, room=room, at=self._before(opened))
        if receive.of is not None and isinstance(held, HeldMessage):
            _put(opened, receive.of.name, at, None)
            posted = UnmatchedReceive(name, held.port, held.send.process, held.tag, held.send)
        self._activate(opened, receive.request, ActiveReceive(name, stores))
        opened.receive = posted
        opened.received += 1

    def _enter(self, opened: ProcessInStep, call: IssueCollective) -> None:
        members, group = self.groups[call.group], call.group
        root, op = self._numbers(opened, call.root, call.op)
        if opened.me not in members or root not in (None, *members):
            raise FaultError("member")
        (sig,) = self._numbers(opened, call.sig)
        value = 0 if call.give is None else replay_value(call.give, opened.registers)
        target = None if call.get is None else _target(call.get, opened.registers)
        nth = opened.entered[group]
        self._activate(opened, call.request, ActiveCall(opened.me, group, nth, target))
        what = call.name, call.blocking, root, call.fold or op, sig, value
        opened.call = UnfinishedCall(opened.me, group, nth, *what, self._before(opened))
        opened.entered[group] += 1

    @staticmethod
    def _numbers(opened: ProcessInStep, *terms: Term | None) -> list[int | None]:
        return [None if each is None else replay_number(each, opened.registers) for each in terms]

    @staticmethod
    def _before(opened: ProcessInStep) -> BlockPoint:
        """Return the point of the statement that is executed."""
        behind = opened.point[-1]
        assert isinstance(behind, BlockPoint)
        return BlockPoint(behind.block, behind.index - 1)

    @staticmethod
    def _holds_none(opened: ProcessInStep, name: str) -> None:
        slot = opened.requests[name]
        if any(isinstance(each, HeldMessage) for each in (slot.elements if isinstance(slot, RequestArray) else (slot,))):
            raise FaultError("held")

    def looked_for(self, me: int, process: ReplayProcess) -> UnmatchedReceive | None:
        """Return the receive that stands for the look that a process makes next; None if that is a fault or no look."""
        top = process.point[-1] if process.point else None
        if process.status != "runs" or not isinstance(top, BlockPoint):
            return None
        statement = self.statement(top)
        try:
            return self._look(self.opened(me, process), statement) if isinstance(statement, Probe) else None
        except FaultError:
            return None

    def _look(self, opened: ProcessInStep, probe: Probe) -> UnmatchedReceive:
        source = None if probe.source is None else self._process(replay_number(probe.source, opened.registers), "source")
        tag = None if probe.tag is None else _tag(replay_number(probe.tag, opened.registers))
        if probe.taken is not None and isinstance(self._awaited(opened, probe.taken, None)[1], HeldMessage):
            raise FaultError("held")
        return UnmatchedReceive(OperationId(opened.me, opened.received), probe.port, source, tag)

    def _probe(self, opened: ProcessInStep, probe: Probe) -> None:
        self._look(opened, probe)
        at = None if probe.taken is None else self._awaited(opened, probe.taken, None)[0]
        stores: list[tuple[Place | None, int]] = [(probe.flag, int(opened.seen is not None))]
        if opened.seen is not None:
            stores += [(probe.sender, opened.seen.name.process), (probe.which, opened.seen.tag)]
        for place, value in stores:
            if place is not None:
                _store(_target(place, opened.registers), value, opened.registers)
        if probe.taken is not None and opened.seen is not None:
            _put(opened, probe.taken.name, at, HeldMessage(opened.seen.name, opened.seen.port, opened.seen.tag))
            opened.holds = opened.seen.name

    def _process(self, number: int, kind: Literal["destination", "source"]) -> int:
        if number < 0 or number >= len(self.program.processes):
            raise FaultError(kind)
        return number

    def _activate(self, opened: ProcessInStep, request: Place, active: Active) -> None:
        at, before = self._awaited(opened, request, None)
        if isinstance(before, HeldMessage):
            raise FaultError("held")
        _put(opened, request.name, at, active)

    def _awaited(self, opened: ProcessInStep, place: Place, element: int | None) -> tuple[int | None, Active | None]:
        """Return which element a place of requests means, None for no array, and whether it is active.

        `element` is where the wait for a whole array is; None where only one request can stand.
        """
        found = opened.requests[place.name]
        at = element
        if place.indices:
            at = replay_number(place.indices[0], opened.registers)
        if not isinstance(found, RequestArray):
            if place.indices:
                raise FaultError("kind")
            return None, found
        if at is None:
            raise FaultError("kind")
        if not place.indices and not found.elements:
            return None, None
        if at < 0 or at >= len(found.elements):
            raise FaultError("index")
        return at, found.elements[at]

    def _wait(self, world: ReplayState, opened: ProcessInStep, top: BlockPoint, wait: Wait) -> None:
        """Pass one request; the next is the next element of the array, or the next place."""
        place = wait.requests[top.place]
        at, active = self._awaited(opened, place, top.element)
        if isinstance(active, HeldMessage):
            raise FaultError("held")
        if active is not None:
            _put(opened, place.name, at, None)
            self._receive_at_wait(world, opened, active)
        slot = opened.requests[place.name]
        if not place.indices and isinstance(slot, RequestArray) and top.element + 1 < len(slot.elements):
            opened.point.append(replace(top, element=top.element + 1))
        elif top.place + 1 < len(wait.requests):
            opened.point.append(BlockPoint(top.block, top.index, top.place + 1))
        else:
            opened.point.append(BlockPoint(top.block, top.index + 1))

    def listed(self, me: int, process: ReplayProcess) -> list[_ListedRequest] | None:
        """Return the requests of the next statement, which completes some, one by one; None where that is a fault."""
        wanted = self.completion(process)
        try:
            return None if wanted is None else self._listed(self.opened(me, process), wanted)
        except FaultError:
            return None

    def completion(self, process: ReplayProcess) -> Completion | None:
        """Return the next statement of a process, if it completes requests."""
        top = process.point[-1] if process.point else None
        statement = self.statement(top) if isinstance(top, BlockPoint) and process.status == "runs" else None
        return statement if isinstance(statement, Completion) else None

    def _listed(self, opened: ProcessInStep, wanted: Completion) -> list[_ListedRequest]:
        found: list[_ListedRequest] = []
        for place in wanted.requests:
            slot = opened.requests[place.name]
            if isinstance(slot, RequestArray) and not place.indices:
                found += [(place.name, at, each) for at, each in enumerate(slot.elements)]
            else:
                found.append((place.name, *self._awaited(opened, place, None)))
        if any(isinstance(each, HeldMessage) for _, _, each in found):
            raise FaultError("held")
        return found

    def _complete(self, world: ReplayState, opened: ProcessInStep, wanted: Completion, choice: int) -> None:
        """Complete the requests of a choice, and store which they are."""
        found = self._listed(opened, wanted)
        numbers = range(len(found))
        if wanted.how == "any":
            done = [number for number in numbers if number + 1 == choice]
        else:
            done = [number for number in numbers if choice and (wanted.how == "all" or choice & 1 << number)]
        for number in done:
            name, at, active = found[number]
            now = self._now(opened, name, at)
            if active is not None and now is not None:
                _put(opened, name, at, None)
                self._receive_at_wait(world, opened, active)
        some = any(active is not None for _, _, active in found)
        if wanted.flag is not None:
            _store(_target(wanted.flag, opened.registers), int(choice > 0 or not some), opened.registers)
        if wanted.which is not None:
            number = choice - 1 if wanted.how == "any" else len(done) if some else -1
            _store(_target(wanted.which, opened.registers), number, opened.registers)
        if wanted.places is not None:
            name, indices = _target(wanted.places, opened.registers)
            for at, number in enumerate(done):
                _store((name, (*indices, at)), number, opened.registers)

    def _receive_at_wait(self, world: ReplayState, opened: ProcessInStep, active: Active) -> None:
        """Pass the wait for an active request, and store what it has received."""
        opened.passed.append(active)
        if isinstance(active, ActiveReceive):
            message = next(each for each in world.delivered if each.receive == active.receive)
            for target, value in zip(active.stores, (message.value, message.sender, message.tag), strict=True):
                if target is not None:
                    _store(target, value, opened.registers)
        if isinstance(active, ActiveCall) and active.target is not None:
            for value in gotten(world, active, self.groups[active.group]):
                _store(active.target, value, opened.registers)

    @staticmethod
    def _now(opened: ProcessInStep, name: str, at: int | None) -> Active | None:
        slot = opened.requests[name]
        if isinstance(slot, RequestArray):
            return None if at is None else slot.elements[at]
        return slot

    def advance(self, opened: ProcessInStep) -> None:
        """Go on to the next statement that takes a step; what has none left has ended."""
        point = opened.point
        while point and opened.status == "runs":
            top = point[-1]
            if isinstance(top, ForTest):
                return
            if isinstance(top, ReturnPoint) or top.index == len(self.blocks[top.block]):
                point.pop()
                continue
            statement = self.statement(top)
            if isinstance(statement, InlinedCall):
                point[-1:] = [BlockPoint(top.block, top.index + 1), ReturnPoint(statement.name), self._at(statement.body)]
            elif isinstance(statement, Return):
                while point and not isinstance(point.pop(), ReturnPoint):
                    pass
            elif isinstance(statement, Wait) and not statement.requests:
                point[-1] = BlockPoint(top.block, top.index + 1)
            else:
                return
        if opened.status == "runs":
            opened.status = "ended"

    def _at(self, block: Block) -> BlockPoint:
        return BlockPoint(self.numbers[id(block)], 0)


def _inner(statement: Statement) -> tuple[Block, ...]:
    """Return the blocks of a statement."""
    match statement:
        case If(_, then, other):
            return then, other
        case Choose(branches):
            return branches
        case While() | For() | Loop() | InlinedCall():
            return (statement.body,)
        case _:
            return ()


def _target(place: Place, registers: dict[str, Value]) -> Target:
    return place.name, tuple(replay_number(each, registers) for each in place.indices)


def _store(target: Target, value: Value, registers: dict[str, Value]) -> None:
    name, indices = target
    registers[name] = with_replacement(registers[name], indices, value)


def _put(opened: ProcessInStep, name: str, at: int | None, active: Active | None) -> None:
    found = opened.requests[name]
    if isinstance(found, RequestArray):
        assert at is not None
        opened.requests[name] = RequestArray((*found.elements[:at], active, *found.elements[at + 1 :]))
    else:
        opened.requests[name] = active


def _size(number: int) -> int:
    if number < 0 or number > LONGEST:
        raise FaultError("length")
    return number


def _tag(number: int) -> int:
    if number < 0:
        raise FaultError("tag")
    return number
