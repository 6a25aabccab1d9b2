"""The claims of `expect` lines of a message program beside what was found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.messages.language.message_program import ALL_BUFFERS, Buffer, MessageClaim, MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer, Tri, Violation
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
    "type": "it takes a message of another type",
    "room": "it takes a message that is longer than there is room",
    "member": "the process, or the root, is none of the group",
    "collective": "another process calls another collective operation here",
    "root": "another process has another root here",
    "operation": "another process has another operation here",
    "signature": "another process has another type here",
}
"""What faults are, by their kind."""

GOES_ON: Final = ("type", "room", "collective", "root", "operation", "signature")
"""Those behind which the process goes on, or waits as before."""


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


LOCAL: Final = ("assert", "abort")
"""The kinds of violations that what is wrong by itself, in a program made of C, has."""


def local_text(program: MessageProgram, span: Span) -> str:
    """Return what is wrong at a place by itself, '' if nothing is."""
    return "; ".join(each.text for each in program.found_at(span))


def violation_text(program: MessageProgram, violation: Violation) -> str:
    """Return what a violation is: `assert v == 1 is false`, or the statement with its fault."""
    if violation.kind in LOCAL and (said := local_text(program, violation.span)):
        return said
    statement = statement_at(program, violation.span)
    if violation.kind == "assert":
        return f"{statement or 'assert'} is false"
    what = FAULTS.get(violation.kind, violation.text or violation.kind)
    return f"{statement}: {what}" if statement else what


ClaimStatus = Literal["met", "failed", "unknown"]

_NEGATED: Final[Mapping[Tri, Tri]] = {"yes": "no", "no": "yes", "unknown": "unknown"}
UNSAID: Final = ", and no `expect` line says so"

_LONG: Final = 10**12
"""Numbers from there on are rounded for people."""
_STATUS: Final[Mapping[Tri, ClaimStatus]] = {"yes": "met", "no": "failed", "unknown": "unknown"}


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim under one buffer semantics, and what was found there."""

    text: str
    buffer: Buffer
    status: ClaimStatus
    found: str
    line: int
    column: int


def judged(program: MessageProgram, answers: Sequence[BufferAnswer]) -> tuple[JudgedClaim, ...]:
    """Return every claim of `program` under each of its buffers that there is an answer for.

    A program with claims makes two more, that it holds and has no deadlock, where it says nothing else: they are among
    these if they are seen to fail.
    """
    by_buffer = {answer.buffer: answer for answer in answers}
    said = [
        _judged(claim, by_buffer[buffer])
        for claim in program.claims
        for buffer in ALL_BUFFERS
        if buffer in claim.buffers and buffer in by_buffer
    ]
    return (
        *said,
        *(each for buffer in ALL_BUFFERS if program.claims for each in _unsaid(program, by_buffer.get(buffer), said)),
    )


def _unsaid(program: MessageProgram, answer: BufferAnswer | None, said: Sequence[JudgedClaim]) -> Iterator[JudgedClaim]:
    """Yield what fails under a buffer although no `expect` line says so."""
    if answer is None:
        return
    about = {each.text for each in said if each.buffer == answer.buffer}
    if answer.violated == "yes" and about.isdisjoint({"holds", "violated"}):
        place = place_of(program, answer.violations[0].span) if answer.violations else NO_SPAN
        yield JudgedClaim("holds", answer.buffer, "failed", f"violated{UNSAID}", max(1, place.line), max(1, place.column))
    if answer.deadlocked == "yes" and about.isdisjoint({"deadlock", "no deadlock"}):
        waiting = () if answer.deadlock is None else answer.deadlock.waiting
        place = place_of(program, waiting[0].span) if waiting else NO_SPAN
        yield JudgedClaim(
            "no deadlock", answer.buffer, "failed", f"deadlock{UNSAID}", max(1, place.line), max(1, place.column)
        )


def race_of(answer: BufferAnswer) -> Tri:
    """Return whether a receive has two feasible partners."""
    if answer.races:
        return "yes"
    return "no" if answer.pairs is not None and answer.pairs_exact else "unknown"


def matchings_of(answer: BufferAnswer) -> str:
    """Return the number of matchings for people: `6`, `2.65e32`, `100+` for at least so many, `?` for nothing known."""
    if answer.matchings is None:
        return "?"
    count = answer.matchings.count
    said = f"{count:,}" if count < _LONG else f"{Decimal(count):.2e}".replace("e+", "e")
    return f"{said}{'' if answer.matchings.exact else '+'}"


def _judged(claim: MessageClaim, answer: BufferAnswer) -> JudgedClaim:
    holds, found = _found(claim, answer)
    text = f"matchings {claim.number}" if claim.kind == "matchings" else claim.kind
    return JudgedClaim(text, answer.buffer, _STATUS[holds], found, claim.span.line, claim.span.column)


def _found(claim: MessageClaim, answer: BufferAnswer) -> tuple[Tri, str]:
    """Return whether a claim is true, and what was found instead or as well."""
    if claim.kind == "matchings":
        return _counted(claim.number, answer), f"matchings {matchings_of(answer)}"
    if claim.kind in ("holds", "violated"):
        found, yes, no = answer.violated, "violated", "holds"
    elif claim.kind in ("deadlock", "no deadlock"):
        found, yes, no = answer.deadlocked, "deadlock", "no deadlock"
    else:
        found, yes, no = race_of(answer), "race", "no race"
    word = {"yes": yes, "no": no, "unknown": "unknown"}[found]
    return found if claim.kind == yes else _NEGATED[found], word


def _counted(number: int, answer: BufferAnswer) -> Tri:
    found = answer.matchings
    if found is None or (not found.exact and found.count <= number):
        return "unknown"
    return "yes" if found.exact and found.count == number else "no"
