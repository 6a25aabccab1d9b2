"""The `reach` command: whether a state of a program is reachable."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.cli.safety_run import SafetyReport, SafetySearch, safety_run
from rdma_robust.frame.run_question import run_question
from rdma_robust.questions.safety_question import REACH

TargetText = Annotated[
    str,
    typer.Option(
        "--target", "-t", metavar="CONDITION", help="The state asked for, as in 'T1 ended && B.y == 1'.", show_default=False
    ),
]
ModelName = Annotated[Literal["rdma", "sc"], typer.Option("--model", help="Whose states: the hardware's, or those of SC.")]


@with_option_sets
def reach_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    target: TargetText,
    model: ModelName = "rdma",
    search: SafetySearch,
    report: SafetyReport,
) -> None:
    """Note in the context what is to be done."""
    context.obj.append(partial(run_question, safety_run(REACH, files, search, report, target=target, model=model)))
