"""The `explain` command: decide one program and write why."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from rdma_robust import TOOL, __version__
from rdma_robust.cli.answering import answer_item, only
from rdma_robust.cli.destinations import form_for
from rdma_robust.cli.inputs import Source
from rdma_robust.cli.options.arguments import (
    AwaitLoops,
    File,
    Force,
    MaxStates,
    Memory,
    OrderedReads,
    OutputFile,
    Timeout,
    limit,
    memory_limit,
)
from rdma_robust.cli.options.defaults import TIMEOUT_S
from rdma_robust.cli.options.formats import Drawing, ExplainFormat
from rdma_robust.cli.output import output
from rdma_robust.cli.processes.decide_program import limits_of, remaining
from rdma_robust.cli.processes.guard import ENDING, Overrun, guarded_by, out_of_memory
from rdma_robust.cli.screen import width_of_output
from rdma_robust.cli.stderr import warn
from rdma_robust.errors import SizeLimitError, UsageError
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.reports.share.columns import PAPER
from rdma_robust.reports.share.exits import Exit
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.analyses.explain.explanation import Explanation

SUFFIXES: Final[Mapping[str, tuple[ExplainFormat, ...]]] = {
    ".txt": ("text",),
    ".json": ("json",),
    ".dot": ("dot",),
    ".gv": ("dot",),
    ".svg": ("svg",),
    ".html": ("html",),
    ".htm": ("html",),
}
"""What the suffix of the output file says."""


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """What to explain and how.

    `format` of None is that of the suffix of `to`, `width` of None that of the terminal, `to` of None standard output.
    """

    file: str
    options: CheckOptions
    format: ExplainFormat | None = None
    of: Drawing = "graph"
    final_states: int = 0
    width: int | None = None
    to: str | None = None
    force: bool = False


def explain_command(
    context: typer.Context,
    file: File,
    *,
    format_: Annotated[
        ExplainFormat | None,
        typer.Option(
            "--format", help="Form of the explanation. Default: what the suffix of OUT says, else text.", show_default=False
        ),
    ] = None,
    of: Annotated[Drawing, typer.Option(help="svg: what to draw.")] = "graph",
    ordered_reads: OrderedReads = False,
    await_loops: AwaitLoops = False,
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
    final_states: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="States of each machine searched for final states, a tenth of it for programs with loops; 0: none.",
        ),
    ] = 100_000,
    width: Annotated[
        int | None,
        typer.Option(metavar="N", min=40, help="text: width of the lines.", show_default="that of the terminal"),
    ] = None,
    output: OutputFile = None,
    force: Force = False,
) -> None:
    """Note in the context what is to be done."""
    options = CheckOptions(
        ordered_reads=ordered_reads,
        await_loops=await_loops,
        timeout=limit(timeout),
        max_states=max_states or None,
        memory=memory_limit(memory),
    )
    request = ExplainRequest(file, options, format_, of, final_states, width, output, force)
    context.obj.append(partial(run_explain, request))


def run_explain(request: ExplainRequest) -> Exit:
    """Decide and explain the program of `request`; return the exit code, that of `check`. Raises UsageError."""
    item = only(request.file, "explain")
    if isinstance(item, Source):
        _protect(request, item)
    form = cast(ExplainFormat, form_for(request.to, request.format, SUFFIXES, "text"))
    place = output(request.to)
    limits = limits_of(request.options)

    def explained(source: Source, text: str) -> Exit:
        told = _explain(source.name, text, request, limits)
        written = _written(told, form, request)
        with place:
            place.line(written.rstrip("\n"))
        from rdma_robust.reports.explanation.explanation_json import EXITS  # noqa: PLC0415 - loaded by then

        return EXITS[told.verdict]

    return answer_item(item, limits, explained, ENDING)


def _protect(request: ExplainRequest, item: Source) -> None:
    """Refuse to write over the program, ever, and over anything else without --force."""
    if request.to in (None, "-"):
        return
    path = str(request.to)
    if item.path is not None and os.path.realpath(item.path) == os.path.realpath(path):
        raise UsageError(f"--output {printable(path)} is the program itself")
    if os.path.isfile(path) and not request.force:
        raise UsageError(f"{printable(path)} is there already; --force replaces it")


def _explain(name: str, text: str, request: ExplainRequest, limits: Limits) -> Explanation:
    """Return the explanation of a program; where a limit stops the search from outside, of what is known."""
    from rdma_robust.analyses.explain.compose import explanation, undecided  # noqa: PLC0415 - slow, and reading may have failed
    from rdma_robust.language.flow.waiting import blocking  # noqa: PLC0415
    from rdma_robust.language.load import load_program  # noqa: PLC0415
    from rdma_robust.pipeline import check_program  # noqa: PLC0415

    options = request.options
    program = blocking(load_program(text, name), options.await_loops)
    for warning in program.warnings:
        warn(printable(warning.render(name, text), "\n"))
    try:
        with guarded_by(limits):
            outcome = check_program(program, options)
    except (Overrun, SizeLimitError) as error:
        outcome = undecided(program, options, str(error))
    except MemoryError as error:
        outcome = undecided(program, options, out_of_memory(error))
    return explanation(outcome, remaining(options, limits), final_state_limit=request.final_states)


def _written(explained: Explanation, form: ExplainFormat, request: ExplainRequest) -> str:
    match form:
        case "text":
            from rdma_robust.reports.explanation.explanation_text import explanation_text  # noqa: PLC0415

            return "\n".join(explanation_text(explained, _width(request)))
        case "json":
            from rdma_robust.reports.check.json_report import layout  # noqa: PLC0415
            from rdma_robust.reports.explanation.explanation_json import explanation_object  # noqa: PLC0415

            return layout(explanation_object(explained, TOOL))
        case "dot":
            from rdma_robust.reports.explanation.explanation_dot import graph_dot  # noqa: PLC0415

            return graph_dot(explained)
        case "svg":
            from rdma_robust.reports.explanation.explanation_svg import drawn  # noqa: PLC0415

            return drawn(explained, request.of)
        case "html":
            from rdma_robust.reports.explanation.explanation_html import explanation_html  # noqa: PLC0415

            return explanation_html(explained, __version__)


def _width(request: ExplainRequest) -> int:
    if request.width is not None:
        return request.width
    return width_of_output(request.to) or PAPER
