"""Local states by number, and what two of them can do together, each computed once: a state is a tuple of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final, Literal, NamedTuple

from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.flat_code import FlatProcess, flat
from rdma_robust.messages.machine.group_calls import first_to_forget, forget_call, next_opening, open_call
from rdma_robust.messages.machine.local_runs import BUFFERED, Cut, LocalTrail, LocalViolation, local_runs_from
from rdma_robust.messages.machine.matching import Meeting, is_expected, meetings, pair_mismatch, seen_by
from rdma_robust.messages.machine.process_rules import ProcessRules, give, take
from rdma_robust.messages.machine.process_state import ANYTHING, LocalState, ProcessFrame, initial, nameless
from rdma_robust.messages.machine.what_follows import WhatFollows, what_follows, without_the_unread
from rdma_robust.messages.message_answers import MatchedPair, OperationId

State = tuple[int, ...]
"""The number of each process's local state."""

_GOES_ON: Final = ("waits", "looks", "ended")
"""What a process is in a deadlock: where one has stopped or runs forever there is none any more."""


class After(NamedTuple):
    """A local state by its number, and how a run comes to it."""

    number: int
    trail: LocalTrail


@dataclass(frozen=True, slots=True)
class Onward:
    """The ways of one process up to its next waits."""

    ends: tuple[After, ...]
    violations: tuple[LocalViolation, ...]


class Advance(NamedTuple):
    """Where a process can come if sends that it waits for get buffers, how, and what it had issued at the last of them."""

    local: LocalState
    trail: LocalTrail
    issued: tuple[int, int]


HopKind = Literal["match", "step", "grant", "open", "forget"]
"""A match; a step that sees what others have done, such as a look; buffers for what a process waits for; a call of a
collective operation that comes to another stage; the first calls of a group, which are over, forgotten by all members."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A match of two processes, or a look that sees a message, and what each then does; nothing is in `sender_then` if that
    is the receiver, or a look leaves the message where it is.

    `pair` has the names of this search: those of the run only if it keeps names. `kind` says whether the receive names its
    source, whether no earlier receive of its endpoint is unmatched, and of which endpoint it is, by its bit. `buffered` is
    what receiver and sender do before, with buffers, if one of the two is not issued yet; nothing is in its `kind` then.
    """

    receiver: int
    sender: int
    meeting: Meeting
    pair: MatchedPair
    receiver_then: Onward
    sender_then: Onward | None
    kind: tuple[bool, bool, int]
    by: HopKind = "match"
    buffered: tuple[LocalTrail, LocalTrail] | None = None
    others: tuple[tuple[int, int], ...] = ()


def _own_hop(me: int, kind: HopKind, then: Onward) -> Hop:
    """Return a hop of one process that is no match."""
    nothing = OperationId(me, ANYTHING)
    return Hop(me, me, Meeting(ANYTHING, ANYTHING), MatchedPair(nothing, nothing), then, None, (False, False, 0), kind)


