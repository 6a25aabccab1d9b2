"""Answers of the commands for a text in an editor: each is a process of its own, which ends when nobody waits for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rdma_robust.errors import RdmaRobustError
from rdma_robust.foreign import own_command

ENDING_S: Final = 5.0
"""Seconds that a process has to end after it was told to."""


class NoAnswer(RdmaRobustError):
    """A command ended without a report; the text is what it said."""


async def ask(arguments: Sequence[str], text: str, folder: str | None) -> Mapping[str, Any]:
    """Return the JSON report of `rdma-robust ARGUMENTS --format json -` for the program `text`.

    `folder` is where it runs, so that its settings are those of the project. Raises NoAnswer if there is no report. If
    the caller is cancelled, so is the process.
    """
    command = own_command([*arguments, "--format", "json", "-"])
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder)
    try:
        out, said = await process.communicate(text.encode("utf-8"))
    except asyncio.CancelledError:
        await _end(process)
        raise
    try:
        found: Mapping[str, Any] = json.loads(out)
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
