"""A text that is open in an editor: what is known of it, and how more is found out, command after command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from rdma_robust.editing import findings
from rdma_robust.editing.decisions import NoAnswer, ask
from rdma_robust.editing.findings import Finding, Proposal
from rdma_robust.errors import Diagnostic

DECIDING: Final = "deciding ..."
NAMED: Final = {"verdict": "verdict", "claims": "claims", "no_repair": "repair"}


@dataclass
class Opened:
    """A text that is open: what is known of it, and the task that finds out more."""

    version: int | None = None
    verdict: str = DECIDING
    claims: str = ""
    no_repair: str = ""
    asked: Literal["verdict", "claims", "no_repair"] = "verdict"
    """Which of the lines above the one that is asked for now will be in, and in which it is said that there is no answer."""
    repair: Proposal | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    found: list[Finding] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """End the task, if there is one."""
        if self.task is not None:
            self.task.cancel()
            self.task = None


@dataclass(frozen=True, slots=True)
class Deciding:
    """Finds out what there is to know of a text: `folder` is where the commands run, each within `timeout` seconds, and
    `show` is called whenever more is known."""

    one: Opened
    text: str
    folder: str | None
    timeout: float
    show: Callable[[], Awaitable[None]]

    async def all(self, *, for_proofs: bool) -> None:
        """Ask everything; what goes wrong takes the place of the line that it was for."""
        one = self.one
        try:
            await (self._prove() if for_proofs else self._check())
        except NoAnswer as failure:
            setattr(one, one.asked, f"no {NAMED[one.asked]}: no answer: {failure}")
        except Exception as error:
            setattr(one, one.asked, f"no {NAMED[one.asked]}: internal error: {type(error).__name__}: {error}")
        await self.show()

    async def _prove(self) -> None:
        """Raises NoAnswer."""
        report = await self._ask("prove")
        self.one.verdict, self.one.found = findings.proofs_line(report), list(findings.of_prove(report))
        await self.show()
        if model := findings.unsafe_under(report):
            await self._repair("--goal", "safe", "--model", model)

    async def _check(self) -> None:
        """Raises NoAnswer."""
        one = self.one
        report = await self._ask("check")
        one.verdict, one.found = findings.verdict_line(report), list(findings.of_check(report))
        await self.show()
        one.asked = "claims"
        report = await self._ask("verify")
        one.claims = findings.claims_line(report)
        # What `check` has come by is now said by the claims, with more certainty.
        one.found = [each for each in one.found if each.code != findings.HANG] + list(findings.of_verify(report))
        await self.show()
        if any(each.code == findings.NOT_ROBUST for each in one.found):
            await self._repair()

    async def _repair(self, *goal: str) -> None:
        """Raises NoAnswer."""
        self.one.asked = "no_repair"
        report = await self._ask("repair", *goal)
        self.one.repair, self.one.no_repair = findings.of_repair(report), findings.no_repair_line(report)

    async def _ask(self, *command: str) -> findings.Report:
        return await ask([*command, "--timeout", str(self.timeout)], self.text, self.folder)
