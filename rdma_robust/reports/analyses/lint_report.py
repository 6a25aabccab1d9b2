"""The warnings of programs: as text with the source, as lines, and as JSON (`schema/lint.schema.json`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rdma_robust.frame.answer import DiagnosticView, ErrorKind, JsonObject
from rdma_robust.frame.exits import Exit, worst
from rdma_robust.frame.finding import PROBLEMS, Finding, diagnostic_findings
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.formats.lines import WRITERS
from rdma_robust.text import count

FORMAT = ("rdma-robust/lint", 1)


@dataclass(frozen=True, slots=True)
class LintRecord:
    """The answer for one program: its warnings or its errors, why there is none, and `shown`, what a text report says."""

    file: str
    error_kind: ErrorKind | None = None
    reason: str = ""
    warnings: tuple[DiagnosticView, ...] = ()
    errors: tuple[DiagnosticView, ...] = ()
    shown: str = ""

    @property
    def exit(self) -> Exit:
        """The exit code that this program alone gives."""
        if self.error_kind is not None:
            return Exit.INTERNAL if self.error_kind == "internal" else Exit.INVALID
        if self.reason:
            return Exit.UNKNOWN
        return Exit.NOT_ROBUST if self.warnings else Exit.OK


def lint_object(record: LintRecord) -> JsonObject:
    """Return the JSON object of one program."""
    members = dataclasses.asdict(record) | {"file": valid_unicode(record.file)}
    del members["shown"]
    return members


def lint_document(records: Sequence[LintRecord], tool: Mapping[str, object], options: Mapping[str, object]) -> JsonObject:
    """Return the whole report."""
    return {
        "format": FORMAT[0],
        "version": FORMAT[1],
        "tool": dict(tool),
        "options": dict(options),
        "results": [lint_object(record) for record in records],
        "summary": {
            "programs": len(records),
            "clean": sum(record.exit is Exit.OK for record in records),
            "warnings": sum(len(record.warnings) for record in records),
            "errors": sum(record.error_kind is not None for record in records),
            "exit_code": int(lint_exit(records)),
        },
    }


def lint_lines(record: LintRecord, form: str) -> list[str]:
    """Return the lines of one program in the form `concise` or `github`."""
    found = list(diagnostic_findings(record.file, (*record.errors, *record.warnings)))
    if record.reason and not record.errors:
        code = PROBLEMS[record.error_kind] if record.error_kind else "RR011"
        found.append(Finding(record.file, None, None, "error" if record.error_kind else "warning", code, record.reason))
    return [WRITERS[form](finding) for finding in found]


def lint_totals(records: Sequence[LintRecord]) -> str:
    """Return the last line of a text report."""
    warnings = sum(len(record.warnings) for record in records)
    bad = sum(record.error_kind is not None for record in records)
    cut = sum(record.exit is Exit.UNKNOWN for record in records)
    parts = [count(warnings, "warning") if warnings else "no warnings"]
    parts += [count(bad, "error")] if bad else []
    parts += [f"{cut} not finished"] if cut else []
    return f"{count(len(records), 'program')}: {', '.join(parts)}"


def lint_exit(records: Sequence[LintRecord]) -> Exit:
    """Return the exit code of all programs."""
    return worst([record.exit for record in records])
