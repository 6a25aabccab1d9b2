"""What the statements of one process do, on the structured program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from rdma_robust.messages.language.message_program import (
    Assert,
    Assign,
    Assume,
    Block,
    Choose,
    CollectiveCall,
    For,
    Halt,
    If,
    Inlined,
    IssueReceive,
    IssueSend,
    Loop,
    MessageProgram,
    Place,
    Requests,
    Return,
    Statement,
    Wait,
    While,
)
from rdma_robust.messages.language.message_terms import LONGEST, FaultError, Value
from rdma_robust.messages.message_answers import Issued
from rdma_robust.messages.replay.world import (
    Active,
    ActiveReceive,
    ActiveSend,
    At,
    Called,
    Counting,
    Process,
    Receive,
    RequestArray,
    Send,
    Target,
    World,
)
from rdma_robust.messages.replay.worth import replaced, whole, worth


@dataclass(slots=True)
class Opened:
    """A process while it makes a step: its record, which changes, and what the step changes in the state around it."""

    me: int
    point: list[At | Counting | Called]
    status: Literal["runs", "ended", "stopped"]
    registers: dict[str, Value]
    requests: dict[str, Active | RequestArray | None]
    sent: int
    received: int
    send: Send | None = None
    receive: Receive | None = None
    passed: Active | None = None
    violation: str = ""


class Performer:
    """The statements of one program; blocks have numbers, so that points are small."""

    def __init__(self, program: MessageProgram) -> None:
        self.program = program
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

    def start(self, me: int) -> Process:
        """Return a process that has done nothing: registers are 0, requests inactive."""
        process = self.program.processes[me]
        registers: dict[str, Value] = dict.fromkeys(self.names[me], 0)
        opened = Opened(me, [self._at(process.body)], "runs", registers, dict.fromkeys(process.requests), 0, 0)
        self.advance(opened)
        return self.closed(opened)

    def opened(self, me: int, process: Process) -> Opened:
        """Return a process for a step that it makes."""
        registers = dict(zip(self.names[me], process.registers, strict=True))
        requests = dict(zip(self.program.processes[me].requests, process.requests, strict=True))
        return Opened(me, list(process.point), process.status, registers, requests, process.sent, process.received)

    def closed(self, opened: Opened) -> Process:
        """Return the process after the step."""
        registers, requests = tuple(opened.registers.values()), tuple(opened.requests.values())
        return Process(tuple(opened.point), opened.status, registers, requests, opened.sent, opened.received)

    def statement(self, at: At | Counting) -> Statement:
        """Return the statement at a point."""
        return self.blocks[at.block][at.index]

    def awaited(self, me: int, process: Process) -> Active | None:
        """Return the active request that a process's next step waits for, None if there is none."""
        top = process.point[-1] if process.point else None
        if not isinstance(top, At) or process.status != "runs":
            return None
        statement = self.statement(top)
        if not isinstance(statement, Wait):
            return None
        try:
            return self._awaited(self.opened(me, process), statement.requests[top.place], top.element)[1]
        except FaultError:
            return None

    def execute(self, world: World, opened: Opened, choice: int | None) -> None:
        """Do what the statement on top says, and move the point behind it."""
        top, registers = opened.point.pop(), opened.registers
        assert not isinstance(top, Called)
        statement = self.statement(top)
        if isinstance(top, Counting):
            assert isinstance(statement, For)
            self._count(opened, top, statement)
            return
        if isinstance(statement, Wait):
            self._wait(world, opened, top, statement)
            return
        opened.point.append(At(top.block, top.index + 1))
        match statement:
            case Assign(target, value):
                place = _target(target, registers)
                _store(place, worth(value, registers), registers)
            case Requests(name, size):
                opened.requests[name] = None if size is None else RequestArray((None,) * _size(whole(size, registers)))
            case IssueSend():
                self._send(opened, statement)
            case IssueReceive():
                self._receive(opened, statement)
            case Assume(condition):
                if whole(condition, registers) == 0:
                    opened.status = "stopped"
            case Assert(condition):
                if whole(condition, registers) == 0:
                    opened.violation = "assert"
            case Halt():
                opened.point.clear()
            case If(condition, then, other):
                opened.point.append(self._at(then if whole(condition, registers) != 0 else other))
            case While(condition, body):
                if whole(condition, registers) != 0:
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
                opened.point.append(Counting(top.block, top.index, whole(low, registers), whole(high, registers)))
            case CollectiveCall() | Return() | Inlined():
                pass

    def _count(self, opened: Opened, top: Counting, statement: For) -> None:
        """The test of a `for`: go in with the following number, or leave it."""
        if top.following <= top.last:
            opened.registers[statement.counter] = top.following
            opened.point += [replace(top, following=top.following + 1), self._at(statement.body)]

    def _send(self, opened: Opened, send: IssueSend) -> None:
        value = worth(send.value, opened.registers)
        to = self._process(whole(send.to, opened.registers), "destination")
        tag = _tag(whole(send.tag, opened.registers))
        name = Issued(opened.me, opened.sent)
        self._activate(opened, send.request, ActiveSend(name))
        opened.send = Send(name, to, send.port, tag, value)
        opened.sent += 1

    def _receive(self, opened: Opened, receive: IssueReceive) -> None:
        registers = opened.registers
        source = None if receive.source is None else self._process(whole(receive.source, registers), "source")
        tag = None if receive.tag is None else _tag(whole(receive.tag, registers))
        places = (receive.target, receive.sender, receive.which)
        stores = tuple(None if place is None else _target(place, registers) for place in places)
        name = Issued(opened.me, opened.received)
        self._activate(opened, receive.request, ActiveReceive(name, stores))
        opened.receive = Receive(name, receive.port, source, tag)
        opened.received += 1

    def _process(self, number: int, kind: Literal["destination", "source"]) -> int:
        if number < 0 or number >= len(self.program.processes):
            raise FaultError(kind)
        return number

    def _activate(self, opened: Opened, request: Place, active: Active) -> None:
        at, _ = self._awaited(opened, request, None)
        _put(opened, request.name, at, active)

    def _awaited(self, opened: Opened, place: Place, element: int | None) -> tuple[int | None, Active | None]:
        """Return which element a place of requests means, None for no array, and whether it is active.

        `element` is where the wait for a whole array is; None where only one request can stand.
        """
        found = opened.requests[place.name]
        at = element
        if place.indices:
            at = whole(place.indices[0], opened.registers)
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

    def _wait(self, world: World, opened: Opened, top: At, wait: Wait) -> None:
        """Pass one request; the next is the next element of the array, or the next place."""
        place = wait.requests[top.place]
        at, active = self._awaited(opened, place, top.element)
        if active is not None:
            opened.passed = active
            _put(opened, place.name, at, None)
        if isinstance(active, ActiveReceive):
            message = next(each for each in world.delivered if each.receive == active.receive)
            for target, value in zip(active.stores, (message.value, message.sender, message.tag), strict=True):
                if target is not None:
                    _store(target, value, opened.registers)
        slot = opened.requests[place.name]
        if not place.indices and isinstance(slot, RequestArray) and top.element + 1 < len(slot.elements):
            opened.point.append(replace(top, element=top.element + 1))
        elif top.place + 1 < len(wait.requests):
            opened.point.append(At(top.block, top.index, top.place + 1))
        else:
            opened.point.append(At(top.block, top.index + 1))

    def advance(self, opened: Opened) -> None:
        """Go on to the next statement that takes a step; what has none left has ended."""
        point = opened.point
        while point and opened.status == "runs":
            top = point[-1]
            if isinstance(top, Counting):
                return
            if isinstance(top, Called) or top.index == len(self.blocks[top.block]):
                point.pop()
                continue
            statement = self.statement(top)
            if isinstance(statement, Inlined):
                point[-1:] = [At(top.block, top.index + 1), Called(statement.name), self._at(statement.body)]
            elif isinstance(statement, Return):
                while point and not isinstance(point.pop(), Called):
                    pass
            elif isinstance(statement, Wait) and not statement.requests:
                point[-1] = At(top.block, top.index + 1)
            else:
                return
        if opened.status == "runs":
            opened.status = "ended"

    def _at(self, block: Block) -> At:
        return At(self.numbers[id(block)], 0)


def _inner(statement: Statement) -> tuple[Block, ...]:
    """Return the blocks of a statement."""
    match statement:
        case If(_, then, other):
            return then, other
        case Choose(branches):
            return branches
        case While() | For() | Loop() | Inlined():
            return (statement.body,)
        case _:
            return ()


def _target(place: Place, registers: dict[str, Value]) -> Target:
    return place.name, tuple(whole(each, registers) for each in place.indices)


def _store(target: Target, value: Value, registers: dict[str, Value]) -> None:
    name, indices = target
    registers[name] = replaced(registers[name], indices, value)


def _put(opened: Opened, name: str, at: int | None, active: Active | None) -> None:
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
