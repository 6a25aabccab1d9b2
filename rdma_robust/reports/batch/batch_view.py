"""A batch of programs as every report of it sees it: an entry per program, totals, and totals by family."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rdma_robust.digraph import by_key
from rdma_robust.frame.answer import Counts
from rdma_robust.frame.exits import Exit, within
from rdma_robust.frame.formats.report_section import ReportSection
from rdma_robust.reports.check.result import Result, VerdictWord, exit_of, mismatch
from rdma_robust.reports.check.robustness_view import note
from rdma_robust.reports.share.claim_findings import ClaimAnswer, Claims, violated_note


@dataclass(frozen=True, slots=True)
class Page:
    """The parts of the detailed view of a program; empty strings where there is nothing to show.

    `headline` and `text` explain the verdict in plain text, code in backquotes. `source`, `timeline`, `graph` and `orders`
    are well-formed HTML and SVG in which everything from outside is escaped. `repair` is a unified diff, `repair_note` what
    it inserts or why there is none, both plain text. `problem` says what part could not be made, and why; `cut` that more
    time could have given more.
    """

    headline: str = ""
    text: tuple[str, ...] = ()
    source: str = ""
    timeline: str = ""
    graph: str = ""
    orders: str = ""
    repair: str = ""
    repair_note: str = ""
    problem: str = ""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """One program: its result, its text and the SHA-256 of that (None if it could not be read), and its page and the answers
    for its claims if wanted."""

    result: Result
    text: str | None = None
    sha256: str | None = None
    page: Page | None = None
    claims: Claims | None = None

    @property
    def family(self) -> str:
        return family_of_file(self.result.file)

    @property
    def violated(self) -> tuple[ClaimAnswer, ...]:
        """Its claims that count against the exit code."""
        return () if self.claims is None else self.claims.violated

    def note(self, expect: bool) -> str:
        """Return what a row says besides its numbers, on one line; with `expect` why it counts."""
        return "; ".join(filter(None, (note(self.result, expect), violated_note(self.violated))))

    def exit_code(self, expect: bool) -> Exit:
        """Return the exit code that this program alone would give."""
        return within([exit_of(self.result, expect), *(Exit.NOT_ROBUST for _ in self.violated)])


@dataclass(frozen=True, slots=True)
class ProgramFamily:
    """The totals of the programs whose file names begin alike."""

    family: str
    programs: int
    robust: int
    not_robust: int
    unknown: int
    error: int
    as_expected: int
    mismatched: int
    states: int
    time_s: float


@dataclass(frozen=True, slots=True)
class BatchReport:
    """The contents of a report. `expect` says whether verdicts count by the `expect` lines.

    `tool` and `options` say by what and how it was made. `sections` are the answers to questions about
    other files than those that share memory, in the order in which every form has them.
    """

    entries: Sequence[ReportEntry]
    summary: Counts
    expect: bool
    tool: Mapping[str, object]
    options: Mapping[str, object]
    sections: Sequence[ReportSection] = ()

    @property
    def others(self) -> bool:
        """Whether there is anything besides programs that share memory."""
        return bool(self.sections)

    @property
    def results(self) -> list[Result]:
        return [entry.result for entry in self.entries]

    @property
    def families(self) -> list[ProgramFamily]:
        """The families, by name."""
        by_name = by_key((entry.family, entry.result) for entry in self.entries)
        return [_family(name, by_name[name], self.expect) for name in sorted(by_name)]


def family_of_file(file: str) -> str:
    """Return the family of a program: its file's name up to the first `-`, without the suffix."""
    return os.path.splitext(os.path.basename(file))[0].split("-")[0] or os.path.basename(file)


def _family(name: str, results: Sequence[Result], expect: bool) -> ProgramFamily:
    def having(verdict: VerdictWord) -> int:
        return sum(r.verdict == verdict for r in results)

    return ProgramFamily(
        family=name,
        programs=len(results),
        robust=having("robust"),
        not_robust=having("not-robust"),
        unknown=having("unknown"),
        error=having("error"),
        as_expected=sum(r.as_expected is True for r in results),
        mismatched=sum(mismatch(r) if expect else r.as_expected is False for r in results),
        states=sum(r.states for r in results),
        time_s=round(sum(r.time_s for r in results), 6),
    )
