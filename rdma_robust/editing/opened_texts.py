"""A text that is open in an editor: what is known of it, and how more is found out, command after command.

Each command is a process of its own, which ends when nobody waits for it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.errors import Diagnostic, RdmaRobustError
from rdma_robust.foreign import own_command
from rdma_robust.frame.editor import Asker, Decision, Report

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
