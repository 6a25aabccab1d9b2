"""Batches for the tests: reports with hostile texts, and what a program's record is without running much."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rdma_robust import TOOL
from rdma_robust.batch.job import Job
from rdma_robust.cli.processes.decide_job import decide_job
from rdma_robust.options import CheckOptions
from rdma_robust.reports.batch.batch_view import BatchReport, ReportEntry
from rdma_robust.reports.check.result import summarise
from rdma_robust.reports.check.robustness_view import described
from rdma_robust.text import sha256
from tests.conftest import INVALID, NOT_ROBUST, ROBUST, ROOT
from tests.support.questions import failure

OPTIONS = CheckOptions(timeout=60)
HOSTILE_NAMES = (
    "<script>alert(1)</script>-x.rdma",
    '"><img src=x onerror=alert(2)>.rdma',
    "&lt;b&gt; 'quoted' `code` | pipe.rdma",
    '=HYPERLINK("http:x","y").rdma',
    "@everyone +1 -2.rdma",
    "]]><!-- --> ]]>.rdma",
    "line\nbreak\ttab\x1b[31m\x07.rdma",
    "\u202egnp.rdma",
    "undecodable\udcff.rdma",
    "](javascript:alert(3)) [x](y).rdma",
    "percent%20 #hash ?query.rdma",
)
HOSTILE_TEXT = ROBUST.replace("program calm\n", "") + "// </script><script>alert(4)</script> & \x7f <!-- ]]> `|`\n"


def entry(name: str, text: str, options: CheckOptions = OPTIONS, page: bool = False, claims: float = 0.0) -> ReportEntry:
    """Return the entry of a program, decided here and now."""
    record = decide_job(Job(name, text, options, page, claims=claims))
    return ReportEntry(record.result, text, sha256(text), record.page, record.claims)


def report_of(entries: Sequence[ReportEntry], expect: bool = False) -> BatchReport:
    summary = summarise([e.result for e in entries], requested=len(entries), expect=expect, time_s=1.5)
    return BatchReport(entries, summary, expect, TOOL, described(OPTIONS, expect))


def hostile(page: bool = False) -> BatchReport:
    """Return a report with every verdict, in which every name and text is out for trouble."""
    texts = (ROBUST, NOT_ROBUST, INVALID, HOSTILE_TEXT)
    entries = [entry(name, texts[n % len(texts)], page=page, claims=10) for n, name in enumerate(HOSTILE_NAMES)]
    entries.append(ReportEntry(failure("gone <b>.rdma", "unreadable", "no such file <i>or</i> directory")))
    entries.append(entry("cut-short.rdma", NOT_ROBUST, CheckOptions(max_states=2), page))
    return report_of(entries)


def litmus(*names: str, expect: bool = False, page: bool = False) -> BatchReport:
    """Return a report on programs of the suite."""
    return report_of(
        [entry(f"litmus/{n}.rdma", (Path(ROOT) / f"litmus/{n}.rdma").read_text(), page=page) for n in names], expect
    )
