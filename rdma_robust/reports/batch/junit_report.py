"""A batch as JUnit XML.

A family is a suite and a program a test: a failure if it is not robust (with `--expect`: not as expected), an error if there
is no verdict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.junit import Case, junit_document
from rdma_robust.reports.batch.batch_view import BatchReport, ReportEntry
from rdma_robust.reports.batch.contract_rows import contract_cases
from rdma_robust.reports.batch.message_rows import message_cases
from rdma_robust.reports.check.paragraphs import explain
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.check.robustness_view import VERDICTS
from rdma_robust.reports.check.summary import exit_of, why_not_expected
from rdma_robust.reports.share.claim_findings import claim_cases

WIDTH = 100


def write_junit(report: BatchReport) -> str:
    """Return the document; tests are in order of the families, then as given."""
    return junit_document(
        check_cases(report)
        | ({"messages": message_cases(report.messages)} if report.messages else {})
        | ({"contracts": contract_cases(report.contracts, expect=report.expect)} if report.contracts else {})
        | {name: cases for each in report.sections for name, cases in each.view.cases(each).items()}
    )


def check_cases(report: BatchReport) -> dict[str, list[Case]]:
    """Return the tests of programs by their families."""
    return {
        family.family: [case for e in report.entries if e.family == family.family for case in _cases(e, report.expect)]
        for family in report.families
    }


def _cases(entry: ReportEntry, expect: bool) -> Iterator[Case]:
    """Yield the test of a program, and one for each of its claims: undecided ones are skipped, `verify` has more time."""
    yield _case(entry, expect)
    findings = entry.claims.findings if entry.claims else ()
    for case in claim_cases(findings, f"rdma-robust.{entry.family}", f"{entry.result.file}: "):
        yield replace(case, kind="skipped", text="") if case.kind == "error" else case


def _case(entry: ReportEntry, expect: bool) -> Case:
    result = entry.result
    classname = f"rdma-robust.{entry.family}"
    exit_code = exit_of(result, expect)
    if exit_code is Exit.OK:
        return Case(result.file, classname, result.time_s, text=_remarks(result))
    return Case(
        result.file,
        classname,
        result.time_s,
        "failure" if exit_code is Exit.NOT_ROBUST else "error",
        result.error_kind or result.verdict,
        _message(result, expect),
        _details(result),
    )


def _message(result: Result, expect: bool) -> str:
    said = "; ".join([*(why_not_expected(result) if expect else ()), result.reason])
    return f"{VERDICTS[result.verdict]}: {said}"


def _details(result: Result) -> str:
    lines = explain(result, WIDTH)
    lines += [f"{result.file}:{d.line}:{d.column}: {d.message}" for d in result.errors]
    return "\n".join([*lines, _remarks(result)]).strip()


def _remarks(result: Result) -> str:
    lines = [f"{result.file}:{d.line}:{d.column}: warning: {d.message}" for d in result.warnings]
    lines += [f"{result.file}:{f.line}:{f.column}: {f.may}: {f.kind}: {f.message}" for f in result.faults]
    lines += [f"{result.file}:{w.line or 1}:{w.column or 1}: hangs: {w.text}" for w in result.hangs]
    return "\n".join(lines)
