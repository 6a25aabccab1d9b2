"""The JSON report of `prove` (`schema/prove.schema.json`): one versioned object, or one result object per line."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit, worst
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.reports.prove.proof_record import ModelRecord, ProofRecord
from rdma_robust.reports.prove.proof_text import mismatched

FORMAT: Final = "rdma-robust/prove"
VERSION: Final = 1


def result_object(record: ProofRecord, expect: bool) -> JsonObject:
    """Return the JSON object of one program. A file name that is no valid Unicode is escaped."""
    members = dataclasses.asdict(record)
    del members["lines"], members["source"]
    models = [_model_object(each, expect) for each in record.models]
    more = {"file": valid_unicode(record.file), "models": models, "exit_code": int(record.exit_of(expect))}
    return members | more


def _model_object(each: ModelRecord, expect: bool) -> JsonObject:
    members = dataclasses.asdict(each)
    del members["lines"]
    return members | {"counts": dict(each.counts), "exit_code": int(each.exit_of(expect))}


def document(
    records: Sequence[ProofRecord],
    requested: int,
    time_s: float,
    stopped: Exit | None,
    *,
    expect: bool,
    tool: Mapping[str, object],
    options: Mapping[str, object],
) -> JsonObject:
    """Return the whole report; `stopped` is the exit code of a run that was stopped before its end."""
    answers = [each for record in records for each in record.models]
    words = [each.verdict for each in answers]
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "options": dict(options),
        "interrupted": stopped is not None,
        "results": [result_object(record, expect) for record in records],
        "summary": {
            "requested": requested,
            "programs": len(records),
            **{word: words.count(word) for word in ("safe", "unsafe", "unknown", "refused")},
            "undecided": sum(r.verdict == "unknown" and not r.models for r in records),
            "error": sum(r.verdict == "error" for r in records),
            "as_expected": sum(each.as_expected is True for each in answers),
            "mismatched": sum(mismatched(each) if expect else each.as_expected is False for each in answers),
            "exit_code": int(exit_of_all(records, expect, stopped)),
            "time_s": round(time_s, 6),
        },
    }


def exit_of_all(records: Sequence[ProofRecord], expect: bool, stopped: Exit | None) -> Exit:
    """Return the exit code of a run over many programs."""
    return stopped if stopped is not None else worst([record.exit_of(expect) for record in records])
