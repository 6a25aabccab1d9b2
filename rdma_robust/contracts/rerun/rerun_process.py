"""One process of a rerun: a generator over its structured statements that stops at every visible event."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.contracts.language.contract_program import Contract
from rdma_robust.contracts.rerun.rerun_specs import Taking
from rdma_robust.errors import NO_SPAN, InternalError, SizeLimitError, Span
from rdma_robust.expr import Name
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
    InlinedCall,
    IssueReceive,
    IssueSend,
    Loop,
    Place,
    Process,
    Requests,
    Return,
    Statement,
    Wait,
    While,
)
from rdma_robust.messages.language.message_terms import FaultError, Term, Value, Zeros
from rdma_robust.messages.replay.worth import replay_number, replay_value, with_replacement

MOST_STEPS: Final = 10_000_000


@dataclass(frozen=True, slots=True)
class Passing:
    """The process is about to enter or to exit a function; at its exit it has `result`."""

    event: Literal["enter", "exit"]
    function: str
    arguments: dict[str, Value]
    globals: dict[str, Value]
    result: Value | None = None


@dataclass(frozen=True, slots=True)
class Sending:
    to: int
    port: int
    tag: int
    value: Value


@dataclass(frozen=True, slots=True)
class Awaiting:
    """The process waits for the receive that it has posted as number `receive`."""

    receive: int


@dataclass(frozen=True, slots=True)
class Completing:
    """The process waits until somebody has got the message that it has sent as number `send`."""

    send: int


Visible = Passing | Sending | Awaiting | Completing
Got = tuple[Value, int, int]
"""Value, sender and tag of a message."""

Key = tuple[str, int | None]
"""A request: its name, and its index in an array."""

Steps = Generator[Visible, "Got | None", None]


class NoChoiceLeft(Exception):
    """The process must choose and nobody says what."""


class _Returns(Exception):
    pass


class _Halts(Exception):
    pass


class _Stops(Exception):
    """By a false assume."""


@dataclass(frozen=True, slots=True)
class Note:
    """A fault, a false assertion, or a false `requires` of a local function."""

    error: Literal["RTE", "SRV", "INV"]
    span: Span
    kind: str = field(default="", compare=False)
    """Of the fault, or `assert`."""
    function: str = field(default="", compare=False)
    arguments: tuple[tuple[str, Value], ...] = field(default=(), compare=False)
    call: Span = field(default=NO_SPAN, compare=False)
    """Which local function is called, with what, and where."""


@dataclass(frozen=True, slots=True)
class RunnerStage:
    """Facts that all processes of a rerun know: how many they are, contracts by name, the names of globals.

    `requires` yields the places of the clauses of a local function that are false where a process calls it.
    """

    procs: int
    contract_of: Callable[[str], Contract | None]
    requires: Callable[[Contract, Passing, int, int], Iterator[Span]]
    globals: tuple[str, ...]
    rendezvous: bool = False
    """Whether a send is complete only when somebody has got its message."""


class Runner:
    """Runs process number `me` from the values that it is `given`."""

    def __init__(self, stage: RunnerStage, process: Process, me: int, given: Mapping[str, Value]) -> None:
        self.me, self.stage = me, stage
        self.registers: dict[str, Value] = dict.fromkeys(process.registers, 0)
        self.choices: list[int] = []
        self.notes: list[Note] = []
        self.status: Literal["runs", "over", "halted", "stopped", "undecided"] = "runs"
        self.next: Visible | None = None
        self.posted: list[Taking] = []
        self.places: list[Span] = []
        """Where they stand."""
        self.unfinished: set[int] = set()
        """Receives that were posted and not waited for."""
        self._spots: list[list[tuple[str, tuple[int, ...]] | None]] = []
        self._active: dict[Key, int | None] = {}
        """Requests that are active: for a receive its number, for a send ~number if somebody has to get it, else None."""
        self._issued: dict[Key, Span] = {}
        self._sends = 0
        self._sizes: dict[str, int] = {}
        self._steps = 0
        self._at: Span | None = None
        (own,) = process.body
        assert isinstance(own, InlinedCall)
        self._own = own
        for name, term in own.call.arguments:
            assert isinstance(term, Name)
            self.registers[term.name] = given[name]
        self.registers |= {name: given[name] for name in stage.globals}
        self._course: Steps = self._inlined(own)

    def go_on(self, choices: tuple[int, ...], got: Got | None = None) -> None:
        """Pass the visible event that comes next, with what a receive gets, and go to that after it with these choices."""
        self.choices = list(choices)
        try:
            self.next = None
            self.next = self._course.send(got)
        except StopIteration:
            self.status = "over"
        except _Halts:
            self.status = "halted"
        except _Stops:
            self.status = "stopped"
        except NoChoiceLeft:
            self.status = "undecided"
        except FaultError as fault:
            assert self._at is not None
            self.status = "stopped"
            self.notes.append(Note("RTE", self._at, fault.kind))

    def _block(self, block: Block) -> Steps:
        for statement in block:
            yield from self._statement(statement)

    def _statement(self, statement: Statement) -> Steps:
        self._count(statement.span)
        if isinstance(statement, Assign):
            indices = self._indices(statement.target)
            self._put(statement.target.name, indices, replay_value(statement.value, self.registers))
        elif isinstance(statement, Assume):
            if self._whole(statement.condition) == 0:
                raise _Stops
        elif isinstance(statement, Assert):
            if self._whole(statement.condition) == 0:
                self.notes.append(Note("RTE", statement.span, "assert"))
        elif isinstance(statement, Halt):
            raise _Halts
        elif isinstance(statement, Return):
            raise _Returns
        elif isinstance(statement, InlinedCall):
            yield from self._inlined(statement)
        elif isinstance(statement, IssueSend):
            yield from self._send(statement)
        elif isinstance(statement, IssueReceive):
            self._receive(statement)
        elif isinstance(statement, Wait):
            yield from self._wait(statement)
        elif isinstance(statement, Requests):
            self._declare(statement)
        elif isinstance(statement, If | While | For | Loop | Choose):
            yield from self._structured(statement)
        elif not isinstance(statement, CollectiveCall):
            raise InternalError(f"a rerun does not know {type(statement).__name__}")

    def _structured(self, statement: If | While | For | Loop | Choose) -> Steps:
        if isinstance(statement, If):
            yield from self._block(statement.then if self._whole(statement.condition) else statement.other)
        elif isinstance(statement, While):
            while self._whole(statement.condition):
                yield from self._block(statement.body)
                self._count(statement.span)
        elif isinstance(statement, For):
            low, high = self._whole(statement.low), self._whole(statement.high)
            for number in range(low, high + 1):
                self.registers[statement.counter] = number
                yield from self._block(statement.body)
                self._count(statement.span)
        elif isinstance(statement, Loop):
            while self._choice(statement.span):
                yield from self._block(statement.body)
        else:
            yield from self._block(statement.branches[self._choice(statement.span)])

    def _inlined(self, inlined: InlinedCall) -> Steps:
        contract = self.stage.contract_of(inlined.name)
        visible = contract is not None and (contract.kind == "collective" or inlined is self._own)
        arguments = {name: replay_value(term, self.registers) for name, term in inlined.call.arguments}
        enters = Passing("enter", inlined.name, arguments, self._globals())
        if contract is not None and not visible:
            called = inlined.name, tuple(arguments.items()), inlined.span
            false = self.stage.requires(contract, enters, self.me, self.stage.procs)
            error: Literal["SRV", "INV"] = "SRV" if contract.loop is None else "INV"
            self.notes += [Note(error, each, "", *called) for each in false]
        if visible:
            yield enters
        with suppress(_Returns):
            yield from self._block(inlined.body)
        if visible:
            result = self.registers[inlined.call.result] if inlined.call.result else None
            yield Passing("exit", inlined.name, arguments, self._globals(), result)

    def _send(self, send: IssueSend) -> Steps:
        value = replay_value(send.value, self.registers)
        to = self._process(send.to)
        tag = self._tag(send.tag)
        key = self._key(send.request)
        yield Sending(to, send.port, tag, value)
        self._active[key] = ~self._sends if self.stage.rendezvous else None
        self._issued[key] = send.span
        self._sends += 1

    def _receive(self, receive: IssueReceive) -> None:
        source = None if receive.source is None else self._process(receive.source)
        tag = None if receive.tag is None else self._tag(receive.tag)
        places = (receive.target, receive.sender, receive.which)
        self._spots.append([None if each is None else (each.name, self._indices(each)) for each in places])
        self.posted.append(Taking(source, receive.port, tag))
        self.places.append(receive.span)
        self._active[self._key(receive.request)] = len(self.posted) - 1
        self.unfinished.add(len(self.posted) - 1)

    def _key(self, place: Place) -> Key:
        """Return a request: its name, and its index in an array. Raises FaultError if there is none."""
        size = self._sizes.get(place.name)
        if (size is None) != (not place.indices):
            raise FaultError("kind")
        if size is None:
            return place.name, None
        index = self._whole(place.indices[0])
        if index < 0 or index >= size:
            raise FaultError("index")
        return place.name, index

    def _declare(self, statement: Requests) -> None:
        for key in [each for each in self._active if each[0] == statement.name]:
            del self._active[key]
        if statement.size is not None:
            self._sizes[statement.name] = len(replay_value(Zeros(statement.size), self.registers))  # type: ignore[arg-type]

    def _wait(self, wait: Wait) -> Steps:
        for place in wait.requests:
            size = self._sizes.get(place.name)
            several = size is not None and not place.indices
            for key in [(place.name, at) for at in range(size or 0)] if several else [self._key(place)]:
                if key in self._active:
                    receive = self._active[key]
                    if receive is not None and receive < 0:
                        yield Completing(~receive)
                    elif receive is not None:
                        yield from self._take(receive, wait.span)
                    del self._active[key]

    def _take(self, receive: int, span: Span) -> Steps:
        got = yield Awaiting(receive)
        assert got is not None
        self._at = span
        self.unfinished.discard(receive)
        for spot, value in zip(self._spots[receive], got, strict=True):
            if spot is not None:
                self._put(*spot, value)

    @property
    def at(self) -> Span:
        """Where the process is."""
        return NO_SPAN if self._at is None else self._at

    def unwaited(self) -> list[Span]:
        """Return where the receives and sends stand that were not waited for."""
        sends = [self._issued[key] for key, each in self._active.items() if each is None or each < 0]
        return [self.places[each] for each in sorted(self.unfinished)] + sends

    @property
    def is_idle(self) -> bool:
        """Whether no request is active, and no receive is posted that was not waited for."""
        return not self.unfinished and not self._active

    def _process(self, term: Term) -> int:
        number = self._whole(term)
        if number < 0 or number >= self.stage.procs:
            raise FaultError("destination")
        return number

    def _tag(self, term: Term) -> int:
        tag = self._whole(term)
        if tag < 0:
            raise FaultError("tag")
        return tag

    def _whole(self, term: Term) -> int:
        return replay_number(term, self.registers)

    def _indices(self, place: Place) -> tuple[int, ...]:
        return tuple(self._whole(each) for each in place.indices)

    def _put(self, name: str, indices: tuple[int, ...], value: Value) -> None:
        self.registers[name] = with_replacement(self.registers[name], indices, value)

    def _globals(self) -> dict[str, Value]:
        return {name: self.registers[name] for name in self.stage.globals}

    def _choice(self, span: Span) -> int:
        self._count(span)
        if not self.choices:
            raise NoChoiceLeft
        return self.choices.pop(0)

    def _count(self, span: Span) -> None:
        self._at = span
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise SizeLimitError(f"a process of the counterexample takes more than {MOST_STEPS:,} steps")
