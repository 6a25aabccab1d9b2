"""Message programs and contracts as SARIF 2.1.0: what goes wrong, each at its line, with the run as code flow."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Protocol

from rdma_robust.frame.answer import DiagnosticView
from rdma_robust.reports.analyses.claim_findings import StepView
from rdma_robust.reports.batch.sarif_log import Json, ScannedFile, digest, message
from rdma_robust.reports.messages.message_findings import MessageFinding


class Reported(Protocol):
    """The record of a file: of its processes or of its contracts."""

    @property
    def file(self) -> str: ...

    @property
    def program(self) -> str | None: ...

    @property
    def source(self) -> str | None: ...

    @property
    def reason(self) -> str: ...

    @property
    def error_kind(self) -> str | None: ...

    @property
    def answered(self) -> bool:
        """Whether there are answers, be they that nobody knows."""

    @property
    def errors(self) -> Sequence[DiagnosticView]: ...

    @property
    def warnings(self) -> Sequence[DiagnosticView]: ...

    @property
    def findings(self) -> Sequence[MessageFinding]: ...


def scanned_messages(record: Reported) -> ScannedFile:
    """Return the program of a record as results are about it."""
    return ScannedFile(record.file, record.source, source_digest(record))


def source_digest(record: Reported) -> str | None:
    """Return the SHA-256 of the text of a program, None if it was not read."""
    text = record.source
    return None if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def messages_problems(records: Sequence[Reported]) -> list[str]:
    """Return what stopped the tool from reading or deciding programs."""
    return [f"{each.file}: {each.reason}" for each in records if each.error_kind in ("internal", "unreadable")]


def messages_results(record: Reported) -> Iterator[Json]:
    """Yield a result for everything of a program that somebody should look at."""
    file = scanned_messages(record)
    if record.error_kind == "invalid" and not record.errors:
        yield file.at("RR002", record.reason, 1)
    if record.error_kind is None and not record.answered:
        yield file.at("RR011", f"Undecided: {record.reason}.", 1)
    yield from (file.diagnostic(each) for each in (*record.errors, *record.warnings))
    seen: Counter[str] = Counter()
    for each in record.findings:
        shape = digest(f"{each.code}\n{record.program}\n{file.line(each.line).strip()}\n{each.shape}")
        seen[shape] += 1
        yield _result(file, each, shape if seen[shape] == 1 else f"{shape}:{seen[shape]}")


def _result(file: ScannedFile, found: MessageFinding, shape: str) -> Json:
    result = file.result(found.code, f"{found.text.rstrip('.')}.", file.place(found.line, found.column, found.statement))
    result["level"] = found.level
    result["partialFingerprints"] = {"rdmaRobustMessages/v1": shape}
    if found.others:
        result["relatedLocations"] = [_location(file, each) | {"id": nth} for nth, each in enumerate(found.others, 1)]
    if found.run:
        locations = [
            {
                "location": _location(file, step),
                "executionOrder": number,
                "importance": "essential" if step.line == found.line else "important",
                "kinds": [step.thread],
            }
            for number, step in enumerate(found.run, 1)
        ]
        run = {"id": "run", "locations": locations}
        result["codeFlows"] = [{"message": message("The run that shows it, in the order of time"), "threadFlows": [run]}]
    return result


def _location(file: ScannedFile, step: StepView) -> Json:
    return file.place(step.line or 1, step.column) | {"message": message(step.text)}
