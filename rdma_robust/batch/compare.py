"""What changed between two JSON reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from rdma_robust.errors import UsageError
from rdma_robust.reports.batch.compare_view import Change, Comparison, Kind, Known, Report
from rdma_robust.reports.check.result import VerdictWord
from rdma_robust.text import json_mistake

RANK: Mapping[str, int] = {verdict: rank for rank, verdict in enumerate(("robust", "not-robust", "unknown", "error"))}
"""From good to bad, as the exit codes are weighed."""
FORMATS = ("rdma-robust/check", "rdma-robust/report")


def compare(old: Report, new: Report) -> Comparison:
    """Return what changed from `old` to `new`, by the names of the files."""
    files = [*new.programs, *(file for file in old.programs if file not in new.programs)]
    return Comparison(old, new, tuple(_change(f, old.programs.get(f), new.programs.get(f)) for f in files))


def _change(file: str, old: Known | None, new: Known | None) -> Change:
    edited = None
    if old and new and old.sha256 and new.sha256:
        edited = old.sha256 != new.sha256
    reason = new.reason if new else ""
    verdicts = (old.verdict if old else None, new.verdict if new else None)
    return Change(file, _kind(old, new), *verdicts, edited, reason)


def _kind(old: Known | None, new: Known | None) -> Kind:
    """Return what happened. A verdict that was as expected and is not any more got worse, whatever the verdicts are."""
    if old is None:
        return "new"
    if new is None:
        return "missing"
    if old.verdict == new.verdict:
        return "same"
    if old.as_expected is not None and new.as_expected is not None and old.as_expected != new.as_expected:
        return "improvement" if new.as_expected else "regression"
    return "regression" if RANK[new.verdict] > RANK[old.verdict] else "improvement"


def read_report(path: str, text: str) -> Report:
    """Return the report in `text`, the JSON of `report` or of `check`; `path` is for messages. Raises UsageError."""
    try:
        document = json.loads(text)
        if document["format"] not in FORMATS or document["version"] != 1:
            raise UsageError(
                f"{path}: a report of format {document['format']!r}, version {document['version']!r}, is not known"
            )
        hashes = {each["file"]: each["sha256"] for each in document.get("sources", ())}
        programs = {each["file"]: _known(each, hashes) for each in document["results"]}
        report = Report(path, programs, document["interrupted"], str(document["tool"]["version"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        what = "its members are others"
        if isinstance(error, (json.JSONDecodeError, RecursionError)):
            where = f", line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
            what = f"{json_mistake(error)}{where}"
        raise UsageError(f"{path}: not a JSON report of `rdma-robust report` or `check` ({what})") from error
    if not isinstance(report.interrupted, bool) or not all(isinstance(file, str) for file in programs):
        raise UsageError(f"{path}: not a JSON report of `rdma-robust report` or `check`")
    return report


def _known(result: Mapping[str, Any], hashes: Mapping[str, str | None]) -> Known:
    if result["verdict"] not in get_args(VerdictWord) or result["as_expected"] not in (True, False, None):
        raise ValueError("an unknown verdict")
    return Known(result["verdict"], result["as_expected"], str(result["reason"]), hashes.get(result["file"]))
