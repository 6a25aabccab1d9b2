"""From reports of the commands to findings at places of the text: what an editor underlines, and the verdict in a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rdma_robust.errors import NO_SPAN, Diagnostic, ProgramError, Severity
from rdma_robust.language.load import load_program

Report = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that a finding is about: its 1-based line, and what happens there."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to be shown at the statement of a 1-based line and column."""

    line: int
    column: int
    severity: Severity | Literal["information"]
    code: str
    message: str
    related: tuple[Related, ...] = field(default=())


def diagnostics_of(text: str, file: str) -> tuple[Diagnostic, ...]:
    """Return the errors of a program, or else its warnings."""
    try:
        return load_program(text, file).warnings
    except ProgramError as error:
        return error.diagnostics


def is_wrong(found: tuple[Diagnostic, ...]) -> bool:
    """Return whether a program with these diagnostics cannot be decided."""
    return any(each.severity == "error" for each in found)


def in_words(diagnostic: Diagnostic) -> str:
    """Return a diagnostic as one text: the message, what was expected, and the hint."""
    parts = [diagnostic.message]
    if diagnostic.span != NO_SPAN:
        parts += [f"expanded from line {origin.line}" for origin in diagnostic.span.chain()]
    if diagnostic.expected:
        parts.append(f"expected: {diagnostic.expected}")
    if diagnostic.hint:
        parts.append(f"hint: {diagnostic.hint}")
    return "\n".join(parts)


def verdict_line(report: Report) -> str:
    """Return the verdict of a `check` report of one program as a line."""
    result = report["results"][0]
    words = {"robust": "robust", "not-robust": "not robust", "unknown": "unknown", "error": "no verdict"}
    line = words[result["verdict"]]
    if result["verdict"] in ("unknown", "error"):
        return f"{line}: {result['reason']}"
    if result["as_expected"] is False:
        line += f", but `expect {words[result['expected']]}`"
    return line


def of_check(report: Report) -> Iterator[Finding]:
    """Yield what a `check` report of one program has to be shown: the reordering, and faults that some execution reaches."""
    result = report["results"][0]
    witness = result["witness"]
    if result["verdict"] == "not-robust" and witness is not None:
        events = {event["id"]: event for event in witness["events"]}
        for pair in witness["relaxed"]:
            earlier, later = events[pair["earlier"]], events[pair["later"]]
            related = [Related(earlier["line"], earlier["text"]), Related(later["line"], later["text"])]
            targets = [(events[edge["target"]]["line"], edge["text"]) for edge in witness["cycle"]]
            cycle = [Related(line, said) for line, said in targets if line]
            message = f"not robust: {pair['text']}"
            yield Finding(earlier["line"], earlier["column"], "error", "RR010", message, (*related, *cycle))
    for fault in result["faults"]:
        reached = "reachable" if result["faults_exact"] else "may be reachable"
        message = f"{reached}: {fault['kind']}: {fault['message']}"
        yield Finding(fault["line"], fault["column"], "warning", "RR014", message)
    for wait in result["hangs"]:
        yield Finding(wait["line"] or 1, wait["column"] or 1, "warning", "RR015", f"the program can hang: {wait['text']}")
