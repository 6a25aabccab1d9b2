"""The `models` command: verdicts of programs on all hardware."""

from __future__ import annotations

from functools import partial

import typer

from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import TEXT_OR_JSON
from rdma_robust.cli.options.option_sets import DecisionOptions, with_option_sets
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.questions.models_question import MODELS, ModelsAsking


@with_option_sets
def models_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    orders: arguments.OrdersOption = arguments.CARDS_NAMES,
    deciding: DecisionOptions,
    format_: arguments.AnswerFormat = None,
    output: arguments.OutputFile = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Note in the context what is to be done."""
    items = deciding.items(files)
    form = report_form(output, format_, TEXT_OR_JSON, items)
    asking = ModelsAsking(deciding.check_options(items), arguments.orders_in(orders))
    context.obj.append(partial(run_question, Run(MODELS, asking, items, deciding.jobs, form, output, quiet)))
