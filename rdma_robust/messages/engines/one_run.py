"""Programs in which every receive has one sender that it can get messages from: one run decides (Lemma 3).

So it does where receives may take messages of several senders, if only the verdict is asked, every send has a buffer,
nothing depends on what is received, and the receives of an endpoint take everything: the k-th is over when k messages were
sent there, whoever sent them. Collective operations that agree only wait, longest where nobody leaves early.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from rdma_robust.errors import Span
from rdma_robust.expr import Const
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.solved_runs import mismatch_of
from rdma_robust.messages.language.message_program import (
    Block,
    Buffer,
    IssueCollective,
    IssueReceive,
    IssueSend,
    MessageProgram,
    Requests,
    Wait,
    inner_blocks,
)
from rdma_robust.messages.machine.courses import Course, blocked, unmatched
from rdma_robust.messages.machine.matching import meetings
from rdma_robust.messages.machine.process_state import ANYTHING, ReceiveOp
from rdma_robust.messages.machine.shortening import cut_to_the_end
from rdma_robust.messages.machine.states import said_of
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    Deadlock,
    Leak,
    MatchedPair,
    Matchings,
    MatchMove,
    MessageQuestions,
    Mismatch,
    Tri,
    Violation,
)

MOVES = 300_000
"""Of a run that is followed; a longer one is left to the other engines."""

Endpoint = tuple[int, int, int]
"""A process, a port, and a tag: ANYTHING for all tags, where some receive may take messages of any."""


def by_one_run(program: MessageProgram, buffer: Buffer, questions: MessageQuestions, limits: Limits) -> BufferAnswer | None:
    """Answer all questions by one run; None if a receive has two senders, at a choice or a look, or if there is no end.

    Under `any` the run in which every send gets a buffer says all but the deadlock, and the one in which none does has a
    deadlock if and only if some run has.
    """
    run = _Run(program, buffer, grants=buffer == "any")
    run.counts = buffer == "infinite" and not (questions.pairs or questions.count) and _has_buffers(program)
    run.counts = run.counts and is_fixed(program)
    if program.peeks or not run.to_the_end(limits):
        return None
    stuck = run
    if buffer == "any":
        stuck = _Run(program, buffer, grants=False)
        if not stuck.to_the_end(limits):
            return None
    if run.course.clashes or stuck.course.clashes:
        return None
    deadlock, leak = stuck.deadlock(), run.leak()
    pairs = frozenset(move.pair for move in run.course.moves if isinstance(move, MatchMove))
    return BufferAnswer(
        buffer,
        "one run",
        _tri(run.violations),
        _tri(deadlock),
        _tri(leak),
        tuple(run.violations.values()),
        deadlock,
        leak,
        pairs if questions.pairs else None,
        matchings=run.matchings(pairs, questions) if questions.count else None,
        mismatches=run.mismatches(),
        work={"matches": len(pairs), "moves": len(run.course.moves)},
    )


def _has_buffers(program: MessageProgram) -> bool:
    """Return whether no send waits for its receive under `infinite`."""
    sends = (each for process in program.processes for each in process.body if isinstance(each, IssueSend))
    return all(each.mode in ("standard", "buffered") for each in sends)


def is_fixed(program: MessageProgram) -> bool:
    """Return whether nothing that a process does depends on what it receives, or of whom."""

    def is_known(statement: object) -> bool:
        match statement:
            case IssueSend(_, value, to, _, tag):
                return statement.mode != "ready" and all(isinstance(each, Const) for each in (value, to, tag))
            case IssueReceive(_, _, source, _, tag):
                return all(each is None or isinstance(each, Const) for each in (source, tag))
            case IssueCollective():
                said = (statement.root, statement.op, statement.sig, statement.give)
                return all(each is None or isinstance(each, Const) for each in said)
            case _:
                return isinstance(statement, Wait | Requests)

    return not program.checks_matches and all(is_known(each) for process in program.processes for each in process.body)


def _of_any_tag(program: MessageProgram) -> set[tuple[int, int]]:
    """Return the processes and ports with receives that may take messages of any tag."""
    found: set[tuple[int, int]] = set()

    def look(process: int, block: Block) -> None:
        for each in block:
            if isinstance(each, IssueReceive) and each.tag is None:
                found.add((process, each.port))
            for inner in inner_blocks(each):
                look(process, inner)

    for number, process in enumerate(program.processes):
        look(number, process.body)
    return found


def _tri(found: object) -> Tri:
    return "yes" if found else "no"


class _Run:
    """The run that makes every move as soon as it can, and grants buffers only if it is told to."""

    def __init__(self, program: MessageProgram, buffer: Buffer, *, grants: bool) -> None:
        self.program = program
        self.buffer = buffer
        self.grants = grants
        self.course = Course(program, buffer)
        self.violations: dict[tuple[Span, str], Violation] = {}
        self.wild: set[Endpoint] = set()
        self.counts = False
        self.named: set[Endpoint] = set()
        self.tagged: set[Endpoint] = set()
        self.tags: dict[Endpoint, set[int]] = {}
        self.of_any_tag = _of_any_tag(program)
        self.senders: dict[Endpoint, set[int]] = {}

    def to_the_end(self, limits: Limits) -> bool:
        """Make all moves; False if another engine must do it."""
        reached = limits.watch(256)
        everybody = dict.fromkeys(range(len(self.course.frames)))
        todo, unsettled = dict(everybody), dict(everybody)
        while todo:
            while unsettled:
                process = next(iter(unsettled))
                del unsettled[process]
                before = len(self.course.moves)
                if reached() or not self._settle(process):
                    return False
                if self.course.gathers and len(self.course.moves) != before:
                    unsettled |= everybody  # Who enters a collective operation may let others leave theirs.
                    todo[process] = None
            process = next(iter(todo))
            del todo[process]
            unsettled = dict.fromkeys(self._match_all(process))
            todo |= unsettled
        return True

    def _settle(self, process: int) -> bool:
        """Let a process go on until it waits or is over; False if it chooses, goes on for too long, or issues what makes
        two processes send to one endpoint that has a receive from any."""
        course, frame = self.course, self.course.frames[process]
        while len(course.moves) < MOVES:
            if self.grants and course.waited_send(process) is not None:
                course.grant(process)
            if not course.can_step(process):
                return True
            if course.rules[process].choices(frame):
                return False
            at, issued = frame.pc, (frame.sent, frame.received)
            if kind := course.step(process):
                self._violated(process, at, kind)
            if issued != (frame.sent, frame.received) and not self._one_sender(process, sends=frame.sent > issued[0]):
                return False
        return False

    def _one_sender(self, process: int, *, sends: bool) -> bool:
        """Note what a process has just issued; return whether its endpoint still has one sender, or only named sources."""
        frame = self.course.frames[process]
        if sends:
            message = frame.sends[-1]
            endpoint, tag = self._endpoint(message.to, message.port, message.tag), message.tag
            self.senders.setdefault(endpoint, set()).add(process)
        else:
            posted = frame.receives[-1]
            endpoint, tag = self._endpoint(process, posted.port, posted.tag), posted.tag
            (self.wild if posted.source == ANYTHING else self.named).add(endpoint)
            self.tagged |= {endpoint} if tag != ANYTHING else set()
        if tag != ANYTHING:
            self.tags.setdefault(endpoint, set()).add(tag)
        if endpoint not in self.wild or len(self.senders.get(endpoint, ())) < 2:
            return True
        takes_all = endpoint not in self.named and (endpoint not in self.tagged or len(self.tags[endpoint]) < 2)
        return self.counts and takes_all

    def _endpoint(self, process: int, port: int, tag: int) -> Endpoint:
        return process, port, ANYTHING if (process, port) in self.of_any_tag else tag

    def _violated(self, process: int, at: int, kind: str) -> None:
        span = self.course.rules[process].span(at)
        if (span, kind) not in self.violations:
            schedule = cut_to_the_end(self.program, self.buffer, tuple(self.course.moves))
            text = said_of(self.course.processes[process], kind)
            self.violations[span, kind] = Violation(process, kind, span, schedule, text)

    def _match_all(self, process: int) -> list[int]:
        """Make the matches of a process that are enabled; return who made them."""
        frames = self.course.frames
        ends = [(process, source) for op in frames[process].receives for source in self._sources(process, op)]
        ends += [(to, process) for to in dict.fromkeys(op.to for op in frames[process].sends)]
        changed: dict[int, None] = {}
        for receiver, sender in dict.fromkeys(ends):
            while (meeting := next(meetings(receiver, frames[receiver], sender, frames[sender]), None)) is not None:
                at = frames[receiver].receives[meeting.receive].at
                if kind := self.course.match(receiver, sender, meeting):
                    self._violated(receiver, at, kind)
                changed.update({receiver: None, sender: None})
        return list(changed)

    def _sources(self, process: int, receive: ReceiveOp) -> Iterable[int]:
        if receive.source == ANYTHING:
            return sorted(self.senders.get(self._endpoint(process, receive.port, receive.tag), ()))
        return (receive.source,)

    def _complete(self) -> bool:
        return all(frame.status != "stopped" for frame in self.course.frames) and not self._stuck()

    def _stuck(self) -> bool:
        """Return whether a process waits that may not wait forever."""
        return any(not self.course.processes[each.process].daemon or each.kind == "send" for each in blocked(self.course))

    def deadlock(self) -> Deadlock | None:
        if any(frame.status == "stopped" for frame in self.course.frames) or not self._stuck():
            return None
        return Deadlock(blocked(self.course), tuple(self.course.moves))

    def leak(self) -> Leak | None:
        if not self._complete():
            return None
        sends, receives = unmatched(self.course)
        return Leak(sends, receives, tuple(self.course.moves)) if sends or receives else None

    def matchings(self, pairs: frozenset[MatchedPair], questions: MessageQuestions) -> Matchings:
        count = int(self._complete())
        return Matchings(min(count, questions.limit), count <= questions.limit, (pairs,) * min(count, questions.listed))

    def mismatches(self) -> tuple[Mismatch, ...]:
        pairs = combinations(range(len(self.course.frames)), 2)
        return tuple([found for pair in pairs if (found := mismatch_of(self.program, self.course, pair)) is not None])
