"""Where in the text an operation can be: the k-th send or receive of a process, over all runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.errors import Span
from rdma_robust.expr import Const
from rdma_robust.messages.language.message_program import (
    Block,
    Choose,
    For,
    Halt,
    If,
    InlinedCall,
    IssueReceive,
    IssueSend,
    Loop,
    MessageProgram,
    Return,
    Statement,
    While,
)
from rdma_robust.messages.message_answers import OperationId
from rdma_robust.reports.messages.violation_words import line_of

Direction = Literal["send", "receive"]

MOST: Final = 2_000
"""Operations of a process whose places are looked for; of later ones none is known."""

Counts = frozenset[int]
"""How many operations may have been issued where control comes to a point."""


@dataclass
class _Walk:
    """All paths of one process at once, for its operations of one kind. What `return` leaves waits in `returned`."""

    kind: type[IssueSend | IssueReceive]
    places: dict[int, dict[int, Span]] = field(default_factory=dict)
    returned: Counts = frozenset()

    def block(self, body: Block, at: Counts) -> Counts:
        for statement in body:
            if not at:
                break
            at = self.statement(statement, at)
        return at

    def statement(self, statement: Statement, at: Counts) -> Counts:
        match statement:
            case IssueSend(span=span) | IssueReceive(span=span):
                return self._issued(span, at) if isinstance(statement, self.kind) else at
            case If(then=then, other=other):
                return self.block(then, at) | self.block(other, at)
            case Choose(branches):
                return frozenset().union(*(self.block(each, at) for each in branches))
            case For(low=Const(low), high=Const(high), body=body):
                for _ in range(min(high - low + 1, MOST)):
                    at = self.block(body, at)
                return at
            case While(body=body) | Loop(body=body) | For(body=body):
                return self._any_number(body, at)
            case InlinedCall(body=body):
                outer, self.returned = self.returned, frozenset()
                left = self.block(body, at) | self.returned
                self.returned = outer
                return left
            case Return():
                self.returned |= at
                return frozenset()
            case Halt():
                return frozenset()
            case _:
                return at

    def _issued(self, span: Span, at: Counts) -> Counts:
        for count in at:
            self.places.setdefault(count, {})[span.start] = span
        return frozenset(count + 1 for count in at if count + 1 < MOST)

    def _any_number(self, body: Block, at: Counts) -> Counts:
        seen, new = at, at
        while new:
            new = self.block(body, new) - seen
            seen |= new
        return seen


@dataclass(frozen=True)
class OperationNames:
    """Names for the operations of a program; see :func:`operation_names`."""

    program: MessageProgram
    places: dict[tuple[Direction, OperationId], tuple[Span, ...]]

    def spans(self, direction: Direction, operation: OperationId) -> tuple[Span, ...]:
        """Return every place of the text where the operation can be issued, the first first; none if that is not known."""
        return self.places.get((direction, operation), ())

    def line(self, direction: Direction, operation: OperationId) -> int | None:
        """Return the line of the operation if it is the same in all runs."""
        lines = {line_of(self.program, span) for span in self.spans(direction, operation)}
        return lines.pop() if len(lines) == 1 else None

    def told(self, direction: Direction, operation: OperationId) -> str:
        """Return the operation for people, as in `receive 2 of Server (line 9)`; they count from 1."""
        name = self.program.processes[operation.process].name
        return f"{direction} {operation.nth + 1} of {name}{self.where(direction, operation)}"

    def where(self, direction: Direction, operation: OperationId) -> str:
        """Return ` (line 9)`, or '' if that is not known."""
        lines = sorted({line_of(self.program, span) for span in self.spans(direction, operation)})
        return f" (line {' or '.join(map(str, lines))})" if 0 < len(lines) <= 3 else ""


def operation_names(program: MessageProgram) -> OperationNames:
    """Return the names of the operations of `program`.

    All paths of each process are followed, whatever the conditions: so an operation is at no other places than those found,
    and one that has one place is there in every run.
    """
    kinds: tuple[tuple[Direction, type[IssueSend | IssueReceive]], ...] = (("send", IssueSend), ("receive", IssueReceive))
    found: dict[tuple[Direction, OperationId], tuple[Span, ...]] = {}
    for number, process in enumerate(program.processes):
        for direction, kind in kinds:
            walk = _Walk(kind)
            walk.block(process.body, frozenset({0}))
            for nth, spans in walk.places.items():
                found[direction, OperationId(number, nth)] = tuple(spans[start] for start in sorted(spans))
    return OperationNames(program, found)
