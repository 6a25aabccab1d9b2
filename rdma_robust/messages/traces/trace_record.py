"""A trace: what each process did, event by event, and its JSON, out and in, with every error of the file."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.diagnose import Reporter, did_you_mean, listing, quote
from rdma_robust.errors import NO_SPAN, Diagnostic, Span
from rdma_robust.messages.language.collective_kinds import COLLECTIVES, FOLDS
from rdma_robust.messages.language.message_program import SEND_MODES, SendMode
from rdma_robust.messages.traces.located_json import LocatedValue, located_json

FORMAT: Final = "rdma-robust/message-trace"
VERSION: Final = 1
_NOUNS: Final = {"operation": "collective operation", "library": "library procedure"}
LIBRARY: Final = ("barrier", "bcast", "reduce", "allreduce", "gather", "scatter")
"""The library procedures."""

Kind = Literal[
    "process",
    "process or any",
    "tag",
    "tag or any",
    "port",
    "name",
    "expression",
    "pair",
    "line",
    "library",
    "true",
    "number",
    "operation",
    "processes",
    "fold",
]
"""What a member of an event is: the number of a process, a tag, the name of a port or null, a name, an expression, a
process and the number of one of its sends in the trace, counted from 0, a line, the name of a library procedure, true, a
number; the name of a collective operation, its members, what it computes."""

_MODES: Final[Mapping[str, Kind]] = {mode: "true" for mode in SEND_MODES if mode != "standard"}
_SEND: Final[Mapping[str, Kind]] = {
    "to": "process",
    "port": "port",
    "tag": "tag",
    "value": "expression",
    **_MODES,
    "type": "number",
    "size": "number",
}
_RECEIVE: Final[Mapping[str, Kind]] = {
    "into": "name",
    "from": "process or any",
    "port": "port",
    "tag": "tag or any",
    "sender": "name",
    "which": "name",
    "type": "number",
    "room": "number",
    "matched": "pair",
}
_HELD: Final[Mapping[str, Kind]] = {"into": "name", "of": "name", "matched": "pair"}
_LOOK: Final[Mapping[str, Kind]] = {"from": "process or any", "port": "port", "tag": "tag or any", "tested": "true"}
_ENTERED: Final[Mapping[str, Kind]] = {
    "name": "operation",
    "group": "processes",
    "port": "port",
    "root": "process",
    "operation": "fold",
    "type": "number",
    "value": "expression",
    "into": "name",
}

MEMBERS: Final[Mapping[str, Mapping[str, Kind]]] = {
    "send": _SEND,
    "isend": {**_SEND, "request": "name"},
    "recv": _RECEIVE,
    "irecv": {**_RECEIVE, "request": "name"},
    "mrecv": _HELD,
    "imrecv": {**_HELD, "request": "name"},
    "probe": _LOOK,
    "mprobe": {"taken": "name", **_LOOK},
    "wait": {"request": "name", "tested": "true"},
    "assign": {"to": "name", "value": "expression"},
    "assume": {"expr": "expression"},
    "assert": {"expr": "expression"},
    "collective": {"name": "library", "root": "process", "value": "expression", "into": "name"},
    "enter": _ENTERED,
    "ienter": {**_ENTERED, "request": "name"},
}
"""The members of each kind of event, besides `op` and `line`, in the order in which they are written."""

REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "send": ("to",),
    "isend": ("to", "request"),
    "recv": (),
    "irecv": ("request",),
    "mrecv": ("of",),
    "imrecv": ("of", "request"),
    "probe": (),
    "mprobe": ("taken",),
    "wait": ("request",),
    "assign": ("to", "value"),
    "assume": ("expr",),
    "assert": ("expr",),
    "collective": ("name",),
    "enter": ("name",),
    "ienter": ("name", "request"),
}
"""Those that must be there."""

Field = int | str | tuple[int, ...] | None
"""A member; `any` is a text, as in the JSON; a pair is of the process and the number of a send."""


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One event; `spans` say where its members stand, if it was read."""

    op: str
    fields: Mapping[str, Field]
    line: int | None = None
    span: Span = NO_SPAN
    spans: Mapping[str, Span] = field(default_factory=dict)

    @property
    def mode(self) -> SendMode:
        """Return the mode of a send."""
        return next((mode for mode in SEND_MODES if self.fields.get(mode) is True), "standard")


@dataclass(frozen=True, slots=True)
class TraceProcess:
    """One process; process i is the i-th of a trace. What an unfinished one did behind its last event is not known."""

    name: str
    events: tuple[TraceEvent, ...]
    daemon: bool = False
    span: Span = NO_SPAN
    unfinished: bool = False


@dataclass(frozen=True, slots=True)
class MessageTrace:
    """A recorded run. `notes` say what its reader should know; `warnings` are about the text that it was made from.

    The lines of its events are places of `source`, if that is a file; its places are those of the JSON else. A `logged` one
    has the calls of a run, and not why they were made.
    """

    name: str
    processes: tuple[TraceProcess, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False)
    source: str = ""
    logged: bool = False


