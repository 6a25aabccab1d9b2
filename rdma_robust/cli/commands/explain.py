"""The `explain` command: decide one program and write why."""

from __future__ import annotations

import os
import shutil
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rdma_robust import TOOL, __version__
from rdma_robust.cli.inputs import Missing, Source, expand, read_source
from rdma_robust.cli.options.formats import Drawing, ExplainFormat
from rdma_robust.cli.output import output
from rdma_robust.cli.processes.decide_program import OutOfTime, alarm, exit_of_error, message_of
from rdma_robust.cli.stderr import warn
from rdma_robust.errors import SizeLimitError, UsageError
from rdma_robust.options import CheckOptions
from rdma_robust.reports.share.exits import Exit
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.analyses.explain.explanation import Explanation


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """What to explain and how. `width` of None is that of the terminal, `to` of None standard output."""

    file: str
    options: CheckOptions
    format: ExplainFormat = "text"
    of: Drawing = "graph"
    final_states: int = 0
    width: int | None = None
    to: str | None = None
    force: bool = False


def run_explain(request: ExplainRequest) -> Exit:
    """Decide and explain the program of `request`; return the exit code, that of `check`. Raises UsageError."""
    items = expand([request.file])
    item = items[0]
    if isinstance(item, Missing):
        warn(f"{printable(item.name)}: error: {item.reason}")
        return Exit.INVALID
    if len(items) > 1:
        raise UsageError(f"explain takes one program, and {printable(request.file)} stands for {len(items)}")
    _protect(request, item)
    place = output(request.to)
    try:
        explained = _explain(item, request)
        text = _written(explained, request)
    except Exception as error:
        warn(message_of(error, item.name))
        return exit_of_error(error)
    with place:
        place.line(text.rstrip("\n"))
    from rdma_robust.reports.explanation.explanation_json import EXITS  # noqa: PLC0415 - loaded by then

    return EXITS[explained.verdict]


def _protect(request: ExplainRequest, item: Source) -> None:
    """Refuse to write over the program, ever, and over anything else without --force."""
    if request.to in (None, "-"):
        return
    path = str(request.to)
    if item.path is not None and os.path.realpath(item.path) == os.path.realpath(path):
        raise UsageError(f"--output {printable(path)} is the program itself")
    if os.path.isfile(path) and not request.force:
        raise UsageError(f"{printable(path)} is there already; --force replaces it")


def _explain(item: Source, request: ExplainRequest) -> Explanation:
    """Return the explanation of the program in `item`; where something stops the search from outside, of what is known."""
    from rdma_robust.analyses.explain.compose import explanation, undecided  # noqa: PLC0415 - slow, and reading may have failed
    from rdma_robust.language.flow.waiting import blocking  # noqa: PLC0415
    from rdma_robust.language.load import load_program  # noqa: PLC0415
    from rdma_robust.pipeline import check_program  # noqa: PLC0415

    started = time.monotonic()
    options = request.options
    text = read_source(item)
    program = blocking(load_program(text, item.name), options.await_loops)
    for warning in program.warnings:
        warn(printable(warning.render(item.name, text), "\n"))
    try:
        with alarm(options, False):
            outcome = check_program(program, options)
    except OutOfTime:
        outcome = undecided(program, options, f"reached the time limit of {options.timeout:g} s")
    except MemoryError:
        outcome = undecided(program, options, "out of memory")
    except SizeLimitError as error:
        outcome = undecided(program, options, str(error))
    left = options
    if options.timeout is not None:
        left = replace(options, timeout=max(0.0, options.timeout - (time.monotonic() - started)))
    return explanation(outcome, left, final_state_limit=request.final_states)


def _written(explained: Explanation, request: ExplainRequest) -> str:
    match request.format:
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
    terminal = request.to in (None, "-") and sys.stdout.isatty()
    return shutil.get_terminal_size((100, 24)).columns if terminal or "COLUMNS" in os.environ else 100
