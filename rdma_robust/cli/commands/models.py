"""The `models` command: verdicts of programs on all hardware."""

from __future__ import annotations

from functools import partial

import typer

from rdma_robust.cli.asked_files import memory_each
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import TEXT_OR_JSON
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import expand
from rdma_robust.options import RECV_DEPTH, CheckOptions
from rdma_robust.questions.models_question import MODELS, ModelsAsking


@with_option_sets
def models_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    orders: arguments.OrdersOption = arguments.CARDS_NAMES,
    recv_depth: arguments.RecvDepth = RECV_DEPTH,
    await_loops: arguments.AwaitLoops = False,
    define: arguments.Defines = None,
    timeout: arguments.Timeout = TIMEOUT_S,
    max_states: arguments.MaxStates = 0,
    memory: arguments.Memory = None,
    jobs: arguments.Jobs = None,
    format_: arguments.AnswerFormat = None,
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
    form = report_form(output, format_, TEXT_OR_JSON, items)
    asking = ModelsAsking(options, arguments.orders_in(orders))
    context.obj.append(partial(run_question, Run(MODELS, asking, items, jobs, form, output, quiet)))
