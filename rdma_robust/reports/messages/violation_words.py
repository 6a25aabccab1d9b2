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
    "length": "the length of an array is negative",
}
"""What faults are, by their kind."""


def in_program(program: MessageProgram, span: Span) -> bool:
    """Return whether a place is in the text of the program, and not in that of a library procedure."""
    return span.file in ("", program.file)


def place_of(program: MessageProgram, span: Span) -> Span:
    """Return a place in the program as it is, for a place in a library procedure that of its call."""
    return next((each for each in (span, *span.chain()) if in_program(program, each)), span)


def line_of(program: MessageProgram, span: Span) -> int:
    """Return the line of the program that a place is on, see :func:`place_of`."""
    return place_of(program, span).line


def statement_at(program: MessageProgram, span: Span) -> str:
    """Return the text of a statement on one line, of an event of a trace what it says, '' for one of a library procedure."""
    if not in_program(program, span):
        return ""
    text = program.source[span.start : span.end]
    return one_line(_event(text) if text.startswith("{") else text, 60)


def _event(text: str) -> str:
    """Return an event of a trace as a statement: those that can be false or go wrong have one expression."""
    try:
        event = json.loads(text)
    except ValueError:
        return text
    return f"{event.get('op', '')} {event.get('expr') or event.get('value') or ''}".strip()


def violation_text(program: MessageProgram, violation: Violation) -> str:
    """Return what a violation is: `assert v == 1 is false`, or the statement with its fault."""
    statement = statement_at(program, violation.span)
    if violation.kind == "assert":
        return f"{statement or 'assert'} is false"
    what = FAULTS.get(violation.kind, violation.text or violation.kind)
    return f"{statement}: {what}" if statement else what
