"""Totals over results, and the exit code they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdma_robust.reports.check.result import Result
from rdma_robust.reports.share.exits import Exit, worst


@dataclass(frozen=True, slots=True)
class Summary:
    """`requested` programs were asked for, `programs` were done. `mismatched` counts the programs
    decided against their `expect` line and, with `--expect`, those without one."""

    requested: int
    programs: int
    robust: int
    not_robust: int
    unknown: int
    error: int
    as_expected: int
    mismatched: int
    interrupted: bool
    exit_code: int
    time_s: float


def summarise(
    results: Sequence[Result], *, requested: int, expect: bool, time_s: float, stopped: Exit | None = None
) -> Summary:
    """Return the totals of `results`; `stopped` is the exit code of a run that was stopped before its end."""
    verdicts = [r.verdict for r in results]
    return Summary(
        requested=requested,
        programs=len(results),
        robust=verdicts.count("robust"),
        not_robust=verdicts.count("not-robust"),
        unknown=verdicts.count("unknown"),
        error=verdicts.count("error"),
        as_expected=sum(r.as_expected is True for r in results),
        mismatched=sum(mismatch(r) if expect else r.as_expected is False for r in results),
        interrupted=stopped is not None,
        exit_code=stopped if stopped is not None else worst([exit_of(r, expect) for r in results]),
        time_s=round(time_s, 6),
    )


def mismatch(result: Result) -> bool:
    """Return whether a decided program fails `--expect`; without an `expect` line it does: nobody foresaw the verdict."""
    return result.verdict in ("robust", "not-robust") and result.as_expected is not True


def exit_of(result: Result, expect: bool) -> Exit:
    """Return the exit code that `result` alone would give."""
    match result.verdict:
        case "error":
            return Exit.INTERNAL if result.error_kind == "internal" else Exit.INVALID
        case "unknown":
            return Exit.UNKNOWN
        case "robust" | "not-robust" if expect:
            return Exit.NOT_ROBUST if mismatch(result) else Exit.OK
        case "robust":
            return Exit.OK
        case "not-robust":
            return Exit.NOT_ROBUST
