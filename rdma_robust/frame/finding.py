"""Findings as one line each: for people and editors (`concise`), and as commands that GitHub reads from a log (`github`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rdma_robust.language.value_ranges import file_of, instance_of
from rdma_robust.text import printable

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class FindingLine:
    """Something to be looked at, at a 1-based place of a file; without a place it is about the file."""

    file: str
    line: int | None
    column: int | None
    severity: Level
    code: str
    message: str


def concise(finding: FindingLine) -> str:
    """Return `file:9:3: error: message [RR010]`, on one line whatever the file is called."""
    place = "" if finding.line is None else f":{finding.line}:{finding.column or 1}"
    message = f"{finding.severity}: {printable(finding.message)}{_which(finding)} [{finding.code}]"
    return f"{printable(file_of(finding.file))}{place}: {message}"


def github(finding: FindingLine) -> str:
    """Return a workflow command (`::error file=...,line=...,col=...::message`), which GitHub shows at the line.

    In values of properties `%`, line ends, `:` and `,` are escaped, in the message `%` and line ends.
    """
    place = {
        "file": file_of(finding.file),
        "line": finding.line,
        "col": finding.column,
        "title": f"rdma-robust {finding.code}",
    }
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in place.items() if value is not None)
    word = "notice" if finding.severity == "note" else finding.severity
    return f"::{word} {properties}::{_data(f'{finding.message}{_which(finding)} [{finding.code}]')}"


def _which(finding: FindingLine) -> str:
    """Return which instance of its file a finding is about, nothing if it is about the file."""
    instance = instance_of(finding.file)
    return f" ({instance})" if instance else ""


def _data(text: str) -> str:
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


WRITERS = {"concise": concise, "github": github}
