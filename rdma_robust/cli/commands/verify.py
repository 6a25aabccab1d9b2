"""The `verify` command: check what programs claim."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import typer

from rdma_robust import TOOL
from rdma_robust.cli.answering import answer_each
from rdma_robust.cli.commands.safety_limits import SafetyLimits
from rdma_robust.cli.inputs import Source, expand
from rdma_robust.cli.options.arguments import (
    AnswerFormat,
    Define,
    Explain,
    Files,
    MaxStates,
    Memory,
    NoHangs,
    OrderedReads,
    Strict,
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


def verify_command(
    context: typer.Context,
    files: Files,
    *,
    ordered_reads: OrderedReads = False,
    define: Define = None,
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
    format_: AnswerFormat = None,
    explain: Explain = None,
    no_hangs: NoHangs = False,
    strict: Strict = False,
) -> None:
    """Note in the context what is to be done."""
    most = memory_limit(memory)
    limits = SafetyLimits(rdma(ordered_reads), limit(timeout), max_states or None, most, tuple(define or ()))
    form: TextOrJson = format_ or "text"
    context.obj.append(partial(run_verify, files, limits, form=form, explain=explain, hangs=not no_hangs, strict=strict))


def run_verify(
    files: Sequence[str], limits: SafetyLimits, *, form: TextOrJson, explain: bool | None, hangs: bool, strict: bool
) -> Exit:
    """Check the claims of every program; return the worst exit code. Raises BrokenPipeError."""
    items = expand(files, define=limits.define)
    show = len(items) == 1 if explain is None else explain

    def answer(source: Source, text: str) -> Exit:
        from rdma_robust.analyses.safety.verify import verify  # noqa: PLC0415
        from rdma_robust.language.flow.waiting import blocking  # noqa: PLC0415
        from rdma_robust.language.load import load_program  # noqa: PLC0415 - slow, and reading may have failed
        from rdma_robust.reports.analyses import safety_report  # noqa: PLC0415
        from rdma_robust.reports.check import json_report  # noqa: PLC0415

        program = blocking(load_program(text, source.name))
        for warning in program.warnings:
            warn(printable(warning.render(source.name, text), "\n"))
        verified = verify(program, limits.limits(), limits.hardware, hangs=hangs)
        out = StandardOutput()
        if form == "json":
            options = limits.described() | {"hangs": hangs, "strict": strict}
            out.line(json_report.layout(safety_report.verify_object(verified, TOOL, options, strict=strict)))
        else:
            out.say("\n".join(safety_report.verify_text(verified, show, width_of_output())))
        return safety_report.verify_exit(verified, strict=strict)

    return answer_each(items, limits.limits, answer, ENDING)
