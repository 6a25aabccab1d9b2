"""Cutting from a run what does not lead to how it ends."""

from __future__ import annotations

from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.courses import Course
from rdma_robust.messages.machine.matching import receive_accepts
from rdma_robust.messages.machine.process_rules import Single, handle_of, holder
from rdma_robust.messages.machine.process_state import ReceiveHandle, ReceiveOp, SendHandle, SendOp
from rdma_robust.messages.message_answers import BufferGrant, MatchedPair, MatchMove, OperationId, ProcessStep, Schedule


def cut_to_the_end(program: MessageProgram, buffer: Buffer, schedule: Schedule) -> Schedule:
    """Return the moves of a run without which its last one could not be as it is, in their order; for violations.

    A step needs the one before of its process, a step past a wait the match or the buffer that opened it. A match needs
    both issues, and the matches of the earlier sends of the channel that its receive accepts and of the earlier receives
    that accept its send. What is left is a run: a move that was enabled stays so when moves are left out that it does not
    need, as what others issue and match disables nothing but what is named here.
    """
    if not schedule:
        return schedule
    needs = _Needs(program, buffer).of(schedule)
    kept = {len(schedule) - 1}
    for at in reversed(range(len(schedule))):
        if at in kept:
            kept.update(needs[at])
    return tuple(move for at, move in enumerate(schedule) if at in kept)


class _Needs:
    """Which earlier moves each move of a run needs directly."""

    def __init__(self, program: MessageProgram, buffer: Buffer) -> None:
        self.course = Course(program, buffer)
        count = len(self.course.frames)
        self.last: dict[int, int] = {}
        self.opened: dict[tuple[int, Single], int] = {}
        self.sends: list[list[tuple[SendOp, int]]] = [[] for _ in range(count)]
        self.receives: list[list[tuple[ReceiveOp, int]]] = [[] for _ in range(count)]
        self.send_matched: dict[OperationId, int] = {}
        self.receive_matched: dict[OperationId, int] = {}

    def of(self, schedule: Schedule) -> list[set[int]]:
        found = []
        for at, move in enumerate(schedule):
            if isinstance(move, MatchMove):
                found.append(self.match(at, move.pair))
            else:
                found.append({self.last[move.process]} if move.process in self.last else set())
                if isinstance(move, ProcessStep):
                    found[-1] |= self.step(at, move)
                else:
                    self.grant(at, move)
                self.last[move.process] = at
        return found

    def step(self, at: int, move: ProcessStep) -> set[int]:
        """Make a step; return the match or buffer that opened the wait, if it is one."""
        me = move.process
        frame, rules = self.course.frames[me], self.course.rules[me]
        awaited, issued = rules.awaited(frame), rules.issued(frame)
        needed = set()
        if awaited is not None and handle_of(frame, awaited) is not None and (me, awaited) in self.opened:
            needed.add(self.opened[me, awaited])
        if issued is not None:
            self.opened.pop((me, issued), None)
        sent, received = frame.sent, frame.received
        self.course.step(me, move.choice)
        if frame.sent > sent:
            self.sends[me].append((frame.sends[-1], at))
        if frame.received > received:
            self.receives[me].append((frame.receives[-1], at))
        return needed

    def grant(self, at: int, move: BufferGrant) -> None:
        me = move.process
        awaited = self.course.rules[me].awaited(self.course.frames[me])
        if awaited is not None:
            self.opened[me, awaited] = at
        self.course.grant(me)

    def match(self, at: int, pair: MatchedPair) -> set[int]:
        """Make a match; return both issues and the matches of earlier operations that would forbid it."""
        receiver, sender = pair.receive.process, pair.send.process
        receive, posted = self.receives[receiver][pair.receive.nth]
        message, issued = self.sends[sender][pair.send.nth]
        needed = {posted, issued}
        before = [
            self.send_matched.get(OperationId(sender, send.nth))
            for send, _ in self.sends[sender][: pair.send.nth]
            if send.to == receiver and receive_accepts(receive, send, sender)
        ] + [
            self.receive_matched.get(OperationId(receiver, earlier.nth))
            for earlier, _ in self.receives[receiver][: pair.receive.nth]
            if receive_accepts(earlier, message, sender)
        ]
        needed.update(each for each in before if each is not None)
        self.send_matched[pair.send] = self.receive_matched[pair.receive] = at
        for me, single in (
            (receiver, holder(self.course.frames[receiver], ReceiveHandle, pair.receive.nth)),
            (sender, holder(self.course.frames[sender], SendHandle, pair.send.nth)),
        ):
            if single is not None:
                self.opened[me, single] = at
        self.course.make(MatchMove(pair))
        return needed
