"""The `models` command: verdicts of programs on all hardware."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import typer

from rdma_robust import TOOL
from rdma_robust.cli.batch import Question, answer_all
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options.arguments import (
    AnswerFormat,
    AwaitLoops,
    Defines,
    Files,
    Jobs,
    MaxStates,
    Memory,
    OutputFile,
    Quiet,
    RecvDepth,
    Timeout,
    limit,
    memory_limit,
)
from rdma_robust.cli.options.defaults import TIMEOUT_S, processors
from rdma_robust.cli.options.formats import TEXT_OR_JSON
from rdma_robust.cli.processes.decide_models import ModelsAnswer, answer_models, load_models, lost_models
from rdma_robust.cli.processes.decide_program import limits_of
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Item, expand
from rdma_robust.frame.shell.output import Output, output
from rdma_robust.frame.shell.screen import width_of_output
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.options import RECV_DEPTH, CheckOptions


@dataclass(frozen=True, slots=True)
class ModelsRequest:
    """Which programs to decide on all hardware, and how to report it. `jobs` of None is one process per processor."""

    items: Sequence[Item]
    options: CheckOptions
    jobs: int | None
    format: str
    path: str | None
    quiet: bool


def models_command(
    context: typer.Context,
    files: Files,
    *,
    recv_depth: RecvDepth = RECV_DEPTH,
    await_loops: AwaitLoops = False,
    define: Defines = None,
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
    jobs: Jobs = None,
    format_: AnswerFormat = None,
    output: OutputFile = None,
    quiet: Quiet = False,
) -> None:
    """Note in the context what is to be done."""
    defined = tuple(define or ())
    items = expand(files, define=defined)
    options = CheckOptions(
        await_loops=await_loops,
        timeout=limit(timeout),
        max_states=max_states or None,
        memory=memory_limit(memory, min(jobs or processors(), len(items))),
        define=defined,
        recv_depth=recv_depth,
    )
    form = report_form(output, format_, TEXT_OR_JSON, items)
    path = None if output == "-" else output
    context.obj.append(partial(run_models, ModelsRequest(items, options, jobs, form, path, quiet)))


def run_models(request: ModelsRequest) -> Exit:
    """Answer and report every item of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    from rdma_robust.frame.formats.json_text import layout  # noqa: PLC0415
    from rdma_robust.reports.analyses import models_report  # noqa: PLC0415 - slow

    started = time.monotonic()
    question = Question(
        lambda item, *tell: answer_models(item, request.options, *tell),
        lost_models,
        partial(limits_of, request.options),
        load_models,
    )
    width = width_of_output(request.path)
    with output(request.path) as out:
        report = partial(_report, request, out, width)
        answers, stopped = answer_all(request.items, question, request.jobs or processors(), report, quiet=request.quiet)
        records, spent = [answer.record for answer in answers], time.monotonic() - started
        batch = models_report.ModelsBatch(records, len(request.items), spent, stopped)
        if request.format == "json":
            out.line(layout(models_report.document(batch, TOOL, _described(request.options))))
        elif batch.requested > 1:
            out.say("\n".join(models_report.totals(batch, width)))
    return batch.exit_code


def _report(request: ModelsRequest, out: Output, width: int | None, answer: ModelsAnswer) -> None:
    from rdma_robust.reports.analyses.models_report import models_text  # noqa: PLC0415 - slow

    record = answer.record
    if not request.quiet or record.status == "error":
        for message in answer.messages:
            warn(message)
    alone = record.status == "error" and len(request.items) == 1 and request.path is None
    if request.format == "text" and not alone and not (request.quiet and record.exit_code == Exit.OK):
        out.say("\n".join(models_text(record, width)))


def _described(options: CheckOptions) -> dict[str, object]:
    return {
        "recv_depth": options.recv_depth,
        "await_loops": options.await_loops,
        "define": list(options.define),
        "timeout": options.timeout,
        "max_states": options.max_states,
        "memory": options.memory,
    }
