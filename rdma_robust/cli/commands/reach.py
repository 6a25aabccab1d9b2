"""The `reach` command: whether a state of a program is reachable."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from rdma_robust.cli.options.arguments import (
    AtomicsOption,
    CpuOption,
    Defines,
    Explain,
    Files,
    Jobs,
    Memory,
    OrderedReads,
    OrderOption,
    OutputFile,
    Quiet,
    RecvDepth,
    SearchedStates,
    Timeout,
    VerdictsFormat,
)
from rdma_robust.cli.safety_run import Given
from rdma_robust.frame.run_question import run_question
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.model import Hardware
from rdma_robust.options import RECV_DEPTH
from rdma_robust.questions.safety_question import REACH

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
    cpu: CpuOption = None,
    atomics: AtomicsOption = None,
    order: OrderOption = None,
    recv_depth: RecvDepth = RECV_DEPTH,
    define: Defines = None,
    timeout: Timeout = TIMEOUT_S,
    max_states: SearchedStates = None,
    memory: Memory = None,
    jobs: Jobs = None,
    format_: VerdictsFormat = None,
    output: OutputFile = None,
    explain: Explain = None,
    quiet: Quiet = False,
) -> None:
    """Note in the context what is to be done."""
    hardware = Hardware(cpu, atomics, order, ordered_reads or None)
    given = Given(hardware, recv_depth, define, timeout, max_states, memory, jobs, format_, output, explain, quiet)
    context.obj.append(partial(run_question, given.run(REACH, files, target=target, model=model)))
