"""The `messages explain` command: decide one message program, draw runs of it, and say why."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import typer

from rdma_robust import TOOL, __version__
from rdma_robust.beside import Beside
from rdma_robust.cli.answering import only, tell_of
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import EXPLAIN_FORMATS
from rdma_robust.cli.options.messages_options import NAMED, MessageOptions
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import Source, expand
from rdma_robust.frame.shell.output import width_of_output
from rdma_robust.frame.shell.stderr import warn, warn_of
from rdma_robust.limits import Limits
from rdma_robust.messages.language.recognised import MESSAGES_SUFFIX
from rdma_robust.questions.messages_question import MessagesAsking, decide_in_time, load_messages_room
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.reports.messages.messages_explanation import MessagesExplanation

RACES_S: Final = 5.0
"""Seconds for what races can change."""


@with_option_sets
def explain_command(
    context: typer.Context,
    file: arguments.File,
    *,
    format_: arguments.ExplanationFormat = None,
    asked: MessageOptions,
    define: arguments.Define = None,
    timeout: arguments.Timeout = TIMEOUT_S,
    memory: arguments.Memory = None,
    output: arguments.OutputFile = None,
    all_steps: arguments.AllSteps = False,
) -> None:
    """Note in the context what is to be done."""
    asking = MessagesAsking(
        **asked.values(),
        timeout=arguments.limit(timeout),
        memory=arguments.memory_limit(memory),
        define=tuple(define or ()),
        full=all_steps,
        width=width_of_output(output),
    )
    form = report_form(output, format_, EXPLAIN_FORMATS, expand([file], suffixes=(MESSAGES_SUFFIX,), named=NAMED))
    context.obj.append(partial(run_messages_explain, file, asking, form, output))


def run_messages_explain(file: str, asking: MessagesAsking, form: str, to: str | None) -> Exit:
    """Decide and explain the program `file`; return the exit code, that of `messages check`. Raises UsageError."""
    item = only(file, "messages explain", asking.define, (MESSAGES_SUFFIX,), NAMED)
    return tell_of(item, (form, to), asking.limits, partial(_told, asking, form), _load)


def _load() -> None:
    load_messages_room()
    import rdma_robust.reports.messages.messages_explanation  # noqa: PLC0415 - slow: before limits
    import rdma_robust.reports.messages.race_notes  # noqa: F401, PLC0415


def _told(asking: MessagesAsking, form: str, source: Source, limits: Limits) -> tuple[str, Exit]:
    from rdma_robust.reports.messages.messages_explanation import messages_explanation  # noqa: PLC0415 - loaded by then
    from rdma_robust.reports.messages.race_notes import RaceNote, race_notes  # noqa: PLC0415

    found = decide_in_time(source, asking, limits)
    program = found.program
    assert program is not None
    warn_of(program.warnings, program.file, program.source)
    for note in found.notes:
        warn(f"{printable(program.file)}: note: {printable(note)}")
    beside = Beside(limits, 1.0, RACES_S)
    none: list[RaceNote] = []
    races = beside.note("what races change", partial(race_notes, program, found.answers), none, share=1.0)
    for left_out in beside.left_out:
        warn(f"{printable(source.name)}: note: left out: {left_out}")
    told = messages_explanation(program, found.answers, races)
    return _written(told, asking, form), told.exit_code


def _written(told: MessagesExplanation, asking: MessagesAsking, form: str) -> str:
    match form:
        case "text":
            from rdma_robust.reports.messages.messages_explanation import messages_explanation_text  # noqa: PLC0415

            return "\n".join(messages_explanation_text(told, asking.width, full=asking.full))
        case "json":
            from rdma_robust.frame.formats.json_text import layout  # noqa: PLC0415
            from rdma_robust.reports.messages.messages_explanation import messages_explanation_object  # noqa: PLC0415

            return layout(messages_explanation_object(told, TOOL))
        case "dot":
            from rdma_robust.reports.messages.chart_languages import chart_dot  # noqa: PLC0415

            return chart_dot(told.findings[0].chart)
        case "svg":
            from rdma_robust.reports.share.chart_svg import chart_svg  # noqa: PLC0415

            return chart_svg(told.findings[0].chart)
        case _:
            from rdma_robust.reports.messages.messages_explanation import messages_page  # noqa: PLC0415

            return messages_page(told, __version__)