def trace_json(trace: MessageTrace) -> str:
    """Return the JSON of a trace, one event a line."""
    processes = []
    for process in trace.processes:
        events = ",\n".join(f"      {json.dumps(_event(event), ensure_ascii=False)}" for event in process.events)
        said = (("daemon", process.daemon), ("unfinished", process.unfinished))
        flags = "".join(f', "{flag}": true' for flag, holds in said if holds)
        name = json.dumps(process.name, ensure_ascii=False)
        processes.append(f'    {{"name": {name}{flags}, "events": [\n{events}\n    ]}}')
    notes = f'  "notes": {json.dumps(list(trace.notes), ensure_ascii=False)},\n' if trace.notes else ""
    name = json.dumps(trace.name, ensure_ascii=False)
    head = f'{{\n  "format": "{FORMAT}",\n  "version": {VERSION},\n  "name": {name},\n{notes}'
    if trace.source:
        head += f'  "source": {json.dumps(trace.source, ensure_ascii=False)},\n'
    if trace.logged:
        head += '  "logged": true,\n'
    return head + '  "processes": [\n' + ",\n".join(processes) + "\n  ]\n}\n"


def _event(event: TraceEvent) -> dict[str, object]:
    found: dict[str, object] = {"op": event.op}
    for name in MEMBERS[event.op]:
        if name in event.fields:
            value = event.fields[name]
            found[name] = list(value) if isinstance(value, tuple) else value
    if event.line is not None:
        found["line"] = event.line
    return found


_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ELEMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[0-9]{1,9}\])+\Z")
_TOP: Final = ("format", "version", "name", "notes", "source", "logged", "processes")
_PROCESS: Final = ("name", "daemon", "unfinished", "events")


def trace_of(text: str, report: Reporter) -> MessageTrace:
    """Return the trace in a text. Raises ProgramError with all errors of its form, not those in expressions."""
    found = _TraceReader(report).trace(located_json(text, report))
    report.raise_errors()
    assert found is not None
    return found


