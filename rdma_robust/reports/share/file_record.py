"""The record of a file of `.mp`, of its processes or of its contracts, as findings are told from it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from rdma_robust.frame.answer import DiagnosticView
from rdma_robust.frame.finding import Finding, Flow, Step, digest, problem_findings

SCHEME: Final = "rdmaRobustMessages/v1"
"""The name of the fingerprints of findings in files of `.mp`."""


class FileRecord(Protocol):
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
    def findings(self) -> Sequence[Finding]: ...


def source_digest(record: FileRecord) -> str | None:
    """Return the SHA-256 of the text of a program, None if it was not read."""
    text = record.source
    return None if text is None else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def reported_findings(record: FileRecord) -> Iterator[Finding]:
    """Yield errors and warnings of a program, why it got no answer, if it got none, and its findings."""
    undecided = record.reason if record.error_kind is None and not record.answered else ""
    yield from problem_findings(record.file, (*record.errors, *record.warnings), record.error_kind, record.reason, undecided)
    yield from record.findings


def run_flow(steps: Iterable[Step], line: int) -> tuple[Flow, ...]:
    """Return the run that shows a finding at a line, nothing without steps."""
    shown = tuple(replace(step, essential=step.line == line) for step in steps)
    return (Flow("run", "The run that shows it, in the order of time", shown),) if shown else ()


@dataclass(frozen=True, slots=True)
class ShapedFinding:
    """A finding, and its text without lines and values, by which it is known again after edits elsewhere."""

    finding: Finding
    shape: str


def known_again(shaped: Iterable[ShapedFinding], name: str | None, source: str) -> tuple[Finding, ...]:
    """Return findings of the program `name` with fingerprints: of their shapes, and of the line that each is at. Those that
    are alike are numbered."""
    lines, seen = source.split("\n"), Counter[str]()
    found = []
    for each, shape in ((one.finding, one.shape) for one in shaped):
        at = (each.line or 1) - 1
        print_ = digest(f"{each.code}\n{name}\n{lines[at].strip() if at < len(lines) else ''}\n{shape}")
        seen[print_] += 1
        print_ += f":{seen[print_]}" if seen[print_] > 1 else ""
        found.append(replace(each, sentence=f"{each.message.rstrip('.')}.", fingerprint=(SCHEME, print_)))
    return tuple(found)
