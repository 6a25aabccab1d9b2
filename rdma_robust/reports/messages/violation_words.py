"""What is said of places and faults of message programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from rdma_robust.errors import Span
from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.message_answers import Violation
from rdma_robust.text import one_line

FAULTS: Final[Mapping[str, str]] = {
    "division": "division by zero",
    "index": "the index is out of range",
    "destination": "there is no process of this number to send to",
    "source": "there is no process of this number to receive from",
    "tag": "the tag is negative",
    "kind": "a number is used as an array, or an array as a number",
    "ready": "no receive that takes it is posted",
    "length": "the length of an array is negative",
    "message": "the request holds no message",
    "held": "the request holds a message that was not received",
    "abort": "the program is aborted",
}
"""What faults are, by their kind."""


def in_program(program: MessageProgram, span: Span) -> bool:
    """Return whether a place is in the text of the program, and not in that of a library procedure."""
    return span.file in ("", program.file)


def place_of(program: MessageProgram, span: Span) -> Span:
    """Return a place in the program as it is, for a place in a library procedure that of its call."""
    return span.within(program.file)


def line_of(program: MessageProgram, span: Span) -> int:
    """Return the line of the program that a place is on, see :func:`place_of`."""
    return place_of(program, span).line


def statement_at(program: MessageProgram, span: Span) -> str:
    """Return the text of a statement on one line, of an event of a trace what it says, '' for one of a library procedure."""
    if not in_program(program, span):
        return ""
    text = program.source[span.start : span.end]
    return one_line(_event(program, text) if text.startswith("{") else text, 60)


def _event(program: MessageProgram, text: str) -> str:
    """Return an event of a trace as the statement that it stands for."""
    try:
        event = json.loads(text)
    except ValueError:
        return text
    match event.get("op", ""):
        case "send" | "isend" as op:
            return f"{op} {event.get('value', 0)} to {_peer(program, event.get('to'))}{_channel(event)}"
        case "mrecv" | "imrecv" as op:
            return f"{op} {event.get('into', '')} of {event.get('of', '')}"
        case "recv" | "irecv" as op:
            return f"{op} {event.get('into', '')} from {_peer(program, event.get('from', 'any'))}{_channel(event)}"
        case "probe" | "mprobe" as op:
            held = f" {event['taken']}" if "taken" in event else ""
            return f"{op}{held} from {_peer(program, event.get('from', 'any'))}{_channel(event)}"
        case "wait":
            return f"wait {event.get('request', '')}"
        case "assign":
            return f"{event.get('to', '')} = {event.get('value', '')}"
        case "collective":
            return f"{event.get('name', '')}"
        case op:
            return f"{op} {event.get('expr', '')}".strip()


def _peer(program: MessageProgram, number: object) -> str:
    if isinstance(number, int) and 0 <= number < len(program.processes):
        return program.processes[number].name
    return str(number)


def _channel(event: Mapping[str, object]) -> str:
    """Return the port and the tag of an event, as far as they say something."""
    port = f" on {event['port']}" if event.get("port") else ""
    return port + (f" tag {event['tag']}" if event.get("tag") not in (None, 0, "any") else "")


def violation_text(program: MessageProgram, violation: Violation) -> str:
    """Return what a violation is: `assert v == 1 is false`, or the statement with its fault."""
    statement = statement_at(program, violation.span)
    if violation.kind == "assert":
        return f"{statement or 'assert'} is false"
    what = FAULTS.get(violation.kind, violation.text or violation.kind)
    return f"{statement}: {what}" if statement else what
