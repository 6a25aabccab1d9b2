"""Totals over results, and the exit code they mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rdma_robust.frame.answer import Counts
from rdma_robust.frame.exits import Exit, worst
from rdma_robust.reports.check.result import SILENT, BrokenClaimView, Result
from rdma_robust.reports.share.totals import Verdicts

ROBUSTNESS: Final = Verdicts("robust", "not-robust")


def why_not_expected(result: Result) -> list[str]:
    """Return why `--expect` counts a program, in a few words each; nothing if it does not."""
    said = [f"line {each.line}: {_failing(each)}" for each in result.broken]
    if result.verdict in (ROBUSTNESS.good, ROBUSTNESS.bad):
        if result.expected is None:
            said.append("no `expect` line about the verdict")
        elif result.expected != result.verdict:
            said.append(f"line {result.expected_line}: expected {result.expected.replace('-', ' ')}")
        said += ["a process does nothing"] if any(each.code == SILENT for each in result.warnings) else []
    return said


def _failing(claim: BrokenClaimView) -> str:
    if claim.kind == "hang":
        return "a hang that is not expected"
    if claim.kind == "violated":
        return claim.text
    return f"{'failing ' * (claim.kind == 'assertion')}{claim.kind} that is not expected"


def summarise(
    results: Sequence[Result],
    *,
    requested: int,
    expect: bool,
    time_s: float,
    stopped: Exit | None = None,
    passed_over: int = 0,
) -> Counts:
    """Return the numbers of `results`; `stopped` is the exit code of a run that was stopped before its end."""
    return Counts(
        noun="program",
        requested=requested,
        done=len(results),
        numbers=ROBUSTNESS.numbers(results, expect=expect),
        interrupted=stopped is not None,
        exit_code=worst([exit_of(each, expect) for each in results]) if stopped is None else stopped,
        time_s=round(time_s, 6),
        passed_over=passed_over,
    )


def mismatch(result: Result) -> bool:
    """Return whether a program fails `--expect`: its verdict is not the expected one, a claim is seen to fail, or there is
    no `expect` line about the verdict, so that nobody foresaw it."""
    return ROBUSTNESS.mismatch(result)


def exit_of(result: Result, expect: bool) -> Exit:
    """Return the exit code that `result` alone would give."""
    return ROBUSTNESS.exit_of(result, expect)


def with_codes(summary: Counts, codes: Iterable[int], stopped: Exit | None) -> Counts:
    """Return a summary to whose exit code those of other answers are added; `stopped` is that of a run that was stopped."""
    code = int(worst([Exit(summary.exit_code), *map(Exit, codes)]) if stopped is None else stopped)
    return replace(summary, exit_code=code, interrupted=summary.interrupted or stopped is not None)
