"""From a Trace to a MessageProgram: each event is a line of an `.mp` program, whose reader does the rest.

Long runs repeat themselves: lines without an expression of the trace are parsed once, whatever process they are of.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, Final

from rdma_robust.diagnose import Reporter
from rdma_robust.errors import NO_SPAN, Diagnostic, ProgramError, Span
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.load_messages import program_of_tree
from rdma_robust.messages.language.message_program import (
    Block,
    LoggedMatches,
    MessageProgram,
    Process,
    Requests,
    Statement,
    with_blocks,
)
from rdma_robust.messages.language.message_words import message_grammar
from rdma_robust.messages.traces.trace_names import WORD, TraceNames, defined_names
from rdma_robust.messages.traces.trace_receives import logged_matches, without_agreed_data
from rdma_robust.messages.traces.trace_record import Field, MessageTrace, TraceEvent, TraceProcess

_NUMBER: Final = re.compile(r"[0-9]{1,9}")

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
    """The text, line by line; `origins` are what the lines are about. Places are `of_source` if the trace says of which file
    its lines are. `known` are the numbers of lines that several events share."""

    of_source: bool
    lines: list[str] = field(default_factory=list)
    origins: list[_Line | Span] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)

    def add(self, line: str, origin: _Line | Span, *, shared: bool = False) -> int:
        """Return the number of a line, counted from 0."""
        if shared and line in self.known:
            return self.known[line]
        self.lines.append(line)
        self.origins.append(origin)
        return self.known.setdefault(line, len(self.lines) - 1) if shared else len(self.lines) - 1


@dataclass(frozen=True, slots=True)
class _Body:
    """The lines of one process, by their numbers: of its declarations, and of its events with the numbers they send."""

    declared: list[int]
    events: list[tuple[TraceEvent, int, int | None]]


def program_of(trace: MessageTrace, report: Reporter) -> MessageProgram:
    """Return the program of a trace. Raises ProgramError with all errors in names and expressions, at their places."""
    checker = TraceNames(report)
    for process in trace.processes:
        checker.check(process)
    report.raise_errors()
    made, bodies = _made(without_agreed_data(trace))
    written = Reporter(report.file, "\n".join([*made.lines, "}", ""]))
    try:
        parsed, _, _ = parse_tree(written.source, written, message_grammar())
        written.raise_errors()
        assert parsed is not None
        program = program_of_tree(_with_bodies(parsed, bodies, trace, made), written)
    except ProgramError as wrong:
        found = tuple(_moved_diagnostic(each, made, report) for each in wrong.diagnostics)
        raise ProgramError(report.file, report.source, found) from None
    return dataclasses.replace(
        program,
        name=trace.name,
        unfinished=tuple(number for number, each in enumerate(trace.processes) if each.unfinished),
        logged=_logged(trace) if trace.logged else None,
        file=report.file,
        source=report.source,
        processes=tuple(
            _moved_process(*each, made, report) for each in zip(program.processes, trace.processes, strict=True)
        ),
        warnings=(*report.warnings, *(_moved_diagnostic(each, made, report) for each in program.warnings)),
    )


def _logged(trace: MessageTrace) -> LoggedMatches:
    tested = (event for _, event in all_events(trace) if "tested" in event.fields)
    return LoggedMatches(
        logged_matches(trace), frozenset(place_of_event(each, of_source=bool(trace.source)) for each in tested)
    )


def _said(event: TraceEvent, word: str) -> str:
    """Return what an operation says of type and length."""
    found = (("type", "of type"), (word, word))
    return "".join(f" {text} ({event.fields[name]})" for name, text in found if name in event.fields)


def _made(trace: MessageTrace) -> tuple[_Text, list[_Body]]:
    """Return the `.mp` program of a trace with every line once, in one process, and which of them each process has."""
    made = _Text(bool(trace.source))
    events = [event for _, event in all_events(trace)]
    names = {name for event in events for name in defined_names(event)}
    for text in (event.fields.get(each) for event in events for each in ("value", "expr")):
        names.update(WORD.findall(text) if isinstance(text, str) else ())
    free = "_"
    while any(each.startswith((f"p{free}", f"h{free}", f"v{free}", f"g{free}")) for each in names):
        free += "_"
    of_messages = (event.fields.get("port") for event in events if event.op not in ("enter", "ienter"))
    ports = dict.fromkeys(port for port in of_messages if isinstance(port, str))
    if ports:
        made.add(f"port {', '.join(ports)}", trace.processes[0].span)
    groups = dict.fromkeys(_group_of(event) for event in events if "group" in event.fields)
    named = {group: f"g{free}{number}" for number, group in enumerate(groups)}
    for (_, group), name in named.items():
        made.add(f"group {name} = {{{', '.join(map(str, group))}}}", trace.processes[0].span)
    made.add(f"proc p{free} {{", trace.processes[0].span)
    return made, [_Process(made, free, named).write(process) for process in trace.processes]


def _with_bodies(found: ast.ProgramTree, bodies: list[_Body], trace: MessageTrace, made: _Text) -> ast.ProgramTree:
    """Return a program in which each process has its lines, each with a place of its own, instead of the one with all lines.

    These places are lines behind the text.
    """
    *items, shape = tree.declarations(found)
    assert isinstance(shape, tree.Proc)
    statements, head = tree.lines(shape.body), len(made.lines) - len(tree.lines(shape.body))
    processes: list[tree.Proc] = []
    for number, (body, process) in enumerate(zip(bodies, trace.processes, strict=True)):
        block: list[tree.Line] = [statements[each - head] for each in body.declared]
        for event, at, sent in body.events:
            made.origins.append(_Line(event))
            line = len(made.origins)
            node: Any = dataclasses.replace(statements[at - head], span=Span(line, 1, line, 1, line, line))
            block.append(node if sent is None else dataclasses.replace(node, value=ast.NumberLiteral(sent)))
        made.origins.append(process.span)
        name = dataclasses.replace(shape.name, text=f"{shape.name.text}{number}")
        processes.append(tree.Proc(name, None, ast.Block(tree.as_part(tuple(block))), process.daemon))
    return ast.ProgramTree(tree.as_part((*items, *processes)))


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
        self.requests: dict[str, int] = {}
        self.ended: list[int] = []
        self.used = 0
        self.ignored: dict[str, None] = {}

    def write(self, process: TraceProcess) -> _Body:
        events: list[tuple[TraceEvent, int, int | None]] = []
        for event in process.events:
            plain, sent = _without_number(event)
            line, name, column = self.line(plain)
            shared = not name or sent is not None
            events.append((event, self.made.add(line, _Line(event, name, column), shared=shared), sent))
        registers = list(dict.fromkeys(name for event in process.events for name in defined_names(event)))
        registers += self.ignored
        requests = [f"h{self.free}{each}" for each in range(self.used)]
        declared = (("reg", registers), ("req", requests))
        return _Body(
            [self.made.add(f"{word} {', '.join(names)}", process.span) for word, names in declared if names], events
        )

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
                return self.placed(
                    event, "mrecv", "", "", f"{self.into(event)} of {self.request(str(fields['of']), ends=True)}"
                )
            case "probe" | "mprobe":
                source, tag = fields.get("from", "any"), fields.get("tag", "any")
                held = f" {self.request(str(fields['taken']))}" if event.op == "mprobe" else ""
                return f"{event.op}{held} from {source}{self.port(event)} tag {tag}", "", 0
            case "enter" | "ienter":
                return self.entered(event)
            case "wait":
                return f"wait {self.request(str(fields['request']), ends=True)}", "", 0
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
        return f"{start}{given}{into}", "value" if given else "", len(start) + 7

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
        """Return where a receive stores: where nobody looks if the event does not say it, by its request if it has one."""
        into, request = event.fields.get("into"), event.fields.get("request")
        if into is not None:
            return str(into)
        ignored = f"v{self.free}" if request is None else f"v{self.request(str(request)).removeprefix('h')}"
        self.ignored[ignored] = None
        return ignored

    def port(self, event: TraceEvent) -> str:
        port = event.fields.get("port")
        return f" on {port}" if isinstance(port, str) else ""

    def request(self, name: str, *, ends: bool = False) -> str:
        """Return the request of a name, the first that is free for a new one; it is free again behind where it `ends`."""
        if name not in self.requests:
            self.requests[name] = heappop(self.ended) if self.ended else self.used
            self.used = max(self.used, self.requests[name] + 1)
        at = self.requests[name]
        if ends:
            heappush(self.ended, at)
            del self.requests[name]
        return f"h{self.free}{at}"


def _without_number(event: TraceEvent) -> tuple[TraceEvent, int | None]:
    """Return an event as it is for all numbers that it may send, and the number that it sends; None if it sends none."""
    value = event.fields.get("value", "0")
    if event.op not in ("send", "isend") or not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return event, None
    return dataclasses.replace(event, fields={**event.fields, "value": "0"}), int(value)


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
