"""Importing logs of MPI: JSON lines, one call a line, the calls of one rank in their order.

| member | of | what |
|---|---|---|
| `rank` | all | who calls; left out, the number of the file |
| `call` | all | `MPI_Send`, `MPI_Irecv`, .. |
| `dest`, `tag` | sends | world rank; a number |
| `source`, `tag` | receives | world rank or "any"; a number or "any" |
| `status` | receives that block, probes, `MPI_Wait` | {"source": .., "tag": ..}: who really sent |
| `flag` | `MPI_Iprobe`, `MPI_Improbe` | whether there was a message: a number |
| `message` | `MPI_Mprobe`, .., `MPI_Imrecv` | a name or a number |
| `request` | nonblocking calls, `MPI_Wait` | a name or a number |
| `requests`, `statuses` | `MPI_Waitall` | lists of these |
| `sendtag`, `recvtag` | `MPI_Sendrecv` | the tags of its two halves |
| `root` | collective calls | world rank |
| `value` | sends | a number; left out, 0 |
| `comm`, `line` | all | a communicator, left out the world; a line of the source |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.diagnose import Reporter, did_you_mean, listing, quote
from rdma_robust.errors import ProgramError, Span
from rdma_robust.messages.language.message_program import SendMode
from rdma_robust.messages.traces.located_json import LineStarts, LocatedValue, located_json
from rdma_robust.messages.traces.trace_record import Field, MessageTrace, TraceEvent, TraceProcess

CONSTANT_PAYLOADS: Final = (
    "Payloads are constants, as the log has them: what a process computes from a received value is not followed."
)
_SENDS: Final = ("MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Isend", "MPI_Issend", "MPI_Bsend")
_MODES: Final[Mapping[str, SendMode]] = {"MPI_Ssend": "sync", "MPI_Issend": "sync", "MPI_Bsend": "buffered"}
_RECEIVES: Final = ("MPI_Recv", "MPI_Irecv")
_LOOKS: Final = ("MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe")
_HELD: Final = ("MPI_Mrecv", "MPI_Imrecv")
_COLLECTIVE: Final = {
    "MPI_Barrier": "barrier",
    "MPI_Bcast": "bcast",
    "MPI_Reduce": "reduce",
    "MPI_Allreduce": "allreduce",
    "MPI_Gather": "gather",
    "MPI_Scatter": "scatter",
}
_IGNORED: Final = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Comm_rank", "MPI_Comm_size")
_OTHERS: Final = ("MPI_Wait", "MPI_Waitall", "MPI_Sendrecv")
CALLS: Final = (*_SENDS, *_RECEIVES, *_LOOKS, *_HELD, *_OTHERS, *_COLLECTIVE, *_IGNORED)
_MEMBERS: Final = (
    *("rank", "call", "dest", "source", "tag", "status", "request", "requests", "statuses"),
    *("flag", "message"),
    *("sendtag", "recvtag", "root", "value", "comm", "line", "count", "time"),
)
_WORLD: Final = (None, "world", "MPI_COMM_WORLD")


@dataclass(slots=True)
class _Receive:
    """A posted receive, or a message that is held: the number of the event that receives it, and who and which tag it really
    got, if that is known."""

    at: int | None
    span: Span
    report: Reporter
    port: Field
    source: Field
    tag: Field
    took: tuple[Field, Field] = (None, None)


@dataclass(slots=True)
class _Rank:
    """One rank: its events, its posted receives, those by open requests, what is held, and how many sends it has issued."""

    events: list[TraceEvent] = field(default_factory=list)
    receives: list[_Receive] = field(default_factory=list)
    open: dict[str, _Receive | None] = field(default_factory=dict)
    held: dict[str, tuple[str, _Receive]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    sent: int = 0
    issued: int = 0


def import_mpi_log(files: Sequence[tuple[str, str]], name: str = "log") -> MessageTrace:
    """Return the trace in logs, given as (file, text). Raises ProgramError with all errors of the first file that has some.

    A receive from any source must say who really sent: as one of which that is not known it could not be told from one
    that names its source, and tools that write the source that a run had into the log hide exactly that.
    """
    reports = [Reporter(*each) for each in files]
    read = [_calls(report, number) for number, report in enumerate(reports)]
    _raise(reports)
    count = 1 + max((rank for calls in read for rank, _ in calls), default=0)
    ranks = [_Rank() for _ in range(count)]
    sends: dict[tuple[Field, ...], list[tuple[int, int]]] = {}
    for report, calls in zip(reports, read, strict=True):
        for rank, call in calls:
            _Call(_Log(report, count, sends), rank, ranks[rank], call).write()
    _raise(reports)
    for rank, made in enumerate(ranks):
        _match(rank, made, sends)
    _raise(reports)
    processes = tuple(TraceProcess(f"rank {rank}", tuple(each.events)) for rank, each in enumerate(ranks))
    return MessageTrace(name, processes, (CONSTANT_PAYLOADS,))


def _raise(reports: Sequence[Reporter]) -> None:
    for report in reports:
        report.raise_errors()


def _calls(report: Reporter, number: int) -> list[tuple[int, Mapping[str, LocatedValue]]]:
    """Return the calls in a log, each with its rank, which is the number of the file if it is left out."""
    lines, start = LineStarts(report.source), 0
    found: list[tuple[int, Mapping[str, LocatedValue]]] = []
    for line in report.source.split("\n"):
        if line.strip():
            try:
                value = located_json(report.source, report, start, start + len(line.rstrip()), lines)
            except ProgramError:
                return found
            call = _checked(value, report)
            rank = call.get("rank")
            at = number if rank is None else rank.whole
            if at is None or not 0 <= at < 10_000:
                report.error("RR947", value.span if rank is None else rank.span, "`rank` is a number from 0 to 9,999")
            elif call:
                found.append((at, call))
        start += len(line) + 1
    return found


def _checked(value: LocatedValue, report: Reporter) -> Mapping[str, LocatedValue]:
    members = value.members
    if members is None or "call" not in members:
        report.error("RR947", value.span, "a line of a log is an object with a `call`", expected='{"call": "MPI_..", ..}')
        return {}
    for name, member in members.items():
        if name not in _MEMBERS:
            hint = did_you_mean(name, _MEMBERS)
            report.error("RR947", member.span, f"a call has no {quote(name)}", expected=listing(sorted(_MEMBERS)), hint=hint)
    call = members["call"]
    if call.text not in CALLS:
        hint = did_you_mean(call.text or "", CALLS) or "leave out what neither sends nor receives"
        report.error("RR947", call.span, "this call cannot be read here", expected=listing(CALLS), hint=hint)
        return {}
    return members


@dataclass(frozen=True, slots=True)
class _Log:
    """What all calls share: how many ranks there are, and all sends by sender, receiver, port and tag."""

    report: Reporter
    count: int
    sends: dict[tuple[Field, ...], list[tuple[int, int]]]


class _Call:
    """One call of one rank."""

    def __init__(self, log: _Log, rank: int, made: _Rank, call: Mapping[str, LocatedValue]) -> None:
        self.report, self.count, self.sends = log.report, log.count, log.sends
        self.rank, self.made, self.call = rank, made, call
        self.name = call["call"].text or ""

    def wrong(self, member: str, said: str, hint: str = "") -> None:
        self.report.error("RR947", self.call.get(member, self.call["call"]).span, said, hint=hint)

    def add(self, op: str, fields: Mapping[str, Field]) -> None:
        line = self.call["line"].whole if "line" in self.call else None
        self.made.events.append(TraceEvent(op, fields, line if line and line > 0 else None))

    def write(self) -> None:
        if self.name in _SENDS:
            self.send(self.name in ("MPI_Isend", "MPI_Issend"), "tag")
        elif self.name in _RECEIVES:
            self.receive(self.name == "MPI_Irecv", "tag")
        elif self.name in _LOOKS:
            self.look()
        elif self.name in _HELD:
            self.receive_held()
        elif self.name == "MPI_Sendrecv":
            self.both()
        elif self.name in ("MPI_Wait", "MPI_Waitall"):
            self.wait()
        elif self.name in _COLLECTIVE:
            fields: dict[str, Field] = {"name": _COLLECTIVE[self.name]}
            if self.name in ("MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Scatter"):
                fields["root"] = self.number("root", self.count)
            if self.port() is not None:
                self.wrong("comm", "collective calls are those of the world here: they are by all processes")
            self.add("collective", fields)

    def number(self, member: str, below: int | None = None, also: str = "") -> Field:
        """Return a member that is a number from 0, or the word `also`."""
        found = self.call.get(member)
        if found is not None and also and found.value == also:
            return also
        number = None if found is None else found.whole
        if number is None or number < 0:
            self.wrong(member, f"{self.name} needs {quote(member)}, a number from 0" + (f' or "{also}"' if also else ""))
            return 0
        if below is not None and number >= below:
            self.wrong(member, f"there is no rank {number} in the log", "give the logs of all ranks")
            return 0
        return number

    def port(self) -> Field:
        comm = self.call.get("comm")
        if comm is None or comm.value in _WORLD:
            return None
        return "c_" + re.sub(r"\W", "_", str(comm.value), flags=re.ASCII)

    def request(self, located: LocatedValue | None) -> str:
        return self.key("request", located)

    def key(self, member: str, located: LocatedValue | None) -> str:
        value = None if located is None else located.value
        if located is None or not isinstance(value, str | int) or isinstance(value, bool):
            self.wrong(member, f"{self.name} needs its {member}, a name or a number")
            return ""
        return str(value)

    def opened(self, receive: _Receive | None) -> str:
        """Return the name of the event for a request that is opened."""
        key = self.request(self.call.get("request"))
        if key in self.made.open:
            self.wrong("request", f"the request {quote(key)} is still open")
        self.made.open[key] = receive
        return self.new_request(key)

    def new_request(self, key: str) -> str:
        self.made.issued += 1
        self.made.names[key] = name = f"h{self.made.issued}"
        return name

    def send(self, opens: bool, tag_member: str) -> None:
        to = self.number("dest", self.count)
        tag = self.number(tag_member)
        value = self.call["value"].whole if "value" in self.call else None
        mode: dict[str, Field] = {_MODES[self.name]: True} if self.name in _MODES else {}
        fields: dict[str, Field] = {"to": to, "port": self.port(), "tag": tag, "value": str(value or 0), **mode}
        self.sends.setdefault((self.rank, to, self.port(), tag), []).append((self.rank, self.made.sent))
        self.made.sent += 1
        if opens:
            self.add("isend", {**fields, "request": self.opened(None)})
        else:
            self.add("send", fields)

    def pattern(self, tag_member: str, at: int | None) -> _Receive:
        """Return the receive with the pattern of a call, that event number `at` is."""
        source, tag = self.number("source", self.count, "any"), self.number(tag_member, None, "any")
        return _Receive(at, self.call["call"].span, self.report, self.port(), source, tag)

    def look(self) -> None:
        """A probe, as what it saw; one that saw nothing is no event. What it holds is matched as a receive posted here."""
        if self.name in ("MPI_Iprobe", "MPI_Improbe") and not self.number("flag"):
            return
        made = self.pattern("tag", None)
        self.completed(made, self.call.get("status"))
        seen: dict[str, Field] = {"from": made.took[0], "port": made.port, "tag": made.took[1]}
        if self.name in ("MPI_Probe", "MPI_Iprobe"):
            self.add("probe", seen)
            return
        key = self.key("message", self.call.get("message"))
        if key in self.made.held:
            self.wrong("message", f"the message {quote(key)} was not received yet")
        self.made.issued += 1
        name = f"m{self.made.issued}"
        self.made.held[key] = name, made
        self.made.receives.append(made)
        self.add("mprobe", {"taken": name, **seen})

    def receive_held(self) -> None:
        """The receive of a message that is held."""
        key = self.key("message", self.call.get("message"))
        if key not in self.made.held:
            self.wrong("message", f"no message {quote(key)} is held")
            return
        name, made = self.made.held.pop(key)
        made.at = len(self.made.events)
        if self.name == "MPI_Imrecv":
            self.add("imrecv", {"of": name, "request": self.opened(None)})
        else:
            self.add("mrecv", {"of": name})

    def receive(self, opens: bool, tag_member: str) -> None:
        made = self.pattern(tag_member, len(self.made.events))
        self.made.receives.append(made)
        fields: dict[str, Field] = {"from": made.source, "port": made.port, "tag": made.tag}
        if opens:
            self.add("irecv", {**fields, "request": self.opened(made)})
        else:
            self.completed(made, self.call.get("status"))
            self.add("recv", fields)

    def both(self) -> None:
        """`MPI_Sendrecv`: both halves at once, and the wait for both."""
        receive, send = self.new_request("$recv"), self.new_request("$send")
        self.receive(False, "recvtag")
        self.send(False, "sendtag")
        posted, sent = self.made.events[-2:]
        self.made.events[-2:] = [
            TraceEvent("irecv", {**posted.fields, "request": receive}, posted.line),
            TraceEvent("isend", {**sent.fields, "request": send}, sent.line),
        ]
        for name in (receive, send):
            self.add("wait", {"request": name})

    def wait(self) -> None:
        """Close one request or several; of a receive that is waited for it says what came."""
        if self.name == "MPI_Wait":
            requests, statuses = [self.call.get("request")], [self.call.get("status")]
        else:
            listed = self.call["requests"].elements if "requests" in self.call else None
            if listed is None:
                self.wrong("requests", "MPI_Waitall needs `requests`, a list")
                return
            given = (self.call["statuses"].elements or []) if "statuses" in self.call else []
            requests, statuses = list(listed), [*given, *[None] * (len(listed) - len(given))]
        for located, status in zip(requests, statuses, strict=False):
            key = self.request(located)
            if key not in self.made.open:
                if key:
                    self.wrong("request", f"no request {quote(key)} is open")
                continue
            receive = self.made.open.pop(key)
            if receive is not None:
                self.completed(receive, status)
            self.add("wait", {"request": self.made.names[key]})

    def completed(self, receive: _Receive, status: LocatedValue | None) -> None:
        """Note who really sent and with which tag. It is an error if that is not said of a wildcard."""
        said = {} if status is None or status.members is None else status.members
        known: list[Field] = []
        for member, asked in (("source", receive.source), ("tag", receive.tag)):
            told = said[member].whole if member in said else None
            if told is None and asked == "any":
                what = "who really sent" if member == "source" else "which tag came"
                hint = (
                    'add "status": {"source": .., "tag": ..} as MPI_Status tells it; a tool that logs the arguments only '
                    "cannot know it, and one that writes it in place of the wildcard hides the race"
                )
                self.report.error("RR948", receive.span, f"a receive of any {member} does not say {what}", hint=hint)
            known.append(asked if told is None else told)
        receive.took = known[0], known[1]


def _match(rank: int, made: _Rank, sends: dict[tuple[Field, ...], list[tuple[int, int]]]) -> None:
    """Write what each receive took: of one channel and tag the sends in their order, to the receives in theirs."""
    for receive in made.receives:
        source, tag = receive.took
        if source is None or tag is None:
            continue
        waiting = sends.get((source, rank, receive.port, tag), [])
        if not waiting:
            said = f"the log has no send of rank {source} with tag {tag} for this receive"
            receive.report.error("RR948", receive.span, said, hint="give the logs of all ranks, to their ends")
            continue
        send = waiting.pop(0)
        if receive.at is not None:
            event = made.events[receive.at]
            made.events[receive.at] = TraceEvent(event.op, {**event.fields, "matched": send}, event.line)
