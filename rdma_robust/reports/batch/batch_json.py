"""A batch as JSON (`schema/report.schema.json`), and as JSON lines: the results of `check`, one a line."""

from __future__ import annotations

import dataclasses

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.formats.json_text import dump, layout, valid_unicode
from rdma_robust.frame.formats.section import document
from rdma_robust.reports.batch.batch_view import BatchReport
from rdma_robust.reports.check.robustness_view import result_object

FORMAT = "rdma-robust/report"
VERSION = 1


def batch_document(report: BatchReport) -> JsonObject:
    """Return the report as one versioned object. `sources` runs parallel to `results`, which are those of `check`."""
    totals = report.summary.members()
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(report.tool),
        "options": dict(report.options),
        "interrupted": report.summary.interrupted,
        "results": [result_object(r) for r in report.results],
        "sources": [
            {"file": valid_unicode(e.result.file), "family": valid_unicode(e.family), "sha256": e.sha256}
            for e in report.entries
        ],
        "claims": [None if e.claims is None else dataclasses.asdict(e.claims) for e in report.entries],
        "families": [dataclasses.asdict(f) | {"family": valid_unicode(f.family)} for f in report.families],
        "summary": totals,
        **({"messages": _messages(report)} if report.messages else {}),
        **({"contracts": _contracts(report)} if report.contracts else {}),
        **({"questions": [document(each) for each in report.sections]} if report.sections else {}),
    }


def _messages(report: BatchReport) -> list[JsonObject]:
    return [each for record in report.messages for each in record.results]


def _contracts(report: BatchReport) -> list[JsonObject]:
    return [each.result for each in report.contracts if each.result is not None]


def write_json(report: BatchReport) -> str:
    return layout(batch_document(report)) + "\n"


def write_jsonl(report: BatchReport) -> str:
    others = [each for one in report.sections for record in one.records for each in one.view.objects(record)]
    results = [*map(result_object, report.results), *_messages(report), *_contracts(report), *others]
    return "".join(f"{dump(each)}\n" for each in results)
