"""What a process does between two visible events, with every choice it has: up to where its next event is.

A false `assume` and a fault stop the process. A false `assert`, and a false `requires` of a local function, are noted, and
it goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from rdma_robust.contracts.language.contract_program import ErrorClass, StateClause
from rdma_robust.contracts.language.spec_worth import CollectiveState, clause_holds
from rdma_robust.errors import Span
from rdma_robust.limits import NEVER, Poll
from rdma_robust.messages.language.message_program import Assert, Assign, Assume, Call, Halt, Place, Requests
from rdma_robust.messages.language.message_terms import (
    FaultError,
    Term,
    Value,
    require_number,
    value_of,
    with_element,
    zeros,
)
from tests.support.contracts_oracle.contract_code import (
    Bounds,
    Code,
    Enter,
    Instruction,
    Jump,
    Leave,
    Pick,
    Post,
    Receive,
    Round,
    Send,
    Test,
    WaitFor,
)
from tests.support.contracts_oracle.pending import Pending, Posted, Spot

MOST_STEPS: Final = 100_000
"""Steps that are followed between two visible events, with all choices together."""

MOST_BITS: Final = 100_000
"""Of a number in a register."""

Status = Literal["ready", "left", "halted", "stopped", "endless", "unfollowed"]
"""`ready` for its next event; `left` the function; `stopped` by a fault or a false assume; `endless` it computes forever;
`unfollowed` it computes on, but the search does not follow."""


class Outgoing(NamedTuple):
    """A send whose terms are evaluated; `request` is the one that becomes active, None for that of `send`."""

    to: int
    port: int
    tag: int
    value: Value
    request: tuple[str, int | None] | None


class Incoming(NamedTuple):
    """A receive whose pattern is evaluated, and where value, sender and tag go; source and tag are None for any."""

    source: int | None
    port: int
    tag: int | None
    stores: tuple[Spot | None, Spot | None, Spot | None]


class Awaiting(NamedTuple):
    """A wait for the receive that is posted at a place."""

    place: int


class Completing(NamedTuple):
    """A wait for a send, until its message was got."""

    ticket: int


Offer = Outgoing | Incoming | Awaiting | Completing


class Local(NamedTuple):
    """A process between two events; `calls` are the open calls that it is in, by their places in the state."""

    pc: int
    status: Status
    registers: tuple[Value, ...]
    offer: Offer | None = None
    calls: tuple[int, ...] = ()
    pending: Pending = Pending()


class Broken(NamedTuple):
    """A violation on the way: the class, what `clause` is false, and the choices made until then."""

    error: ErrorClass
    text: str
    span: Span
    choices: tuple[int, ...]
    clause: StateClause | None = None


Here = tuple[int, tuple[Value, ...], Pending]
"""The point, registers and requests of a process."""


@dataclass(slots=True)
class Ways:
    """Where a process may come to, each with the choices that it makes; and what is violated on the ways."""

    ends: dict[Local, tuple[int, ...]] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)


FAULTS: Final = {
    "division": "division by zero",
    "index": "an index is out of range",
    "destination": "the destination is no process",
    "source": "the source is no process",
    "tag": "a tag is negative",
    "kind": "a number is used as an array, or an array as a number",
    "length": "an array of negative length",
}


@dataclass(frozen=True, slots=True)
class LocalSteps:
    """The local steps of process `me` of `procs`. `rendezvous`: every send is a request that is waited for."""

    code: Code
    me: int
    procs: int
    globals: tuple[str, ...]
    poll: Poll = NEVER
    rendezvous: bool = False

    def ways(self, pc: int, registers: dict[str, Value], calls: tuple[int, ...], pending: Pending) -> Ways:
        """Return what comes of a process that goes on at `pc`."""
        found = Ways()
        todo = [_Way(self, pc, registers, calls, found)]
        todo[0].pending = pending
        picked: set[Here] = set()
        steps = 0
        while todo:
            way = todo.pop()
            while way.status is None:
                self.poll()
                steps += 1
                if steps > MOST_STEPS:
                    way.status = "unfollowed"
                    break
                instruction = way.instruction()
                if isinstance(instruction, Pick):
                    if way.here() not in picked:
                        picked.add(way.here())
                        todo += reversed([way.picking(instruction, choice) for choice in range(len(instruction.targets))])
                    elif way.here() in way.above and not instruction.is_loop:
                        way.status = "endless"
                    break
                way.step(instruction)
            if way.status is not None:
                found.ends.setdefault(way.local(), way.choices)
        return found


class _Way:
    """One course of a process. `status` is None while it goes on."""

    def __init__(self, steps: LocalSteps, pc: int, registers: dict[str, Value], calls: tuple[int, ...], found: Ways) -> None:
        self.steps, self.pc, self.registers, self.calls, self.found = steps, pc, registers, calls, found
        self.status: Status | None = None
        self.offer: Offer | None = None
        self.pending = Pending()
        self.choices: tuple[int, ...] = ()
        self.seen: set[Here] = set()
        self.above: frozenset[Here] = frozenset()
        """Where this course has made a choice."""

    def instruction(self) -> Instruction | None:
        """Return the next instruction, None at the end of the process."""
        code = self.steps.code.instructions
        return code[self.pc] if self.pc < len(code) else None

    def here(self) -> Here:
        return self.pc, tuple(self.registers.values()), self.pending

    def local(self) -> Local:
        assert self.status is not None
        return Local(self.pc, self.status, tuple(self.registers.values()), self.offer, self.calls, self.pending)

    def picking(self, pick: Pick, choice: int) -> _Way:
        """Return the course that goes on with a choice."""
        new = _Way(self.steps, pick.targets[choice], dict(self.registers), self.calls, self.found)
        new.choices = (*self.choices, choice)
        new.pending = self.pending
        new.above = self.above | {self.here()}
        return new

    def broke(self, error: ErrorClass, text: str, span: Span, clause: StateClause | None = None) -> None:
        self.found.broken.append(Broken(error, text, span, self.choices, clause))

    def step(self, instruction: Instruction | None) -> None:
        """Do what the next instruction says; a visible one only gets ready."""
        if instruction is None:
            self.status = "left"
            return
        if isinstance(instruction, Test | Round):
            if self.here() in self.seen:
                self.status = "endless"
                return
            self.seen.add(self.here())
        try:
            self._execute(instruction)
        except FaultError as fault:
            assert not isinstance(instruction, Jump)
            self.status = "stopped"
            self.broke("RTE", FAULTS[fault.kind], instruction.span)

    def _execute(self, instruction: Instruction) -> None:
        following = self.pc + 1
        match instruction:
            case Enter(contract) if contract.kind == "local" and self.pc > 0:
                self._call_local(instruction)
            case Enter() | Leave():
                self.status = "ready"
                return
            case Send():
                self.offer = self._outgoing(instruction)
                self.status = "ready"
                return
            case Post(receive):
                incoming = self._incoming(receive)
                request = self._request(receive.request)
                self.pending = self.pending.post(*request, Posted(*incoming))
            case WaitFor(place):
                self._wait(place)
                return
            case Requests(name, size):
                self.pending = self.pending.declared(name, None if size is None else len(zeros(self._number(size))))
            case Receive():
                self.offer = self._incoming(instruction)
                self.status = "ready"
                return
            case Assign(target, value):
                self._assign(target, value)
            case Assume(condition):
                if not self._number(condition):
                    self.status = "stopped"
                    return
            case Assert(condition):
                if not self._number(condition):
                    self.broke("RTE", "the assertion is false", instruction.span)
            case Halt():
                self.status = "halted"
                return
            case Test(condition, otherwise):
                following = following if self._number(condition) else otherwise
            case Bounds(low, high, first, last):
                self.registers[first], self.registers[last] = self._number(low), self._number(high)
            case Round():
                following = self._round(instruction)
            case Jump(target):
                following = target
            case Pick():
                pass  # its choices are courses of their own
        self.pc = following

    def _number(self, term: Term) -> int:
        return require_number(value_of(term, self.registers))

    def _assign(self, target: Place, value: Term) -> None:
        name, indices = spot_of(target, self.registers)
        new = value_of(value, self.registers)
        if isinstance(new, int) and new.bit_length() > MOST_BITS:
            self.status = "unfollowed"
        self.registers[name] = with_element(self.registers[name], indices, new)

    def _round(self, loop: Round) -> int:
        at, last = require_number(self.registers[loop.following]), require_number(self.registers[loop.last])
        if at <= last:
            self.registers[loop.counter], self.registers[loop.following] = at, at + 1
            return self.pc + 1
        self.registers[loop.following] = self.registers[loop.last] = 0
        return loop.otherwise

    def _call_local(self, enter: Enter) -> None:
        own = self.steps
        state = CollectiveState.of_one(
            own.procs, own.me, arguments_of(enter.call, self.registers), {each: self.registers[each] for each in own.globals}
        )
        for clause in enter.contract.clauses:
            if clause.kind == "requires" and not clause_holds(clause, state, own.me, own.poll):
                said = f"{enter.contract.false_at_entry(clause)} for process {own.me}"
                self.broke(enter.contract.entry_error, said, clause.span, clause)

    def _request(self, place: Place) -> tuple[str, int | None]:
        """Return a request as its name and index. Raises FaultError if there is none."""
        found = place.name, self._number(place.indices[0]) if place.indices else None
        self.pending.check(*found)
        return found

    def _wait(self, place: Place) -> None:
        """Get ready for the wait for a receive, or for a send that has to be got; pass one for anything else."""
        name, index = place.name, self._number(place.indices[0]) if place.indices else None
        state = self.pending.awaited(name, index)[1]
        receive = self.pending.receive_at(state)
        if state < 0:
            self.offer, self.status = Completing(-state), "ready"
            return
        if receive is not None:
            self.offer, self.status = Awaiting(receive), "ready"
            return
        self.pending, again = self.pending.passed(name, index)
        self.pc += not again

    def _outgoing(self, send: Send) -> Outgoing:
        sent = value_of(send.value, self.registers)
        destination = self._number(send.to)
        if not 0 <= destination < self.steps.procs:
            raise FaultError("destination")
        tag = self._tag(send.tag)
        waited = self.steps.rendezvous or send.request.name != "$send"
        request = self._request(send.request) if waited else None
        return Outgoing(destination, send.port, tag, sent, request)

    def _incoming(self, receive: Receive) -> Incoming:
        source = None if receive.source is None else self._number(receive.source)
        if source is not None and not 0 <= source < self.steps.procs:
            raise FaultError("source")
        tag = None if receive.tag is None else self._tag(receive.tag)
        target = spot_of(receive.target, self.registers)
        sender = None if receive.sender is None else spot_of(receive.sender, self.registers)
        which = None if receive.which is None else spot_of(receive.which, self.registers)
        return Incoming(source, receive.port, tag, (target, sender, which))

    def _tag(self, term: Term) -> int:
        tag = self._number(term)
        if tag < 0:
            raise FaultError("tag")
        return tag


def spot_of(place: Place, registers: dict[str, Value]) -> Spot:
    """Return a place with its indices evaluated. Raises FaultError."""
    return place.name, tuple(require_number(value_of(each, registers)) for each in place.indices)


def arguments_of(call: Call, registers: dict[str, Value]) -> dict[str, Value]:
    """Return what a call gives its function, by the names of the parameters."""
    return {name: value_of(term, registers) for name, term in call.arguments}
