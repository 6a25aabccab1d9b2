"""Whether a repaired program hangs where the program did not: a second opinion, by a search through states.

Sets of insertions that stand (`counting`) keep every thread going where it went, by their paths alone. This asks the search
for hangs instead, which knows values and all threads together, and nothing of paths or insertions. The repaired program is
robust, so what it does under sequential consistency tells both (docs/theory.md, "Hangs").
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from rdma_robust.analyses.safety.hangs import find_hang
from rdma_robust.analyses.safety.questions import Answer
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import Model

Hangs = Literal["none", "kept", "new", "unknown"]
"""Of a repaired program: it has no hang, the program hangs too, only the repaired one does, or a limit came first."""

STATES: Final = 50_000
"""Stored states of each search."""


class Hanging:
    """Compares repaired programs with `program`, each within STATES states."""

    def __init__(self, program: Program, model: Model) -> None:
        self._program, self._model = program, replace(model, cpu="sc")
        self._before: Answer | None = None

    def after(self, repaired: Program, deadline: float | None) -> Hangs:
        """Return what is known of the hangs of a repaired program."""
        limits = Limits(deadline=deadline, states=STATES)
        match self._answer(repaired, limits):
            case Answer.UNREACHABLE:
                return "none"
            case Answer.UNKNOWN:
                return "unknown"
        if self._before in (None, Answer.UNKNOWN):
            self._before = self._answer(self._program, limits)
        found: dict[Answer, Hangs] = {Answer.REACHABLE: "kept", Answer.UNREACHABLE: "new", Answer.UNKNOWN: "unknown"}
        assert self._before is not None
        return found[self._before]

    def _answer(self, program: Program, limits: Limits) -> Answer:
        return find_hang(program, "sc", limits, self._model).answer.answer
