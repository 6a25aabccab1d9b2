"""The options of `reach` and `verify`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from rdma_robust.cli.options.arguments import Files, MaxStates, Memory, OrderedReads, Timeout, limit
from rdma_robust.cli.options.defaults import TIMEOUT_S, default_memory
from rdma_robust.cli.options.formats import TextOrJson
from rdma_robust.cli.options.help_texts import REACH_HELP, VERIFY_PROGRAM_HELP
from rdma_robust.model import rdma

TargetText = Annotated[
    str,
    typer.Option(
        "--target", "-t", metavar="CONDITION", help="The state asked for, as in 'T1 ended && B.y == 1'.", show_default=False
    ),
]
ModelName = Annotated[Literal["rdma", "sc"], typer.Option("--model", help="Whose states: the hardware's, or those of SC.")]
Form = Annotated[TextOrJson, typer.Option("--format", help="Form of the report.")]
Explain = Annotated[
    bool | None,
    typer.Option("--explain/--no-explain", "-v", help="Show runs. Default: if there is one program.", show_default=False),
]

commands = typer.Typer()


def register(app: typer.Typer) -> None:
    """Add the commands to `app`."""
    app.registered_commands += commands.registered_commands


@commands.command("reach", help=REACH_HELP)
def _reach(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    *,
    target: TargetText,
    model: ModelName = "rdma",
    ordered_reads: OrderedReads = False,
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
    format_: Form = "text",
) -> None:
    from rdma_robust.cli.commands.safety import SafetyLimits, run_reach  # noqa: PLC0415

    most = (default_memory(1) if memory is None else memory) or None
    limits = SafetyLimits(rdma(ordered_reads), limit(timeout), max_states or None, most)
    context.obj.append(partial(run_reach, file, target, model, limits, format_))


@commands.command("verify", help=VERIFY_PROGRAM_HELP)
def _verify(
    context: typer.Context,
    files: Files,
    *,
    ordered_reads: OrderedReads = False,
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
    format_: Form = "text",
    explain: Explain = None,
) -> None:
    from rdma_robust.cli.commands.safety import SafetyLimits, run_verify  # noqa: PLC0415

    most = (default_memory(1) if memory is None else memory) or None
    limits = SafetyLimits(rdma(ordered_reads), limit(timeout), max_states or None, most)
    context.obj.append(partial(run_verify, files, limits, format_, explain))
