"""Runs that are made move by move: from what another engine decided, from what the search found, or at random."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from rdma_robust.errors import InternalError, Span
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.flat_code import FlatProcess, flat
from rdma_robust.messages.machine.group_calls import call_differences, first_to_forget, forget_call, next_opening, open_call
from rdma_robust.messages.machine.local_runs import BUFFERED, LocalTrail
from rdma_robust.messages.machine.local_table import Hop
from rdma_robust.messages.machine.matching import Meeting, are_enabled, is_expected, meetings, pair_mismatch, seen_by
from rdma_robust.messages.machine.process_rules import ProcessRules, give, take
from rdma_robust.messages.machine.process_state import (
    ANYTHING,
    CollectiveHandle,
    LocalState,
    PendingHandle,
    ProcessFrame,
    SendHandle,
    SendOp,
    initial,
)
from rdma_robust.messages.machine.request_rules import grant_buffer, is_grantable
from rdma_robust.messages.message_answers import (
    BufferGrant,
    MatchedPair,
    MatchMove,
    Move,
    OperationId,
    ProcessStep,
    Schedule,
    WaitingProcess,
    WaitKind,
)

_MOVES = 100_000
"""Of a run that does not end by itself."""


@dataclass(frozen=True, slots=True)
class NormalFormDecisions:
    """The decisions that distinguish a run in normal form from the others of its program.

    `matches` are in the order in which they happen; a number between them is a process that makes a look there, or a step
    that others see. `choices[p]` are those of process p from its start, and `granted` the sends
    that get a buffer as soon as their process waits for them (only under `any`).
    """

    matches: tuple[MatchedPair | int, ...]
    choices: tuple[tuple[int, ...], ...] = ()
    granted: frozenset[OperationId] = frozenset()


class Course:
    """A run that grows by moves; `moves` are those so far, and `frames` what the processes are like now."""

    def __init__(self, program: MessageProgram, buffer: Buffer) -> None:
        self.processes: tuple[FlatProcess, ...] = tuple(flat(each) for each in program.processes)
        self.groups = tuple(each.members for each in program.groups)
        count = len(self.processes)
        self.rules = tuple(
            ProcessRules(each, me, count, buffer, program.eager, program.expecting, self.groups)
            for me, each in enumerate(self.processes)
        )
        self.gathers = program.gathers
        self.clashes: dict[tuple[Span, str], int] = {}
        """The calls of collective operations that have differed: place and kind, and whose they are."""
        self.frames = tuple(ProcessFrame(each, initial(each)) for each in self.processes)
        self.moves: list[Move] = []

    def step(self, process: int, choice: int | None = None) -> str:
        """Make a step, which is enabled. Return the kind of violation that it is, or ''."""
        is_choice = bool(self.rules[process].choices(self.frames[process])) or bool(choice)
        self.moves.append(ProcessStep(process, (choice or 0) if is_choice else None))
        rules, frame = self.rules[process], self.frames[process]
        expected = self.is_ready(process) is True
        at = self._seen(process, choice or 0)
        if choice and at is not None:
            return rules.see(frame, self.frames[choice - 1], choice - 1, at)
        kind = rules.step(frame, choice or 0, expected=expected)
        if self.gathers:
            self.note_clashes()
            self.open_calls()
        return kind

    def note_clashes(self) -> None:
        """Note which calls of collective operations differ from others."""
        for process, op, kind in call_differences(self.frames):
            self.clashes.setdefault((self.rules[process].span(op.at), kind), process)

    def open_calls(self) -> None:
        """Let all members leave their collective operations that may."""
        while (opening := next_opening(self.frames, self.groups)) is not None:
            open_call(self.frames[opening.process], opening)
        while (group := first_to_forget(self.frames, self.groups)) is not None:
            for process in self.groups[group]:
                forget_call(self.frames[process], group)

    def is_ready(self, process: int) -> bool | None:
        """Return whether a posted receive takes what a process sends ready next; None if it sends nothing so."""
        frame = self.frames[process]
        message = self.rules[process].expects(frame) if frame.status == "runs" else None
        return None if message is None else is_expected(message, frame.sends, process, self.frames[message.to])

    def seen(self, process: int, choice: int) -> SendOp | None:
        """Return the message that a choice of a look sees."""
        at = self._seen(process, choice)
        return None if at is None else self.frames[choice - 1].sends[at]

    def _seen(self, process: int, choice: int) -> int | None:
        look = self.rules[process].look(self.frames[process]) if choice else None
        if look is None:
            return None
        return next(seen_by(look, process, self.frames[process], choice - 1, self.frames[choice - 1]), None)

    def looks(self, process: int) -> list[int]:
        """Return the choices of the look that the process stands before; none if it stands before none."""
        look = self.rules[process].look(self.frames[process]) if self.frames[process].status == "runs" else None
        if look is None:
            return []
        found = [0] if self.rules[process].choices(self.frames[process]) else []
        return found + [each + 1 for each in range(len(self.frames)) if self.seen(process, each + 1) is not None]

    def waited_send(self, process: int) -> int | None:
        """Return the send that a process waits for and that a buffer would let it pass, if it is one.

        ANYTHING for a collective operation that it may leave, and that not all members have entered.
        """
        handle = self._grantable(process)
        return None if handle is None else handle.nth if isinstance(handle, SendHandle) else ANYTHING

    def _grantable(self, process: int) -> PendingHandle | None:
        frame = self.frames[process]
        handle = self.rules[process].blocking(frame) if frame.status == "runs" else None
        return handle if is_grantable(handle) else None

    def can_step(self, process: int) -> bool:
        frame, rules = self.frames[process], self.rules[process]
        if frame.status != "runs" or rules.blocking(frame) is not None:
            return False
        if rules.is_held_up(frame):
            return False
        return self.rules[process].look(frame) is None or bool(self.looks(process))

    def grant(self, process: int) -> None:
        """Give a buffer to the send that the process waits for."""
        handle = self._grantable(process)
        assert handle is not None
        self.moves.append(BufferGrant(process))
        grant_buffer(self.frames[process], handle)

    def match(self, receiver: int, sender: int, meeting: Meeting) -> str:
        """Make a match that is enabled. Return the kind of violation that it is, or ''."""
        ours, theirs = self.frames[receiver], self.frames[sender]
        receive, message = ours.receives[meeting.receive], theirs.sends[meeting.send]
        self.moves.append(MatchMove(MatchedPair(OperationId(receiver, receive.nth), OperationId(sender, message.nth))))
        take(ours, meeting.receive, message, sender)
        give(theirs, meeting.send)
        return pair_mismatch(receive, message)

    def make(self, move: Move) -> str:
        """Make any move, which is enabled. Return the kind of violation that it is, or ''."""
        match move:
            case ProcessStep(process, choice):
                return self.step(process, choice)
            case BufferGrant(process):
                self.grant(process)
            case MatchMove(MatchedPair(receive, send)):
                posted = [op.nth for op in self.frames[receive.process].receives].index(receive.nth)
                sent = [op.nth for op in self.frames[send.process].sends].index(send.nth)
                return self.match(receive.process, send.process, Meeting(posted, sent))
        return ""

    def enabled(self) -> Iterator[tuple[int, int, Meeting]]:
        """Yield the matches that are enabled, as receiver, sender and which of their operations."""
        frozen = [frame.frozen() for frame in self.frames]
        for receiver, ours in enumerate(frozen):
            for sender, theirs in enumerate(frozen):
                for meeting in meetings(receiver, ours, sender, theirs):
                    yield receiver, sender, meeting

    def hop(self, hop: Hop) -> None:
        """Make a match of the search, with the buffers that it needs first."""
        if hop.buffered is not None:
            for process, trail in dict(zip((hop.receiver, hop.sender), hop.buffered, strict=True)).items():
                self.follow(process, trail)
        if hop.by == "step":
            self.step(hop.receiver, hop.sender + 1 if hop.meeting.send != ANYTHING else None)
        elif hop.by == "match":
            self.match(hop.receiver, hop.sender, hop.meeting)

    def follow(self, process: int, trail: LocalTrail) -> None:
        """Let a process run along a trail of :func:`local_runs.local_runs_from`."""
        decisions = deque(trail.decisions)
        for at in range(trail.steps + 1):
            while decisions and decisions[0] == BUFFERED - at:
                decisions.popleft()
                if self.waited_send(process) is not None:
                    self.grant(process)
            if at < trail.steps:
                choices = self.rules[process].choices(self.frames[process])
                self.step(process, decisions.popleft() if choices else None)


def blocked(course: Course) -> tuple[WaitingProcess, ...]:
    """Return the processes that wait for what is not there, and for what."""
    found = []
    for me, (frame, rules) in enumerate(zip(course.frames, course.rules, strict=True)):
        handle = rules.held_up(frame) if frame.status == "runs" else None
        if frame.status == "runs" and rules.look(frame) is not None and not course.looks(me):
            found.append(WaitingProcess(me, "receive", OperationId(me, frame.received), rules.span(frame.pc)))
        if handle is not None:
            kind: WaitKind = "send" if isinstance(handle, SendHandle) else "receive"
            operation = OperationId(me, handle.nth)
            if isinstance(handle, CollectiveHandle):
                kind, operation = "collective", OperationId(me, handle.group)
            found.append(WaitingProcess(me, kind, operation, rules.span(frame.pc)))
    return tuple(found)


def unmatched(course: Course) -> tuple[tuple[OperationId, ...], tuple[OperationId, ...]]:
    """Return the sends that nothing has matched, and the receives, but for those of daemons."""
    sends = [OperationId(me, op.nth) for me, frame in enumerate(course.frames) for op in frame.sends]
    owners = [me for me, process in enumerate(course.processes) if not process.daemon]
    return tuple(sends), tuple([OperationId(me, op.nth) for me in owners for op in course.frames[me].receives])


def expanded(program: MessageProgram, buffer: Buffer, decisions: NormalFormDecisions) -> Schedule:
    """Return the run in normal form with these decisions: all processes run until they wait, then comes one match.

    A process stays at a choice for which it has none left, and where it computes forever. Raises InternalError if a match
    is not enabled where it comes.
    """
    course = NormalFormRun(program, buffer, decisions)
    course.make_all(decisions.matches)
    return tuple(course.moves)


class NormalFormRun(Course):
    """A run in normal form by decisions."""

    def __init__(self, program: MessageProgram, buffer: Buffer, decisions: NormalFormDecisions) -> None:
        super().__init__(program, buffer)
        given = decisions.choices or ((),) * len(self.frames)
        self.choices = [deque(each) for each in given]
        self.granted = decisions.granted if buffer == "any" else frozenset()

    def make_all(self, matches: Iterable[MatchedPair | int]) -> None:
        """Let all processes run until they wait, then make matches in order, and after each let both go on.

        Raises InternalError if one is not enabled where it comes.
        """
        self.settle_all()
        for each in matches:
            if not (self.make_seen(each) if isinstance(each, int) else self.try_match(each)):
                raise InternalError(f"the run cannot make {each}, as it was decided")

    def make_seen(self, process: int) -> bool:
        """Let a process make the look, or the step that others see, before which it pauses; return whether it can."""
        looks = self.rules[process].look(self.frames[process]) is not None
        choice = self.choices[process].popleft() if looks else None
        if looks and choice not in self.looks(process):
            return False
        self.step(process, choice)
        self.settle(process)
        return True

    def settle_all(self) -> None:
        """Let all processes run; again, as long as who enters a collective operation lets others leave theirs."""
        before = -1
        while len(self.moves) != before:
            before = len(self.moves)
            for process in range(len(self.frames)):
                self.settle(process)

    def settle(self, process: int) -> None:
        """Let a process run until it waits, looks, ends, has no choice left, or computes forever."""
        frame, rules = self.frames[process], self.rules[process]
        been: set[LocalState] = set()
        for _ in range(10 * _MOVES):
            nth = self.waited_send(process)
            if nth is not None and OperationId(process, nth) in self.granted:
                self.grant(process)
            if self.pauses(process) or not self.can_step(process):
                return
            if self.processes[process].is_head(frame.pc):
                here = frame.frozen()
                if here in been:
                    return
                been.add(here)
            if not rules.choices(frame):
                self.step(process)
            elif not self.chooses(process):
                return
            else:
                been.clear()
                self.step(process, self.choices[process].popleft())

    def chooses(self, process: int) -> bool:
        """Whether a process has a choice left, and can make it by now."""
        rules, frame, left = self.rules[process], self.frames[process], self.choices[process]
        if not left or rules.look(frame) is not None:
            return bool(left)
        return left[0] in rules.choices(frame) and all(map(partial(self.is_granted, process), rules.buffers(frame, left[0])))

    def is_granted(self, process: int, nth: int) -> bool:
        """Whether a send gets a buffer."""
        return OperationId(process, nth) in self.granted

    def pauses(self, process: int) -> bool:
        """Whether a process stands before a step that is not made as soon as it can be."""
        return bool(self.looks(process))

    def try_match(self, pair: MatchedPair) -> bool:
        """Make a match and let both go on, if it is enabled; return whether it is."""
        receiver, sender = pair.receive.process, pair.send.process
        if not are_enabled(pair, self.frames[receiver], self.frames[sender]):
            return False
        self.make(MatchMove(pair))
        if self.gathers:
            self.settle_all()
        for process in dict.fromkeys((receiver, sender)):
            self.settle(process)
        return True


def random_run(program: MessageProgram, buffer: Buffer, seed: int, moves: int = _MOVES) -> Schedule:
    """Return a run in which every move was chosen at random among those enabled, to its end or to so many moves."""
    course, chance = Course(program, buffer), random.Random(seed)
    while len(course.moves) < moves:
        stepping = [each for each in range(len(course.frames)) if course.can_step(each)]
        waiting = [each for each in range(len(course.frames)) if buffer == "any" and course.waited_send(each) is not None]
        matches = list(course.enabled())
        number = len(stepping) + len(waiting) + len(matches)
        if not number:
            break
        at = chance.randrange(number)
        if at < len(stepping):
            process = stepping[at]
            choices = course.looks(process) or course.rules[process].choices(course.frames[process])
            course.step(process, chance.choice(choices) if choices else None)
        elif at < len(stepping) + len(waiting):
            course.grant(waiting[at - len(stepping)])
        else:
            course.match(*matches[at - len(stepping) - len(waiting)])
    return tuple(course.moves)
