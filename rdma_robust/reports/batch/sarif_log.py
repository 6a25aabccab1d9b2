"""What every SARIF 2.1.0 log (OASIS standard) of the tool has alike: the form that GitHub code scanning and editors show."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final
from urllib.parse import quote

from rdma_robust.frame.answer import DiagnosticView
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.language.value_ranges import file_of, instance_of
from rdma_robust.reports.batch.sarif_rules import level_of, rule

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
INFORMATION: Final = "https://github.com/rdma-robust/rdma-robust"
ROOT: Final = "%SRCROOT%"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Invocation:
    """How the run went: its exit code, whether it was stopped, and what stopped it from reading or deciding a program."""

    exit_code: int
    interrupted: bool
    problems: Sequence[str]


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A program that results are about: its name for the user, its text, and the SHA-256 of that, as far as it was read."""

    file: str
    text: str | None
    sha256: str | None = None

    def line(self, number: int) -> str:
        """Return a line of the text, nothing if there is none."""
        lines = (self.text or "").split("\n")
        return lines[number - 1] if number <= len(lines) else ""

    def place(self, line: int, column: int | None = None, statement: str = "") -> Json:
        """Return a place: of the statement as far as it can be found there, else to the end of the line."""
        region: Json = {"startLine": line}
        if column is not None:
            region["startColumn"] = column
            if statement and self.line(line)[column - 1 :].startswith(statement):
                region["endColumn"] = column + len(statement)
        return {"physicalLocation": {"artifactLocation": artifact(file_of(self.file)), "region": region}}

    def result(self, code: str, text: str, location: Json) -> Json:
        """Return a result at a location, with a fingerprint that survives edits elsewhere in the file."""
        text += f" ({instance_of(self.file)})" if instance_of(self.file) else ""
        region = location["physicalLocation"].get("region", {"startLine": 1})
        print_ = f"{code}\n{self.line(region['startLine']).strip()}\n{text}"
        return {
            "ruleId": code,
            "level": level_of(code),
            "message": message(text),
            "locations": [location],
            "partialFingerprints": {"rdmaRobust/v1": digest(print_)},
        }

    def at(self, code: str, text: str, line: int, column: int | None = None) -> Json:
        """Return a result at a line."""
        return self.result(code, text, self.place(line, column))

    def diagnostic(self, found: DiagnosticView) -> Json:
        """Return an error or warning as a result."""
        more = [f"expected: {found.expected}"] * bool(found.expected) + [f"hint: {found.hint}"] * bool(found.hint)
        return self.at(found.code, "; ".join([found.message, *more]), found.line, found.column)


def sarif_log(
    files: Iterable[ScannedFile], found: Iterable[Json], invocation: Invocation, tool: Mapping[str, object]
) -> str:
    """Return the log: one run, with a result for everything that somebody should look at."""
    results = list(found)
    codes = sorted({result["ruleId"] for result in results})
    for result in results:
        result["ruleIndex"] = codes.index(result["ruleId"])
    run = {
        "tool": {"driver": _driver(tool, codes)},
        "automationDetails": {"id": "rdma-robust/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder in which rdma-robust was started."}}},
        "invocations": [_invocation(invocation)],
        "artifacts": [{"location": artifact(f.file), "hashes": {"sha-256": f.sha256}} for f in files if _is_as_written(f)],
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _is_as_written(file: ScannedFile) -> bool:
    """Whether what was decided is the text of the file, and not an instance of it."""
    return file.sha256 is not None and not instance_of(file.file)


def _driver(tool: Mapping[str, object], codes: list[str]) -> Json:
    version = str(tool["version"])
    rules = [rule(code) for code in codes]
    return {"name": "rdma-robust", "version": version, "semanticVersion": version, "rules": rules}


def _invocation(invocation: Invocation) -> Json:
    notes = [{"level": "error", "message": message(problem)} for problem in invocation.problems]
    return {
        "executionSuccessful": not invocation.interrupted and not notes,
        "exitCode": int(invocation.exit_code),
        "toolExecutionNotifications": notes,
    }


def artifact(file: str) -> Json:
    """Return where a file is: relative to the folder of the run if it is in it, so that other machines find it too."""
    path = os.path.relpath(file) if os.path.isabs(file) else os.path.normpath(file)
    if file == "<stdin>":
        return {"uri": quote(file)}
    if path.split(os.sep)[0] == os.pardir:
        return {"uri": "file://" + quote(os.fsencode(os.path.abspath(file)))}
    return {"uri": quote(os.fsencode(path)), "uriBaseId": ROOT}


def message(text: str) -> Json:
    """Return a message that shows just `text`: what would be a link in it (SARIF 3.11.6) is escaped."""
    parts = valid_unicode(text).split("]")
    links = [part.replace("[", r"\[") if after.startswith("(") else part for part, after in pairwise(parts)]
    return {"text": "]".join([*links, parts[-1]])}


def digest(text: str) -> str:
    """Return a fingerprint of `text`."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
