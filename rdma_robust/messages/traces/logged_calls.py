"""One call of MPI in a log: the events that it is in a trace."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Final

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.messages.language.collective_kinds import COLLECTIVES, FOLDS
from rdma_robust.messages.language.message_program import SendMode
from rdma_robust.messages.traces.located_json import LocatedValue
from rdma_robust.messages.traces.trace_record import Field, TraceEvent

_SENDS: Final = tuple(f"MPI_{how}" for how in ("Send", "Ssend", "Rsend", "Bsend", "Isend", "Issend", "Irsend", "Ibsend"))
_MODES: Final[Mapping[str, SendMode]] = {
    **dict.fromkeys(("MPI_Ssend", "MPI_Issend"), "sync"),
    **dict.fromkeys(("MPI_Bsend", "MPI_Ibsend"), "buffered"),
}
_RECEIVES: Final = ("MPI_Recv", "MPI_Irecv")
_LOOKS: Final = ("MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe")
_HELD: Final = ("MPI_Mrecv", "MPI_Imrecv")
_WAITS: Final = tuple(f"MPI_{how}{some}" for how in ("Wait", "Test") for some in ("", "all", "any", "some"))
_ENTERED: Final[Mapping[str, str]] = {
    **{f"MPI_{name.capitalize()}": name for name in COLLECTIVES if name not in ("finalize", "comm_free")},
    "MPI_Comm_split_type": "comm_split",
    "MPI_Comm_create_group": "comm_create",
    "MPI_Cart_sub": "comm_split",
}
"""Collective calls: the operation that each enters. Processes need not wait for one another in `MPI_Comm_free`."""
_IENTERED: Final = {
    f"MPI_I{name}": name for name, kind in COLLECTIVES.items() if name == "barrier" or kind.gets != "nothing"
}
_IGNORED: Final = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Comm_rank", "MPI_Comm_size")
CALLS: Final = (
    *(*_SENDS, *_RECEIVES, *_LOOKS, *_HELD, *_WAITS, "MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Abort"),
    *(*_ENTERED, *_IENTERED, *_IGNORED),
)
"""The calls that are read."""
_SYNONYMS: Final = {"MPI_LONG_LONG": "MPI_LONG_LONG_INT", "MPI_C_FLOAT_COMPLEX": "MPI_C_COMPLEX"}
_WORLD: Final = (None, "world", "MPI_COMM_WORLD")


@dataclass(slots=True)
class LoggedReceive:
    """A posted receive, or a message that is held: the number of the event that receives it, and who and which tag it really
    got, if that is known."""

    at: int | None
    span: Span
    report: Reporter
    port: Field
    source: Field
    tag: Field
    took: tuple[Field, Field] = (None, None)
    is_over: bool = False


@dataclass(slots=True)
class RankEvents:
    """One rank: its events, its posted receives, those by open requests, what is held, and how many sends it has issued."""

    events: list[TraceEvent] = field(default_factory=list)
    receives: list[LoggedReceive] = field(default_factory=list)
    open: dict[str, LoggedReceive | None] = field(default_factory=dict)
    held: dict[str, tuple[str, LoggedReceive]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    sent: int = 0
    issued: int = 0
    begun: bool = False
    ended: bool = False


@dataclass(frozen=True, slots=True)
class RecordedCalls:
    """Facts that all calls share: how many ranks there are, who is in which communicator, all sends by sender, receiver,
    port and tag, and numbers for types of data."""

    report: Reporter
    count: int
    groups: Mapping[str, tuple[int, ...]]
    sends: dict[tuple[Field, ...], list[tuple[int, int]]]
    types: dict[object, int]


class RecordedCall:
    """One call of one rank."""

    def __init__(self, log: RecordedCalls, rank: int, made: RankEvents, call: Mapping[str, LocatedValue]) -> None:
        self.log, self.report, self.count, self.sends = log, log.report, log.count, log.sends
        self.rank, self.made, self.call = rank, made, call
        self.name = call["call"].text or ""

    def wrong(self, member: str, said: str, hint: str = "") -> None:
        self.report.error("RR947", self.call.get(member, self.call["call"]).span, said, hint=hint)

    def add(self, op: str, fields: Mapping[str, Field]) -> None:
        line = self.call["line"].whole if "line" in self.call else None
        self.made.events.append(TraceEvent(op, fields, line if line and line > 0 else None))

    def write(self) -> None:
        if self.name in _SENDS:
            self.send(self.name.startswith("MPI_I"), "tag")
        elif self.name in _RECEIVES:
            self.receive(self.name == "MPI_Irecv", "tag")
        elif self.name in _LOOKS:
            self.look()
        elif self.name in _HELD:
            self.receive_held()
        elif self.name in ("MPI_Sendrecv", "MPI_Sendrecv_replace"):
            self.both()
        elif self.name in _WAITS:
            self.wait()
        elif self.name == "MPI_Abort":
            self.add("assert", {"expr": "0"})
        elif self.name in _ENTERED or self.name in _IENTERED:
            self.enter()
        self.made.begun |= self.name.startswith("MPI_Init")
        self.made.ended |= self.name == "MPI_Finalize"

    @property
    def is_cut(self) -> bool:
        """Whether the log ends within the call: it may never have returned."""
        return "returned" in self.call

    def enter(self) -> None:
        """A collective call: of all ranks of the communicator, of those of the new one for `MPI_Comm_create_group`."""
        port, opens = self.port(), self.name in _IENTERED
        if self.name == "MPI_Comm_create_group":
            port = self.port("newcomm")
        name = _IENTERED[self.name] if opens else _ENTERED[self.name]
        fields: dict[str, Field] = {"name": name}
        if port is not None:
            group = self.log.groups.get(str(port))
            if group is None:
                said = "nothing says which ranks are in this communicator: their collective call cannot be read"
                self.wrong("comm", said, 'the call that makes it has "newcomm": "..", "group": [..], ranks of the world')
                return
            fields |= {"group": group, "port": port}
        if COLLECTIVES[name].is_rooted:
            fields["root"] = self.number("root", self.count)
        if "op" in self.call and self.call["op"].text in FOLDS:
            fields["operation"] = self.call["op"].text
        if "type" in self.call and "count" in self.call:
            fields["type"] = self.number_of(self.call["type"].value, self.call["count"].value)
        self.add("ienter" if opens else "enter", {**fields, "request": self.opened(None)} if opens else fields)

    def number_of(self, *data: object) -> int:
        """Return the number that stands for a type of data, of collective calls with its length: all must give the same."""
        return self.log.types.setdefault(data, len(self.log.types) + 1)

    def of_data(self, type_member: str, length_member: str, length: str) -> dict[str, Field]:
        """Return type and length of a message, or of the room for one, if the log has both: an empty one has any type."""
        number = self.call[length_member].whole if length_member in self.call else None
        name = self.call[type_member].text if type_member in self.call else None
        if not number or name is None:
            return {}
        return {"type": self.number_of(_SYNONYMS.get(name, name)), length: number}

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

    def port(self, member: str = "comm") -> Field:
        comm = self.call.get(member)
        if comm is None or comm.value in _WORLD:
            return None
        return port_of(comm.value)

    def request(self, located: LocatedValue | None) -> str:
        return self.key("request", located)

    def key(self, member: str, located: LocatedValue | None) -> str:
        value = None if located is None else located.value
        if located is None or not isinstance(value, str | int) or isinstance(value, bool):
            self.wrong(member, f"{self.name} needs its {member}, a name or a number")
            return ""
        return str(value)

    def opened(self, receive: LoggedReceive | None) -> str:
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
        data = self.of_data("type", "count", "size")
        fields: dict[str, Field] = {"to": to, "port": self.port(), "tag": tag, "value": str(value or 0), **mode, **data}
        self.sends.setdefault((self.rank, to, self.port(), tag), []).append((self.rank, self.made.sent))
        self.made.sent += 1
        if opens:
            self.add("isend", {**fields, "request": self.opened(None)})
        else:
            self.add("send", fields)

    def pattern(self, tag_member: str, at: int | None) -> LoggedReceive:
        """Return the receive with the pattern of a call, that event number `at` is."""
        source, tag = self.number("source", self.count, "any"), self.number(tag_member, None, "any")
        return LoggedReceive(at, self.call["call"].span, self.report, self.port(), source, tag)

    def look(self) -> None:
        """A probe, as what it saw; one that saw nothing is no event. What it holds is matched as a receive posted here."""
        if self.name in ("MPI_Iprobe", "MPI_Improbe") and not self.number("flag"):
            return
        made = self.pattern("tag", None)
        self.completed(made, self.call.get("status"))
        if self.is_cut:
            self.add("probe", {"from": made.source, "port": made.port, "tag": made.tag})
            return
        others = "any" in (made.source, made.tag) or self.name in ("MPI_Iprobe", "MPI_Improbe")
        asked: dict[str, Field] = {"tested": True} if others else {}
        seen: dict[str, Field] = {"from": made.took[0], "port": made.port, "tag": made.took[1], **asked}
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
        has_none = "room" in self.call and self.call["room"].whole == 0
        data: dict[str, Field] = {"room": 0} if has_none else self.of_data("recvtype", "room", "room")
        fields: dict[str, Field] = {"from": made.source, "port": made.port, "tag": made.tag, **data}
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
        if "requests" in self.call or self.name not in ("MPI_Wait", "MPI_Test"):
            listed = self.call["requests"].elements if "requests" in self.call else None
            if listed is None and self.is_cut and "among" in self.call:
                listed = (self.call["among"].elements or [])[:1]  # It waits for one of them: for the first, say.
            if listed is None:
                self.wrong("requests", f"{self.name} needs `requests`, a list")
                return
            given = (self.call["statuses"].elements or []) if "statuses" in self.call else []
            closed = list(zip_longest(listed, given[: len(listed)]))
        else:
            closed = [(self.call.get("request"), self.call.get("status"))]
        is_asked = self.name not in ("MPI_Wait", "MPI_Waitall") and not self.is_cut
        asked: dict[str, Field] = {"tested": True} if is_asked else {}
        for located, status in closed:
            key = self.request(located)
            if key not in self.made.open:
                if key:
                    self.wrong("request", f"no request {quote(key)} is open")
                continue
            receive = self.made.open.pop(key)
            if receive is not None:
                self.completed(receive, status)
            self.add("wait", {"request": self.made.names[key], **asked})

    def completed(self, receive: LoggedReceive, status: LocatedValue | None) -> None:
        """Note who really sent and with which tag. It is an error if that is not said of a wildcard, in a whole log."""
        if self.is_cut:
            return
        receive.is_over = True
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


def port_of(communicator: object) -> str:
    """Return the port that a communicator is in a trace."""
    return "c_" + re.sub(r"\W", "_", str(communicator), flags=re.ASCII)
