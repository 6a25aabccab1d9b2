"""From a Trace to a MessageProgram: each event is a line of an `.mp` program, whose reader does the rest."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import NO_SPAN, Diagnostic, ProgramError, Span
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import Block, MessageProgram, Process, Requests, Statement, with_blocks
from rdma_robust.messages.traces.trace_record import Field, MessageTrace, TraceEvent, TraceProcess

_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_NEVER: Final = re.compile(r"[;{}\"\\]|//|/\*|[^\x20-\x7e]")
"""What an expression cannot have in it, and what would end the line that it is put into."""

_ARGUMENTS: Final = {
    "barrier": "",
    "bcast": "({value}), {root}",
    "reduce": "({value}), {root}",
    "allreduce": "({value})",
    "gather": "({value}), {root}",
    "scatter": "({value}), {root}",
}


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the text that is made: its event, and where the expression in it begins, which is member `name`."""

    event: TraceEvent
    name: str = ""
    column: int = 0


@dataclass(slots=True)
class _Text:
    """The text, line by line; `origins` are what the lines are about, None for those of no event. Places are `of_source` if
    the trace says of which file its lines are."""

    of_source: bool
    lines: list[str] = field(default_factory=list)
    origins: list[_Line | Span] = field(default_factory=list)

    def add(self, line: str, origin: _Line | Span) -> None:
        self.lines.append(line)
        self.origins.append(origin)


def program_of(trace: MessageTrace, report: Reporter) -> MessageProgram:
    """Return the program of a trace. Raises ProgramError with all errors in names and expressions, at their places."""
    checker = _Names(report)
    for process in trace.processes:
        checker.check(process)
    report.raise_errors()
    made = _made(trace)
    try:
        program = load_messages("\n".join(made.lines) + "\n", report.file)
    except ProgramError as wrong:
        found = tuple(_moved_diagnostic(each, made, report) for each in wrong.diagnostics)
        raise ProgramError(report.file, report.source, found) from None
    return dataclasses.replace(
        program,
        name=trace.name,
        unfinished=tuple(number for number, each in enumerate(trace.processes) if each.unfinished),
        file=report.file,
        source=report.source,
        processes=tuple(
            _moved_process(*each, made, report) for each in zip(program.processes, trace.processes, strict=True)
        ),
        warnings=(*report.warnings, *(_moved_diagnostic(each, made, report) for each in program.warnings)),
    )


class _Names:
    """Whether names are defined once, and before they are used."""

    def __init__(self, report: Reporter) -> None:
        self.report = report

    def wrong(self, event: TraceEvent, name: str, said: str, hint: str = "") -> None:
        self.report.error("RR943", event.spans.get(name, event.span), said, hint=hint)

    def check(self, process: TraceProcess) -> None:
        known: set[str] = set()
        held: set[str] = set()
        pending: dict[str, list[str]] = {}
        later = {name for event in process.events for name in _defined(event)}
        for event in process.events:
            self.expressions(event, known, later, {each for names in pending.values() for each in names})
            for name in _defined(event):
                if name in known or any(name in names for names in pending.values()):
                    self.wrong(event, _member(event, name), f"{quote(name)} is defined before: a name has one value")
            self.held(event, held, pending)
            request = event.fields.get("request")
            if isinstance(request, str) and event.op == "wait":
                if request not in pending:
                    self.wrong(event, "request", f"no request {quote(request)} is open here")
                known.update(pending.pop(request, ()))
            elif isinstance(request, str):
                self.is_new(event, "request", request, pending.keys() | held)
                pending[request] = list(_defined(event))
            else:
                known.update(_defined(event))

    def held(self, event: TraceEvent, held: set[str], pending: Iterable[str]) -> None:
        """Note which requests hold messages."""
        taken, of = event.fields.get("taken"), event.fields.get("of")
        if isinstance(of, str):
            if of not in held:
                self.wrong(event, "of", f"no request {quote(of)} holds a message here")
            held.discard(of)
        if isinstance(taken, str):
            self.is_new(event, "taken", taken, {*held, *pending})
            held.add(taken)

    def is_new(self, event: TraceEvent, member: str, request: str, open_: Collection[str]) -> None:
        if request in open_:
            self.wrong(event, member, f"the request {quote(request)} is still open: give this one another name")

    def expressions(self, event: TraceEvent, known: set[str], later: set[str], pending: set[str]) -> None:
        to = event.fields.get("to")
        if event.op == "assign" and isinstance(to, str) and "[" in to and to.partition("[")[0] not in known:
            self.wrong(event, "to", f"{quote(to)} is an element of no array that is defined before")
        for name in ("value", "expr"):
            text = event.fields.get(name)
            if not isinstance(text, str):
                continue
            if _NEVER.search(text) or not _is_balanced(text):
                self.wrong(event, name, f"{quote(name)} is no expression of a program")
                continue
            for word in dict.fromkeys(_WORD.findall(text)):
                if word in pending:
                    said = f"{quote(word)} has no value before the wait for its receive"
                    self.wrong(event, name, said)
                elif word in later and word not in known:
                    self.wrong(event, name, f"{quote(word)} has no value yet: it is defined further below")


