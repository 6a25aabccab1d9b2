"""What the tool says of the litmus programs: decided when the site is built, kept between builds as `report` keeps it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Final

from rdma_robust import TOOL
from rdma_robust.batch.cache import Cache, default_folder
from rdma_robust.batch.job import Job
from rdma_robust.batch.run import run_batch
from rdma_robust.cli.commands.report import LocalExecutor
from rdma_robust.options import CheckOptions
from rdma_robust.reports.batch.batch_view import BatchReport, ReportEntry
from rdma_robust.reports.batch.html_report import write_html
from rdma_robust.reports.check.result import summarise
from rdma_robust.reports.check.robustness_view import described
from rdma_robust.text import sha256

REPAIR_S: Final = 20.0
OPTIONS: Final = CheckOptions(timeout=120)


def decide(paths: Iterable[Path]) -> dict[str, ReportEntry]:
    """Return the answers, with their pages, by the names of the programs, in the order of `paths`."""
    jobs = {}
    for number, path in enumerate(paths):
        text = path.read_text(encoding="utf-8")
        jobs[number] = Job(f"litmus/{path.name}", text, OPTIONS, page=True, repair=REPAIR_S)
    cache = Cache(default_folder())
    cache.open()
    executor = LocalExecutor(os.cpu_count() or 1, more=REPAIR_S)
    entries = {}
    with closing(run_batch(list(jobs.items()), executor, cache, lambda: None)) as answers:
        for number, record in answers:
            job = jobs[number]
            entries[number] = ReportEntry(record.result, job.text, sha256(job.text), record.page)
    return {Path(jobs[number].name).stem: entries[number] for number in sorted(entries)}


def report_page(entries: Iterable[ReportEntry]) -> str:
    """Return the report on the programs as the page that `rdma-robust report` writes."""
    listed = list(entries)
    results = [each.result for each in listed]
    summary = summarise(results, requested=len(listed), expect=True, time_s=sum(each.time_s for each in results))
    return write_html(BatchReport(listed, summary, True, TOOL, described(OPTIONS, True)))
