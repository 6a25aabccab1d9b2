"""The options that `verify` and `reach` have alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rdma_robust.cli.asked_files import explains, memory_each
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options.arguments import limit, searched_states
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.frame.question import Question
from rdma_robust.frame.run_question import Run
from rdma_robust.frame.shell.inputs import expand
from rdma_robust.frame.shell.screen import width_of_output
from rdma_robust.model import Hardware, ModelName
from rdma_robust.questions.safety_question import SafetyAsking

if TYPE_CHECKING:
    from rdma_robust.reports.analyses.safety_record import SafetyRecord


@dataclass(frozen=True, slots=True)
class Given:
    """The options that both commands have, as they are typed."""

    hardware: Hardware
    recv_depth: int
    define: Sequence[str] | None
    timeout: float
    max_states: int | None
    memory: int | None
    jobs: int | None
    form: str | None
    output: str | None
    explain: bool | None
    quiet: bool

    def run(
        self,
        question: Question[SafetyAsking, SafetyRecord],
        files: Sequence[str],
        *,
        target: str | None = None,
        model: ModelName = "rdma",
        hangs: bool = True,
        strict: bool = False,
    ) -> Run[SafetyAsking, SafetyRecord]:
        """Return what is asked of the programs that `files` stand for. Raises UsageError for a form that does not fit."""
        defined = tuple(self.define or ())
        items = expand(files, define=defined)
        asking = SafetyAsking(
            self.hardware,
            limit(self.timeout),
            searched_states(self.max_states),
            memory_each(self.memory, self.jobs, items),
            explain=explains(items, self.explain),
            full=self.explain is True,
            width=width_of_output(self.output),
            target=target,
            model=model,
            hangs=hangs,
            strict=strict,
            define=defined,
            recv_depth=self.recv_depth,
        )
        form = report_form(self.output, self.form, VERDICT_FORMATS, items)
        return Run(question, asking, items, self.jobs, form, self.output, self.quiet)