def _defined(event: TraceEvent) -> Iterator[str]:
    """Yield the names that an event defines."""
    members = ("to",) if event.op == "assign" else ("into", "sender", "which")
    for member in members:
        name = event.fields.get(member)
        if isinstance(name, str) and "[" not in name:
            yield name


def _member(event: TraceEvent, name: str) -> str:
    return next((member for member, value in event.fields.items() if value == name), "into")


def _said(event: TraceEvent, word: str) -> str:
    """Return what an operation says of type and length."""
    found = (("type", "of type"), (word, word))
    return "".join(f" {text} ({event.fields[name]})" for name, text in found if name in event.fields)


def _is_balanced(text: str) -> bool:
    open_: list[str] = []
    for sign in text:
        if sign in "([":
            open_.append(sign)
        elif sign in ")]" and (not open_ or open_.pop() != {")": "(", "]": "["}[sign]):
            return False
    return not open_


def _made(trace: MessageTrace) -> _Text:
    """Return the `.mp` program of a trace."""
    made = _Text(bool(trace.source))
    events = [event for _, event in all_events(trace)]
    names = {name for event in events for name in _defined(event)}
    for text in (event.fields.get(each) for event in events for each in ("value", "expr")):
        names.update(_WORD.findall(text) if isinstance(text, str) else ())
    free = "_"
    while any(each.startswith((f"p{free}", f"h{free}", f"v{free}", f"g{free}")) for each in names):
        free += "_"
    ports = dict.fromkeys(port for event in events if isinstance(port := event.fields.get("port"), str))
    if ports:
        made.add(f"port {', '.join(ports)}", trace.processes[0].span)
    groups = dict.fromkeys(_group_of(event) for event in events if "group" in event.fields)
    named = {group: f"g{free}{number}" for number, group in enumerate(groups)}
    for (_, group), name in named.items():
        made.add(f"group {name} = {{{', '.join(map(str, group))}}}", trace.processes[0].span)
    for number, process in enumerate(trace.processes):
        _Process(made, free, named).write(number, process)
    return made


_Group = tuple[Field, tuple[int, ...]]
"""A port and its members: communicators of the same processes are several groups."""


def _group_of(event: TraceEvent) -> _Group:
    members = event.fields["group"]
    assert isinstance(members, tuple)
    return event.fields.get("port"), members


class _Process:
    """Writes one process; what is named here begins with one letter and `free`, as no name of the trace does."""

    def __init__(self, made: _Text, free: str, groups: Mapping[_Group, str]) -> None:
        self.made = made
        self.free = free
        self.groups = groups
        self.requests: dict[str, str] = {}
        self.ignored = 0

    def write(self, number: int, process: TraceProcess) -> None:
        body = [self.line(event) for event in process.events]
        daemon = "daemon " if process.daemon else ""
        self.made.add(f"{daemon}proc p{self.free}{number} {{", process.span)
        registers = list(dict.fromkeys(name for event in process.events for name in _defined(event)))
        registers += [f"v{self.free}{each}" for each in range(self.ignored)]
        for word, names in (("reg", registers), ("req", list(self.requests.values()))):
            if names:
                self.made.add(f"{word} {', '.join(names)}", process.span)
        for event, (line, name, column) in zip(process.events, body, strict=True):
            self.made.add(line, _Line(event, name, column))
        self.made.add("}", process.span)

    def line(self, event: TraceEvent) -> tuple[str, str, int]:
        """Return the line of an event, the member that is an expression, and where that begins, counted from 0."""
        fields = event.fields
        match event.op:
            case "send" | "isend":
                value = fields.get("value") or "0"
                rest = f") to {fields['to']}{self.port(event)} tag {fields.get('tag') or 0}{_said(event, 'size')}"
                word = "send" if event.mode == "standard" else f"send {event.mode}"
                return self.placed(event, word, "value", str(value), rest)
            case "recv" | "irecv":
                return self.placed(event, "recv", "", "", self.pattern(event))
            case "mrecv" | "imrecv":
                return self.placed(event, "mrecv", "", "", f"{self.into(event)} of {self.request(str(fields['of']))}")
            case "probe" | "mprobe":
                source, tag = fields.get("from", "any"), fields.get("tag", "any")
                held = f" {self.request(str(fields['taken']))}" if event.op == "mprobe" else ""
                return f"{event.op}{held} from {source}{self.port(event)} tag {tag}", "", 0
            case "enter" | "ienter":
                return self.entered(event)
            case "wait":
                return f"wait {self.request(str(fields['request']))}", "", 0
            case "assign":
                start = f"{fields['to']} = ("
                return f"{start}{fields['value']})", "value", len(start)
            case "collective":
                start = f"{fields['into']} = " if isinstance(fields.get("into"), str) else ""
                start += f"{fields['name']}("
                value = fields.get("value") or ("new(NPROCS)" if fields["name"] == "scatter" else "0")
                arguments = _ARGUMENTS[str(fields["name"])].format(value=value, root=fields.get("root") or 0)
                return f"{start}{arguments})", "value", len(start) + 1
            case _:
                start = f"{event.op} ("
                return f"{start}{fields['expr']})", "expr", len(start)

    def entered(self, event: TraceEvent) -> tuple[str, str, int]:
        fields = event.fields
        start = f"{self.request(str(fields['request']))} = i" if event.op == "ienter" else ""
        start += f"collective {fields['name']}" + (f" on {self.groups[_group_of(event)]}" if "group" in fields else "")
        words = (("root", "root"), ("op", "operation"), ("sig", "type"))
        start += "".join(f" {word} {fields[name]}" for word, name in words if name in fields)
        given = f" give ({fields['value']})" if "value" in fields else ""
        into = f" get {fields['into']}" if "into" in fields else ""
        return f"{start}{given}{into}", "value", len(start) + 7

    def placed(self, event: TraceEvent, word: str, name: str, text: str, rest: str) -> tuple[str, str, int]:
        start = f"{word} ("
        if event.op.startswith("i"):
            start = f"{self.request(str(event.fields['request']))} = i{start}"
        if not name:
            start = start.removesuffix("(")
        return f"{start}{text}{rest}", name, len(start)

    def pattern(self, event: TraceEvent) -> str:
        fields = event.fields
        sender = f" {fields['sender']}" if isinstance(fields.get("sender"), str) else ""
        which = f" {fields['which']}" if isinstance(fields.get("which"), str) else ""
        source, tag = fields.get("from", "any"), fields.get("tag", "any")
        return f"{self.into(event)} from {source}{sender}{self.port(event)} tag {tag}{which}{_said(event, 'room')}"

    def into(self, event: TraceEvent) -> str:
        """Return where a receive stores: a name of its own if the event has none."""
        into = event.fields.get("into")
        if into is None:
            into = f"v{self.free}{self.ignored}"
            self.ignored += 1
        return str(into)

    def port(self, event: TraceEvent) -> str:
        port = event.fields.get("port")
        return f" on {port}" if isinstance(port, str) else ""

    def request(self, name: str) -> str:
        return self.requests.setdefault(name, f"h{self.free}{len(self.requests)}")


