"""The JSON of `messages check` (`schema/messages-check.schema.json`): one result for each program and buffer semantics."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.frame.answer import Failure, JsonObject, diagnostic_object
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.messages.language.message_program import LocalFinding, MessageProgram
from rdma_robust.messages.message_answers import (
    BufferAnswer,
    BufferGrant,
    MatchedPair,
    MatchMove,
    Mismatch,
    Move,
    OperationId,
    Schedule,
    Tri,
    Violation,
    WaitingProcess,
)
from rdma_robust.reports.messages.classed_findings import ClassedFindings
from rdma_robust.reports.messages.message_claims import LOCAL, JudgedClaim, place_of
from rdma_robust.reports.messages.narration import Direction, OperationNames

Asserts = Literal["hold", "violated", "unknown"]
ASSERTS: Final[Mapping[Tri, Asserts]] = {"no": "hold", "yes": "violated", "unknown": "unknown"}


def buffer_object(
    told: AnswerObjects,
    answer: BufferAnswer,
    claims: Iterable[JudgedClaim],
    *,
    time_s: float,
    notes: Sequence[str] = (),
) -> JsonObject:
    """Return the object of one program under one buffer semantics; `time_s` is that of all of its buffers, `notes` are what
    readers of a trace should know."""
    program = told.program
    return {
        "file": valid_unicode(program.file),
        "buffer": answer.buffer,
        "language": "c" if program.is_c else "mp",
        "program": program.name,
        "processes": [each.name for each in program.processes],
        **_found(told, answer),
        "claims": [{name: value for name, value in dataclasses.asdict(each).items() if name != "buffer"} for each in claims],
        "notes": [valid_unicode(note) for note in notes],
        "engine": answer.engine,
        "work": dict(answer.work),
        "error_kind": None,
        "warnings": [
            {"line": each.span.line, "column": each.span.column, "code": each.code, "message": each.located}
            for each in program.warnings
        ],
        "errors": [],
        "time_s": time_s,
    }


def _found(told: AnswerObjects, answer: BufferAnswer) -> JsonObject:
    """Return what was found."""
    deadlock, leak, matchings = answer.deadlock, answer.leak, answer.matchings
    return {
        "asserts": ASSERTS[answer.violated],
        "violations": [told.violation(each) for each in answer.violations],
        "findings": ClassedFindings(told.program, told.names).objects(answer),
        "deadlock": {
            "answer": answer.deadlocked,
            "waiting": [] if deadlock is None else [told.waiting(each) for each in deadlock.waiting],
        },
        "races": [
            {"receive": told.operation("receive", receive), "sends": [told.operation("send", each) for each in sends]}
            for receive, sends in answer.racing_sends().items()
        ],
        "leak": {
            "answer": answer.leaking,
            "sends": [] if leak is None else [told.operation("send", each) for each in leak.sends],
            "receives": [] if leak is None else [told.operation("receive", each) for each in leak.receives],
        },
        "matchings": None
        if matchings is None
        else {
            "count": matchings.count,
            "exact": matchings.exact,
            "listed": [[told.pair(pair) for pair in sorted(each)] for each in matchings.listed],
        },
        "pairs": None if answer.pairs is None else [told.pair(each) for each in sorted(answer.pairs)],
        "pairs_exact": answer.pairs is not None and answer.pairs_exact,
        "mismatches": [told.mismatch(each) for each in answer.mismatches],
        "reason": answer.reason,
        "witness": told.witness(answer),
    }


def no_answer_object(result: Failure) -> JsonObject:
    """Return the only object of a program that got no answer."""
    return {
        "file": valid_unicode(result.file),
        "buffer": None,
        "language": None,
        "program": None,
        "processes": [],
        "asserts": "unknown",
        "violations": [],
        "findings": [],
        "deadlock": {"answer": "unknown", "waiting": []},
        "races": [],
        "leak": {"answer": "unknown", "sends": [], "receives": []},
        "matchings": None,
        "pairs": None,
        "pairs_exact": False,
        "mismatches": [],
        "reason": result.reason,
        "witness": None,
        "claims": [],
        "notes": [],
        "engine": None,
        "work": {},
        "error_kind": result.error_kind,
        "warnings": [diagnostic_object(each) for each in result.warnings],
        "errors": [diagnostic_object(each) for each in result.errors],
        "time_s": result.time_s,
    }


@dataclasses.dataclass(frozen=True, slots=True)
class AnswerObjects:
    """Parts of answers as JSON, with the names and lines of the program.

    There may be millions of pairs, of few operations and the same under all buffer semantics: they share their objects.
    """

    program: MessageProgram
    names: OperationNames
    _operations: dict[tuple[Direction, OperationId], JsonObject] = dataclasses.field(default_factory=dict)
    _pairs: dict[MatchedPair, JsonObject] = dataclasses.field(default_factory=dict)

    def process(self, number: int) -> str:
        return self.program.processes[number].name

    def operation(self, direction: Direction, each: OperationId) -> JsonObject:
        """`nth` counts from 0; `line` is null if it is not the same in all runs."""
        found = self._operations.get((direction, each))
        if found is None:
            found = {"process": self.process(each.process), "nth": each.nth, "line": self.names.line(direction, each)}
            self._operations[direction, each] = found
        return found

    def pair(self, pair: MatchedPair) -> JsonObject:
        found = self._pairs.get(pair)
        if found is None:
            receive, send = self.operation("receive", pair.receive), self.operation("send", pair.send)
            self._pairs[pair] = found = {"receive": receive, "send": send}
        return found

    def violation(self, each: Violation) -> JsonObject:
        return {
            "process": self.process(each.process),
            "kind": next((found.kind for found in self._local(each)), each.kind),
            **self.place(each.span),
            "text": "; ".join(found.text for found in self._local(each)) or each.text,
            "schedule": self.schedule(each.schedule),
        }

    def _local(self, each: Violation) -> tuple[LocalFinding, ...]:
        """Return what is wrong by itself at the place of a violation."""
        return self.program.found_at(each.span) if each.kind in LOCAL else ()

    def waiting(self, each: WaitingProcess) -> JsonObject:
        found = {"process": self.process(each.process), "kind": each.kind, **self.place(each.span)}
        if each.kind == "collective":
            group = self.program.groups[each.operation.nth].name
            return {**found, "operation": None, "group": group or None}
        return {**found, "operation": self.operation(each.kind, each.operation)}

    def mismatch(self, each: Mismatch) -> JsonObject:
        processes = [self.process(number) for number in each.processes]
        return {"position": each.position, "processes": processes, "calls": list(each.calls), **self.place(each.span)}

    def witness(self, answer: BufferAnswer) -> JsonObject | None:
        """Return the run that shows the worst of what was found, None if there is nothing to show."""
        if answer.violations:
            return {"shows": "violation", "schedule": self.schedule(answer.violations[0].schedule)}
        if answer.deadlock is not None:
            return {"shows": "deadlock", "schedule": self.schedule(answer.deadlock.schedule)}
        if answer.leak is not None:
            return {"shows": "leak", "schedule": self.schedule(answer.leak.schedule)}
        return None

    def place(self, span: Span) -> JsonObject:
        if span == NO_SPAN:
            return {"line": None, "column": None}
        place = place_of(self.program, span)
        return {"line": place.line, "column": place.column}

    def schedule(self, moves: Schedule) -> list[JsonObject]:
        return [self.move(each) for each in moves]

    def move(self, move: Move) -> JsonObject:
        match move:
            case MatchMove(pair):
                return {"move": "match", **self.pair(pair)}
            case BufferGrant(process):
                return {"move": "grant", "process": self.process(process)}
            case _:
                return {"move": "step", "process": self.process(move.process), "choice": move.choice}
