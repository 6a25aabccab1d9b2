"""Leaving out of a run what does not lead to how it ends, and under `any` the buffers that it can do without."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.errors import InternalError
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.courses import Course, NormalFormDecisions, NormalFormRun, blocked
from rdma_robust.messages.machine.matching import receive_accepts
from rdma_robust.messages.machine.process_state import ReceiveHandle, ReceiveOp, SendHandle, SendOp
from rdma_robust.messages.machine.request_rules import Single, active_singles, handle_of, holder
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    BufferGrant,
    Deadlock,
    MatchedPair,
    MatchMove,
    OperationId,
    ProcessStep,
    Schedule,
)


def cut_to_the_end(program: MessageProgram, buffer: Buffer, schedule: Schedule) -> Schedule:
    """Return the moves of a run without which its last one could not be as it is, in their order; for violations.

    A step needs the one before of its process, a step past a wait the match or the buffer that opened it. A match needs
    both issues, and the matches of the earlier sends of the channel that its receive accepts and of the earlier receives
    that accept its send. What is left is a run: a move that was enabled stays so when moves are left out that it does not
    need, as what others issue and match disables nothing but what is named here. What a look sees is not told here: runs of
    programs that have some are left as they are.
    """
    if not schedule or program.looks:
        return schedule
    needs = _Needs(program, buffer).of(schedule)
    kept = {len(schedule) - 1}
    for at in reversed(range(len(schedule))):
        if at in kept:
            kept.update(needs[at])
    return tuple(move for at, move in enumerate(schedule) if at in kept)


class _Needs:
    """The earlier moves that each move of a run needs directly."""

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
        active = dict(active_singles(frame)) if awaited is None else {}
        self.course.step(me, move.choice)
        passed = (each for each in active if handle_of(frame, each) is None)
        needed |= {self.opened[me, each] for each in passed if (me, each) in self.opened}
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


_MOST_MOVES: Final = 50_000
"""Moves that are made to find out which buffers are not needed."""


@dataclass(frozen=True, slots=True)
class _Goal:
    """The part of a run that a shorter one keeps: its matches, the choices of each process and at most how many of its
    steps; all if it is the whole."""

    matches: tuple[MatchedPair, ...]
    choices: tuple[tuple[int, ...], ...]
    steps: tuple[int, ...]
    is_whole: bool


def lean(program: MessageProgram, answer: BufferAnswer) -> BufferAnswer:
    """Return an answer under `any` whose runs are under `any` too, and have no buffers that they can do without.

    Its runs may be under `infinite` before. The run to a deadlock ends where its matches need no more buffers, which is a
    deadlock too (least cuts, in docs/theory-messages.md).
    """
    deadlock, leak = answer.deadlock, answer.leak
    if program.looks:
        ends = [replace(each, schedule=with_all_buffers(program, each.schedule)) for each in answer.violations]
        leak = None if leak is None else replace(leak, schedule=with_all_buffers(program, leak.schedule))
        deadlock = None if deadlock is None else replace(deadlock, schedule=with_all_buffers(program, deadlock.schedule))
        return replace(answer, violations=tuple(ends), leak=leak, deadlock=deadlock)
    if deadlock is not None:
        run = _with_few_buffers(program, deadlock.schedule, is_whole=False)
        deadlock = Deadlock(blocked(run), tuple(run.moves))
    if leak is not None:
        leak = replace(leak, schedule=tuple(_with_few_buffers(program, leak.schedule).moves))
    violations = tuple(replace(each, schedule=_to_its_end(program, each.schedule)) for each in answer.violations)
    return replace(answer, violations=violations, deadlock=deadlock, leak=leak)


def with_all_buffers(program: MessageProgram, schedule: Schedule) -> Schedule:
    """Return a run under `any` with the moves of one under `infinite`: what is waited for gets its buffer before."""
    course = Course(program, "any")
    for move in schedule:
        if isinstance(move, ProcessStep) and course.waited_send(move.process) is not None:
            course.grant(move.process)
        course.make(move)
    return tuple(course.moves)


def _to_its_end(program: MessageProgram, schedule: Schedule) -> Schedule:
    """Return the run with few buffers that ends with the same step, and has only what leads to it."""
    moves, last = tuple(_with_few_buffers(program, schedule).moves), schedule[-1]
    if isinstance(last, MatchMove):
        return cut_to_the_end(program, "any", moves[: moves.index(last) + 1])
    assert isinstance(last, ProcessStep)
    ours = [at for at, move in enumerate(moves) if isinstance(move, ProcessStep) and move.process == last.process]
    return cut_to_the_end(program, "any", moves[: ours[-1] + 1])


def _with_few_buffers(program: MessageProgram, schedule: Schedule, *, is_whole: bool = True) -> Course:
    """Return a run under `any` with the matches of another run, and in which each process does the same, in another order.

    If it is not `whole`, a process goes on only as long as that needs no buffer, behind what it issues for the matches. A
    match is made as soon as it is possible, and of the buffers none can be left out. Raises InternalError if the schedule
    is none of a run under `any` or `infinite`.
    """
    goal = _goal_of(len(program.processes), schedule, is_whole)
    run = _Again(program, goal)
    unsure = run.with_buffers_as_needed()
    made = len(run.moves)
    for send in sorted(unsure):
        other = _Again(program, goal)
        other.granted = run.granted - {send}
        made += len(run.moves)
        if made > _MOST_MOVES:
            break
        other.go_on()
        if not other.lacking():
            run = other
    if run.left:
        raise InternalError("a run cannot be made again with buffers")
    return run


def _goal_of(count: int, schedule: Schedule, is_whole: bool) -> _Goal:
    choices: list[list[int]] = [[] for _ in range(count)]
    steps = [0] * count
    matches = []
    for move in schedule:
        if isinstance(move, MatchMove):
            matches.append(move.pair)
        elif isinstance(move, ProcessStep):
            steps[move.process] += 1
            if move.choice is not None:
                choices[move.process].append(move.choice)
    return _Goal(tuple(matches), tuple(map(tuple, choices)), tuple(steps), is_whole)


class _Again(NormalFormRun):
    """A run with the matches, choices and numbers of steps of a goal, in which matches are made as soon as they can be."""

    def __init__(self, program: MessageProgram, goal: _Goal) -> None:
        super().__init__(program, "any", NormalFormDecisions(goal.matches, goal.choices))
        self.goal = goal
        self.left = list(goal.matches)
        self.steps = [0] * len(self.frames)

    def settle(self, process: int) -> None:
        while self.steps[process] < self.goal.steps[process]:
            nth = self.waited_send(process)
            if nth is not None and OperationId(process, nth) in self.granted:
                self.grant(process)
            is_choice = self.can_step(process) and bool(self.rules[process].choices(self.frames[process]))
            if not self.can_step(process) or (is_choice and not self.chooses(process)):
                return
            self.steps[process] += 1
            self.step(process, self.choices[process].popleft() if is_choice else None)

    def chooses(self, process: int) -> bool:
        left, rules = self.choices[process], self.rules[process]
        return bool(left) and left[0] in rules.choices(self.frames[process])

    def go_on(self) -> None:
        """Make all steps and matches that are possible."""
        self.settle_all()
        before = -1
        while len(self.left) != before:
            before = len(self.left)
            self.left = [pair for pair in self.left if not (self.are_issued(pair) and self.try_match(pair))]

    def are_issued(self, pair: MatchedPair) -> bool:
        return not self.not_issued(pair)

    def not_issued(self, pair: MatchedPair) -> list[int]:
        """Return those of receiver and sender that have not come to the operation."""
        counts = self.frames[pair.receive.process].received, self.frames[pair.send.process].sent
        return [op.process for op, count in zip(pair, counts, strict=True) if op.nth >= count]

    def lacking(self) -> list[int]:
        """Return the processes that have to go on."""
        if not self.goal.is_whole:
            return sorted({process for pair in self.left for process in self.not_issued(pair)})
        return [me for me, steps in enumerate(self.goal.steps) if self.steps[me] < steps]

    def with_buffers_as_needed(self) -> set[OperationId]:
        """Go on to the end; return the sends that got a buffer and might do without.

        A send that no match takes needs one if its process goes on behind its wait.
        """
        taken = {pair.send for pair in self.goal.matches}
        unsure = set()
        self.go_on()
        while self.lacking():
            nths = [(me, self.waited_send(me)) for me in self.lacking()]
            waiting = [OperationId(me, nth) for me, nth in nths if nth is not None]
            if not waiting:
                raise InternalError("a run cannot be made again with buffers")
            sure = [send for send in waiting if send not in taken]
            unsure |= set() if sure else {waiting[0]}
            self.granted |= set(sure or waiting[:1])
            self.go_on()
        return unsure
