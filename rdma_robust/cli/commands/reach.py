"""The `reach` command: whether a state of a program is reachable."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

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
    OrderedReads,
    OutputFile,
    Quiet,
    Timeout,
    VerdictsFormat,
    limit,
    memory_limit,
)
from rdma_robust.cli.options.defaults import TIMEOUT_S, processors
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.processes.decide_claims import Asking
from rdma_robust.cli.safety_run import SafetyRequest, run_safety
from rdma_robust.cli.screen import width_of_output
from rdma_robust.model import rdma

TargetText = Annotated[
    str,
    typer.Option(
        "--target", "-t", metavar="CONDITION", help="The state asked for, as in 'T1 ended && B.y == 1'.", show_default=False
    ),
]
ModelName = Annotated[Literal["rdma", "sc"], typer.Option("--model", help="Whose states: the hardware's, or those of SC.")]


def reach_command(
    context: typer.Context,
    files: Files,
    *,
    target: TargetText,
    model: ModelName = "rdma",
    ordered_reads: OrderedReads = False,
    define: Define = None,
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
    jobs: Jobs = None,
    format_: VerdictsFormat = None,
    output: OutputFile = None,
    explain: Explain = None,
    quiet: Quiet = False,
) -> None:
    """Note in the context what is to be done."""
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
        target=target,
        model=model,
    )
    form = report_form(output, format_, VERDICT_FORMATS, items)
    request = SafetyRequest("reach", items, asking, jobs, form, None if output == "-" else output, quiet)
    context.obj.append(partial(run_safety, request))
