"""The rules of closed runs: what each visible event makes of a state, and which violations it shows.

Every class stands here as docs/theory-contracts.md has it, on the state in which the event comes and that after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rdma_robust.contracts.contract_answers import VisibleEvent
from rdma_robust.contracts.language.contract_program import Contract, ContractProgram
from rdma_robust.contracts.language.function_instances import FunctionInstance, OneInput
from rdma_robust.errors import Span
from rdma_robust.expr import Name
from rdma_robust.limits import NEVER, Poll
from rdma_robust.messages.language.message_terms import FaultError, Value, with_element
from tests.support.contracts_oracle.contract_code import Code, Enter, Leave, Receive, Send, WaitFor, code_of
from tests.support.contracts_oracle.local_steps import (
    Awaiting,
    Completing,
    Incoming,
    Local,
    LocalSteps,
    Outgoing,
    arguments_of,
    spot_of,
)
from tests.support.contracts_oracle.message_channels import Channels, Message, first_with, with_channel
from tests.support.contracts_oracle.pending import SENT, Offered, Pending, Spot
from tests.support.contracts_oracle.run_states import Entry, Open, Place, State, changed_surplus, in_flight, with_item
from tests.support.contracts_oracle.shown_clauses import Judge, Shown, broken_on_the_way, different_calls

Taken = tuple[int, tuple[Value, int, int], tuple[Spot | None, Spot | None, Spot | None]]
"""The port, what is got, and where that is stored."""

Branch = tuple[State, tuple[int, ...]]
"""A state after an event, and the choices that the process of the event made from there on."""


@dataclass(frozen=True, slots=True)
class Next:
    """An event, the states after it, and what it shows. There are no states where the run ends with a violation."""

    event: VisibleEvent
    branches: tuple[Branch, ...]
    shown: tuple[Shown, ...]


class Bodies:
    """A function written out for its processes."""

    def __init__(self, program: ContractProgram, contract: Contract, instance: FunctionInstance, poll: Poll = NEVER) -> None:
        self.program, self.contract, self.procs, self.poll = program, contract, instance.procs, poll
        self.zero = program.buffer == "zero"
        self.codes: tuple[Code, ...] = tuple(code_of(program, each) for each in instance.program.processes)
        steps = (
            LocalSteps(code, me, self.procs, program.globals, poll, rendezvous=self.zero)
            for me, code in enumerate(self.codes)
        )
        self.steps = tuple(steps)


@dataclass(slots=True)
class _Event:
    """A state while an event of process `me` changes it: its process goes on behind the event with `registers`."""

    me: int
    local: Local
    registers: dict[str, Value]
    channels: Channels
    calls: list[Open]
    ahead: tuple[tuple[Place, ...], ...]
    within: tuple[int, ...]
    pending: Pending
    goes_to: int
    shown: list[Shown] = field(default_factory=list)
    left: int | None = None
    """The place of a call that all have left now."""


class Rules:
    """The closed runs of a function from one input. Of a local function one process, `alone`, runs."""

    def __init__(self, bodies: Bodies, inputs: tuple[OneInput, ...], alone: int | None = None) -> None:
        self.bodies, self.inputs, self.procs = bodies, inputs, bodies.procs
        self.active = tuple(range(self.procs)) if alone is None else (alone,)
        self.judge = Judge(bodies.program, bodies.contract, inputs, self.active, bodies.poll)

    def start(self) -> State:
        """Return the state before every process."""
        idle = tuple(each not in self.active for each in range(self.procs))
        nothing: tuple[tuple[()], ...] = ((),) * self.procs
        own = Open(self.bodies.contract.name, idle, idle, (), (), nothing)
        return State(tuple(self._before(each) for each in range(self.procs)), (), (own,), nothing)

    def _before(self, me: int) -> Local:
        code = self.bodies.codes[me]
        registers: dict[str, Value] = dict.fromkeys(code.registers, 0)
        if me not in self.active:
            return Local(len(code.instructions), "left", tuple(registers.values()))
        enter = code.instructions[0]
        assert isinstance(enter, Enter)
        given = {name: self.inputs[me][name] for name in self.bodies.program.globals}
        for name, term in enter.call.arguments:
            assert isinstance(term, Name)
            given[term.name] = self.inputs[me][name]
        return Local(0, "ready", tuple({**registers, **given}.values()))

    def events(self, state: State) -> Iterator[Next]:
        """Yield every event that a state has."""
        for me in self.active:
            local = state.locals[me]
            if local.status != "ready":
                continue
            match self.bodies.codes[me].instructions[local.pc]:
                case Enter() as enter:
                    yield self._enter(state, me, enter)
                case Leave() as leave:
                    yield self._exit(state, me, leave)
                case Send() as send:
                    yield self._send(state, me, send)
                case Receive() as receive:
                    yield from self._receives(state, me, receive)
                case WaitFor() as wait:
                    yield from self._waits(state, me, wait)

    def shown_in(self, state: State, moves: bool) -> list[Shown]:
        """Return what is violated in a state as it is; `moves` says whether it has events."""
        return [*self.judge.interference(state), *([] if moves else self.judge.deadlock(state))]

    def _open(self, state: State, me: int) -> _Event:
        local = state.locals[me]
        registers = dict(zip(self.bodies.codes[me].registers, local.registers, strict=True))
        return _Event(
            me, local, registers, state.channels, list(state.calls), state.ahead, local.calls, local.pending, local.pc + 1
        )

    def _close(self, state: State, event: _Event, happening: VisibleEvent) -> Next:
        """Return the states in which the process has done its local steps after the event."""
        me, left = event.me, event.left
        ways = self.bodies.steps[me].ways(event.goes_to, event.registers, event.within, event.pending)
        shown = [*event.shown, *(broken_on_the_way(me, each) for each in ways.broken)]
        branches = []
        for local, choices in ways.ends.items():
            locals_ = with_item(state.locals, me, local)
            if left is not None:
                locals_ = tuple(each._replace(calls=tuple(at - (at > left) for at in each.calls)) for each in locals_)
            branches.append((State(locals_, event.channels, tuple(event.calls), event.ahead), choices))
        return Next(happening, tuple(branches), tuple(shown))

    def _passes(self, event: _Event, place: Place) -> int | None:
        """Note that the process passes a place of its sequence; return who has passed another there."""
        at = len(event.ahead[event.me])
        for other in self.active:
            passed = event.ahead[other]
            if len(passed) > at and passed[at] != place:
                return other
        event.ahead = with_item(event.ahead, event.me, (*event.ahead[event.me], place))
        if all(event.ahead[each] for each in self.active):
            event.ahead = tuple(each[1:] for each in event.ahead)
        return None

    def _enter(self, state: State, me: int, enter: Enter) -> Next:
        event, contract = self._open(state, me), enter.contract
        happening = VisibleEvent(me, "enter", contract.name, span=enter.span)
        at = next((at for at, call in enumerate(event.calls) if not call.entered[me]), len(event.calls))
        other = self._passes(event, ("enter", contract.name))
        if other is not None:
            return Next(happening, (), (different_calls(me, other, contract.name, at, enter.span),))
        if at == len(event.calls):
            no, nothing = (False,) * self.procs, ((),) * self.procs
            event.calls.append(Open(contract.name, no, no, (None,) * self.procs, in_flight(state), nothing))
        call = event.calls[at]
        call = call._replace(entered=with_item(call.entered, me, True))
        event.within = (*event.within, at)
        if at == 0:
            event.shown += self.judge.own_entry(me)
        else:
            globals_ = tuple(event.registers[each] for each in self.bodies.program.globals)
            entry = Entry(tuple(arguments_of(enter.call, event.registers).values()), globals_)
            quiet = self.judge.quiet_from(contract, me, entry, event.shown, at)
            event.shown += self.judge.early_messages(call, me, quiet, at)
            early = frozenset(each for each in call.early if each[1] != me)
            call = call._replace(
                entries=with_item(call.entries, me, entry), quiet=with_item(call.quiet, me, quiet), early=early
            )
            if all(call.entered):
                event.shown += self.judge.collective_entry(contract, call, at)
                call = call._replace(entries=(), surplus=())
        event.calls[at] = call
        return self._close(state, event, happening)

    def _exit(self, state: State, me: int, leave: Leave) -> Next:
        event = self._open(state, me)
        happening = VisibleEvent(me, "exit", leave.contract.name, span=leave.span)
        at = event.within[-1]
        other = self._passes(event, ("exit", leave.contract.name))
        if other is not None:
            return Next(happening, (), (different_calls(me, other, leave.contract.name, at, leave.span),))
        call = event.calls[at]
        event.within = event.within[:-1]
        event.calls[at] = call = call._replace(
            exited=with_item(call.exited, me, True), early=frozenset(each for each in call.early if each[1] != me)
        )
        if at == 0:
            event.shown += self.judge.own_exit(state, me)
            kept = {*self.bodies.program.globals, leave.call.result}
            event.registers = {name: value if name in kept else 0 for name, value in event.registers.items()}
            if all(call.exited):
                event.shown += self.judge.collective_exit(self._at_exit(state, event, leave), event.channels)
                event.shown += self.judge.requests_left(with_item(state.locals, me, event.local))
        elif all(call.exited):
            del event.calls[at]
            event.left = at
        return self._close(state, event, happening)

    def _at_exit(self, state: State, event: _Event, leave: Leave) -> tuple[dict[str, Value], ...]:
        """Return the registers of all processes, with `\\result` as the result, where the last one leaves the function."""
        found = []
        for me, (code, local) in enumerate(zip(self.bodies.codes, state.locals, strict=True)):
            registers = event.registers if me == event.me else dict(zip(code.registers, local.registers, strict=True))
            found.append({**registers, **({"\\result": registers[leave.call.result]} if leave.call.result else {})})
        return tuple(found)

    def _send(self, state: State, me: int, send: Send) -> Next:
        event, offer = self._open(state, me), state.locals[me].offer
        assert isinstance(offer, Outgoing)
        to, port, tag, value, request = offer
        ticket = None
        if request is not None and self.bodies.zero:
            ticket = _unused(state, me)
            event.pending = event.pending.offer(*request, Offered(ticket, to, port, tag, value))
        elif request is not None:
            event.pending = event.pending.set(*request, SENT)
        kind = (me, to, port, tag)
        happening = VisibleEvent(me, "send", peer=to, tag=tag, port=port, value=value, span=send.span)
        channel = (me, to, port)
        before = dict(event.channels).get(channel, ())
        event.channels = with_channel(event.channels, channel, (*before, Message(tag, value, ticket)))
        event.shown += self.judge.own_send(state, kind)
        for at, call in enumerate(event.calls):
            if at and not call.entered[me]:
                event.calls[at] = call._replace(surplus=changed_surplus(call.surplus, kind, 1))
            if at and call.exited[me] and not call.exited[to]:
                if call.entered[to]:
                    event.shown += self.judge.sent_into(call, kind, at)
                elif self._asks_for_quiet(call.name):
                    event.calls[at] = call._replace(early=call.early | {kind})
        return self._close(state, event, happening)

    def _asks_for_quiet(self, name: str) -> bool:
        contract = self.bodies.program.contract(name)
        return contract is not None and any(each.kind == "quiet from" for each in contract.paths)

    def _receives(self, state: State, me: int, receive: Receive) -> Iterator[Next]:
        offer = state.locals[me].offer
        assert isinstance(offer, Incoming)
        for channel, messages in state.channels:
            sender, to, port = channel
            if (to, port) == (me, offer.port) and offer.source in (None, sender):
                at = first_with(messages, offer.tag)
                if at is not None:
                    yield self._receive(state, me, receive, sender, at)

    def matches(self, state: State) -> Iterator[State]:
        """Yield the states after a match of a posted receive, which nobody sees."""
        for me in self.active:
            local = state.locals[me]
            for place, sender, at in local.pending.matches(state.channels, me):
                channel = (sender, me, local.pending.posted[place].port)
                messages = dict(state.channels)[channel]
                tag, value, ticket = messages[at]
                pending = local.pending.matched(place, (value, sender, tag))
                locals_ = with_item(state.locals, me, local._replace(pending=pending))
                if ticket is not None:
                    whose = locals_[sender]
                    locals_ = with_item(locals_, sender, whose._replace(pending=whose.pending.was_got(ticket)))
                yield state._replace(
                    locals=locals_,
                    channels=with_channel(state.channels, channel, (*messages[:at], *messages[at + 1 :])),
                )

    def _waits(self, state: State, me: int, wait: WaitFor) -> Iterator[Next]:
        event, offer = self._open(state, me), state.locals[me].offer
        if isinstance(offer, Completing):
            yield from self._completes(state, event, wait, offer.ticket)
            return
        assert isinstance(offer, Awaiting)
        receive = event.pending.posted[offer.place]
        if receive.got is None:
            return
        name, indices = spot_of(wait.place, event.registers)
        event.pending, again = event.pending.passed(name, indices[0] if indices else None)
        event.goes_to -= again
        yield self._stores(state, event, (receive.port, receive.got, receive.stores), wait.span)

    def _completes(self, state: State, event: _Event, wait: WaitFor, ticket: int) -> Iterator[Next]:
        send = event.pending.offered_at(-ticket)
        if send is None or not send.got:
            return
        name, indices = spot_of(wait.place, event.registers)
        event.pending, again = event.pending.passed(name, indices[0] if indices else None)
        event.goes_to -= again
        _, to, port, tag, value, _ = send
        yield self._close(state, event, VisibleEvent(event.me, "complete", "", to, tag, port, value, span=wait.span))

    def _receive(self, state: State, me: int, receive: Receive, sender: int, at: int) -> Next:
        event, offer = self._open(state, me), state.locals[me].offer
        assert isinstance(offer, Incoming)
        channel = (sender, me, offer.port)
        messages = dict(state.channels)[channel]
        tag, value, _ = messages[at]
        event.channels = with_channel(event.channels, channel, (*messages[:at], *messages[at + 1 :]))
        return self._stores(state, event, (offer.port, (value, sender, tag), offer.stores), receive.span)

    def _stores(self, state: State, event: _Event, taken: Taken, span: Span) -> Next:
        """Let a process take a message and store what it has got."""
        me, (port, got, stores) = event.me, taken
        value, sender, tag = got
        happening = VisibleEvent(me, "recv", peer=sender, tag=tag, port=port, value=value, span=span)
        for number, call in enumerate(event.calls):
            if number and not call.entered[me]:
                event.calls[number] = call._replace(surplus=changed_surplus(call.surplus, (sender, me, port, tag), -1))
        try:
            for spot, stored in zip(stores, got, strict=True):
                if spot is not None:
                    event.registers[spot[0]] = with_element(event.registers[spot[0]], spot[1], stored)
        except FaultError as fault:
            return self._stopped(state, event, happening, self.judge.fault(me, fault, span))
        return self._close(state, event, happening)

    def _stopped(self, state: State, event: _Event, happening: VisibleEvent, shown: Shown) -> Next:
        local = Local(event.local.pc, "stopped", tuple(event.registers.values()), None, event.within, event.pending)
        after = State(with_item(state.locals, event.me, local), event.channels, tuple(event.calls), event.ahead)
        return Next(happening, ((after, ()),), (*event.shown, shown))


def _unused(state: State, me: int) -> int:
    """Return the first ticket that no send of a process has."""
    used = {each.ticket for each in state.locals[me].pending.offered}
    for (sender, _, _), messages in state.channels:
        used |= {each.ticket for each in messages if each.ticket is not None and sender == me}
    return next(each for each in range(1, len(used) + 2) if each not in used)
