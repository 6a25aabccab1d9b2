"""A hang as it is told: which threads wait where for what. Plain records, for reports; the machines find them.

Source: docs/theory-hangs.md, "Hangs".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

HangKind = Literal["deadlock", "stuck spin"]


@dataclass(frozen=True, slots=True)
class Wait:
    """A thread that hangs: where, in a sentence for people, and what it reads that nobody changes any more.

    `line` and `column` are None where the program has no statement for it. `spins` if it goes round in a loop instead of
    waiting in one statement. A thread that polls waits for `remote`; so many completions were `posted` by it and `polled`
    before.
    """

    thread: str
    line: int | None
    column: int | None
    statement: str
    spins: bool
    text: str
    cells: tuple[str, ...] = ()
    remote: str | None = None
    posted: int = 0
    polled: int = 0
    places: tuple[str, ...] = ()
    """The place as :attr:`rdma_robust.errors.Span.places`."""


@dataclass(frozen=True, slots=True)
class Hang:
    """A state in which nothing changes any more: a deadlock, or a stuck spin if some thread goes round in a loop."""

    waits: tuple[Wait, ...]

    @property
    def spins(self) -> bool:
        """Whether some thread goes round in a loop."""
        return any(wait.spins for wait in self.waits)

    @property
    def kind(self) -> HangKind:
        return "stuck spin" if self.spins else "deadlock"

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines where threads wait, ascending."""
        return tuple(sorted({wait.line for wait in self.waits if wait.line is not None}))
