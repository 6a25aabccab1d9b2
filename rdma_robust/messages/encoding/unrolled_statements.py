"""The statements of one process that have no others in them, as guarded events.

A process that is unrolled is in a :class:`PathState`; where branches meet again, two of these are joined.

More than 400 lines: one class with a rule for each statement, and what they share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.errors import Span
from rdma_robust.limits import Limits
from rdma_robust.messages.encoding import unrolled as events
from rdma_robust.messages.encoding.evaluation import Evaluation, Held, merge_values, received_value, shape_size, value_shape
from rdma_robust.messages.encoding.symbolic_terms import Symbol, Symbols
from rdma_robust.messages.encoding.unrolled import Event, NotEncodedError, Shapes
from rdma_robust.messages.language import message_program as mp
from rdma_robust.messages.language.message_terms import FaultKind, Term


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """An operation that is waited for, and where the wait stores: the names and indices of target, sender and tag."""

    kind: Literal["send", "receive"]
    number: int
    value: Held | None = None
    target: tuple[str, tuple[Symbol, ...]] | None = None
    sender: tuple[str, tuple[Symbol, ...]] | None = None
    which: tuple[str, tuple[Symbol, ...]] | None = None


@dataclass(frozen=True, slots=True)
class SymbolicRequest:
    """The operations that a request may stand for, each under a condition that excludes the others; else none."""

    active: tuple[tuple[Symbol, PendingRequest], ...] = ()


INACTIVE: Final = SymbolicRequest()
Requests = SymbolicRequest | tuple["Requests", ...] | None
"""A request or an array of them; None if paths do not agree on its length."""


@dataclass(slots=True)
class PathState:
    """Where a process is: `guard` says when it gets here. `sent`, `received` and `called` count what it has done."""

    guard: Symbol
    registers: dict[str, Held]
    requests: dict[str, Requests]
    sent: Symbol
    received: Symbol
    called: Symbol

    def copy(self, guard: Symbol) -> PathState:
        return PathState(guard, dict(self.registers), dict(self.requests), self.sent, self.received, self.called)


def join_paths(symbols: Symbols, entry: Symbol | None, test: Symbol, a: PathState, b: PathState) -> PathState:
    """Return where two paths from a point with the guard `entry` meet: `a` is taken where `test` holds.

    Both guards imply `entry`; so that it can be seen, it stays a conjunct where a path may have stopped on its way.
    """
    if a.guard is symbols.false:
        return b
    if b.guard is symbols.false:
        return a
    if (
        entry is not None
        and a.guard is symbols.conjunction(entry, test)
        and b.guard is symbols.conjunction(entry, symbols.negation(test))
    ):
        guard = entry
    else:
        either = symbols.disjunction(a.guard, b.guard)
        guard = either if entry is None else symbols.conjunction(entry, either)
    registers = {name: merge_values(symbols, test, held, b.registers[name]) for name, held in a.registers.items()}
    requests = {name: merge_requests(symbols, test, held, b.requests[name]) for name, held in a.requests.items()}
    sent, received = symbols.choice_of(test, a.sent, b.sent), symbols.choice_of(test, a.received, b.received)
    called = symbols.choice_of(test, a.called, b.called)
    return PathState(guard, registers, requests, sent, received, called)


def merge_requests(symbols: Symbols, test: Symbol, a: Requests, b: Requests) -> Requests:
    """Return `a` where `test` holds, else `b`; None where arrays have different lengths, or one is none."""
    if a is b or a == b:
        return a
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple([merge_requests(symbols, test, one, other) for one, other in zip(a, b, strict=True)])
    if not isinstance(a, SymbolicRequest) or not isinstance(b, SymbolicRequest):
        return None
    found: dict[int, tuple[Symbol, PendingRequest]] = {}
    for side, request in ((test, a), (symbols.negation(test), b)):
        for condition, operation in request.active:
            here = symbols.conjunction(side, condition)
            before = found.get(id(operation), (symbols.false, operation))[0]
            found[id(operation)] = (symbols.disjunction(before, here), operation)
    return SymbolicRequest(tuple(found.values()))


def requests_in(requests: Requests, at: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], SymbolicRequest]]:
    """Yield all requests of an array with their indices, in order; one that is no array has none. Raises NotEncodedError."""
    if requests is None:
        raise NotEncodedError("an array of requests whose length differs between paths")
    if isinstance(requests, SymbolicRequest):
        yield at, requests
    else:
        for index, inner in enumerate(requests):
            yield from requests_in(inner, (*at, index))


MOST_EVENTS: Final = 300_000


@dataclass(slots=True)
class Unrolling:
    """One unrolling: the program, bound and shapes that it is of, and the events of all processes so far."""

    program: mp.MessageProgram
    loop_bound: int
    symbols: Symbols
    shapes: Shapes
    limits: Limits
    with_looks: bool = False

    sends: list[events.SendEvent] = field(default_factory=list)
    receives: list[events.ReceiveEvent] = field(default_factory=list)
    choices: list[events.ChoiceEvent] = field(default_factory=list)
    looks: int = 0
    ready: int = 0
    count: int = 0


class Statements:
    """Unrolls the statements of one process that have no others in them."""

    def __init__(self, number: int, made: Unrolling) -> None:
        self.number, self.made = number, made
        self.program, self.loop_bound, self.symbols = made.program, made.loop_bound, made.symbols
        self.shapes, self.first = made.shapes, len(made.receives)
        self.events: list[Event] = []
        self.poll = made.limits.poll("unrolling")

    def simple(self, statement: mp.Statement, state: PathState) -> None:
        match statement:
            case mp.Assign(target, value, span):
                run = Evaluation(self.symbols, state.registers)
                indices = self.indices(run, target)
                new = run.value(value, self.symbols.true)
                self.store(run, state, (target.name, indices), new, self.symbols.true)
                self.faults(run, state, span)
            case mp.Requests(name, size, span):
                self._requests(name, size, span, state)
            case mp.IssueSend():
                self._send(statement, state)
            case mp.IssueCollective():
                raise NotEncodedError("who has entered a collective operation")
            case mp.IssueReceive(of=mp.Place()):
                raise NotEncodedError("what probes see")
            case mp.IssueReceive():
                self._receive(statement, state)
            case mp.Wait(places):
                for place in places:
                    self._wait(place, statement, state)
            case mp.CollectiveCall(name, root, span):
                at = None if root is None else self._root(root, state)
                here = self.number, len(self.events), state.guard, state.called
                self.add(events.CollectiveEvent(*here, name, at, span))
                state.called = self.symbols.apply("+", state.called, self.symbols.true)
            case mp.Abort(error, span):
                run = Evaluation(self.symbols, state.registers)
                run.value(error, self.symbols.true)
                run.fault(self.symbols.true, "abort", self.symbols.true)
                self.faults(run, state, span)
            case mp.Assume(condition, span):
                truth = self.truth(condition, state, span)
                self.add(events.AssumeEvent(self.number, len(self.events), state.guard, truth, span))
                state.guard = self.symbols.conjunction(state.guard, truth)
            case mp.Assert(condition, span):
                truth = self.truth(condition, state, span)
                self.add(events.AssertEvent(self.number, len(self.events), state.guard, truth, span))
            case _:
                raise NotEncodedError(f"a statement of kind {type(statement).__name__}")

    def add(self, event: Event) -> None:
        """Add an event unless it never happens. Raises NotEncodedError if there are too many."""
        if event.guard is not self.symbols.false:
            self.events.append(event)
            self.made.count += 1
            if self.made.count > MOST_EVENTS:
                raise NotEncodedError(f"more than {MOST_EVENTS:,} events")

    def _root(self, term: Term, state: PathState) -> Symbol:
        """Return the root of a library procedure, -1 where evaluating it is a fault: the call itself is none."""
        run, always = Evaluation(self.symbols, state.registers), self.symbols.true
        found = run.number(run.value(term, always), always)
        for condition, _ in run.faults:
            found = self.symbols.choice_of(condition, self.symbols.const(-1), found)
        return found

    def truth(self, term: Term, state: PathState, span: Span) -> Symbol:
        """Return what a condition is worth, after the faults of evaluating it."""
        run = Evaluation(self.symbols, state.registers)
        found = self.symbols.truth(run.number(run.value(term, self.symbols.true), self.symbols.true))
        self.faults(run, state, span)
        return found

    def indices(self, run: Evaluation, place: mp.Place) -> tuple[Symbol, ...]:
        always = self.symbols.true
        return tuple([run.number(run.value(each, always), always) for each in place.indices])

    def faults(self, run: Evaluation, state: PathState, span: Span) -> bool:
        """Add the faults of an evaluation; return whether the process can go on after them."""
        for condition, kind in run.faults:
            where = self.symbols.conjunction(state.guard, condition)
            self.add(events.FaultEvent(self.number, len(self.events), where, kind, span))
            state.guard = self.symbols.conjunction(state.guard, self.symbols.negation(condition))
        run.faults.clear()
        return state.guard is not self.symbols.false

    def store(
        self, run: Evaluation, state: PathState, place: tuple[str, tuple[Symbol, ...]], new: Held, under: Symbol
    ) -> None:
        """Store `new` where `under` holds."""
        name, indices = place
        old = state.registers[name]
        stored = run.with_element(old, indices, new, under)
        state.registers[name] = stored if under is self.symbols.true else merge_values(self.symbols, under, stored, old)

    def _send(self, statement: mp.IssueSend, state: PathState) -> None:
        run, always = Evaluation(self.symbols, state.registers), self.symbols.true
        value = run.value(statement.value, always)
        to = run.number(run.value(statement.to, always), always)
        self._check(run, to, len(self.program.processes) - 1, "destination")
        tag = run.number(run.value(statement.tag, always), always)
        self._check(run, tag, None, "tag")
        said = self._said(run, statement.of_type, statement.size)
        if statement.mode == "ready":
            self._ready(statement, run, (to, tag), state)
        indices = self.indices(run, statement.request)
        self._one_request(run, state, statement.request.name, indices)
        if not self.faults(run, state, statement.span):
            return
        number, message = len(self.made.sends), run.message(value)
        event = events.SendEvent(
            self.number,
            len(self.events),
            state.guard,
            number,
            message,
            to,
            statement.port,
            tag,
            state.sent,
            statement.mode,
            shape_size(value_shape(message)),
            statement.span,
            *said,
        )
        self.made.sends.append(event)
        self.add(event)
        state.sent = self.symbols.apply("+", state.sent, self.symbols.true)
        operation = PendingRequest("send", number)
        self.request(run, state, statement.request.name, indices, SymbolicRequest(((always, operation),)))

    def _ready(self, statement: mp.IssueSend, run: Evaluation, message: tuple[Symbol, Symbol], state: PathState) -> None:
        """Let what is sent ready be expected, or a fault."""
        if not self.made.with_looks:
            raise NotEncodedError("whether a receive is posted for what is sent `ready`")
        if not self.faults(run, state, statement.span):
            return
        number, (to, tag) = self.made.ready, message
        self.made.ready += 1
        self.add(
            events.ReadyEvent(self.number, len(self.events), state.guard, number, to, statement.port, tag, statement.span)
        )
        expected = self.symbols.truth(self.symbols.leaf("expected", number))
        run.fault(self.symbols.negation(expected), "ready", self.symbols.true)
        self.faults(run, state, statement.span)

    def _said(self, run: Evaluation, *terms: Term | None) -> list[Symbol | None]:
        always = self.symbols.true
        return [None if each is None else run.number(run.value(each, always), always) for each in terms]

    def pattern(self, run: Evaluation, statement: mp.IssueReceive | mp.Probe) -> tuple[Symbol | None, Symbol | None]:
        """Return the source and the tag that a receive or a look is for, None for any."""
        always = self.symbols.true
        source = None if statement.source is None else run.number(run.value(statement.source, always), always)
        if source is not None:
            self._check(run, source, len(self.program.processes) - 1, "source")
        tag = None if statement.tag is None else run.number(run.value(statement.tag, always), always)
        if tag is not None:
            self._check(run, tag, None, "tag")
        return source, tag

    def _check(self, run: Evaluation, value: Symbol, high: int | None, kind: FaultKind) -> None:
        inside = self.symbols.apply("<=", self.symbols.false, value)
        if high is not None:
            inside = run.between(value, 0, high)
        run.fault(self.symbols.negation(inside), kind, self.symbols.true)

    def _receive(self, statement: mp.IssueReceive, state: PathState) -> None:
        run, always = Evaluation(self.symbols, state.registers), self.symbols.true
        source, tag = self.pattern(run, statement)
        said = self._said(run, statement.of_type, statement.room)
        places = [statement.target, statement.sender, statement.which]
        stores = [None if each is None else (each.name, self.indices(run, each)) for each in places]
        indices = self.indices(run, statement.request)
        self._one_request(run, state, statement.request.name, indices)
        if not self.faults(run, state, statement.span):
            return
        number = len(self.made.receives)
        span = statement.span
        shape = self.shapes.guess(self.number, number - self.first, span)
        event = events.ReceiveEvent(
            self.number,
            len(self.events),
            state.guard,
            number,
            source,
            statement.port,
            tag,
            state.received,
            shape,
            span,
            *said,
        )
        self.made.receives.append(event)
        self.add(event)
        state.received = self.symbols.apply("+", state.received, self.symbols.true)
        operation = PendingRequest("receive", number, received_value(self.symbols, number, shape), *stores)
        self.request(run, state, statement.request.name, indices, SymbolicRequest(((always, operation),)))

    def _requests(self, name: str, size: Term | None, span: Span, state: PathState) -> None:
        if size is None:
            state.requests[name] = INACTIVE
            return
        run, always = Evaluation(self.symbols, state.registers), self.symbols.true
        length = run.number(run.value(size, always), always)
        if not length.constant:
            raise NotEncodedError("an array of requests whose length is known only in the run")
        if length.value < 0:
            run.fault(always, "length", always)
        self.faults(run, state, span)
        state.requests[name] = (INACTIVE,) * length.value

    def _one_request(self, run: Evaluation, state: PathState, name: str, indices: tuple[Symbol, ...]) -> None:
        """Note the faults of making this request active: an array of them is none."""
        found = self.request(run, state, name, indices, None)
        if found is None:
            raise NotEncodedError("an array of requests whose length differs between paths")
        if isinstance(found, tuple):
            run.fault(self.symbols.true, "kind", self.symbols.true)

    def request(self, run: Evaluation, state: PathState, name: str, indices: tuple[Symbol, ...], new: Requests) -> Requests:
        """Return what is at a place of requests, and put `new` there unless it is None. Notes faults of index and kind."""
        found, state.requests[name] = self._placed(run, state.requests[name], indices, new, self.symbols.true)
        return found

    def _placed(
        self, run: Evaluation, at: Requests, indices: tuple[Symbol, ...], new: Requests, under: Symbol
    ) -> tuple[Requests, Requests]:
        """Return what is at a place where `under` holds, and all requests with `new` there unless it is None."""
        if not indices:
            return at, at if new is None else new
        index, inner = indices[0], indices[1:]
        if at is None:
            raise NotEncodedError("an array of requests whose length differs between paths")
        if not isinstance(at, tuple):
            run.fault(self.symbols.true, "kind", under)
            return INACTIVE, at
        run.fault(self.symbols.negation(run.between(index, 0, len(at) - 1)), "index", under)
        if index.constant:
            if not 0 <= index.value < len(at):
                return INACTIVE, at
            found, changed = self._placed(run, at[index.value], inner, new, under)
            return found, (*at[: index.value], changed, *at[index.value + 1 :])
        return self._anywhere(run, at, indices, new, under)

    def _anywhere(
        self, run: Evaluation, at: tuple[Requests, ...], indices: tuple[Symbol, ...], new: Requests, under: Symbol
    ) -> tuple[Requests, Requests]:
        """Return the same where the first index is known only in the run: every place, where the index is that."""
        symbols, found, all_changed = self.symbols, None, []
        for place, old in enumerate(at):
            here = symbols.apply("==", indices[0], symbols.const(place))
            there, changed = self._placed(run, old, indices[1:], new, symbols.conjunction(under, here))
            found = there if place == 0 else merge_requests(symbols, here, there, found)
            all_changed.append(merge_requests(symbols, here, changed, old))
        return found if at else INACTIVE, tuple(all_changed)

    def _wait(self, place: mp.Place, statement: mp.Wait, state: PathState) -> None:
        run = Evaluation(self.symbols, state.registers)
        indices = self.indices(run, place)
        found = self.request(run, state, place.name, indices, None)
        if not self.faults(run, state, statement.span):
            return
        for which, each in requests_in(found):
            for condition, operation in each.active:
                self.wait_for(operation, condition, statement, state)
            here = (*indices, *[self.symbols.const(index) for index in which])
            self.request(run, state, place.name, here, INACTIVE)

    def choice(self, options: int, span: Span, state: PathState) -> Symbol:
        """Return a choice that the process makes here."""
        number = len(self.made.choices)
        event = events.ChoiceEvent(self.number, len(self.events), state.guard, number, options, span)
        self.made.choices.append(event)
        self.add(event)
        return self.symbols.leaf("choice", number) if options > 1 else self.symbols.false

    def wait_for(
        self,
        operation: PendingRequest,
        condition: Symbol,
        statement: mp.Wait | mp.Completion,
        state: PathState,
        beside: tuple[events.WaitedBeside, ...] = (),
    ) -> None:
        guard, span = self.symbols.conjunction(state.guard, condition), statement.span
        tests = isinstance(statement, mp.Completion) and statement.tests
        here = self.number, len(self.events), guard
        self.add(events.WaitEvent(*here, operation.kind, operation.number, span, beside, tests))
        if operation.target is None or operation.value is None or guard is self.symbols.false:
            return
        run, number = Evaluation(self.symbols, state.registers), operation.number
        self.store(run, state, operation.target, operation.value, condition)
        if operation.sender is not None:
            self.store(run, state, operation.sender, self.symbols.leaf("sender", number), condition)
        if operation.which is not None:
            self.store(run, state, operation.which, self.symbols.leaf("tag", number), condition)
        self.faults(run, state, span)
