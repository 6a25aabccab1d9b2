"""The run of a solution, in normal form, and what a run shows: what it violates, where it hangs, what it leaks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import combinations
from typing import Any, Protocol

from rdma_robust.errors import InternalError, Span
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.courses import Course, NormalFormDecisions, NormalFormRun, blocked, unmatched
from rdma_robust.messages.machine.matching import Meeting
from rdma_robust.messages.machine.process_state import ProcessFrame
from rdma_robust.messages.machine.shortening import cut_to_the_end
from rdma_robust.messages.machine.state_search import first_difference
from rdma_robust.messages.machine.states import said_of
from rdma_robust.messages.message_answers import Deadlock, Leak, MatchedPair, Mismatch, OperationId, Violation

Place = tuple[Span, str]
"""A place of the text, and `assert` or the kind of fault."""


class _DecidedRun(NormalFormRun):
    """A run by decisions in which steps that others see are made when that was decided."""

    def pauses(self, process: int) -> bool:
        frame, rules = self.frames[process], self.rules[process]
        if frame.status != "runs" or not rules.is_seen(frame):
            return super().pauses(process)
        if rules.expects(frame) is not None:
            return True
        alone = ProcessFrame(self.processes[process], frame.frozen())
        return not rules.step(alone)  # what is a fault by itself is seen by nobody


class _Noting(_DecidedRun):
    """A run by decisions, and what it violates: after how many moves, which process, how and where."""

    def __init__(self, program: MessageProgram, buffer: Buffer, decisions: NormalFormDecisions) -> None:
        super().__init__(program, buffer, decisions)
        self.noted: list[tuple[int, int, str, Span]] = []

    def match(self, receiver: int, sender: int, meeting: Meeting) -> str:
        place = self.rules[receiver].span(self.frames[receiver].receives[meeting.receive].at)
        kind = super().match(receiver, sender, meeting)
        if kind:
            self.noted.append((len(self.moves), receiver, kind, place))
        return kind

    def step(self, process: int, choice: int | None = None) -> str:
        place = self.rules[process].span(self.frames[process].pc)
        kind = super().step(process, choice)
        if kind:
            self.noted.append((len(self.moves), process, kind, place))
        return kind


def violations_of(
    program: MessageProgram, buffer: Buffer, decisions: NormalFormDecisions, known: Collection[Place] = ()
) -> dict[Place, Violation]:
    """Return the first violation at each place that is not known of the run in normal form with these decisions.

    Raises InternalError if a match is not enabled where it comes.
    """
    course = _Noting(program, buffer, decisions)
    course.make_all(decisions.matches)
    found: dict[Place, Violation] = {}
    for count, process, kind, place in course.noted:
        if (place, kind) not in found and (place, kind) not in known:
            moves = cut_to_the_end(program, buffer, tuple(course.moves[:count]))
            found[place, kind] = Violation(process, kind, place, moves, said_of(course.processes[process], kind))
    return found


class SolvedRun(Protocol):
    """An execution, cut somewhere, that a solver has found."""

    def true(self, goal: Any) -> bool:
        """Return whether a goal of the solver is true in it."""

    def pairs(self) -> Iterable[MatchedPair]:
        """Return the pairs by the names that the operations have in the run, in an order in which they can happen."""

    def order(self) -> tuple[MatchedPair | int, ...]:
        """Return the same, and between them processes that make a look, or a step that others see."""

    def choices(self) -> tuple[tuple[int, ...], ...]:
        """Return the choices of each process, in the order in which it makes them."""

    def granted(self) -> frozenset[OperationId]:
        """Return the sends whose waits are passed."""


def decisions(run: SolvedRun, buffer: Buffer) -> NormalFormDecisions:
    """Return the decisions of a solved run."""
    granted = run.granted() if buffer == "any" else frozenset()
    return NormalFormDecisions(run.order(), run.choices(), granted)


def violations_in(
    program: MessageProgram, buffer: Buffer, run: SolvedRun, known: Collection[Place] = ()
) -> dict[Place, Violation]:
    """Return the first violation at each place that is not known in a solved run, each with the moves that lead to it."""
    return violations_of(program, buffer, decisions(run, buffer), known)


def deadlock_of(program: MessageProgram, buffer: Buffer, run: SolvedRun) -> Deadlock:
    """Return the deadlock that a solved run ends in. Raises InternalError if it does not."""
    course = _at_rest(program, buffer, run)
    waiting = blocked(course)
    if all(program.processes[each.process].daemon and each.kind == "receive" for each in waiting):
        raise InternalError("a run that was to end in a deadlock ends in none")
    return Deadlock(waiting, tuple(course.moves))


def leak_of(program: MessageProgram, buffer: Buffer, run: SolvedRun) -> Leak:
    """Return what is not matched where a solved run ends. Raises InternalError if nothing is."""
    course = _at_rest(program, buffer, run)
    sends, receives = unmatched(course)
    if not sends and not receives:
        raise InternalError("a run that was to leave operations unmatched leaves none")
    return Leak(sends, receives, tuple(course.moves))


def mismatch_of(program: MessageProgram, course: Course, pair: tuple[int, int]) -> Mismatch | None:
    """Return the first library procedure in which two processes differ where a run ends, None if there is none."""
    frames = [course.frames[each] for each in pair]
    ours, theirs = [(frame.calls, frame.status == "ended") for frame in frames]
    found = first_difference(pair, ours, theirs)
    return found and Mismatch(found.position, pair, found.calls, program.processes[pair[0]].span)


def mismatches_of(
    program: MessageProgram, buffer: Buffer, differing: Callable[[int, int], SolvedRun | None]
) -> Iterator[Mismatch]:
    """Yield for each two processes a difference in what they call, if there is a run of them that is `differing`."""
    for pair in combinations(range(len(program.processes)), 2):
        run = differing(*pair)
        found = None if run is None else mismatch_of(program, course_of(program, buffer, run), pair)
        if found is not None:
            yield found


def course_of(program: MessageProgram, buffer: Buffer, run: SolvedRun) -> Course:
    """Return the run of a solution after all that it decides. Raises InternalError if a match is not enabled there."""
    decided = decisions(run, buffer)
    course = _DecidedRun(program, buffer, decided)
    course.make_all(decided.matches)
    return course


def _at_rest(program: MessageProgram, buffer: Buffer, run: SolvedRun) -> Course:
    course = course_of(program, buffer, run)
    waits = {each.process for each in blocked(course)}
    stepping = any(course.can_step(process) for process in range(len(course.frames)) if process not in waits)
    if stepping or any(True for _ in course.enabled()) or any(frame.status == "stopped" for frame in course.frames):
        raise InternalError("a run that was to end where no rule applies goes on")
    return course