class _TraceReader:
    def __init__(self, report: Reporter) -> None:
        self.report = report
        self.count = 0

    def wrong(self, at: LocatedValue, said: str, expected: str = "", hint: str = "") -> None:
        self.report.error("RR942", at.span, said, expected=expected, hint=hint)

    def members(self, at: LocatedValue, what: str, known: tuple[str, ...]) -> Mapping[str, LocatedValue]:
        """Return the members of an object, with an error for those that are not known."""
        if at.members is None:
            self.wrong(at, f"{what} is no object", "`{`")
            return {}
        for name, value in at.members.items():
            if name not in known:
                self.wrong(value, f"{what} has no {quote(name)}", listing(map(quote, known)), did_you_mean(name, known))
        return at.members

    def trace(self, at: LocatedValue) -> MessageTrace | None:
        top = self.members(at, "a trace", _TOP)
        if self.report.failed and at.members is None:
            return None
        self.head(at, top)
        elements = top["processes"].elements if "processes" in top else None
        if not elements:
            where = top.get("processes", at)
            self.wrong(where, "a trace has a list of processes, at least one", "`processes`")
            return None
        self.count = len(elements)
        name = top["name"].text if "name" in top else "trace"
        if name is None:
            self.wrong(top["name"], "the name of a trace is a text")
        notes = top["notes"].elements if "notes" in top else []
        if notes is None or any(each.text is None for each in notes):
            self.wrong(top["notes"], "notes are a list of texts")
            notes = []
        texts = tuple(each.text or "" for each in notes)
        source = top["source"].text if "source" in top else ""
        if source is None:
            self.wrong(top["source"], "`source` is the name of a file")
        processes = tuple(self.process(each) for each in elements)
        return MessageTrace(name or "trace", processes, texts, source=source or "", logged=self.flag("logged", top))

    def head(self, at: LocatedValue, top: Mapping[str, LocatedValue]) -> None:
        for name, wanted in (("format", FORMAT), ("version", VERSION)):
            if name not in top:
                self.wrong(at, f"a trace has a member {quote(name)}", f'"{name}": {wanted!r}'.replace("'", '"'))
            elif top[name].value != wanted:
                self.wrong(top[name], f"this is no trace that can be read here: its {name} is another", repr(wanted))

    def process(self, at: LocatedValue) -> TraceProcess:
        found = self.members(at, "a process", _PROCESS)
        name = found["name"].text if "name" in found else None
        if name is None or not name.strip() or not name.isprintable():
            self.wrong(found.get("name", at), "a process has a name")
        daemon, unfinished = (self.flag(each, found) for each in ("daemon", "unfinished"))
        events = found["events"].elements if "events" in found else None
        if events is None:
            self.wrong(found.get("events", at), "a process has a list of events", "`events`")
        made = (self.event(each) for each in events or [])
        return TraceProcess(name or "", tuple(each for each in made if each is not None), daemon, at.span, unfinished)

    def flag(self, name: str, members: Mapping[str, LocatedValue]) -> bool:
        if name in members and not isinstance(members[name].value, bool):
            self.wrong(members[name], f"{quote(name)} is true or false")
        return name in members and members[name].value is True

    def event(self, at: LocatedValue) -> TraceEvent | None:
        op = at.members["op"].text if at.members is not None and "op" in at.members else None
        if op is None or op not in MEMBERS:
            where = at.members["op"] if at.members is not None and "op" in at.members else at
            hint = did_you_mean(op, MEMBERS) if op else ""
            self.wrong(where, "an event has an `op`, which says what it is", listing(map(quote, MEMBERS)), hint)
            return None
        kinds = MEMBERS[op]
        found = self.members(at, f"{quote(op)}", ("op", "line", *kinds))
        for name in REQUIRED[op]:
            if name not in found:
                self.wrong(at, f"{quote(op)} has no {quote(name)}", f"a member {quote(name)}")
        for name, of in (("sender", "from"), ("which", "tag")):
            if name in found and of in found and found[of].value != "any":
                self.wrong(found[name], f"{quote(name)} is for a receive of which {quote(of)} is any: here it is known")
        fields = {name: self.field(kinds[name], name, found[name]) for name in kinds if name in found}
        line = found["line"].whole if "line" in found else None
        if "line" in found and (line is None or line < 1):
            self.wrong(found["line"], "`line` is the number of a line")
        return TraceEvent(op, fields, line, at.span, {name: value.span for name, value in found.items()})

    def field(self, kind: Kind, name: str, at: LocatedValue) -> Field:
        """Return a member as its kind says, with an error if it is something else."""
        value, number = at.value, at.whole
        match kind:
            case "process" | "process or any":
                return self.process_number(kind, name, at)
            case "tag" | "tag or any":
                if number is not None and number >= 0:
                    return number
                if kind == "tag or any" and value == "any":
                    return "any"
                self.wrong(at, f"{quote(name)} is a number from 0" + (' or "any"' if "any" in kind else ""))
            case "expression":
                if at.text is not None and at.text.strip() and "\n" not in at.text and "\r" not in at.text:
                    return at.text
                if number is not None:
                    return str(number)
                self.wrong(at, f"{quote(name)} is an expression, on one line")
            case "port":
                if value is None or (at.text is not None and _NAME.match(at.text)):
                    return at.text
                self.wrong(at, f"{quote(name)} is the name of a port, or null for the nameless one")
            case "number":
                if number is not None:
                    return number
                self.wrong(at, f"{quote(name)} is a number")
            case "true":
                if value is True:
                    return True
                self.wrong(at, f"{quote(name)} is true, or left out")
            case "pair":
                return self.pair(name, at)
            case "operation" | "library":
                names: Collection[str] = COLLECTIVES if kind == "operation" else LIBRARY
                if at.text in names:
                    return at.text
                self.wrong(at, f"{quote(name)} is no {_NOUNS[kind]}", listing(map(quote, names)))
            case "fold":
                if number is not None or at.text in FOLDS:
                    return number if at.text is None else at.text
                self.wrong(at, f"{quote(name)} is a number, or what is computed", listing(map(quote, FOLDS)))
            case "processes":
                return self.processes(name, at)
            case _:
                if at.text is not None and (_NAME.match(at.text) or (name == "to" and _ELEMENT.match(at.text))):
                    return at.text
                self.wrong(at, f"{quote(name)} is a name: letters, digits and `_`")
        return None

    def processes(self, name: str, at: LocatedValue) -> Field:
        members = [each.whole for each in at.elements or []]
        known = [each for each in members if each is not None and 0 <= each < self.count]
        if known and len(set(known)) == len(members):
            return tuple(known)
        self.wrong(at, f"{quote(name)} is a list of processes, each once, at least one")
        return None

    def process_number(self, kind: Kind, name: str, at: LocatedValue) -> Field:
        number = at.whole
        if kind == "process or any" and at.value == "any":
            return "any"
        if number is None:
            self.wrong(at, f"{quote(name)} is the number of a process" + (' or "any"' if "any" in kind else ""))
        elif not 0 <= number < self.count:
            self.wrong(at, f"there is no process {number}", f"a number from 0 to {self.count - 1}")
        else:
            return number
        return None

    def pair(self, name: str, at: LocatedValue) -> Field:
        match [each.whole for each in at.elements or []]:
            case [int() as process, int() as nth] if 0 <= process < self.count and nth >= 0:
                return process, nth
        self.wrong(at, f"{quote(name)} is [process, number]: which send of which process, both counted from 0")
        return None
