"""The `verify` command: check what programs claim."""

from __future__ import annotations

import sys
from functools import partial

import typer

from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.inputs import expand
from rdma_robust.cli.options.arguments import (
    Define,
    Explain,
    Files,
    Jobs,
    MaxStates,
    Memory,
    NoHangs,
    OrderedReads,
    OutputFile,
    Quiet,
    Strict,
    Timeout,
    VerdictsFormat,
    Watch,
    limit,
    memory_limit,
)
from rdma_robust.cli.options.defaults import TIMEOUT_S, processors
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.processes.decide_claims import Asking
from rdma_robust.cli.safety_run import SafetyRequest, run_safety
from rdma_robust.cli.screen import width_of_output
from rdma_robust.model import rdma


def verify_command(
    context: typer.Context,
    files: Files,
    *,
    ordered_reads: OrderedReads = False,
    define: Define = None,
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
    jobs: Jobs = None,
    no_hangs: NoHangs = False,
    strict: Strict = False,
    format_: VerdictsFormat = None,
    output: OutputFile = None,
    explain: Explain = None,
    quiet: Quiet = False,
    watch: Watch = False,
) -> None:
    """Note in the context what is to be done."""
    if watch:
        from rdma_robust.cli.watching import run_watching  # noqa: PLC0415

        context.obj.append(partial(run_watching, sys.argv[1:], files))
        return
    defined = tuple(define or ())
    items = expand(files, define=defined)
    asking = Asking(
        rdma(ordered_reads),
        limit(timeout),
        max_states or None,
        memory_limit(memory, min(jobs or processors(), len(items))),
        explain=len(items) == 1 if explain is None else explain,
        full=explain is True,
        width=width_of_output(output),
        define=defined,
        hangs=not no_hangs,
        strict=strict,
    )
    form = report_form(output, format_, VERDICT_FORMATS, items)
    request = SafetyRequest("verify", items, asking, jobs, form, None if output == "-" else output, quiet)
    context.obj.append(partial(run_safety, request))