@dataclass(slots=True)
class LocalTable:
    """Local states of one program under one buffer semantics; under `any` those that a deadlock can come from.

    With `names` operations have the names of the run, else local states that differ in names only are one. With `history` a
    process keeps which sends its receives took, with `results` one that is over what it was like then, and each what is in
    registers that are not read any more.
    """

    program: MessageProgram
    buffer: Buffer
    limits: Limits
    ahead: int
    names: bool = True
    history: bool = False
    results: bool = False
    processes: tuple[FlatProcess, ...] = ()
    rules: tuple[ProcessRules, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()
    gathers: bool = False
    locals: list[list[LocalState]] = field(default_factory=list)
    cuts: set[tuple[int, Cut]] = field(default_factory=set)
    _numbers: list[dict[LocalState, int]] = field(default_factory=list)
    _onward: dict[tuple[int, LocalState], Onward] = field(default_factory=dict)
    _hops: dict[tuple[int, int, int, int], tuple[Hop, ...]] = field(default_factory=dict)
    _later: dict[tuple[int, int, int, int], tuple[Hop, ...]] = field(default_factory=dict)
    _advances: dict[tuple[int, int], tuple[Advance, ...]] = field(default_factory=dict)
    _reaches: list[list[tuple[int, ...]]] = field(default_factory=list)
    _plain: list[list[int]] = field(default_factory=list)
    _shapes: dict[tuple[int, LocalState], int] = field(default_factory=dict)
    _follows: tuple[WhatFollows, ...] = ()
    _sends: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.processes = tuple(flat(each) for each in self.program.processes)
        self.groups = tuple(each.members for each in self.program.groups)
        self.gathers = self.program.gathers
        count = len(self.processes)
        self.rules = tuple(
            ProcessRules(each, me, count, self.buffer, self.program.eager, self.program.expecting, self.groups)
            for me, each in enumerate(self.processes)
        )
        self.locals = [[] for _ in range(count)]
        self._numbers = [{} for _ in range(count)]
        self._reaches = [[] for _ in range(count)]
        self._plain = [[] for _ in range(count)]
        self._sends = [[] for _ in range(count)]
        self._follows = tuple(what_follows(each, count, len(self.program.ports)) for each in self.processes)

    def starts(self) -> tuple[Onward, ...]:
        """Return what each process can do before it waits for the first time."""
        return tuple(self.onward(me, initial(each)) for me, each in enumerate(self.processes))

    def combined(self, starts: tuple[Onward, ...]) -> Iterator[tuple[State, tuple[LocalTrail, ...]]]:
        """Yield the states that these ends are, with the trails to them."""
        for way in product(*(each.ends for each in starts)):
            yield tuple(end.number for end in way), tuple(end.trail for end in way)

    def number(self, me: int, local: LocalState) -> int:
        """Return the number of a local state; of one that is over only what others can see and history counts."""
        if not self.names:
            local = nameless(local)
        if not self.results and local.status in ("ended", "stopped", "endless"):
            over = self.processes[me]
            registers, requests = (0,) * len(over.registers), (None,) * len(over.requests)
            local = local._replace(pc=over.end, cursor=0, registers=registers, requests=requests)
        elif not self.results:
            blocking = self.rules[me].blocking(ProcessFrame(self.processes[me], local))
            local = without_the_unread(self._follows[me], local, blocking)
        known = self._numbers[me]
        number = known.setdefault(local, len(known))
        if number == len(self.locals[me]):
            self.locals[me].append(local)
            goes_on = local.status in ("waits", "looks", "paused")
            self._sends[me].append(self._follows[me].sends[local.pc] if goes_on else 0)
            self._reaches[me].append(tuple(sorted({op.to for op in local.sends})))
            self._plain[me].append(self._shapes.setdefault((me, nameless(local)), len(self._shapes)))
        return number

    def plain(self, state: State) -> State:
        """Return the same for states that differ in names and in the past only."""
        return tuple(plain[number] for plain, number in zip(self._plain, state, strict=True))

    def onward(self, me: int, local: LocalState) -> Onward:
        """Return what a process can do from `local` on. Raises LimitReached."""
        known = self._onward.get((me, local))
        if known is None:
            found = local_runs_from(self.rules[me], local, self.ahead, lambda: self.limits.look("running a process"))
            self.cuts.update((me, cut) for cut in found.cuts)
            ends: dict[int, LocalTrail] = {}
            for end, trail in found.ends.items():
                if self.buffer != "any" or end.status in _GOES_ON:
                    ends.setdefault(self.number(me, end), trail)
            known = Onward(tuple(After(*each) for each in ends.items()), tuple(found.violations.values()))
            self._onward[me, local] = known
        return known

    def hops(self, state: State) -> list[Hop]:
        """Return the matches of a state."""
        found: list[Hop | None] = []
        for sender, number in enumerate(state):
            for receiver in self._reaches[sender][number]:
                key = (receiver, state[receiver], sender, number)
                known = self._hops.get(key)
                if known is None:
                    known = self._hops[key] = self._meet(*key)
                found += known
        if self.program.expecting:
            found += [self._seen_step(me, self.locals[me][number], state) for me, number in enumerate(state)]
        return [each for each in found if each is not None]

    def _seen_step(self, me: int, local: LocalState, state: State) -> Hop | None:
        """Return the step that others see, if a process stands before one."""
        frame, rules = ProcessFrame(self.processes[me], local), self.rules[me]
        if local.status != "looks" or not rules.is_seen(frame):
            return None
        message = rules.expects(frame)
        others = None if message is None else local if message.to == me else self.locals[message.to][state[message.to]]
        expected = message is not None and others is not None and is_expected(message, local.sends, me, others)
        frame.status = "runs"
        then = self._after(me, local.pc, frame, rules.step(frame, expected=expected))
        return _own_hop(me, "step", then)

    def opening(self, state: State) -> Hop | None:
        """Return what happens by itself: a call of a collective operation that comes to another stage, or is forgotten."""
        locals_ = self.locals_of(state)
        group = first_to_forget(locals_, self.groups)
        opening = next_opening(locals_, self.groups) if group is None else None
        if opening is not None:
            frame = ProcessFrame(self.processes[opening.process], locals_[opening.process])
            open_call(frame, opening)
            return _own_hop(opening.process, "open", self.onward(opening.process, frame.frozen()))
        if group is None:
            return None
        first, *others = [(each, self._without_call(each, locals_[each], group)) for each in self.groups[group]]
        then = Onward((After(first[1], LocalTrail((), 0)),), ())
        return replace(_own_hop(first[0], "forget", then), others=tuple(others))

    def locals_of(self, state: State) -> list[LocalState]:
        """Return the local states that a state has."""
        return [known[number] for known, number in zip(self.locals, state, strict=True)]

    def _without_call(self, me: int, local: LocalState, group: int) -> int:
        frame = ProcessFrame(self.processes[me], local)
        forget_call(frame, group)
        return self.number(me, frame.frozen())

    def _after(self, me: int, at: int, frame: ProcessFrame, kind: str) -> Onward:
        """Return what a process does behind a step that may have been a violation."""
        then = self.onward(me, frame.frozen())
        return Onward(then.ends, (LocalViolation(at, kind, LocalTrail((), 0)), *then.violations)) if kind else then

    def later_hops(self, state: State) -> Iterator[Hop]:
        """Yield the matches that become possible if sends that are waited for get buffers; only under `any`."""
        if self.gathers and self.buffer == "any":
            yield from self._grants(state)
            return
        for sender, number in enumerate(state if self.buffer == "any" else ()):
            for receiver in sorted({op.to for each in self.advances(sender, number) for op in each.local.sends}):
                key = (receiver, state[receiver], sender, number)
                known = self._later.get(key)
                if known is None:
                    known = self._later[key] = tuple(self._meet_later(*key))
                yield from known
        if self.buffer == "any" and self.program.expecting:
            yield from self._seen_later(state)

    def _grants(self, state: State) -> Iterator[Hop]:
        """Yield where buffers can bring each process."""
        for me, number in enumerate(state):
            for each in self.advances(me, number):
                if any(decision <= BUFFERED for decision in each.trail.decisions):
                    then = Onward((After(self.number(me, each.local), each.trail),), ())
                    yield _own_hop(me, "grant", then)

    def _seen_later(self, state: State) -> Iterator[Hop]:
        """Yield the steps that others see and to which buffers bring a process."""
        for me, number in enumerate(state):
            for each in self.advances(me, number)[1:]:
                hop = self._seen_step(me, each.local, state)
                if hop is not None:
                    yield replace(hop, buffered=(each.trail, each.trail))

    def advances(self, me: int, number: int) -> tuple[Advance, ...]:
        """Return where buffers can bring a process, that it stays where it is first. Raises LimitReached."""
        known = self._advances.get((me, number))
        if known is None:
            local = self.locals[me][number]
            found = local_runs_from(
                self.rules[me], local, self.ahead, lambda: self.limits.look("running a process"), buffered=True
            )
            self.cuts.update((me, cut) for cut in found.cuts)
            known = self._advances[me, number] = tuple(
                Advance(end, trail, found.issued[end]) for end, trail in found.ends.items() if end.status in _GOES_ON
            )
        return known

    def may_send(self, state: State, sender: int, endpoint: int) -> bool:
        """Whether a process may still issue a send to an endpoint, given by its bit."""
        return bool(self._sends[sender][state[sender]] & endpoint)

    def _meet(self, receiver: int, receives: int, sender: int, sends: int) -> tuple[Hop, ...]:
        at, of = self.locals[receiver][receives], self.locals[sender][sends]
        found = [self._hop(receiver, at, sender, of, each) for each in meetings(receiver, at, sender, of)]
        return (*found, *(self._look(receiver, at, sender, of, each) for each in self._seen(receiver, at, sender, of)))

    def _seen(self, receiver: int, at: LocalState, sender: int, of: LocalState) -> Iterator[int]:
        """Yield which messages a look sees that the receiver stands before."""
        if at.status in ("waits", "looks"):
            look = self.rules[receiver].look(ProcessFrame(self.processes[receiver], at))
            yield from () if look is None else seen_by(look, receiver, at, sender, of)

    def _meet_later(self, receiver: int, receives: int, sender: int, sends: int) -> Iterator[Hop]:
        """Yield the matches of two processes, each where it comes first with as few buffers as it needs for that."""
        ours, theirs = self.advances(receiver, receives), self.advances(sender, sends)
        ways = ((each, each) for each in ours) if receiver == sender else product(ours, theirs)
        for at, of in ways:
            for meeting in meetings(receiver, at.local, sender, of.local):
                is_new = (
                    at.local.receives[meeting.receive].nth >= at.issued[1],
                    of.local.sends[meeting.send].nth >= of.issued[0],
                )
                if (at, of) != (ours[0], theirs[0]) and (any(is_new) if receiver == sender else all(is_new)):
                    hop = self._hop(receiver, at.local, sender, of.local, meeting)
                    yield replace(hop, kind=(False, False, hop.kind[2]), buffered=(at.trail, of.trail))
            for number in self._seen(receiver, at.local, sender, of.local):
                is_first = receiver == sender or of.local.sends[number].nth >= of.issued[0]
                if (at, of) != (ours[0], theirs[0]) and is_first:
                    hop = self._look(receiver, at.local, sender, of.local, number)
                    there = (After(self.number(sender, of.local), LocalTrail((), 0)),)
                    then = hop.sender_then or (None if receiver == sender else Onward(there, ()))
                    yield replace(hop, sender_then=then, buffered=(at.trail, of.trail))

    def _look(self, receiver: int, at: LocalState, sender: int, of: LocalState, number: int) -> Hop:
        frame = ProcessFrame(self.processes[receiver], at)
        other = frame if receiver == sender else ProcessFrame(self.processes[sender], of)
        frame.status = "runs"
        then = self._after(receiver, at.pc, frame, self.rules[receiver].see(frame, other, sender, number))
        is_changed = other is not frame and other.sends[number] != of.sends[number]
        pair = MatchedPair(OperationId(receiver, at.received), OperationId(sender, of.sends[number].nth))
        theirs = self.onward(sender, other.frozen()) if is_changed else None
        return Hop(receiver, sender, Meeting(ANYTHING, number), pair, then, theirs, (False, False, 0), "step")

    def _hop(self, receiver: int, at: LocalState, sender: int, of: LocalState, meeting: Meeting) -> Hop:
        message = of.sends[meeting.send]
        receive = at.receives[meeting.receive]
        name, source, wrong = receive.nth, receive.source, pair_mismatch(receive, message)
        frame = ProcessFrame(self.processes[receiver], at)
        take(frame, meeting.receive, message, sender)
        if self.history:
            frame.taken = tuple(sorted((*frame.taken, (name, sender, message.nth))))
        pair = MatchedPair(OperationId(receiver, name), OperationId(sender, message.nth))
        is_first = all(each.port != receive.port for each in at.receives[: meeting.receive])
        kind = source != ANYTHING, is_first, 1 << (receiver * len(self.program.ports) + receive.port)
        if receiver == sender:
            give(frame, meeting.send)
            return Hop(receiver, sender, meeting, pair, self._after(receiver, receive.at, frame, wrong), None, kind)
        other = ProcessFrame(self.processes[sender], of)
        give(other, meeting.send)
        then = self._after(receiver, receive.at, frame, wrong), self.onward(sender, other.frozen())
        return Hop(receiver, sender, meeting, pair, *then, kind)
