"""What `contracts check` found in many files, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdma_robust.frame.exits import Exit, worst
from rdma_robust.reports.contracts.contracts_record import ContractsRecord


@dataclass(frozen=True, slots=True)
class ContractsSummary:
    """Numbers of files, of which `requested` were asked for, and of functions in them by their verdicts."""

    requested: int
    files: int
    functions: int
    verified: int
    violated: int
    unknown: int
    error: int
    as_expected: int
    mismatched: int
    interrupted: bool
    exit_code: int
    time_s: float


def contracts_summary(
    records: Sequence[ContractsRecord], requested: int, *, expect: bool, time_s: float, stopped: Exit | None
) -> ContractsSummary:
    """Return the totals; `stopped` is the exit code of a run that was stopped before its end."""
    verdicts = [verdict for record in records for verdict in record.verdicts]
    return ContractsSummary(
        requested=requested,
        files=len(records),
        functions=len(verdicts),
        verified=verdicts.count("VERIFIED"),
        violated=verdicts.count("VIOLATED"),
        unknown=verdicts.count("UNKNOWN")
        + sum(not each.verdicts and each.error_kind is None and bool(each.reason) for each in records),
        error=sum(each.error_kind is not None for each in records),
        as_expected=sum(each.as_expected is True for each in records),
        mismatched=sum(
            each.as_expected is False or (expect and not each.claims and each.error_kind is None) for each in records
        ),
        interrupted=stopped is not None,
        exit_code=int(stopped if stopped is not None else worst([Exit(each.exit_code) for each in records])),
        time_s=round(time_s, 6),
    )
