"""What is explored now: a program, and its verdict once that is known; a file that has changed gives another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import anyio.to_thread

from rdma_robust.teaching.explorer.session import Session
from rdma_robust.teaching.explorer.view import VerdictView

Decide = Callable[[Session], VerdictView]

Follow = Callable[[Callable[["Session | str"], None]], None]
"""Calls back with the program, or what is wrong with it, each time that its file has changed; returns when it is done."""


@dataclass
class Explored:
    """A program, and its verdict once somebody has asked for it."""

    session: Session
    decide: Decide
    _found: VerdictView | None = None
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def verdict(self) -> VerdictView:
        """Return the verdict, which is found in another thread, once."""
        async with self._lock:
            if self._found is None:
                self._found = await anyio.to_thread.run_sync(self.decide, self.session, abandon_on_cancel=True)
        return self._found


class Live:
    """The program as it is now; `number` counts its versions, `error` says what is wrong with the file since the last."""

    def __init__(self, session: Session, decide: Decide, *, watched: bool = False) -> None:
        self.decide = decide
        self.watched = watched
        self.number = 0
        self.error = ""
        self.explored = Explored(session, decide)

    def changed(self, found: Session | str) -> None:
        """Take another program, or keep the last one if the text says what is wrong."""
        if isinstance(found, str):
            self.error = found
            return
        self.error = ""
        before = self.explored.session
        if (found.fingerprint, found.program.source) != (before.fingerprint, before.program.source):
            self.explored = Explored(found, self.decide)
            self.number += 1
