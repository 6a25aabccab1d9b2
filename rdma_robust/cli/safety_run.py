"""What `verify` and `reach` have alike: many programs, each in a process that is watched, reported in order in any form."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from rdma_robust import TOOL
from rdma_robust.cli.batch import Question, answer_all
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options.arguments import limit, memory_limit, searched_states
from rdma_robust.cli.options.defaults import processors
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.processes.decide_claims import Asking, SafetyAnswer, answer_safety, load_safety, lost_safety
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.json_text import dump, layout
from rdma_robust.frame.formats.lines import WRITERS
from rdma_robust.frame.shell.inputs import Item, Source, expand
from rdma_robust.frame.shell.output import Output, output
from rdma_robust.frame.shell.screen import width_of_output
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.model import Hardware, ModelName

if TYPE_CHECKING:
    from rdma_robust.reports.analyses.safety_batch import SafetyBatch


@dataclass(frozen=True, slots=True)
class SafetyRequest:
    """What to ask of which programs, and how to report it. `jobs` of None is one process per processor."""

    command: Literal["verify", "reach"]
    items: Sequence[Item]
    asking: Asking
    jobs: int | None = None
    format: str = "text"
    path: str | None = None
    quiet: bool = False


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

    def request(
        self,
        command: Literal["verify", "reach"],
        files: Sequence[str],
        *,
        target: str | None = None,
        model: ModelName = "rdma",
        hangs: bool = True,
        strict: bool = False,
    ) -> SafetyRequest:
        """Return what is asked of the programs that `files` stand for. Raises UsageError for a form that does not fit."""
        defined = tuple(self.define or ())
        items = expand(files, define=defined)
        asking = Asking(
            self.hardware,
            limit(self.timeout),
            searched_states(self.max_states),
            memory_limit(self.memory, min(self.jobs or processors(), len(items))),
            explain=len(items) == 1 if self.explain is None else self.explain,
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
        path = None if self.output == "-" else self.output
        return SafetyRequest(command, items, asking, self.jobs, form, path, self.quiet)


@dataclass(frozen=True, slots=True)
class _Run:
    """Where and how to report."""

    request: SafetyRequest
    out: Output

    def report(self, answer: SafetyAnswer) -> None:
        request, record = self.request, answer.record
        if request.format in WRITERS:
            from rdma_robust.reports.analyses.safety_findings import safety_findings  # noqa: PLC0415 - slow

            for finding in safety_findings(record):
                self.out.line(WRITERS[request.format](finding))
        elif not request.quiet or record.status == "error":
            for message in answer.messages:
                warn(message)
        if request.format == "jsonl":
            from rdma_robust.reports.analyses.safety_batch import result_object  # noqa: PLC0415

            self.out.line(dump(result_object(record)))
        elif (
            request.format == "text"
            and not (request.quiet and record.exit_code == Exit.OK)
            and self._has_line(record.status)
        ):
            self.out.say("\n".join(record.lines))

    def _has_line(self, status: str) -> bool:
        """Whether the text says it: an error of the only program is on standard error already."""
        return status != "error" or len(self.request.items) > 1 or self.request.path is not None

    def end(self, batch: SafetyBatch) -> None:
        from rdma_robust.reports.analyses import safety_batch  # noqa: PLC0415 - slow

        match self.request.format:
            case "text":
                if batch.requested > 1:
                    self.out.say("\n".join(safety_batch.totals(batch, self.request.asking.width)))
            case "json":
                self.out.line(layout(safety_batch.document(batch)))
            case "junit":
                from rdma_robust.reports.analyses.safety_findings import write_claims_junit  # noqa: PLC0415

                self.out.line(write_claims_junit(batch).rstrip("\n"))
            case "sarif":
                from rdma_robust.reports.analyses.safety_findings import write_claims_sarif  # noqa: PLC0415

                self.out.line(write_claims_sarif(batch).rstrip("\n"))
        if batch.stopped is not None and self.request.format != "text":
            warn(f"interrupted: {len(batch.records)} of {batch.requested} programs done")


def run_safety(request: SafetyRequest) -> Exit:
    """Answer and report every item of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    started = time.monotonic()
    asking = request.asking
    question = Question(
        lambda item, *tell: answer_safety(item, asking, *tell), partial(lost_safety, asking), asking.limits, load_safety
    )
    if any(isinstance(item, Source) for item in request.items):
        with suppress(Exception):  # what answers fails again, and says for which program
            load_safety()  # the records that come back need it here too: loaded before the fork it is loaded once
    with output(request.path) as out:
        run = _Run(request, out)
        jobs = request.jobs or processors()
        answers, stopped = answer_all(request.items, question, jobs, run.report, quiet=request.quiet)
        from rdma_robust.reports.analyses.safety_batch import SafetyBatch  # noqa: PLC0415 - slow

        records = [answer.record for answer in answers]
        spent = time.monotonic() - started
        batch = SafetyBatch(request.command, records, len(request.items), spent, stopped, TOOL, asking.described())
        run.end(batch)
    return batch.exit_code
