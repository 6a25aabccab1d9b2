"""The verdict of a message program, and the runs that show it as choices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from rdma_robust.messages.message_answers import BufferAnswer
from rdma_robust.reports.messages.run_findings import RunFinding, run_findings
from rdma_robust.teaching.explorer.address import Track
from rdma_robust.teaching.explorer.message_address import MessagePlace
from rdma_robust.teaching.explorer.message_session import MessageSession
from rdma_robust.teaching.explorer.message_view import FoundRunView, MessageVerdictView
from rdma_robust.text import one_line


def found_runs(session: MessageSession, answers: Sequence[BufferAnswer]) -> MessageVerdictView:
    """Return the verdict, and the first run of each kind that is not too long to step through. The session is for this only.

    Raises InternalError if the program cannot run one.
    """
    findings = run_findings(session.program, answers)
    runs: dict[str, FoundRunView] = {}
    for found in _runs(session, findings):
        runs.setdefault(found.kind, found)
    verdict, text = _said(answers)
    return MessageVerdictView(verdict, text, tuple(runs.values()))


def _said(answers: Sequence[BufferAnswer]) -> tuple[Literal["fine", "wrong", "unknown"], str]:
    violated = [each.buffer for each in answers if each.violated == "yes"]
    deadlocked = [each.buffer for each in answers if each.deadlocked == "yes"]
    parts = [f"violated under {', '.join(violated)}"] if violated else []
    parts += [f"deadlock under {', '.join(deadlocked)}"] if deadlocked else []
    if parts:
        return "wrong", "; ".join(parts)
    unknown = next((each for each in answers if "unknown" in (each.violated, each.deadlocked)), None)
    if unknown is not None:
        return "unknown", f"Not known: {one_line(unknown.reason, 200)}"
    return "fine", "No assertion is violated, and nothing waits for ever."


def _runs(session: MessageSession, findings: Sequence[RunFinding]) -> Iterator[FoundRunView]:
    for found in findings:
        choices = session.runs(found.buffer).whole(found.schedule)
        if choices is not None and found.kind != "run":
            address = session.address(MessagePlace(found.buffer, Track(choices, 0)))
            yield FoundRunView(found.kind, one_line(found.headline, 200), address, len(choices))
