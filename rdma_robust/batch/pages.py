"""The detailed view of one program: what explains its verdict, drawn, and a repair if one is wanted."""

from __future__ import annotations

from rdma_robust.batch.job import Job
from rdma_robust.outcome import Outcome
from rdma_robust.reports.explain import explain
from rdma_robust.reports.page import Page
from rdma_robust.reports.result import result_of

WIDTH = 100


def page_of(outcome: Outcome, job: Job) -> Page:
    """Return the page of `outcome`. A part that cannot be made is left out, and `problem` says why."""
    return Page(text=tuple(explain(result_of(outcome, job.name), WIDTH)))
