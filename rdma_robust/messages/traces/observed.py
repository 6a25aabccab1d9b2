"""Reading a trace, and checking that it can have been observed: the matches that it records are a run of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from rdma_robust.diagnose import Reporter
from rdma_robust.errors import Span
from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.machine.courses import Course, NormalFormDecisions, NormalFormRun
from rdma_robust.messages.machine.matching import are_enabled
from rdma_robust.messages.message_answers import MatchedPair, OperationId, Schedule
from rdma_robust.messages.traces.trace_program import all_events, place_of_event, program_of
from rdma_robust.messages.traces.trace_record import MessageTrace, trace_of


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A trace as a program, and the run that it was observed in, if it says of every receive what that took."""

    program: MessageProgram
    notes: tuple[str, ...]
    observed: Schedule | None


def read_trace(text: str, file: str) -> MessageProgram:
    """Return the program of a trace in JSON; `file` is its name for messages.

    Raises ProgramError with every error of the file, also where what is `matched` is no run of it.
    """
    return read_recorded(text, file).program


def read_recorded(text: str, file: str) -> RecordedRun:
    """Return a trace in JSON with what it was observed to do. Raises ProgramError as :func:`read_trace` does."""
    report = Reporter(file, text)
    trace = trace_of(text, report)
    program = program_of(trace, report)
    observed = _observed(trace, program, report)
    report.raise_errors()
    return RecordedRun(program, trace.notes, observed)


def _observed(trace: MessageTrace, program: MessageProgram, report: Reporter) -> Schedule | None:
    """Return the run with the matches that a trace records, None if it does not record all; report where it is none.

    With infinite buffers, as the runs of zero are among those. Which pairs there are leaves nothing to choose: one that is
    enabled stays so until it fires, so that the order does not matter.
    """
    sends: dict[int, list[Span]] = {}
    place = partial(place_of_event, of_source=bool(trace.source))
    for process, event in all_events(trace):
        if event.op in ("send", "isend"):
            sends.setdefault(process, []).append(place(event))
    wanted: dict[Span, Span] = {}
    written: dict[Span, Span] = {}
    for _, event in all_events(trace):
        match event.fields.get("matched"):
            case (int() as process, int() as nth) if nth < len(sends.get(process, ())):
                wanted[place(event)] = sends[process][nth]
                written[place(event)] = event.span
            case (process, _):
                said = f"process {process} has {len(sends.get(process, ()))} sends"
                report.error("RR944", event.spans.get("matched", event.span), said)
            case _:
                pass
    if not wanted or report.failed:
        return None
    course = _ObservedRun(program, wanted)
    course.run()
    missing = [span for span in wanted if span not in course.done]
    if missing and course.guesses:
        return None
    for span in missing:
        said = f"this receive cannot have taken the send on line {wanted[span].line}: {course.reason(span)}"
        report.error("RR944", written[span], said, hint="leave `matched` out to look at the trace without it")
    return None if missing or course.guesses else tuple(course.moves)


class _ObservedRun(NormalFormRun):
    """The run in which receives take what was observed, and others what nobody was observed to take.

    Operations are known by the places of their events; those of library procedures have other places.
    """

    def __init__(self, program: MessageProgram, wanted: Mapping[Span, Span]) -> None:
        super().__init__(program, "infinite", NormalFormDecisions(()))
        self.wanted = wanted
        self.taken = set(wanted.values())
        self.receives: dict[OperationId, Span] = {}
        self.sends: dict[OperationId, Span] = {}
        self.issued: dict[Span, OperationId] = {}
        self.done: set[Span] = set()
        self.guesses = 0

    def step(self, process: int, choice: int | None = None) -> str:
        frame = self.frames[process]
        span = self.rules[process].span(frame.pc)
        before = frame.received, frame.sent
        kind = Course.step(self, process, choice)
        if frame.received > before[0]:
            self.receives[OperationId(process, before[0])] = span
        if frame.sent > before[1]:
            self.sends[OperationId(process, before[1])] = span
            self.issued[span] = OperationId(process, before[1])
        return kind

    def run(self) -> None:
        """Send what is sent ready once that is no fault, make observed matches as long as one is enabled, then looks, then a
        match that nobody observed."""
        self.settle_all()
        changed = set(range(len(self.frames)))
        while True:
            for process in range(len(self.frames)):
                if self.is_ready(process):
                    self.settle(process)
                    changed.add(process)
            pair = self.observed_pair(changed)
            if pair is None and (looking := self.made_look()) is not None:
                changed.add(looking)
                continue
            if pair is None:
                changed.clear()
                pair = self.other_pair()
            if pair is None or not self.try_match(pair):
                return
            changed |= {pair.receive.process, pair.send.process}

    def pauses(self, process: int) -> bool:
        return super().pauses(process) or self.is_ready(process) is False

    def made_look(self) -> int | None:
        """Let a process go on that sees the message it looks for, and return which; a trace says whose, with which tag."""
        for process in range(len(self.frames)):
            if choices := self.looks(process):
                self.step(process, choices[0])
                self.settle(process)
                return process
        return None

    def observed_pair(self, changed: set[int]) -> MatchedPair | None:
        """Return an observed match that is enabled, of those with a process that has changed."""
        for me, frame in enumerate(self.frames):
            for receive in frame.receives:
                span = self.receives[OperationId(me, receive.nth)]
                send = self.issued.get(self.wanted[span]) if span in self.wanted else None
                if send is None or not ({me, send.process} & changed):
                    continue
                pair = MatchedPair(OperationId(me, receive.nth), send)
                if are_enabled(pair, frame, self.frames[send.process]):
                    self.done.add(span)
                    return pair
        return None

    def other_pair(self) -> MatchedPair | None:
        """Return a match that is enabled, of operations of which nothing was observed."""
        for receiver, sender, meeting in self.enabled():
            receive = self.frames[receiver].receives[meeting.receive]
            pair = MatchedPair(
                OperationId(receiver, receive.nth), OperationId(sender, self.frames[sender].sends[meeting.send].nth)
            )
            if self.receives[pair.receive] not in self.wanted and self.sends[pair.send] not in self.taken:
                self.guesses += receive.source < 0
                return pair
        return None

    def reason(self, span: Span) -> str:
        """Return why an observed match does not come about."""
        if all(each != span for each in self.receives.values()):
            return "its process does not come so far"
        if self.wanted[span] not in self.issued:
            return "that is not sent before"
        return "ports, sources, tags or the order of messages and receives forbid it"
