"""The findings of message programs as JSON, each with its class, code, place, and processes.

Classes are the same for what engines find and for what is wrong with a call of C by itself, so that results can be counted
by class; the runs are those of `violations` and `witness`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.diagnose import listing
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer, OperationId, Violation
from rdma_robust.reports.messages.message_claims import LOCAL, place_of, violation_text
from rdma_robust.reports.messages.narration import Direction, OperationNames

CLASSES: Final[Mapping[str, str]] = {
    "assert": "violation", "abort": "violation", "type": "type-mismatch", "room": "truncation"
}  # fmt: skip
"""The classes of what engines find, where they are called otherwise than its kind."""


@dataclass(frozen=True, slots=True)
class ClassedFindings:
    """The findings of answers about a program."""

    program: MessageProgram
    names: OperationNames

    def objects(self, answer: BufferAnswer) -> list[JsonObject]:
        """Return those of one answer: violations, a deadlock, messages and receives that are left over, and races."""
        return [*self._wrong(answer), *self._waiting(answer), *self._left(answer), *self._racing(answer)]

    def _object(self, said: tuple[str, str, str], span: Span, processes: Sequence[int], text: str) -> JsonObject:
        """Return a finding of a class, code and severity."""
        kind, code, severity = said
        place = None if span == NO_SPAN else place_of(self.program, span)
        return {
            "class": kind,
            "code": code,
            "severity": severity,
            "line": None if place is None else place.line,
            "column": None if place is None else place.column,
            "processes": [self._name(each) for each in processes],
            "text": valid_unicode(text),
        }

    def _name(self, process: int) -> str:
        return self.program.processes[process].name

    def _wrong(self, answer: BufferAnswer) -> Iterator[JsonObject]:
        for each in answer.violations:
            local = self.program.found_at(each.span) if each.kind in LOCAL else ()
            for found in local:
                yield self._object((found.kind, "RR020", "error"), each.span, found.processes, found.text)
            if not local:
                yield self._fault(each)

    def _fault(self, each: Violation) -> JsonObject:
        code = "RR020" if each.kind == "assert" else "RR021"
        text = violation_text(self.program, each)
        return self._object((CLASSES.get(each.kind, each.kind), code, "error"), each.span, (each.process,), text)

    def _waiting(self, answer: BufferAnswer) -> Iterator[JsonObject]:
        if answer.deadlock is not None:
            waiting = answer.deadlock.waiting
            said = [f"{self._name(each.process)} in a {each.kind}" for each in waiting]
            span = waiting[0].span if waiting else NO_SPAN
            text = f"{listing(said, 'and')} {'waits' if len(said) == 1 else 'wait'} forever"
            yield self._object(("deadlock", "RR022", "error"), span, [each.process for each in waiting], text)

    def _left(self, answer: BufferAnswer) -> Iterator[JsonObject]:
        if answer.leak is None:
            return
        severity = "error" if self.program.is_c else "note"
        operations: tuple[tuple[Direction, Sequence[OperationId], str], ...] = (
            ("send", answer.leak.sends, "nothing takes this message"),
            ("receive", answer.leak.receives, "no message comes for this receive"),
        )
        for direction, left, text in operations:
            for each in left:
                span = self._span(direction, each)
                yield self._object((f"unmatched-{direction}", "RR024", severity), span, (each.process,), text)

    def _racing(self, answer: BufferAnswer) -> Iterator[JsonObject]:
        for receive, sends in answer.racing_sends().items():
            text = f"it can take {len(sends)} messages"
            span = self._span("receive", receive)
            yield self._object(("message-race", "RR023", "note"), span, (receive.process,), text)

    def _span(self, direction: Direction, operation: OperationId) -> Span:
        return next(iter(self.names.spans(direction, operation)), NO_SPAN)
