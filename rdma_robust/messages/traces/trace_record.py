"""A trace: what each process did, event by event, and its JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.errors import NO_SPAN, Diagnostic, Span

FORMAT: Final = "rdma-robust/message-trace"
VERSION: Final = 1
LIBRARY: Final = ("barrier", "bcast", "reduce", "allreduce", "gather", "scatter")
"""The library procedures."""

Kind = Literal["process", "process or any", "tag", "tag or any", "port", "name", "expression", "pair", "line", "library"]
"""What a member of an event is: the number of a process, a tag, the name of a port or null, a name, an expression, a
process and the number of one of its sends in the trace, counted from 0, a line, the name of a library procedure."""

_SEND: Final[Mapping[str, Kind]] = {"to": "process", "port": "port", "tag": "tag", "value": "expression"}
_RECEIVE: Final[Mapping[str, Kind]] = {
    "into": "name",
    "from": "process or any",
    "port": "port",
    "tag": "tag or any",
    "sender": "name",
    "which": "name",
    "matched": "pair",
}
MEMBERS: Final[Mapping[str, Mapping[str, Kind]]] = {
    "send": _SEND,
    "isend": {**_SEND, "request": "name"},
    "recv": _RECEIVE,
    "irecv": {**_RECEIVE, "request": "name"},
    "wait": {"request": "name"},
    "assign": {"to": "name", "value": "expression"},
    "assume": {"expr": "expression"},
    "assert": {"expr": "expression"},
    "collective": {"name": "library", "root": "process", "value": "expression", "into": "name"},
}
"""The members of each kind of event, besides `op` and `line`, in the order in which they are written."""

REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "send": ("to",),
    "isend": ("to", "request"),
    "recv": (),
    "irecv": ("request",),
    "wait": ("request",),
    "assign": ("to", "value"),
    "assume": ("expr",),
    "assert": ("expr",),
    "collective": ("name",),
}
"""Those that must be there."""

Field = int | str | tuple[int, int] | None
"""A member; `any` is a text, as in the JSON, and the pair is of the process and the number of a send."""


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One event; `spans` say where its members stand, if it was read."""

    op: str
    fields: Mapping[str, Field]
    line: int | None = None
    span: Span = NO_SPAN
    spans: Mapping[str, Span] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TraceProcess:
    """One process; process i is the i-th of a trace."""

    name: str
    events: tuple[TraceEvent, ...]
    daemon: bool = False
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded run. `notes` say what its reader should know; `warnings` are about the text that it was made from."""

    name: str
    processes: tuple[TraceProcess, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False)


def trace_json(trace: Trace) -> str:
    """Return the JSON of a trace, one event a line."""
    processes = []
    for process in trace.processes:
        events = ",\n".join(f"      {json.dumps(_event(event), ensure_ascii=False)}" for event in process.events)
        daemon = ', "daemon": true' if process.daemon else ""
        name = json.dumps(process.name, ensure_ascii=False)
        processes.append(f'    {{"name": {name}{daemon}, "events": [\n{events}\n    ]}}')
    notes = f'  "notes": {json.dumps(list(trace.notes), ensure_ascii=False)},\n' if trace.notes else ""
    name = json.dumps(trace.name, ensure_ascii=False)
    head = f'{{\n  "format": "{FORMAT}",\n  "version": {VERSION},\n  "name": {name},\n{notes}'
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
