"""The JSON report: one versioned object, or one result object per line (`schema/check.schema.json`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from rdma_robust.frame.answer import DiagnosticView, JsonObject
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.options import REDUCTIONS, CheckOptions
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.check.summary import Summary
from rdma_robust.reports.share.totals import envelope

FORMAT = "rdma-robust/check"
VERSION = 1


def result_object(result: Result) -> JsonObject:
    """Return the JSON object of one program. A file name that is no valid Unicode is escaped."""
    members = dataclasses.asdict(result) | {"file": valid_unicode(result.file)}
    if members["copies"] is None:
        del members["copies"]
    if not members["left_out"]:
        del members["left_out"]
    if members["matters"] is None:
        del members["matters"]
    elif members["matters"]["final_states"] is not None:
        members["matters"]["final_states"] = [dict(state) for state in members["matters"]["final_states"]]
    if members["witness"] is not None:
        relations = members["witness"]["relations"]
        members["witness"]["relations"] = {name: pairs for name, pairs in relations.items() if pairs is not None}
    return members


def diagnostic_object(view: DiagnosticView) -> JsonObject:
    """Return a warning or an error in a few members."""
    return {"line": view.line, "column": view.column, "code": view.code, "message": view.message}


def document(
    results: Sequence[Result], summary: Summary, tool: Mapping[str, object], options: Mapping[str, object]
) -> JsonObject:
    """Return the whole report; `tool` and `options` say by what and how it was made."""
    return envelope((FORMAT, VERSION), [result_object(r) for r in results], summary, tool, options)


def described(options: CheckOptions, expect: bool) -> JsonObject:
    """Return how the programs were decided; `expect` says whether the `expect` lines count."""
    reductions = [name for name in REDUCTIONS if name in options.reductions]
    members = dataclasses.asdict(options)
    for inside in ("hardware", "large", "cpu", "atomics", "order"):
        del members[inside]
    return members | options.model.described() | {"expect": expect, "reductions": reductions}
