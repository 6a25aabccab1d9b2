"""The question of `needs`: which guarantees of a network does a program rely on?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from rdma_robust.frame.answer import Answer
from rdma_robust.frame.formats.report_section import ReportSection
from rdma_robust.frame.question import Question, Section
from rdma_robust.frame.registry import late, late_record, loading
from rdma_robust.frame.report_part import ReportAsking, ReportPart
from rdma_robust.frame.shell.inputs import Source, read_source
from rdma_robust.frame.shell.stderr import warning_texts
from rdma_robust.limits import Limits, Progress
from rdma_robust.options import CheckOptions
from rdma_robust.orders import SHIPPED

if TYPE_CHECKING:
    from rdma_robust.model import Model
    from rdma_robust.outcome import Outcome
    from rdma_robust.reports.analyses.needs_report import NeedsRecord


MOST_CHECKS: Final = 50
"""Decisions at most for a program, if nothing else is said."""


@dataclass(frozen=True, slots=True)
class NeedsAsking:
    """How programs are decided under each order, and how many decisions there may be; with an order `within` of which
    guarantees a program relies on, and which tables, `orders`, are asked whether they are enough. `beside` verdicts only
    `needs` lines that are not enough count, if lines are compared. `runs` are those that break without each guarantee."""

    options: CheckOptions
    most: int
    expect: bool = False
    explain: bool = True
    within: str | None = None
    beside: bool = False
    runs: bool = False
    orders: tuple[str, ...] = SHIPPED

    def described(self) -> dict[str, object]:
        """Return how the answers were found as the `options` of a report."""
        names = ("recv_depth", "await_loops", "define", "timeout", "max_states", "memory")
        found: dict[str, object] = {name: getattr(self.options, name) for name in names}
        found |= {"define": list(self.options.define), "max_checks": self.most, "expect": self.expect}
        found["orders"] = list(self.orders)
        return found | ({} if self.within is None else {"order": self.within})

    def limits(self) -> Limits:
        """Return the limits of a program, from now on."""
        return self.options.limits()


def _answer(
    source: Source, asking: NeedsAsking, limits: Limits, progress: Progress, _: Callable[[Answer[NeedsRecord]], None]
) -> Answer[NeedsRecord]:
    from rdma_robust.analyses.needs.minimal_sets import minimal_sets  # noqa: PLC0415
    from rdma_robust.analyses.needs.table_answers import table_answers  # noqa: PLC0415
    from rdma_robust.language.flow.spinning import spin_assumed  # noqa: PLC0415
    from rdma_robust.language.load import load_decidable  # noqa: PLC0415 - slow, and reading may have failed
    from rdma_robust.reports.analyses.needs_report import needs_record  # noqa: PLC0415
    from rdma_robust.robustness.decide import decide  # noqa: PLC0415

    started = time.monotonic()
    text, options = read_source(source), asking.options
    program = spin_assumed(load_decidable(text, source.name), options.await_loops)
    hardware = replace(program.hardware.model, order="default", ordered_reads=False)

    def decided(model: Model) -> Outcome:
        return decide(program, replace(options, hardware=model), progress, limits=limits)

    found = minimal_sets(program, hardware, decided, asking.most, asking.within)
    tables = table_answers(
        program,
        found,
        asking.orders,
        lambda order: decided(replace(hardware, order=order)),
        most=asking.most,
        within=asking.within,
    )
    messages = warning_texts(program.warnings, source.name, text)
    return Answer(
        replace(needs_record(program, found, tables, time.monotonic() - started, asking.within), file=source.name), messages
    )


NEEDS: Final[Question[NeedsAsking, NeedsRecord]] = Question(
    "needs",
    ("rdma-robust/needs", 1),
    "program",
    _answer,
    late_record("rdma_robust.reports.analyses.needs_report:NeedsRecord"),
    late("rdma_robust.reports.analyses.needs_report:NeedsView"),
    loading(
        "rdma_robust.analyses.needs.minimal_sets",
        "rdma_robust.analyses.needs.table_answers",
        "rdma_robust.language.load",
        "rdma_robust.reports.analyses.needs_report",
        "rdma_robust.robustness.decide",
    ),
)


@dataclass(frozen=True)
class NeedsPart(ReportPart[NeedsAsking, Any]):
    """The programs that share memory; what is wrong with one is told by its verdict."""

    def asking(self, how: ReportAsking) -> NeedsAsking:
        options = CheckOptions(timeout=how.timeout, memory=how.memory, define=how.define, threads=1)
        return NeedsAsking(options, MOST_CHECKS, how.expect, beside=True, orders=how.columns)

    def section(self, found: Section[NeedsAsking, Any]) -> ReportSection:
        from rdma_robust.reports.batch.needs_rows import needs_section  # noqa: PLC0415 - only where it is wanted

        return needs_section(found)

    def is_said(self, record: Any) -> bool:  # noqa: ARG002
        return False


NEEDS_PART: Final = NeedsPart(NEEDS, ("",), 5)
