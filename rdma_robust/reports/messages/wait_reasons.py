"""Why processes wait for ever: what each waits for, the circle in which they wait for one another, and what to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rdma_robust.diagnose import listing
from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.message_answers import Deadlock, WaitingProcess
from rdma_robust.reports.messages.narration import IssuedRequest, Narration
from rdma_robust.reports.messages.violation_words import line_of
from rdma_robust.reports.share.chart import WaitLink

Links = Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class WaitReason:
    """A process that waits for ever: `text` says for what and why that never comes, `on` are those that could help."""

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
        request = self.run.requests[waiting.kind, waiting.operation]
        me = waiting.process
        others = tuple(number for number in range(len(self.program.processes)) if number != me)
        on = others if request.peer is None else (request.peer,)
        what = self.for_receive(request) if waiting.kind == "receive" else self.for_send(request)
        why = self.misfits(request) or self.over(request, on)
        return WaitReason(waiting, request, on, f"{self.name(me)} waits for ever {what}{why}")

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
            return "; all others have ended"
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
