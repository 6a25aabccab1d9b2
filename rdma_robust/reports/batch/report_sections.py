"""The sections of a report besides the programs that share memory, in the order in which every form has them."""

from __future__ import annotations

from rdma_robust.reports.batch.batch_view import BatchReport
from rdma_robust.reports.batch.contract_rows import contract_section
from rdma_robust.reports.batch.message_rows import message_section
from rdma_robust.reports.batch.report_section import ReportSection


def sections_of(report: BatchReport) -> list[ReportSection]:
    """Return the sections that there is something in."""
    messages = [message_section(report.messages, expect=report.expect)] if report.messages else []
    contracts = [contract_section(report.contracts, expect=report.expect)] if report.contracts else []
    return [*messages, *contracts]
