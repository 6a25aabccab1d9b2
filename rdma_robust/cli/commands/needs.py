"""The `needs` command: which guarantees of a network programs rely on."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

from rdma_robust.cli.asked_files import memory_each
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import NEEDS_FORMATS
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import expand
from rdma_robust.options import RECV_DEPTH, CheckOptions
from rdma_robust.questions.needs_question import MOST_CHECKS, NEEDS, NeedsAsking

MOST: Final = 1000
MaxChecks = Annotated[int, typer.Option("--max-checks", min=2, max=MOST, help="Decisions at most for a program.")]
NeedsExpect = Annotated[
    bool, typer.Option("--expect", help="Compare with the `needs` lines; a program without one counts as a mismatch.")
]


@with_option_sets
def needs_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    max_checks: MaxChecks = MOST_CHECKS,
    expect: NeedsExpect = False,
    recv_depth: arguments.RecvDepth = RECV_DEPTH,
    await_loops: arguments.AwaitLoops = False,
    define: arguments.Defines = None,
    timeout: arguments.Timeout = TIMEOUT_S,
    max_states: arguments.MaxStates = 0,
    memory: arguments.Memory = None,
    jobs: arguments.Jobs = None,
    format_: arguments.NeedsFormat = None,
    output: arguments.OutputFile = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Note in the context what is to be done."""
    defined = tuple(define or ())
    items = expand(files, define=defined)
    options = CheckOptions(
        await_loops=await_loops,
        timeout=arguments.limit(timeout),
        max_states=max_states or None,
        memory=memory_each(memory, jobs, items),
        define=defined,
        recv_depth=recv_depth,
    )
    form = report_form(output, format_, NEEDS_FORMATS, items)
    asking = NeedsAsking(options, max_checks, expect)
    context.obj.append(partial(run_question, Run(NEEDS, asking, items, jobs, form, output, quiet)))
