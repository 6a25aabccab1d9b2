"""Progress on standard error, and only where somebody watches: a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

REFRESH_S = 0.1
RATE_S = 1.0


class Meter:
    """A progress line that makes room for other output. Draws nothing unless `on`; starts no thread (processes fork)."""

    def __init__(self, total: int, on: bool) -> None:
        self._progress = _progress() if on else None
        self._task = self._progress.add_task("deciding", total=total, states="") if self._progress else None
        self._drawn = 0.0
        self._counted, self._since, self._rate = 0, time.monotonic(), ""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Show the line for the time of the block."""
        if self._progress:
            self._progress.start()
        try:
            yield
        finally:
            if self._progress:
                self._progress.stop()

    def printing(self, action: Callable[[], None]) -> None:
        """Do `action`, which prints, with the line out of the way."""
        if self._progress is None:
            action()
            return
        self._progress.stop()
        try:
            action()
        finally:
            self._progress.start()

    def done(self, number: int) -> None:
        if self._progress and self._task is not None:
            self._progress.update(self._task, completed=number, states="")
            self.tick()

    def search(self, states: int, frontier: int) -> None:
        """Show how far the search of the current program is: stored states, states a second, states to be expanded."""
        if self._progress is None or self._task is None:
            return
        now = time.monotonic()
        if states < self._counted:
            self._counted, self._since = 0, now
        if now - self._since >= RATE_S:
            rate = f", {(states - self._counted) / (now - self._since):,.0f}/s"
            self._counted, self._since, self._rate = states, now, rate
        self._progress.update(self._task, states=f"{states:,} states{self._rate}, {frontier:,} to expand")
        self.tick()

    def tick(self) -> None:
        """Redraw the line, but not more often than eyes need."""
        now = time.monotonic()
        if self._progress and now - self._drawn > REFRESH_S:
            self._drawn = now
            self._progress.refresh()


def wanted(quiet: bool) -> bool:
    return not quiet and sys.stderr is not None and sys.stderr.isatty()


def _progress() -> Progress:
    from rich.console import Console  # noqa: PLC0415 - slow to import, needed on terminals only
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[states]}"),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
