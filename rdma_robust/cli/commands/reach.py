"""The `reach` command: whether a state of a program is reachable."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from rdma_robust import TOOL
from rdma_robust.cli.answering import answer_item, only
from rdma_robust.cli.commands.safety_limits import SafetyLimits
from rdma_robust.cli.inputs import Source
from rdma_robust.cli.options.arguments import (
    AnswerFormat,
    Define,
    File,
    MaxStates,
    Memory,
    OrderedReads,
    Timeout,
    limit,
    memory_limit,
)
from rdma_robust.cli.options.defaults import TIMEOUT_S
from rdma_robust.cli.options.formats import TextOrJson
from rdma_robust.cli.output import StandardOutput
from rdma_robust.cli.processes.guard import ENDING
from rdma_robust.cli.screen import width_of_output
from rdma_robust.cli.stderr import warn
from rdma_robust.model import rdma
from rdma_robust.reports.share.exits import Exit
from rdma_robust.text import printable

TargetText = Annotated[
    str,
    typer.Option(
        "--target", "-t", metavar="CONDITION", help="The state asked for, as in 'T1 ended && B.y == 1'.", show_default=False
    ),
]
ModelName = Annotated[Literal["rdma", "sc"], typer.Option("--model", help="Whose states: the hardware's, or those of SC.")]


def reach_command(
    context: typer.Context,
    file: File,
    *,
    target: TargetText,
    model: ModelName = "rdma",
    ordered_reads: OrderedReads = False,
    define: Define = None,
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
    format_: AnswerFormat = None,
) -> None:
    """Note in the context what is to be done."""
    most = memory_limit(memory)
    limits = SafetyLimits(rdma(ordered_reads), limit(timeout), max_states or None, most, tuple(define or ()))
    context.obj.append(partial(run_reach, file, target, model, limits, format_ or "text"))


def run_reach(file: str, target: str, model: Literal["sc", "rdma"], limits: SafetyLimits, form: TextOrJson) -> Exit:
    """Answer whether `target` is reachable; return the exit code. Raises UsageError, BrokenPipeError."""
    item = only(file, "reach", limits.define)

    def answer(source: Source, text: str) -> Exit:
        from rdma_robust.analyses.safety.goals import StateGoal, waiting  # noqa: PLC0415
        from rdma_robust.analyses.safety.reach import reach  # noqa: PLC0415
        from rdma_robust.language.load import load_program_and_target  # noqa: PLC0415 - slow, and reading may have failed
        from rdma_robust.reports.analyses import safety_report  # noqa: PLC0415
        from rdma_robust.reports.check import json_report  # noqa: PLC0415

        program, meant = load_program_and_target(text, source.name, target)
        program = waiting(program, meant)
        for warning in program.warnings:
            warn(printable(warning.render(source.name, text), "\n"))
        asked = reach(program, [StateGoal(meant)], model, limits.limits(), limits.hardware)
        out = StandardOutput()
        if form == "json":
            options = limits.described()
            result = safety_report.reach_object(program, meant.text, model, asked, tool=TOOL, options=options)
            out.line(json_report.layout(result))
        else:
            out.say("\n".join(safety_report.reach_text(program, meant.text, model, asked, width_of_output())))
        return safety_report.REACH_EXITS[asked.answers[0].answer]

    return answer_item(item, limits.limits(), answer, ENDING)
