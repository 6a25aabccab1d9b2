"""From the events of a run to its sequence chart: what is worth a row, where arrows and bars begin and end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.errors import Span
from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.language.message_terms import shown_value
from rdma_robust.messages.message_answers import OperationId
from rdma_robust.reports.messages.narration import IssuedRequest, Narration, RunEvent
from rdma_robust.reports.messages.operation_names import OperationNames
from rdma_robust.reports.messages.violation_words import FAULTS, line_of, place_of, statement_at
from rdma_robust.reports.messages.wait_reasons import WaitReason
from rdma_robust.reports.share.chart import Chart, ChartArrow, ChartBar, ChartRow, Mark, WaitLink

MOST_OTHERS: Final = 3
"""Messages that a receive could take instead which have an arrow."""


@dataclass(frozen=True, slots=True)
class ChartContents:
    """What a chart shows besides a run: who waits for ever and why, operations left over, and for receives that race the
    sends that they could take."""

    title: str
    waiting: tuple[WaitReason, ...] = ()
    cycle: tuple[WaitLink, ...] = ()
    leaked: tuple[IssuedRequest, ...] = ()
    feasible: Mapping[OperationId, Sequence[OperationId]] = field(default_factory=dict)


def chart_of(program: MessageProgram, names: OperationNames, narration: Narration, show: ChartContents) -> Chart:
    """Return the chart of a run."""
    builder = _Builder(program, names, narration, show)
    for event in narration.events:
        builder.add(event)
    builder.close()
    lanes = tuple(process.name for process in program.processes)
    return Chart(show.title, lanes, tuple(builder.rows), tuple(builder.arrows), tuple(builder.bars), show.cycle)


class _Builder:
    def __init__(self, program: MessageProgram, names: OperationNames, narration: Narration, show: ChartContents) -> None:
        self.program = program
        self.names = names
        self.run = narration
        self.show = show
        self.rows: list[ChartRow] = []
        self.arrows: list[ChartArrow] = []
        self.bars: list[ChartBar] = []
        self.sent_at: dict[OperationId, int] = {}
        self.last: dict[int, int] = {}
        self.awaited = {
            event.request.operation
            for event in narration.events
            if event.kind == "wait" and event.request is not None and event.request.direction == "receive"
        }

    def name(self, process: int) -> str:
        return self.program.processes[process].name

    def row(self, lane: int, mark: Mark, text: str, span: Span | None, label: str = "") -> int:
        place = None if span is None else place_of(self.program, span)
        line, column = (None, None) if place is None else (place.line, place.column)
        self.rows.append(ChartRow(lane, mark, text, line, label or text, column=column))
        return len(self.rows) - 1

    def add(self, event: RunEvent) -> None:
        """Add the row of an event, if it has one. Waits for sends have none: that they end is at the arrow."""
        request, me = event.request, event.process
        match event.kind:
            case "send" if request is not None:
                label = self.sending(request)
                at = self.row(me, "send", f"{self.name(me)} {label.replace('send', 'sends', 1)}", event.span, label)
                self.sent_at[request.operation] = at
            case "post" if request is not None and not request.hidden:
                label = f"receive {self.pattern(request)}"
                self.row(me, "post", f"{self.name(me)} posts a {label}", event.span, label)
            case "wait" if request is not None and event.taken is not None:
                self.taken(event, request, event.taken, "take")
            case "wait":
                self.wait_until_now(me)
            case "match" if request is not None and event.taken is not None and request.operation not in self.awaited:
                self.taken(event, request, event.taken, "match")
            case "grant":
                self.row(me, "grant", f"the runtime buffers the message of {self.name(me)}", event.span, "buffered")
            case "choice":
                self.row(me, "choice", f"{self.name(me)} chooses {event.text}", event.span, f"choice {event.text}")
            case "look" | "hold":
                said = f"{'takes off' if event.kind == 'hold' else 'sees'} a message of {self.name(int(event.text))}"
                self.row(me, "choice", f"{self.name(me)} {said}", event.span, said)
            case "false" | "stop" | "fault":
                self.wrong(event)
        if event.kind != "match":
            self.last[me] = len(self.rows) - 1

    def wrong(self, event: RunEvent) -> None:
        """Add the row of a false assertion or assumption, or of a fault."""
        me = event.process
        statement = statement_at(self.program, event.span) or "assert"
        if event.kind == "fault":
            what = FAULTS.get(event.text, event.text)
            self.row(me, "fault", f"{statement}: {what}; {self.name(me)} stops", event.span, what)
            return
        values = f": {event.text}" if event.text else ""
        over = f"; {self.name(me)} stops" if event.kind == "stop" else ""
        mark: Mark = "stop" if event.kind == "stop" else "false"
        self.row(me, mark, f"{statement} is false{values}{over}", event.span, f"{statement} is false")

    def sending(self, send: IssuedRequest) -> str:
        to = "?" if send.peer is None else self.name(send.peer)
        return f"send {shown_value(send.value)} to {to}{self.channel(send)}"

    def pattern(self, receive: IssuedRequest) -> str:
        return f"from {'any' if receive.peer is None else self.name(receive.peer)}{self.channel(receive)}"

    def channel(self, request: IssuedRequest) -> str:
        """Return port and tag of a request, as far as they say something."""
        port = f" on {self.program.ports[request.port]}" if request.port else ""
        return port + (f" tag {request.tag}" if request.tag else "")

    def taken(self, event: RunEvent, receive: IssuedRequest, send: IssuedRequest, mark: Mark) -> None:
        """Add the row where a receive has its message, with its arrow, and what else it could take."""
        me = event.process
        self.wait_until_now(me)
        where = self.sent_at.get(send.operation)
        line = f" (line {line_of(self.program, send.span)})"
        text = f"{self.name(me)} takes {shown_value(send.value)} from {self.name(send.operation.process)}{line}"
        end = self.row(me, mark, text, event.span, f"takes {shown_value(send.value)}")
        self.arrows.append(ChartArrow(send.operation.process, me, where, end, shown_value(send.value), text))
        others = [each for each in self.show.feasible.get(receive.operation, ()) if each != send.operation]
        for place, other in enumerate(others[:MOST_OTHERS]):
            left_out = len(others) - MOST_OTHERS if place == MOST_OTHERS - 1 else 0
            self.arrows.append(self.possible(me, other, end, left_out))

    def possible(self, me: int, other: OperationId, end: int, left_out: int) -> ChartArrow:
        """Return the arrow of a message that comes in another run: what it says there is not known."""
        there = self.run.requests.get(("send", other))
        known = None if there is None else line_of(self.program, there.span)
        line = self.names.where("send", other) if known is None else f" (line {known})"
        text = f"or the message of {self.name(other.process)}{line}"
        text += f", or one of {left_out} more" if left_out > 0 else ""
        return ChartArrow(other.process, me, self.sent_at.get(other), end, "", text, possible=True)

    def wait_until_now(self, me: int) -> None:
        """Add a bar if others had rows since the last step of a process."""
        begin = self.last.get(me, -1)
        if len(self.rows) - 1 > begin:
            self.bars.append(ChartBar(me, begin, len(self.rows) - 1))

    def close(self) -> None:
        """Add who waits for ever, and what is left over."""
        begins = {each.waiting.process: self.last.get(each.waiting.process, -1) for each in self.show.waiting}
        for each in self.show.waiting:
            self.row(each.waiting.process, "stuck", each.text, each.waiting.span, "waits for ever")
        for process, begin in begins.items():
            self.bars.append(ChartBar(process, begin, len(self.rows) - 1, for_ever=True))
        for request in self.show.leaked:
            sent = request.direction == "send"
            text = "nothing takes this message" if sent else "no message comes for this receive"
            self.row(request.operation.process, "leak", text, request.span, "never taken" if sent else "no message")
