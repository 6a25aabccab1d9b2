"""A text that is open in an editor: what is known of it, and how more is found out, command after command.

Each command is a process of its own, which ends when nobody waits for it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from lsprotocol.types import Position, Range
from pygls.workspace import PositionCodec

from rdma_robust.errors import Diagnostic, RdmaRobustError, Span
from rdma_robust.foreign import own_command
from rdma_robust.frame.editor import Asker, Decision, Report


class TextPositions:
    """Conversions for one text, whose lines end with a line feed, as those of spans do."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self._lines = text.split("\n")
        self._codec = codec

    def position(self, line: int, column: int) -> Position:
        """Return the place of a 1-based line and column; behind the end of a line or of the text, its end."""
        row = min(max(line, 1), len(self._lines)) - 1
        return Position(row, self._codec.client_num_units(self._lines[row][: max(column, 1) - 1]))

    def range(self, span: Span) -> Range:
        """Return the range of `span`."""
        return Range(self.position(span.line, span.column), self.position(span.end_line, span.end_column))

    def between(self, line: int, column: int, end_line: int, end_column: int) -> Range:
        """Return the range from one 1-based line and column up to before another."""
        return Range(self.position(line, column), self.position(end_line, end_column))

    def rest_of_line(self, line: int, column: int) -> Range:
        """Return from a 1-based line and column to the end of what is written in that line."""
        row = min(max(line, 1), len(self._lines)) - 1
        return Range(self.position(line, column), self.position(line, len(self._lines[row].rstrip()) + 1))

    def whole(self) -> Range:
        """Return the range of the whole text."""
        return Range(Position(0, 0), self.position(len(self._lines), len(self._lines[-1]) + 1))

    def offset(self, position: Position) -> int:
        """Return the 0-based character at a position; behind the end of a line, its end."""
        row = min(position.line, len(self._lines) - 1)
        line = self._lines[row]
        units = column = 0
        while column < len(line) and units < position.character:
            units += self._codec.client_num_units(line[column])
            column += 1
        return sum(len(each) + 1 for each in self._lines[:row]) + column


DECIDING: Final = "deciding ..."
NAMED: Final = {"verdict": "verdict", "claims": "claims", "no_repair": "repair"}

ENDING_S: Final = 5.0
"""Seconds that a process has to end after it was told to."""


class NoAnswer(RdmaRobustError):
    """A command ended without a report; the text is what it said."""


async def ask_command(arguments: Sequence[str], text: str, folder: str | None, file: str = "-") -> Report:
    """Return the JSON report of `rdma-robust ARGUMENTS --format json -` for the program `text`, or for a `file` as it is
    saved.

    `folder` is where it runs, so that its settings are those of the project. Raises NoAnswer if there is no report. If
    the caller is cancelled, so is the process.
    """
    command = own_command([*arguments, "--format", "json", file])
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder)
    try:
        out, said = await process.communicate(text.encode("utf-8"))
    except asyncio.CancelledError:
        await _end(process)
        raise
    try:
        found: Report = json.loads(out)
    except ValueError:
        raise NoAnswer(said.decode("utf-8", "replace").strip() or f"exit code {process.returncode}") from None
    return found


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process, which ends the processes that search for it."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), ENDING_S)
    except TimeoutError:
        process.kill()
        await process.wait()


@dataclass
class OpenText:
    """A text that is open: what is wrong with it, what was decided, and the task that finds out more."""

    version: int | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    decision: Decision = field(default_factory=Decision)
    task: asyncio.Task[None] | None = None
    elsewhere: tuple[str, ...] = ()
    """Addresses of other files in which something is shown of it."""

    def stop(self) -> None:
        """End the task, if there is one."""
        if self.task is not None:
            self.task.cancel()
            self.task = None

    @property
    def is_wrong(self) -> bool:
        """Whether the text cannot be decided."""
        return any(each.severity == "error" for each in self.diagnostics)


@dataclass(frozen=True, slots=True)
class Deciding:
    """Finds out what there is to know of a text: `folder` is where the commands run, each within `timeout` seconds, and
    `shown` is called whenever more is known."""

    decision: Decision
    text: str
    folder: str | None
    timeout: float
    shown: Callable[[], Awaitable[None]]
    file: str = "-"
    """The file that is asked about as it is saved; `-` for the text."""

    async def all(self, decide: Callable[[Asker], Awaitable[None]]) -> None:
        """Ask everything; what goes wrong takes the place of the line that it was for."""
        one = self.decision
        try:
            await decide(self)
        except NoAnswer as failure:
            setattr(one, one.asked, f"no {NAMED[one.asked]}: no answer: {failure}")
        except Exception as error:
            setattr(one, one.asked, f"no {NAMED[one.asked]}: internal error: {type(error).__name__}: {error}")
        await self.show()

    async def show(self) -> None:
        """Show what is known by now."""
        await self.shown()

    async def ask(self, *command: str) -> Report:
        """Return the report of a command about the text. Raises NoAnswer."""
        return await ask_command([*command, "--timeout", str(self.timeout)], self.text, self.folder, self.file)
