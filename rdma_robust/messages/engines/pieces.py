"""Programs in which everybody meets in collective operations that no message crosses: the pieces between are decided apart.

Lemma 11 of docs/theory-messages.md: a run is one of each piece after the other. So there is a deadlock if and only if some
piece has one, and the run that shows it goes through the pieces before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from rdma_robust.expr import Const
from rdma_robust.limits import Limits
from rdma_robust.messages.engines.one_run import is_fixed
from rdma_robust.messages.language.collective_kinds import COLLECTIVES
from rdma_robust.messages.language.message_program import (
    Block,
    Buffer,
    IssueCollective,
    IssueReceive,
    IssueSend,
    MessageProgram,
    Place,
    ProcessGroup,
    Wait,
)
from rdma_robust.messages.machine.courses import Course, NormalFormDecisions, NormalFormRun, blocked, unmatched
from rdma_robust.messages.machine.process_state import SendHandle
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    BufferGrant,
    Deadlock,
    Leak,
    MatchedPair,
    Matchings,
    MatchMove,
    MessageEngine,
    MessageQuestions,
    OperationId,
    Schedule,
)

MOST_PAIRS: Final = 1_000_000
"""So many pairs are put together at most."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A program between two meetings, before which each process has issued so many sends and receives."""

    program: MessageProgram
    sent: tuple[int, ...]
    received: tuple[int, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The statements, whatever their places: pieces that have the same are decided once."""
        return tuple(each.body for each in self.program.processes)

    def send(self, of_piece: OperationId) -> OperationId:
        """Return a send of the piece as one of the whole program."""
        return OperationId(of_piece.process, of_piece.nth + self.sent[of_piece.process])

    def pair(self, of_piece: MatchedPair) -> MatchedPair:
        receiver, nth = of_piece.receive
        return MatchedPair(OperationId(receiver, nth + self.received[receiver]), self.send(of_piece.send))


def by_pieces(
    program: MessageProgram, buffer: Buffer, questions: MessageQuestions, limits: Limits, engine: MessageEngine
) -> BufferAnswer | None:
    """Answer all questions by what an engine answers about the pieces; None if there are no two, or a verdict is open."""
    pieces = _pieces(program, buffer)
    if len(pieces) < 2:
        return None
    known: dict[tuple[Block, ...], BufferAnswer] = {}
    for piece in pieces:
        if piece.blocks not in known:
            known[piece.blocks] = answer = engine(piece.program, buffer, replace(questions, listed=0), limits)
            if answer.violated != "no" or "unknown" in (answer.deadlocked, answer.leaking):
                return None
    answers = [known[piece.blocks] for piece in pieces]
    runs = _WholeRuns(program, buffer, pieces)
    deadlock, leak = None, None
    stuck = next((at for at, each in enumerate(answers) if each.deadlock is not None), None)
    if stuck is not None and (found := answers[stuck].deadlock) is not None:
        course = runs.to(stuck, found.schedule)
        deadlock = None if course is None else Deadlock(blocked(course), tuple(course.moves))
    if (found_leak := answers[-1].leak) is not None:
        course = runs.to(len(pieces) - 1, found_leak.schedule)
        leak = None if course is None else Leak(*unmatched(course), tuple(course.moves))
    if (deadlock is None) != (stuck is None) or (leak is None) != (answers[-1].leak is None):
        return None
    answer = BufferAnswer(
        buffer,
        "pieces",
        "no",
        "no" if deadlock is None else "yes",
        "no" if leak is None else "yes",
        deadlock=deadlock,
        leak=leak,
        work={"pieces": len(pieces), "different pieces": len(known)},
    )
    reached = stuck is None or stuck == len(pieces) - 1 or runs.complete()
    return _with_matches(answer, questions, [*zip(pieces, answers, strict=True)], reached=reached)


def _with_matches(
    answer: BufferAnswer, questions: MessageQuestions, parts: Sequence[tuple[_Piece, BufferAnswer]], *, reached: bool
) -> BufferAnswer:
    """Return an answer with the pairs and the number of matchings, where all pieces have them and runs come to all."""
    answers = [each for _, each in parts]
    pairs, counted = None, [each.matchings for each in answers if each.matchings is not None]
    few = sum(len(each.pairs or ()) for each in answers) <= MOST_PAIRS
    exact = few and reached and all(each.pairs is not None and each.pairs_exact for each in answers)
    if questions.pairs and exact:
        pairs = frozenset(piece.pair(pair) for piece, each in parts for pair in each.pairs or ())
    matchings = None
    if questions.count and len(counted) == len(parts):
        count, all_of_them = prod(each.count for each in counted), all(each.exact for each in counted)
        within = count <= questions.limit
        matchings = Matchings(min(count, questions.limit), all_of_them and within)
    is_open = questions.pairs and pairs is None
    reason = "pairs and matchings: those of all pieces are not known" if is_open else ""
    return replace(answer, pairs=pairs, pairs_exact=not is_open, matchings=matchings, reason=reason)


class _WholeRuns:
    """Runs of the whole program that go through pieces to a run of the last of them."""

    def __init__(self, program: MessageProgram, buffer: Buffer, pieces: Sequence[_Piece]) -> None:
        self.program, self.buffer, self.pieces = program, buffer, pieces
        self.known: dict[tuple[Block, ...], tuple[MatchedPair, ...] | None] = {}

    def ends(self, piece: _Piece) -> tuple[MatchedPair, ...] | None:
        """Return the matches of a run of a piece to its end, None if that which is tried does not come there."""
        if piece.blocks not in self.known:
            course = NormalFormRun(piece.program, self.buffer, NormalFormDecisions(()))
            course.settle_all()
            found: list[MatchedPair] = []
            while (pair := next(_enabled(course), None)) is not None and course.try_match(pair):
                found.append(pair)
            ended = all(each.status == "ended" for each in course.frames)
            self.known[piece.blocks] = tuple(found) if ended else None
        return self.known[piece.blocks]

    def complete(self) -> bool:
        return all(self.ends(each) is not None for each in self.pieces[:-1])

    def to(self, at: int, schedule: Schedule) -> Course | None:
        """Return a run through the pieces before one, and on as the schedule has it there; None if it is not found."""
        matches: list[MatchedPair] = []
        for piece in self.pieces[:at]:
            ends = self.ends(piece)
            if ends is None:
                return None
            matches += map(piece.pair, ends)
        piece, granted = self.pieces[at], set[OperationId]()
        course = Course(piece.program, self.buffer)
        for move in schedule:
            if isinstance(move, BufferGrant):
                awaited = course.rules[move.process].held_up(course.frames[move.process])
                if not isinstance(awaited, SendHandle):  # It leaves a collective operation that others have not entered.
                    return None
                granted.add(piece.send(OperationId(move.process, awaited.nth)))
            elif isinstance(move, MatchMove):
                matches.append(piece.pair(move.pair))
            course.make(move)
        whole = NormalFormRun(self.program, self.buffer, NormalFormDecisions((), (), frozenset(granted)))
        whole.make_all(matches)
        return whole


def _enabled(course: Course) -> Iterator[MatchedPair]:
    for receiver, sender, meeting in course.enabled():
        receive, send = course.frames[receiver].receives[meeting.receive], course.frames[sender].sends[meeting.send]
        yield MatchedPair(OperationId(receiver, receive.nth), OperationId(sender, send.nth))


def _pieces(program: MessageProgram, buffer: Buffer) -> list[_Piece]:
    """Return the pieces of a program, none if it is of no kind that has some."""
    if not is_fixed(program) or any(each.daemon for each in program.processes):
        return []
    cuts = [list(_cuts(program, each.body, buffer)) for each in program.processes]
    meetings = [
        [body[at] for at in each] for each, body in zip(cuts, (each.body for each in program.processes), strict=True)
    ]
    if not all(_idle(process.body, each) for process, each in zip(program.processes, cuts, strict=True)):
        return []
    if any(each != meetings[0] for each in meetings):
        return []
    found: list[_Piece] = []
    begins, count = [0] * len(cuts), len(cuts)
    sent, received = [0] * count, [0] * count
    for nth in range(len(cuts[0]) + 1):
        ends = [each[nth] if nth < len(each) else len(p.body) for each, p in zip(cuts, program.processes, strict=True)]
        bodies = [p.body[a:b] for p, a, b in zip(program.processes, begins, ends, strict=True)]
        processes = tuple(replace(p, body=body) for p, body in zip(program.processes, bodies, strict=True))
        found.append(_Piece(replace(program, processes=processes, logged=None), tuple(sent), tuple(received)))
        if nth < len(cuts[0]) and not _closed(bodies, buffer, program.groups):
            return []
        for me, body in enumerate(bodies):
            sent[me] += sum(isinstance(each, IssueSend) for each in body)
            received[me] += sum(isinstance(each, IssueReceive) for each in body)
        begins = [each + 1 for each in ends]
    return found


def _cuts(program: MessageProgram, body: Block, buffer: Buffer) -> Iterator[int]:
    """Yield where a process enters an operation in which all wait for all."""
    everybody = len(program.processes)
    for at, each in enumerate(body):
        if not isinstance(each, IssueCollective) or not each.blocking:
            continue
        waits = buffer == "zero" or COLLECTIVES[each.name].depends == "all"
        if waits and len(program.groups[each.group].members) == everybody:
            yield at


def _idle(body: Block, cuts: Sequence[int]) -> bool:
    """Return whether no request is open where a process meets the others."""
    open_, meets = set[Place](), set(cuts)
    for at, each in enumerate(body):
        if at in meets and open_:
            return False
        if isinstance(each, IssueSend | IssueReceive) or (isinstance(each, IssueCollective) and not each.blocking):
            open_.add(each.request)
        elif isinstance(each, Wait):
            open_.difference_update(each.requests)
    return True


def _closed(bodies: Sequence[Block], buffer: Buffer, groups: Sequence[ProcessGroup]) -> bool:
    """Return whether a piece leaves nothing behind: each process and port has as many receives as sends, where sends may be
    over before their receives, and the members of each group have called as many collective operations."""
    issued = [(me, each) for me, body in enumerate(bodies) for each in body]
    sends = [each for _, each in issued if isinstance(each, IssueSend)]
    receives = Counter((Const(me), each.port) for me, each in issued if isinstance(each, IssueReceive))
    waits = buffer == "zero" and all(each.mode != "buffered" for each in sends)
    calls = Counter((each.group, me) for me, each in issued if isinstance(each, IssueCollective))
    alike = all(len({calls[group, me] for me in each.members}) == 1 for group, each in enumerate(groups))
    return alike and (waits or Counter((each.to, each.port) for each in sends) == receives)
