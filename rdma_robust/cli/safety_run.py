"""The options that `verify` and `reach` have alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rdma_robust.cli.asked_files import explains
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.options.option_sets import MachineOptions, OptionSet, SharedSearchOptions
from rdma_robust.frame.question import Question
from rdma_robust.frame.run_question import Run
from rdma_robust.frame.shell.inputs import expand
from rdma_robust.frame.shell.output import width_of_output
from rdma_robust.model import ModelName
from rdma_robust.questions.safety_question import SafetyAsking

if TYPE_CHECKING:
    from rdma_robust.reports.analyses.safety_record import SafetyRecord


@dataclass(frozen=True)
class SafetyInstances(MachineOptions):
    """The hardware and the instances of both commands."""

    define: arguments.Defines = None


@dataclass(frozen=True)
class SafetySearch(SharedSearchOptions, SafetyInstances):
    """The same, and their limits: some searches have a limit of states where none is given."""

    max_states: arguments.SearchedStates = None

    def most_states(self) -> int | None:
        return arguments.searched_states(self.max_states)


@dataclass(frozen=True)
class SafetyReport(OptionSet):
    """How both commands report."""

    format_: arguments.VerdictsFormat = None
    output: arguments.OutputFile = None
    explain: arguments.Explain = None
    quiet: arguments.Quiet = False


def safety_run(
    question: Question[SafetyAsking, SafetyRecord],
    files: Sequence[str],
    search: SafetySearch,
    report: SafetyReport,
    *,
    target: str | None = None,
    model: ModelName = "rdma",
    hangs: bool = True,
    strict: bool = False,
) -> Run[SafetyAsking, SafetyRecord]:
    """Return what is asked of the programs that `files` stand for. Raises UsageError for a form that does not fit."""
    defined = tuple(search.define or ())
    items = expand(files, define=defined)
    jobs, limits = search.shared(items)
    asking = SafetyAsking(
        search.hardware(),
        **limits,
        explain=explains(items, report.explain),
        full=report.explain is True,
        width=width_of_output(report.output),
        target=target,
        model=model,
        hangs=hangs,
        strict=strict,
        define=defined,
        recv_depth=search.recv_depth,
    )
    form = report_form(report.output, report.format_, VERDICT_FORMATS, items)
    return Run(question, asking, items, jobs, form, report.output, report.quiet)
