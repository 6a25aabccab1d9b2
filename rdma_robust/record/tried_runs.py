"""Trying a run with a program that was recorded: it runs again, with receives that name the senders of that run.

A run of a trace, in which receives take other messages than in the recording, is one of the program if every process then
makes the calls of the trace, as far as it comes in that run. It is seen by recording the program again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.errors import RdmaRobustError
from rdma_robust.expr import Const
from rdma_robust.messages.language.message_program import Buffer, IssueSend, MessageProgram
from rdma_robust.messages.machine.courses import Course
from rdma_robust.messages.message_answers import MatchMove, OperationId, Schedule
from rdma_robust.messages.traces.trace_receives import receives_of
from rdma_robust.messages.traces.trace_record import Field, MessageTrace, TraceEvent, TraceProcess
from rdma_robust.record.mpi_runs import RecordableProgram

_MOST: Final = 6
"""Runs that are tried for one answer: each may hang, and takes its time then."""
_NOT_COMPARED: Final = ("value", "type", "matched")
"""Members that may differ: what is sent, types, which have numbers in each trace, and what is compared by itself."""


@dataclass(frozen=True, slots=True)
class TriedRuns:
    """Runs of a recorded program that are tried, for so many seconds each; `trace` is the recording."""

    recorded: RecordableProgram
    trace: MessageTrace
    seconds: float
    known: dict[str, bool] = field(default_factory=dict)

    def __call__(self, program: MessageProgram, buffer: Buffer, schedule: Schedule) -> bool:
        """Return whether the program is seen to make the calls of a run."""
        wanted = dict(move.pair for move in schedule if isinstance(move, MatchMove))
        forced = "".join(f"{me} {nth} {sender} {tag}\n" for me, nth, sender, tag in _forced(program, wanted))
        course = Course(program, buffer)
        for move in schedule:
            course.make(move)
        key = f"{forced}{[(each.pc, each.status) for each in course.frames]}"
        if key not in self.known:
            self.known[key] = len(self.known) < _MOST and self._makes(program, course, wanted, forced)
        return self.known[key]

    def _makes(self, program: MessageProgram, course: Course, wanted: dict[OperationId, OperationId], forced: str) -> bool:
        """Return whether the program, run again, makes the calls of a run that is at its end."""
        try:
            again = self.recorded.run(self.seconds, forced).trace
        except RdmaRobustError:
            return False
        if len(again.processes) != len(self.trace.processes):
            return False
        types: dict[Field, Field] = {}
        for me, (ours, theirs) in enumerate(zip(self.trace.processes, again.processes, strict=True)):
            ended = course.frames[me].status == "ended"
            come = len(ours.events) if ended else _reached(program, course, me) + 1
            if ended and (len(theirs.events) != come or theirs.unfinished):
                return False
            taken = {nth: send for (process, nth), send in wanted.items() if process == me}
            passed = come if ended else come - 1
            if not all(_alike(*pair, types) for pair in zip(ours.events[:come], theirs.events, strict=False)):
                return False
            if len(theirs.events) < come or not _took(theirs, passed, taken):
                return False
        return True


def _forced(program: MessageProgram, wanted: dict[OperationId, OperationId]) -> Iterator[tuple[int, int, int, int]]:
    """Yield receives with the senders and tags that they are to name."""
    sends = [[each for each in process.body if isinstance(each, IssueSend)] for process in program.processes]
    for (me, nth), (sender, send) in sorted(wanted.items()):
        tag = sends[sender][send].tag
        assert isinstance(tag, Const)
        yield me, nth, sender, tag.value


def _reached(program: MessageProgram, course: Course, me: int) -> int:
    """Return the number of the event at which a process stands, from 0."""
    places = list(dict.fromkeys(each.span for each in program.processes[me].body))
    return places.index(course.rules[me].span(course.frames[me].pc))


def _alike(ours: TraceEvent, theirs: TraceEvent, types: dict[Field, Field]) -> bool:
    """Return whether two events are the same call; `types` are ours with theirs, as far as they are known."""
    said = [{name: value for name, value in each.fields.items() if name not in _NOT_COMPARED} for each in (ours, theirs)]
    kinds = ours.fields.get("type"), theirs.fields.get("type")
    return ours.op == theirs.op and said[0] == said[1] and types.setdefault(kinds[0], kinds[1]) == kinds[1]


def _took(process: TraceProcess, passed: int, wanted: dict[int, OperationId]) -> bool:
    """Return whether the receives of a process that are over before event number `passed` took what is wanted."""
    return all(
        each.over is None or each.over >= passed or each.event.fields.get("matched") == wanted.get(nth)
        for nth, each in enumerate(receives_of(process))
    )
