"""Findings as SARIF 2.1.0 (OASIS standard), which GitHub code scanning and editors show: one run, a result for each."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final
from urllib.parse import quote

from rdma_robust.codes.known_codes import MessageCode, codes, tags_of
from rdma_robust.frame.finding import PROBLEMS, Finding, Flow, Kind, Level, Step, digest
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.text import sha256
from rdma_robust.value_ranges import file_of, told_instance

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT: Final = "%SRCROOT%"

NOTES: Final = ("RR023", "RR024", "RR7")
"""Beginnings of codes of what never changes an answer."""

NOT_SO_SURE: Final = ("RR014", "RR015", *NOTES)
"""Beginnings of codes that are right about the program, and may be meant."""

ORDER: Final[Mapping[Kind, int]] = {"verdict": 0, "problem": 1, "diagnostic": 2, "claim": 3}

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """An input: its name for the user, its text, None if it could not be read, and what is found in it."""

    file: str
    text: str | None
    findings: Sequence[Finding]

    @property
    def sha256(self) -> str | None:
        """The SHA-256 of the text, if that is the whole file and not an instance of it."""
        if self.text is None or told_instance(self.file):
            return None
        return sha256(self.text)

    def line(self, number: int) -> str:
        """Return a line of the text, nothing if there is none."""
        lines = (self.text or "").split("\n")
        return lines[number - 1] if number <= len(lines) else ""


def sarif_log(files: Sequence[ScannedFile], exit_code: int, tool: Mapping[str, object], *, interrupted: bool = False) -> str:
    """Return the log. What kept an input from being read or decided is told of the run, and no result."""
    problems = [each for file in files for each in file.findings if each.code in _OF_THE_RUN]
    results = [_result(file, each) for file in files for each in sorted(file.findings, key=_rank) if each not in problems]
    rules = sorted({result["ruleId"] for result in results})
    for result in results:
        result["ruleIndex"] = rules.index(result["ruleId"])
    notes = [{"level": "error", "message": message(f"{each.file}: {each.message}")} for each in problems]
    hashes = {file.file: file.sha256 for file in files if file.sha256 is not None}
    run = {
        "tool": {"driver": driver(tool, rules)},
        "automationDetails": {"id": "rdma-robust/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": BASES,
        "invocations": [
            {
                "executionSuccessful": not interrupted and not notes,
                "exitCode": int(exit_code),
                "toolExecutionNotifications": notes,
            }
        ],
        "artifacts": [{"location": artifact(name), "hashes": {"sha-256": sha}} for name, sha in hashes.items()],
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


BASES: Final = {ROOT: {"description": {"text": "The folder in which rdma-robust was started."}}}
_OF_THE_RUN: Final = (PROBLEMS["unreadable"], PROBLEMS["internal"])


def _rank(finding: Finding) -> int:
    return ORDER[finding.kind]


def _result(file: ScannedFile, found: Finding) -> Json:
    """Return a result, with a fingerprint that survives edits elsewhere in the file."""
    instance = told_instance(file.file)
    text = (found.sentence or found.message) + (f" ({instance})" if instance else "")
    line = found.line or 1
    known_by = f"{found.code}\n{file.line(line).strip()}\n{text}"
    scheme, print_ = found.fingerprint or ("rdmaRobust/v1", digest(known_by))
    result: Json = {
        "ruleId": found.code,
        "level": "error" if found.level == "error" else level_of(found.code),
        "message": message(text),
        "locations": [_place(file, line, found.column if found.line else None, found.statement)]
        if file_of(found.file) == file_of(file.file)
        else [_located(found.file, {"startLine": line, "startColumn": found.column or 1})],
        "partialFingerprints": {scheme: print_},
    }
    if found.related:
        result["relatedLocations"] = [_step(file, each) | {"id": number} for number, each in enumerate(found.related, 1)]
    if found.flows:
        result["codeFlows"] = [_flow(file, each) for each in found.flows]
    return result


def _place(file: ScannedFile, line: int, column: int | None, statement: str) -> Json:
    """Return a place: of the statement as far as it can be found there, else to the end of the line."""
    region: Json = {"startLine": line}
    if column is not None:
        region["startColumn"] = column
        if statement and file.line(line)[column - 1 :].startswith(statement):
            region["endColumn"] = column + len(statement)
    return _located(file.file, region)


def _located(file: str, region: Json) -> Json:
    return {"physicalLocation": {"artifactLocation": artifact(file_of(file)), "region": region}}


def _step(file: ScannedFile, step: Step) -> Json:
    here = (
        _located(step.file, {"startLine": step.line or 1, "startColumn": step.column or 1})
        if step.file
        else _place(file, step.line or 1, step.column, step.statement)
    )
    return here | {"message": message(step.text)}


def _flow(file: ScannedFile, flow: Flow) -> Json:
    locations = [
        {
            "location": _step(file, step),
            "executionOrder": number,
            "importance": "essential" if step.essential else "important",
            **({"kinds": list(step.kinds)} if step.kinds else {}),
        }
        for number, step in enumerate((each for each in flow.steps if each.line is not None), 1)
    ]
    return {"message": message(flow.title), "threadFlows": [{"id": flow.name, "locations": locations}]}


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


def level_of(code: str) -> Level:
    """Return how bad a finding of a code is if nothing else is said of it."""
    return "note" if code.startswith(NOTES) else codes()[code].severity


def driver(tool: Mapping[str, object], rules: Sequence[str]) -> Json:
    """Return the tool, with the codes of what was found and the help that code scanning shows."""
    version = str(tool["version"])
    shown = [_rule(code) for code in rules]
    return {"name": "rdma-robust", "version": version, "semanticVersion": version, "rules": shown}


def _rule(code: str) -> Json:
    """Return the rule of a code as SARIF has it (a reportingDescriptor, SARIF 3.49)."""
    entry, level = codes()[code], level_of(code)
    return {
        "id": code,
        "shortDescription": {"text": entry.title[:1].upper() + entry.title[1:]},
        "fullDescription": {"text": " ".join(entry.explanation.split("\n\n", 1)[0].split())},
        "help": {"text": entry.explanation, "markdown": _help(entry)},
        "defaultConfiguration": {"level": level},
        "properties": {
            "precision": "high" if code.startswith(NOT_SO_SURE) else "very-high",
            # GitHub's word for a note.
            "problem.severity": "recommendation" if level == "note" else level,
            "tags": tags_of(code),
        },
    }


def _help(entry: MessageCode) -> str:
    if entry.kind not in ("program", "runs", "violations"):
        return entry.explanation
    return (
        f"{entry.explanation}\n\nGives {entry.name}:\n\n```\n{entry.bad.rstrip()}\n```\n\n"
        f"Does not:\n\n```\n{entry.repaired.rstrip()}\n```\n"
    )
