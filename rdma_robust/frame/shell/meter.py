"""Progress on standard error, and only where somebody watches: a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rdma_robust.frame.shell.colour import colourful

if TYPE_CHECKING:
    from rich.progress import Progress

REFRESH_S = 0.1
RATE_S = 1.0
PATIENCE_S = 0.5
"""Before anything is drawn: who is answered sooner needs no progress line, and nothing slow is loaded for it."""


class Meter:
    """A progress line that makes room for other output. Draws nothing unless `on`; starts no thread (processes fork)."""

    def __init__(self, total: int, on: bool) -> None:
        self._total, self._completed = total, 0
        self._on = on
        self._begun = time.monotonic()
        self._progress: Progress | None = None
        self._drawn = 0.0
        self._states = ""
        self._counted, self._since, self._rate = 0, self._begun, ""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Show the line for the time of the block."""
        try:
            yield
        finally:
            self._on = False
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
        self._completed, self._states = number, ""
        self.tick()

    def search(self, states: int, frontier: int) -> None:
        """Show how far the search of the current program is: stored states, states a second, states to be expanded."""
        if not self._on:
            return
        now = time.monotonic()
        if states < self._counted:
            self._counted, self._since = 0, now
        if now - self._since >= RATE_S:
            rate = f", {(states - self._counted) / (now - self._since):,.0f}/s"
            self._counted, self._since, self._rate = states, now, rate
        self._states = f"{states:,} states{self._rate}, {frontier:,} to expand"
        self.tick()

    def tick(self) -> None:
        """Redraw the line, but not more often than eyes need."""
        now = time.monotonic()
        if not self._on or now - self._begun < PATIENCE_S or now - self._drawn <= REFRESH_S:
            return
        self._drawn = now
        if self._progress is None:
            self._progress = _progress()
            self._progress.add_task("deciding", total=self._total, states="")
            self._progress.start()
        self._progress.update(self._progress.task_ids[0], completed=self._completed, states=self._states)
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
    return Progress(
        *columns, console=Console(stderr=True, no_color=not colourful(sys.stderr)), transient=True, auto_refresh=False
    )