def _moved_process(process: Process, recorded: TraceProcess, made: _Text, report: Reporter) -> Process:
    body = tuple(each for each in process.body if not isinstance(each, Requests))
    return dataclasses.replace(process, name=recorded.name, body=_moved_block(body, made, report), span=recorded.span)


def _moved_block(block: Block, made: _Text, report: Reporter) -> Block:
    return tuple(_moved(each, made, report) for each in block)


def _moved(statement: Statement, made: _Text, report: Reporter) -> Statement:
    """Return a statement with what is in it, at the places of the trace."""
    inner = with_blocks(statement, lambda block: _moved_block(block, made, report))
    return dataclasses.replace(inner, span=_moved_span(statement.span, made, report))


def _moved_span(span: Span, made: _Text, report: Reporter) -> Span:
    """Return the place in the trace of a place in the text that was made; of the library, where it is called from."""
    if span.origin is not None and span.file not in ("", report.file):
        origin = _moved_span(dataclasses.replace(span.origin, file=""), made, report)
        return dataclasses.replace(span, origin=dataclasses.replace(origin, file=report.file))
    if span == NO_SPAN or span.line > len(made.origins):
        return NO_SPAN
    place = made.origins[span.line - 1]
    return place if isinstance(place, Span) else place_of_event(place.event, of_source=made.of_source)


def place_of_event(event: TraceEvent, *, of_source: bool) -> Span:
    """Return the place of an event in the program of a trace: where it stands, but with its line of the source."""
    line = event.line if of_source else None
    return event.span if line is None else dataclasses.replace(event.span, line=line, end_line=line, column=1, end_column=1)


def _moved_diagnostic(found: Diagnostic, made: _Text, report: Reporter) -> Diagnostic:
    """Return a diagnostic about the text that was made at its place in the trace; inside of an expression to the letter."""
    line: _Line | Span = made.origins[found.span.line - 1] if found.span.line <= len(made.origins) else NO_SPAN
    span = line if isinstance(line, Span) else line.event.span
    if isinstance(line, _Line) and line.name in line.event.spans:
        span = line.event.spans[line.name]
        text = str(line.event.fields[line.name])
        at = found.span.column - 1 - line.column
        if report.source[span.start + 1 : span.end - 1] == text and 0 <= at <= len(text):
            width = max(1, min(found.span.end - found.span.start, len(text) - at))
            start = span.start + 1 + at
            span = Span(span.line, span.column + 1 + at, span.line, span.column + 1 + at + width, start, start + width)
    return dataclasses.replace(found, span=span, edits=())


def all_events(trace: MessageTrace) -> Iterable[tuple[int, TraceEvent]]:
    """Return each event with the number of its process."""
    return ((number, event) for number, process in enumerate(trace.processes) for event in process.events)
