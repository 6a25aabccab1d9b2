"""What a run violates: the first time at each place, with the moves that lead to it."""

from __future__ import annotations

from collections.abc import Collection

from rdma_robust.errors import Span
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.machine.courses import NormalFormDecisions, NormalFormRun
from rdma_robust.messages.machine.shortening import cut_to_the_end
from rdma_robust.messages.machine.states import said_of
from rdma_robust.messages.message_answers import Violation

Place = tuple[Span, str]
"""A place of the text, and `assert` or the kind of fault."""


class _Noting(NormalFormRun):
    """A run by decisions, and what it violates: after how many moves, which process, how and where."""

    def __init__(self, program: MessageProgram, buffer: Buffer, decisions: NormalFormDecisions) -> None:
        super().__init__(program, buffer, decisions)
        self.noted: list[tuple[int, int, str, Span]] = []

    def step(self, process: int, choice: int | None = None) -> str:
        place = self.rules[process].span(self.frames[process].pc)
        kind = super().step(process, choice)
        if kind:
            self.noted.append((len(self.moves), process, kind, place))
        return kind


def violations_of(
    program: MessageProgram, buffer: Buffer, decisions: NormalFormDecisions, known: Collection[Place] = ()
) -> dict[Place, Violation]:
    """Return the first violation at each place that is not known of the run in normal form with these decisions.

    Raises InternalError if a match is not enabled where it comes.
    """
    course = _Noting(program, buffer, decisions)
    course.make_all(decisions.matches)
    found: dict[Place, Violation] = {}
    for count, process, kind, place in course.noted:
        if (place, kind) not in found and (place, kind) not in known:
            moves = cut_to_the_end(program, buffer, tuple(course.moves[:count]))
            found[place, kind] = Violation(process, kind, place, moves, said_of(course.processes[process], kind))
    return found
