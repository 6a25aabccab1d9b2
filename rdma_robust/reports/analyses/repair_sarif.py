"""The report of `rdma-robust repair` as SARIF 2.1.0: what is wrong, and the repairs as fixes (SARIF 3.55)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rdma_robust.analyses.repair.repairs import Repair, RepairSolution, TextEdit
from rdma_robust.frame.formats.sarif import BASES, SCHEMA, artifact, driver, level_of, message
from rdma_robust.reports.analyses.repair_report import exit_of_repair

Json = dict[str, Any]

NEEDED: Final = "RR010"
UNDECIDED: Final = "RR011"
NEEDLESS: Final = "RR727"
VIOLATED: Final = "RR016"
"""With the goal to be safe, instead of NEEDED."""


def repair_sarif(repair: Repair, file: str, tool: Mapping[str, object], needless: bool) -> Json:
    """Return the log: one run, with one result unless nothing is to do; every solution is one of its fixes."""
    results = list(_results(repair, file, needless))
    run = {
        "tool": {"driver": driver(tool, [result["ruleId"] for result in results])},
        "automationDetails": {"id": "rdma-robust/repair/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": BASES,
        "invocations": [{"executionSuccessful": True, "exitCode": int(exit_of_repair(repair))}],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _results(repair: Repair, file: str, needless: bool) -> Iterator[Json]:
    if repair.status in ("robust", "safe"):
        return
    needed, wrong = NEEDED, "Not robust"
    if repair.waits is not None:
        needed, wrong = VIOLATED, f"Not safe under {repair.waits.model}"
    if repair.status == "unknown":
        yield _result(UNDECIDED, f"Undecided: {repair.reason}.", file, 1)
    elif repair.status == "impossible" or not repair.solutions:
        yield _result(needed, f"{wrong}, and not repaired: {repair.reason}.", file, 1)
    else:
        first = repair.solutions[0]
        code, text = (NEEDLESS, "What nothing needs") if needless else (needed, f"{wrong}; a repair")
        result = _result(code, f"{text}: {_told(first)}.", file, _line(first))
        yield result | {"fixes": [_fix(solution, file) for solution in repair.solutions]}


def _told(solution: RepairSolution) -> str:
    parts = [*((i, "insert") for i in solution.insertions), *((i, "remove") for i in solution.removed)]
    said = (f"{verb} `{'; '.join(i.lines)}` in {i.thread}, line {i.line}" for i, verb in parts)
    return f"{', '.join(said)} (cost {solution.cost})"


def _line(solution: RepairSolution) -> int:
    """The line of the program where the first statement comes or goes."""
    if solution.removed:
        return solution.removed[0].line
    words = [w for i in solution.insertions for w in i.lines]
    return next(_statement_line(e) for e in solution.edits if any(w in e.text for w in words))


def _statement_line(edit: TextEdit) -> int:
    """What is put at the beginning of a line follows the one before it."""
    return max(1, edit.line - (edit.column == 1))


def _fix(solution: RepairSolution, file: str) -> Json:
    replacements = [
        {
            "deletedRegion": {
                "startLine": edit.line,
                "startColumn": edit.column,
                "endLine": edit.end_line,
                "endColumn": edit.end_column,
            },
            "insertedContent": {"text": edit.text},
        }
        for edit in solution.edits
    ]
    change = {"artifactLocation": artifact(file), "replacements": replacements}
    return {"description": message(_told(solution)), "artifactChanges": [change]}


def _result(code: str, text: str, file: str, line: int) -> Json:
    place = {"artifactLocation": artifact(file), "region": {"startLine": line}}
    return {
        "ruleId": code,
        "ruleIndex": 0,
        "level": level_of(code),
        "message": message(text),
        "locations": [{"physicalLocation": place}],
    }
