"""Whether a repaired program does what the program did, and waits for ever only where that did.

Sets of insertions that stand (`counting`) keep every thread going where it went, by their paths alone. What paths do not say
is told by comparing runs (`keeping`), and hangs are looked for by a search that knows nothing of paths or insertions. The
repaired program is robust, so what it does under sequential consistency tells all (docs/theory.md, "Hangs").
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from rdma_robust.analyses.repair.keeping import Agreement, Deviation, Keeping, Where
from rdma_robust.analyses.safety.hangs import find_hang
from rdma_robust.analyses.safety.questions import Answer
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.waiting import blocking
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.model import Model

Hangs = Literal["none", "kept", "unknown"]
"""Of a repaired program: it has no hang, it has those that the program has, or a limit came first."""

STATES: Final = 50_000
"""Stored states of each search for hangs."""


class HangComparison:
    """Compares texts with insertions with `program`. What was found of the last one is remembered."""

    def __init__(self, program: Program, model: Model, *, await_loops: bool = False) -> None:
        self._program, self._model = program, replace(model, cpu="sc")
        self._await_loops = await_loops
        self._keeping = Keeping(program)
        self._last: tuple[str, Deviation | Agreement | None] | None = None

    def kept(self, text: str, where: Where, deadline: float | None) -> Deviation | Agreement | None:
        """Return whether the runs of a text with insertions keep to the program; None if a limit comes first. `where` tells
        where what is in the text is in the program's."""
        if self._last is None or self._last[0] != text:
            self._last = text, self._keeping.compare(self._loaded(text), where, Limits(deadline=deadline))
        return self._last[1]

    def hangs(self, text: str, where: Where, deadline: float | None) -> Hangs | Deviation:
        """Return what is known of the hangs of a text that is robust."""
        if self._last is None or self._last[0] != text or self._last[1] is None:
            limits = Limits(deadline=deadline, states=STATES)
            found = find_hang(self._loaded(text), "sc", limits, self._model)
            if found.answer.answer is Answer.UNREACHABLE:
                return "none"
        compared = self.kept(text, where, deadline)
        if isinstance(compared, Deviation):
            return compared
        return "unknown" if compared is None else "kept" if compared.hangs else "none"

    def _loaded(self, text: str) -> Program:
        return blocking(load_decidable(text, self._program.file), self._await_loops)
