"""The rules of the machine, one by one: which moves a state has, and what each makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rdma_robust.errors import NO_SPAN, InternalError, Span
from rdma_robust.messages.language.message_program import Buffer, Choose, Completion, Loop, MessageProgram, Probe
from rdma_robust.messages.language.message_terms import FaultError
from rdma_robust.messages.message_answers import BufferGrant, MatchedPair, MatchMove, Move, OperationId, ProcessStep
from rdma_robust.messages.replay.collective_calls import have_entered, may_leave, new_mismatches, unfinished_call
from rdma_robust.messages.replay.performing import Performer, ProcessInStep
from rdma_robust.messages.replay.world import (
    Active,
    ActiveCall,
    ActiveReceive,
    ActiveSend,
    BlockPoint,
    Delivery,
    ReplayProcess,
    ReplayState,
    RequestArray,
    ReturnPoint,
    StepViolation,
    UnmatchedReceive,
    UnmatchedSend,
)
from rdma_robust.messages.replay.worth import replay_size


class NotEnabled(InternalError):
    """A move that no rule allows where it comes."""


class Interpreter:
    """One program under one buffer semantics."""

    def __init__(self, program: MessageProgram, buffer: Buffer) -> None:
        self.program = program
        self.buffer = buffer
        self.performer = Performer(program)

    def start(self) -> ReplayState:
        """Return the state in which nothing has happened."""
        return ReplayState(tuple(self.performer.start(me) for me in range(len(self.program.processes))))

    def span(self, process: ReplayProcess) -> Span:
        """Return the place of a process's next statement in the text."""
        if not process.point or isinstance(process.point[-1], ReturnPoint):
            return NO_SPAN
        return self.performer.statement(process.point[-1]).span

    def moves(self, world: ReplayState) -> Iterator[Move]:
        """Yield every move that a rule allows: steps with each choice, buffers, matches."""
        for me, process in enumerate(world.processes):
            if process.status != "runs":
                continue
            if self.can_step(world, me):
                yield from (ProcessStep(me, choice) for choice in self.choices(world, me))
            elif self.can_buffer(world, self.performer.awaited(me, process)):
                yield BufferGrant(me)
        for receive in world.receives:
            for send in world.sends:
                if self.can_match(world, receive, send):
                    yield MatchMove(MatchedPair(receive.name, send.name))

    def choices(self, world: ReplayState, me: int) -> list[int | None]:
        """Return the choices of a process's next step, [None] if it has none to make; none of a look that sees nothing."""
        process = world.processes[me]
        top = process.point[-1]
        assert not isinstance(top, ReturnPoint)
        statement = self.performer.statement(top)
        if isinstance(statement, Probe):
            if self.performer.looked_for(me, process) is None:
                return [None]
            seen = sorted(each.name.process + 1 for each in self.seen(world, me))
            return [0, *seen] if statement.flag is not None else [*seen]
        if isinstance(statement, Completion):
            return self._completions(world, me, statement)
        if isinstance(statement, Choose):
            return list(range(len(statement.branches)))
        return [0, 1] if isinstance(statement, Loop) else [None]

    def _completions(self, world: ReplayState, me: int, wanted: Completion) -> list[int | None]:
        """Return the choices of a statement that completes requests, [None] where it is a fault."""
        found = self.performer.listed(me, world.processes[me])
        if found is None:
            return [None]
        active = [number for number, (_, _, request) in enumerate(found) if request is not None]
        ready = [number for number in active if self.can_complete(world, found[number][2])]
        choices: list[int | None] = [0] if wanted.tests or not active else []
        if wanted.how == "any":
            return choices + [number + 1 for number in ready]
        if wanted.how == "all":
            return choices + [1] * (len(active) > 0 and len(ready) == len(active))
        for mask in range(1, 1 << len(found)):
            places = [found[number][:2] for number in range(len(found)) if mask >> number & 1]
            within = all(number in ready for number in range(len(found)) if mask >> number & 1)
            if within and len(set(places)) == len(places):
                choices.append(mask)
        return choices

    def waited_for_one(self, world: ReplayState, me: int) -> Active | None:
        """Return what a process waits for that waits for one of several, of which nothing is complete yet: the first send,
        else the first receive, else the first collective operation. Under `any` buffers do not count."""
        process = world.processes[me]
        wanted = self.performer.completion(process)
        if wanted is None or wanted.tests:
            return None
        active = [each for _, _, each in self.performer.listed(me, process) or () if each is not None]
        if not active or not all(self.is_closed(world, each) for each in active):
            return None
        sends = [each for each in active if isinstance(each, ActiveSend)]
        receives = [each for each in active if isinstance(each, ActiveReceive)]
        return (sends or receives or active)[0]

    def may_pause(self, world: ReplayState, me: int) -> bool:
        """Whether the next step of a process completes requests, and more of them can be complete later than can be now."""
        listed = self.performer.listed(me, world.processes[me]) or ()
        return any(active is not None and self.is_closed(world, active) for _, _, active in listed)

    def can_complete(self, world: ReplayState, request: Active | None) -> bool:
        """Whether an active request is complete, or a buffer that its send may get at any time makes it so."""
        return request is not None and (not self.is_closed(world, request) or self.can_buffer(world, request))

    def accepts(self, receive: UnmatchedReceive, send: UnmatchedSend) -> bool:
        """Whether destination and port are the same, and source and tag `any` or the send's, and nobody else holds it."""
        if send.held or receive.of is not None:
            return receive.of == send.name
        if send.to != receive.name.process or send.port != receive.port:
            return False
        return receive.source in (None, send.name.process) and receive.tag in (None, send.tag)

    def overtakes(self, world: ReplayState, receive: UnmatchedReceive, send: UnmatchedSend) -> bool:
        """Whether an earlier unmatched send of the same channel is accepted by the receive."""
        return any(
            other.name.process == send.name.process
            and other.name.nth < send.name.nth
            and (other.to, other.port) == (send.to, send.port)
            and self.accepts(receive, other)
            for other in world.sends
        )

    def jumps_the_queue(self, world: ReplayState, receive: UnmatchedReceive, send: UnmatchedSend) -> bool:
        """Whether an earlier posted unmatched receive of the same endpoint accepts the send."""
        return any(
            other.name.process == receive.name.process
            and other.name.nth < receive.name.nth
            and other.port == receive.port
            and self.accepts(other, send)
            for other in world.receives
        )

    def seen(self, world: ReplayState, me: int) -> list[UnmatchedSend]:
        """Return the messages that the look of a process can see: those that a receive posted there could take now."""
        look = self.performer.looked_for(me, world.processes[me])
        return [] if look is None else [each for each in world.sends if self.can_match(world, look, each)]

    def is_expected(self, world: ReplayState, send: UnmatchedSend) -> bool:
        """Whether a posted receive could take a message at once that is sent now."""
        after = world._replace(sends=(*world.sends, send))
        return any(self.can_match(after, receive, send) for receive in world.receives)

    def can_match(self, world: ReplayState, receive: UnmatchedReceive, send: UnmatchedSend) -> bool:
        """Whether the rule `match` applies to two unmatched operations."""
        if not self.accepts(receive, send):
            return False
        return not self.overtakes(world, receive, send) and not self.jumps_the_queue(world, receive, send)

    def can_step(self, world: ReplayState, me: int) -> bool:
        """Whether the process has a next statement and is not at a wait that is closed."""
        process = world.processes[me]
        if process.status != "runs" or self.is_closed(world, self.performer.awaited(me, process)):
            return False
        return bool(self.choices(world, me))

    def is_closed(self, world: ReplayState, request: Active | None) -> bool:
        """Whether the wait for a request cannot be passed: rules `wait R` and `wait S`."""
        match request:
            case ActiveReceive(receive):
                return all(each.receive != receive for each in world.delivered)
            case ActiveSend(send):
                return send not in world.buffered and self.is_unbuffered(world, send)
            case ActiveCall(process, group, nth):
                return (process, group, nth) not in world.left_early and not self.is_over(world, request)
            case _:
                return False

    def is_over(self, world: ReplayState, call: ActiveCall, *, early: bool = False) -> bool:
        """Whether all have entered the same collective operation for whom a member waits; `early` those it has to."""
        everyone = self._for_everyone(world, call) and not early
        return may_leave(world, call, self.performer.groups[call.group], everyone=everyone)

    def _for_everyone(self, world: ReplayState, call: ActiveCall) -> bool:
        made = unfinished_call(world, call.process, call.group, call.nth)
        assert made is not None
        few = self.buffer == "eager" and replay_size(made.value) <= (self.program.eager or 0)
        return not few and self.buffer != "infinite"

    def is_stuck(self, world: ReplayState, me: int) -> bool:
        """Whether a process waits in a collective operation for nobody who has not entered, as others called another one."""
        call = self.performer.awaited(me, world.processes[me]) or self.waited_for_one(world, me)
        if not isinstance(call, ActiveCall) or self.is_over(world, call):
            return False
        everyone = self._for_everyone(world, call)
        return have_entered(world, call, self.performer.groups[call.group], everyone=everyone)

    def is_unbuffered(self, world: ReplayState, name: OperationId) -> bool:
        """Whether a send is unmatched, and nothing but a match or a buffer that is given to it opens its wait."""
        send = next((each for each in world.sends if each.name == name), None)
        if send is None or send.mode == "buffered":
            return False
        if send.mode == "sync" or self.buffer in ("zero", "any"):
            return True
        return self.buffer == "eager" and replay_size(send.value) > (self.program.eager or 0)

    def can_buffer(self, world: ReplayState, request: Active | None) -> bool:
        """Whether the wait for a request is closed, and a buffer opens it."""
        if isinstance(request, ActiveCall):
            return self.buffer == "any" and self.is_closed(world, request) and self.is_over(world, request, early=True)
        if self.buffer != "any" or not isinstance(request, ActiveSend) or not self.is_closed(world, request):
            return False
        return any(each.name == request.send and each.mode in ("standard", "ready") for each in world.sends)

    def after(self, world: ReplayState, move: Move) -> tuple[ReplayState, StepViolation | None]:
        """Return the state after a move, and the violation that it is. Raises NotEnabled."""
        match move:
            case MatchMove(pair):
                return self._matched(world, pair), self._mismatch(world, pair)
            case BufferGrant(process):
                return self._granted(world, process), None
            case ProcessStep(process, choice):
                if not 0 <= process < len(world.processes):
                    raise NotEnabled(f"there is no process {process}")
                return self._step(world, process, choice)

    def _matched(self, world: ReplayState, pair: MatchedPair) -> ReplayState:
        receive = next((each for each in world.receives if each.name == pair.receive), None)
        send = next((each for each in world.sends if each.name == pair.send), None)
        if receive is None or send is None:
            raise NotEnabled(f"{pair}: both must be issued and unmatched")
        if not self.accepts(receive, send):
            raise NotEnabled(f"{pair}: the receive does not accept the send")
        if self.overtakes(world, receive, send):
            raise NotEnabled(f"{pair}: the message would overtake an earlier one of its channel")
        if self.jumps_the_queue(world, receive, send):
            raise NotEnabled(f"{pair}: a receive that is posted earlier accepts the send")
        return world._replace(
            receives=tuple(each for each in world.receives if each != receive),
            sends=tuple(each for each in world.sends if each != send),
            delivered=tuple(sorted((*world.delivered, Delivery(receive.name, send.value, send.name.process, send.tag)))),
            sent_off=world.sent_off | {send.name},
            pairs=world.pairs | {pair},
        )

    @staticmethod
    def _mismatch(world: ReplayState, pair: MatchedPair) -> StepViolation | None:
        """Return the violation that a match is: what both say of the message does not agree."""
        receive = next(each for each in world.receives if each.name == pair.receive)
        send = next(each for each in world.sends if each.name == pair.send)
        if receive.at is None:
            return None
        if None not in (receive.of_type, send.of_type) and receive.of_type != send.of_type:
            return StepViolation(pair.receive.process, "type", receive.at)
        if receive.room is not None and send.size is not None and send.size > receive.room:
            return StepViolation(pair.receive.process, "room", receive.at)
        return None

    def _granted(self, world: ReplayState, me: int) -> ReplayState:
        request = self.performer.awaited(me, world.processes[me])
        if isinstance(request, ActiveCall) and self.can_buffer(world, request):
            return world._replace(left_early=world.left_early | {(request.process, request.group, request.nth)})
        if not isinstance(request, ActiveSend) or not self.can_buffer(world, request):
            raise NotEnabled(f"process {me} does not wait for a send that could get a buffer")
        return world._replace(buffered=world.buffered | {request.send})

    def _step(self, world: ReplayState, me: int, choice: int | None) -> tuple[ReplayState, StepViolation | None]:
        process = world.processes[me]
        if process.status != "runs":
            raise NotEnabled(f"process {me} has {process.status}")
        if not self.can_step(world, me):
            raise NotEnabled(f"process {me} waits")
        if choice not in self.choices(world, me):
            raise NotEnabled(f"process {me} cannot choose {choice}")
        top = process.point[-1]
        assert not isinstance(top, ReturnPoint)
        opened = self.performer.opened(me, process)
        opened.expected = lambda send: self.is_expected(world, send)
        if isinstance(self.performer.statement(top), Probe) and choice:
            opened.seen = next(each for each in self.seen(world, me) if each.name.process == choice - 1)
        try:
            self.performer.execute(world, opened, choice)
        except FaultError as fault:
            opened.status, opened.violation = "stopped", fault.kind
            opened.send = opened.receive = opened.call = None
        else:
            self.performer.advance(opened)
        event = StepViolation(me, opened.violation, BlockPoint(top.block, top.index)) if opened.violation else None
        if opened.call is not None:
            wrong = tuple(new_mismatches(world, opened.call))
            event = wrong[0]._replace(more=wrong[1:]) if wrong else None
        return self._put_back(world, opened), event

    def _put_back(self, world: ReplayState, opened: ProcessInStep) -> ReplayState:
        processes = list(world.processes)
        processes[opened.me] = self.performer.closed(opened)
        sends = world.sends if opened.send is None else tuple(sorted((*world.sends, opened.send), key=_name))
        sends = tuple(each._replace(held=True) if each.name == opened.holds else each for each in sends)
        receives = world.receives if opened.receive is None else tuple(sorted((*world.receives, opened.receive), key=_name))
        delivered = world.delivered
        passed = {each.receive for each in opened.passed if isinstance(each, ActiveReceive)}
        delivered = tuple(each for each in delivered if each.receive not in passed)
        calls = world.calls if opened.call is None else tuple(sorted((*world.calls, opened.call)))
        after = world._replace(processes=tuple(processes), sends=sends, receives=receives, delivered=delivered, calls=calls)
        return self._without_calls_that_are_over(after) if calls else after

    def _without_calls_that_are_over(self, world: ReplayState) -> ReplayState:
        """Forget the calls that all members have made and left."""
        needed = set()
        for process in world.processes:
            for slot in process.requests:
                for each in slot.elements if isinstance(slot, RequestArray) else (slot,):
                    if isinstance(each, ActiveCall):
                        needed.add((each.group, each.nth))
        made = Counter((each.group, each.nth) for each in world.calls)
        members = self.performer.groups
        over = {each for each, count in made.items() if count == len(members[each[0]]) and each not in needed}
        calls = tuple(each for each in world.calls if (each.group, each.nth) not in over)
        early = frozenset(each for each in world.left_early if each[1:] not in over)
        return world._replace(calls=calls, left_early=early)


def _name(operation: UnmatchedSend | UnmatchedReceive) -> OperationId:
    return operation.name
