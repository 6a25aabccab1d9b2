"""The `messages matches` command: which receive can take which message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rdma_robust import TOOL
from rdma_robust.cli.answering import answering
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options.arguments import AnswerFormat, Defines, Files, Memory, OutputFile, Timeout, limit, memory_limit
from rdma_robust.cli.options.formats import TEXT_OR_JSON
from rdma_robust.cli.options.messages_options import NAMED, MessageOptions
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.frame.exits import Exit, worst
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import Item, Missing, Source, all_loaded, expand
from rdma_robust.frame.shell.output import output, width_of_output
from rdma_robust.frame.shell.stderr import warn, warning_texts
from rdma_robust.guard import ENDING
from rdma_robust.messages.language.recognised import MESSAGES_SUFFIX
from rdma_robust.questions.messages_question import MessagesAsking, decide_in_time, load_messages_room
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.limits import Limits
    from rdma_robust.messages.encoding.match_candidates import Candidates
    from rdma_robust.messages.language.message_program import Buffer, MessageProgram

COUNTED: Final = 10_000
LISTED: Final = 100
"""Matchings that are counted, and that are listed, at most."""


@dataclass(frozen=True, slots=True)
class MatchesRequest:
    """The question about programs, and how to report on it; `to` of None is standard output."""

    items: Sequence[Item]
    asking: MessagesAsking
    drop_reasons: bool
    effects: bool
    format: str
    to: str | None


@with_option_sets
def matches_command(
    context: typer.Context,
    files: Files,
    *,
    asked: MessageOptions,
    count: Annotated[bool, typer.Option("--count", help=f"Count the matchings, up to {COUNTED:,}.")] = False,
    list_: Annotated[bool, typer.Option("--list", help=f"List the matchings, up to {LISTED}.")] = False,
    drop_reasons: Annotated[
        bool, typer.Option("--drop-reasons", help="List the pairs that cannot match for a simple reason, and say it.")
    ] = False,
    effects: Annotated[
        bool, typer.Option("--effects", help="Say what races can change: nothing, final values, or what goes wrong.")
    ] = False,
    define: Defines = None,
    timeout: Timeout = TIMEOUT_S,
    memory: Memory = None,
    format_: AnswerFormat = None,
    output: OutputFile = None,
) -> None:
    """Note in the context what is to be done."""
    items = expand(files, suffixes=(MESSAGES_SUFFIX,), define=define, named=NAMED)
    asking = MessagesAsking(
        **asked.values(),
        timeout=limit(timeout),
        memory=memory_limit(memory),
        define=tuple(define or ()),
        counted=COUNTED if count or list_ else 0,
        listed=LISTED if list_ else 0,
        width=width_of_output(output),
    )
    form = report_form(output, format_, TEXT_OR_JSON, items)
    context.obj.append(partial(run_messages_matches, MatchesRequest(items, asking, drop_reasons, effects, form, output)))


@dataclass(frozen=True, slots=True)
class _Matches:
    """The report on one program, as it crosses a pipe: lines or objects, its exit code, and what to say besides."""

    lines: tuple[str, ...]
    objects: tuple[dict[str, object], ...]
    code: Exit
    messages: tuple[str, ...]


def run_messages_matches(request: MatchesRequest) -> Exit:
    """Answer for every item of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    codes: list[Exit] = []
    objects: list[dict[str, object]] = []
    with output(request.to) as place:
        for item in all_loaded(request.items, request.asking.limits):
            if isinstance(item, Missing):
                warn(item.message())
                codes.append(Exit.UNKNOWN if item.cut else Exit.INVALID)
                continue
            load_messages_room()
            limits = request.asking.limits()
            found = answering(item.name, limits, partial(_matches, item, request, limits), ENDING)
            codes.append(found if isinstance(found, Exit) else found.code)
            if isinstance(found, _Matches):
                for message in found.messages:
                    warn(message)
                objects += found.objects
                if request.format == "text":
                    place.say("\n".join(found.lines))
        if request.format == "json":
            from rdma_robust.frame.formats.json_text import layout  # noqa: PLC0415 - slow
            from rdma_robust.reports.messages.matches_report import matches_document  # noqa: PLC0415

            place.line(layout(matches_document(objects, TOOL)))
    return worst(codes)


def _matches(source: Source, request: MatchesRequest, limits: Limits) -> _Matches:
    """Return the report on a program. Raises what reading and deciding raise."""
    from rdma_robust.reports.messages.matches_report import MatchesRecord, matches_object, matches_text  # noqa: PLC0415

    found = decide_in_time(source, request.asking, limits)
    program = found.program
    assert program is not None, "decided, so read"
    buffers = [each.buffer for each in found.answers]
    record = MatchesRecord(
        program,
        tuple(found.answers),
        {
            buffer: _candidates(program, buffer, request.asking.loop_bound, limits)
            for buffer in (buffers if request.drop_reasons else ())
        },
    )
    if request.effects:
        from rdma_robust.reports.messages.race_notes import confirmed_effects  # noqa: PLC0415 - seldom asked

        record = replace(record, effects={each: confirmed_effects(program, each, limits) for each in buffers})
    done = all(answer.pairs is not None and answer.pairs_exact for answer in found.answers)
    return _Matches(
        tuple(matches_text(record, request.asking.width)),
        tuple(matches_object(record, answer) for answer in found.answers),
        Exit.OK if done else Exit.UNKNOWN,
        (
            *warning_texts(program.warnings, program.file, program.source),
            *(f"{printable(program.file)}: note: {printable(note)}" for note in found.notes),
        ),
    )


def _candidates(program: MessageProgram, buffer: Buffer, loop_bound: int, limits: Limits) -> Candidates | str:
    """Return the candidate pairs of a program, or why there are none."""
    from rdma_robust.messages.encoding.match_candidates import candidate_pairs  # noqa: PLC0415 - slow, seldom asked
    from rdma_robust.messages.encoding.unrolled import NotEncodedError  # noqa: PLC0415
    from rdma_robust.messages.encoding.unrolling import unroll  # noqa: PLC0415

    try:
        return candidate_pairs(unroll(program, loop_bound, limits), buffer, limits)
    except NotEncodedError as error:
        return f"not known: {error}"
