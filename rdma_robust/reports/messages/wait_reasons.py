"""Why processes wait forever: what each waits for, the circle in which they wait for one another, and what to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.diagnose import listing
from rdma_robust.errors import Span
from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.language.message_terms import shown_value
from rdma_robust.messages.message_answers import Deadlock, OperationId, WaitingProcess
from rdma_robust.reports.messages.message_claims import FAULTS, GOES_ON, line_of, local_text, place_of, statement_at
from rdma_robust.reports.messages.narration import IssuedRequest, Narration, OperationNames, RunEvent
from rdma_robust.reports.share.chart import Chart, ChartArrow, ChartBar, ChartRow, Mark, WaitLink

Links = Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class WaitReason:
    """A process that waits forever: `text` says for what and why that never comes, `on` are those that could help."""

    waiting: WaitingProcess
    request: IssuedRequest
    on: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class DeadlockReason:
    """Why a run ends in a deadlock: each process that waits, the circle if there is one, both in words, and advice."""

    reasons: tuple[WaitReason, ...]
    cycle: tuple[WaitLink, ...]
    circle: str
    advice: str


def deadlock_reason(
    program: MessageProgram, deadlock: Deadlock, narration: Narration, *, buffered_is_fine: bool
) -> DeadlockReason:
    """Return why a deadlock is one; `buffered_is_fine` says that there is none where every message is buffered."""
    words = _Words(program, narration)
    reasons = tuple(words.reason(each) for each in deadlock.waiting)
    waiting = {each.waiting.process for each in reasons}
    links = {each.waiting.process: tuple(other for other in each.on if other in waiting) for each in reasons}
    named = {each.waiting.process: links[each.waiting.process] if each.request.peer is not None else () for each in reasons}
    circle = shortest_circle(named) or shortest_circle(links)
    cycle = tuple(WaitLink(a, b) for a, b in zip(circle, (*circle[1:], *circle[:1]), strict=True))
    stuck = [each for each in reasons if not circle or each.waiting.process in circle]
    taken = next(filter(None, (words.taken_before(each.request) for each in stuck if each.waiting.kind == "receive")), "")
    advice = _advice(program, stuck, bool(circle), taken, buffered_is_fine=buffered_is_fine)
    return DeadlockReason(reasons, cycle, words.circle(circle), advice)


def shortest_circle(links: Links) -> tuple[int, ...]:
    """Return the points of a shortest circle, in the direction of the links and the smallest first; () if there is none."""
    best: tuple[int, ...] = ()
    for start in sorted(links):
        before: dict[int, int] = {}
        todo = deque([start])
        while todo and start not in before:
            at = todo.popleft()
            for after in links.get(at, ()):
                if after not in before:
                    before[after] = at
                    todo.append(after)
        if start in before:
            path = [start]
            while (at := before[path[-1]]) != start:
                path.append(at)
            found = (start, *reversed(path[1:]))
            best = found if not best or len(found) < len(best) else best
    return best


@dataclass(frozen=True, slots=True)
class _Words:
    program: MessageProgram
    run: Narration

    def name(self, process: int) -> str:
        return self.program.processes[process].name

    def reason(self, waiting: WaitingProcess) -> WaitReason:
        me = waiting.process
        if waiting.kind == "collective":
            name, absent = self.run.absent[me]
            who = listing([self.name(each) for each in absent], "and")
            request = IssuedRequest(waiting.operation, "receive", None, 0, None, hidden=True, span=waiting.span)
            over = self.over(request, absent)
            return WaitReason(waiting, request, absent, f"{self.name(me)} waits forever for {who} to enter `{name}`{over}")
        request = self.run.requests[waiting.kind, waiting.operation]
        others = tuple(number for number in range(len(self.program.processes)) if number != me)
        on = others if request.peer is None else (request.peer,)
        what = self.for_receive(request) if waiting.kind == "receive" else self.for_send(request)
        why = self.misfits(request) or self.over(request, on)
        return WaitReason(waiting, request, on, f"{self.name(me)} waits forever {what}{why}")

    def for_receive(self, request: IssuedRequest) -> str:
        source = "any process" if request.peer is None else self.name(request.peer)
        tag = "" if request.tag is None else f" with tag {request.tag}"
        return f"for a message from {source}{tag}{self.port(request)}"

    def for_send(self, request: IssuedRequest) -> str:
        to = "itself" if request.peer == request.operation.process else self.name(request.peer or 0)
        return f"for {to} to take its message{self.port(request)}"

    def port(self, request: IssuedRequest) -> str:
        return f" on port {self.program.ports[request.port]}" if request.port else ""

    def over(self, request: IssuedRequest, on: Sequence[int]) -> str:
        """Say so if all that could help are over."""
        if request.peer == request.operation.process or any(each not in self.run.ended for each in on):
            return ""
        if len(on) > 1:
            return "; all of them have ended" if len(on) + 1 < len(self.program.processes) else "; all others have ended"
        return f"; {self.name(on[0])} has ended"

    def misfits(self, request: IssuedRequest) -> str:
        """Say which operation at the other side is there and does not fit, '' if there is none."""
        for other in self.run.unmatched:
            if other.direction == request.direction or other.port != request.port:
                continue
            receive, send = (request, other) if request.direction == "receive" else (other, request)
            if send.peer != receive.operation.process:
                continue
            if request.peer not in (None, other.operation.process):
                continue
            line = f" (line {line_of(self.program, other.span)})"
            if receive.peer not in (None, send.operation.process):
                return f"; the receive of {self.name(other.operation.process)}{line} takes messages of another process"
            if receive.tag not in (None, send.tag):
                what = "message" if other.direction == "send" else "receive"
                return f"; the {what} of {self.name(other.operation.process)}{line} has tag {other.tag}"
        return ""

    def taken_before(self, request: IssuedRequest) -> str:
        """Say which receive from any took a message that this one names, and what to do, '' if none did."""
        for receive, send in self.run.matches.items():
            other, message = self.run.requests["receive", receive], self.run.requests["send", send]
            fits = (receive.process, other.port) == (request.operation.process, request.port)
            if not fits or request.peer not in (None, send.process) or request.tag not in (None, message.tag):
                continue
            by_source = other.peer is None and request.peer is not None
            if by_source or (other.tag is None and request.tag is not None):
                it, needs = (line_of(self.program, each.span) for each in (other, request))
                what = "source" if by_source else "tag"
                took = f"The receive at line {it} took a message that the one at line {needs} waits for"
                return f"{took}: name its {what}, or put it behind."
        return ""

    def circle(self, circle: Sequence[int]) -> str:
        """Return the circle in words."""
        names = [self.name(each) for each in circle]
        match names:
            case []:
                return ""
            case [only]:
                return f"{only} waits for itself."
            case [one, other]:
                return f"{one} waits for {other}, and {other} waits for {one}."
            case [first, *more]:
                links = [f"{a} for {b}" for a, b in zip(more, [*more[1:], first], strict=True)]
                return f"{first} waits for {more[0]}, {', '.join(links[:-1])}, and {links[-1]}."
        raise AssertionError(names)


def _advice(
    program: MessageProgram, reasons: Sequence[WaitReason], in_circle: bool, taken: str, *, buffered_is_fine: bool
) -> str:
    """Return what to change, for those on the circle, or without one for all that wait; `taken` says who took a message."""
    if any(each.waiting.kind == "collective" for each in reasons):
        return "Every member of a group has to enter each of its collective operations, all in the same order."
    sends = [each for each in reasons if each.waiting.kind == "send"]
    relies = _relies(program, sends) if sends and buffered_is_fine else ""
    if in_circle and len(sends) == len(reasons) == 1:
        return f"{relies}Post the receive before: `irecv`, then `send`, then `wait`."
    if in_circle and sends and len(sends) == len(reasons):
        return (
            f"{relies}Each of them sends before it receives. Post the receive first (`irecv` before the send, `wait` behind "
            "it), use `isend` and wait for it behind the receive, or let one of them receive first."
        )
    if in_circle and sends:
        return f"{relies}Use `isend` and wait for it later, or post the receive that takes the message before (`irecv`)."
    if in_circle:
        return "Each of them receives before it sends what another waits for: let one of them send first."
    if sends:
        return f"{relies}There are more messages than receives that take them: see that every send has its receive."
    if taken:
        return taken
    return "There are more receives than messages that fit them: see that every receive has its send, and that tags agree."


def _relies(program: MessageProgram, sends: Sequence[WaitReason]) -> str:
    lines = sorted({line_of(program, each.waiting.span) for each in sends})
    where = f"line{'s' * (len(lines) > 1)} {listing(map(str, lines), 'and')}"
    return f"The program relies on buffering at {where}: with room for every message there is no deadlock. "


MOST_OTHERS: Final = 3
"""Messages that a receive could take instead which have an arrow."""


@dataclass(frozen=True, slots=True)
class ChartContents:
    """The contents of a chart besides a run: who waits forever and why, operations left over, and for receives that race
    the sends that they could take."""

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
            case "enter":
                self.row(me, "choice", f"{self.name(me)} enters `{event.text}`", event.span, event.text)
            case "leave":
                said = "leaves before all have entered"
                self.row(me, "grant", f"{self.name(me)} {said}", event.span, said)
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
        me, said = event.process, local_text(self.program, event.span)
        if said and (event.kind == "false" or event.text == "abort"):
            self.row(me, "false", said, event.span, said)
            return
        statement = statement_at(self.program, event.span) or "assert"
        if event.kind == "fault":
            what = FAULTS.get(event.text, event.text)
            stops = "" if event.text in GOES_ON else f"; {self.name(me)} stops"
            self.row(me, "fault", f"{statement}: {what}{stops}", event.span, what)
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
        """Add who waits forever, and what is left over."""
        begins = {each.waiting.process: self.last.get(each.waiting.process, -1) for each in self.show.waiting}
        for each in self.show.waiting:
            self.row(each.waiting.process, "stuck", each.text, each.waiting.span, "waits forever")
        for process, begin in begins.items():
            self.bars.append(ChartBar(process, begin, len(self.rows) - 1, for_ever=True))
        for request in self.show.leaked:
            sent = request.direction == "send"
            text = "nothing takes this message" if sent else "no message comes for this receive"
            self.row(request.operation.process, "leak", text, request.span, "never taken" if sent else "no message")
