"""The `verify` command: check what programs claim."""

from __future__ import annotations

from functools import partial

import typer

from rdma_robust.cli.asked_otherwise import watch_instead
from rdma_robust.cli.options.arguments import (
    AtomicsOption,
    CpuOption,
    Defines,
    Explain,
    Files,
    Jobs,
    Memory,
    NoHangs,
    OrderedReads,
    OrderOption,
    OutputFile,
    Quiet,
    RecvDepth,
    SearchedStates,
    Strict,
    Timeout,
    VerdictsFormat,
    Watch,
)
from rdma_robust.cli.safety_run import Given
from rdma_robust.frame.run_question import run_question
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.model import Hardware
from rdma_robust.options import RECV_DEPTH
from rdma_robust.questions.safety_question import VERIFY


def verify_command(
    context: typer.Context,
    files: Files,
    *,
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
        watch_instead(context, files)
        return
    hardware = Hardware(cpu, atomics, order, ordered_reads or None)
    given = Given(hardware, recv_depth, define, timeout, max_states, memory, jobs, format_, output, explain, quiet)
    context.obj.append(partial(run_question, given.run(VERIFY, files, hangs=not no_hangs, strict=strict)))
