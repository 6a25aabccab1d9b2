"""The program that is explored now, and its verdict once that is known; a file that has changed gives another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import anyio.to_thread


class Explorable(Protocol):
    """A program of either language that can be explored. It returns dataclasses, which the page gets as JSON."""

    @property
    def page(self) -> str:
        """The name of its page."""

    @property
    def identity(self) -> tuple[str, str]:
        """What tells it from another one."""

    def about(self) -> Any:
        """Return what does not change."""

    def seen(self, address: str, do: object = None) -> Any:
        """Return what is to be seen at an address, after what is to be done there. Raises UsageError."""


Decide = Callable[[Any], Any]
"""From an exploration to its verdict, a dataclass."""

Follow = Callable[[Callable[["Explorable | str"], None]], None]
"""Calls back with the program, or what is wrong with it, each time that its file has changed; returns when it is done."""


@dataclass
class OpenProgram:
    """A program, and its verdict once somebody has asked for it."""

    session: Explorable
    decide: Decide
    _found: Any | None = None
    _lock: anyio.Lock = field(default_factory=anyio.Lock)

    async def verdict(self) -> Any:
        """Return the verdict, which is found in another thread, once."""
        async with self._lock:
            if self._found is None:
                self._found = await anyio.to_thread.run_sync(self.decide, self.session, abandon_on_cancel=True)
        return self._found


class Live:
    """The program as it is now; `number` counts its versions, `error` says what is wrong with the file since the last."""

    def __init__(self, session: Explorable, decide: Decide, *, watched: bool = False) -> None:
        self.decide = decide
        self.watched = watched
        self.number = 0
        self.error = ""
        self.explored = OpenProgram(session, decide)

    def changed(self, found: Explorable | str) -> None:
        """Take another program, or keep the last one if the text says what is wrong."""
        if isinstance(found, str):
            self.error = found
            return
        self.error = ""
        if found.identity != self.explored.session.identity:
            self.explored = OpenProgram(found, self.decide)
            self.number += 1
