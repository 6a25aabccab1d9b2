"""The `messages trace` command: run a message program once and write what happened, or import a recorded run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rdma_robust.cli.answering import answering, default_limits
from rdma_robust.cli.destinations import made_file
from rdma_robust.cli.options.arguments import Define, Files, Force, MadeFile
from rdma_robust.cli.options.messages_options import NAMED
from rdma_robust.cli.options.option_sets import CFileOptions, with_option_sets
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Item, Missing, Source, all_loaded, expand, read_source
from rdma_robust.frame.shell.output import StandardOutput, replace_file
from rdma_robust.frame.shell.stderr import warn, warning_texts
from rdma_robust.messages.language.recognised import MESSAGES_SUFFIX
from rdma_robust.questions.messages_question import load_messages_room, read_messages
from rdma_robust.text import count, printable
from rdma_robust.value_ranges import one_value

if TYPE_CHECKING:
    from rdma_robust.messages.language.message_program import MessageProgram
    from rdma_robust.messages.message_answers import Schedule

TraceFormat = Literal["mp-trace", "mpi-log"]
RunBuffer = Literal["zero", "infinite", "any"]


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """The program or log to make a trace of; `imported` of None runs a program. `to` of None is standard output."""

    items: Sequence[Item]
    imported: TraceFormat | None
    buffer: RunBuffer
    seed: int
    to: str | None


@with_option_sets
def trace_command(
    context: typer.Context,
    files: Files,
    *,
    imported: Annotated[
        TraceFormat | None,
        typer.Option("--import", help="Convert traces of the authors of the method, or logs of MPI; run nothing."),
    ] = None,
    buffer: Annotated[RunBuffer, typer.Option(help="When a send of the run completes.")] = "infinite",
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="What the run leaves to chance.")] = 0,
    define: Define = None,
    c: CFileOptions,
    output: MadeFile = None,
    force: Force = False,
) -> None:
    """Note in the context what is to be done."""
    defined = [*(define or ()), *c.definitions()]
    one_value(defined, "messages trace")
    if imported is None:
        items = expand(files, suffixes=(MESSAGES_SUFFIX,), define=defined, named=NAMED)
    elif defined:
        raise UsageError("--import and -D exclude one another: a recorded run has no constants")
    else:
        items = expand(files, suffixes=(".txt", ".jsonl", ".json"))
    if len(items) > 1 and imported != "mpi-log":
        raise UsageError(
            f"messages trace writes one trace, and there are {len(items)} inputs; only a log of MPI has several"
        )
    made_file(output, items, force=force)
    request = TraceRequest(items, imported, buffer, seed, None if output == "-" else output)
    context.obj.append(partial(run_messages_trace, request))


def run_messages_trace(request: TraceRequest) -> Exit:
    """Write the trace that is wanted; return the exit code. Raises UsageError, BrokenPipeError."""
    load_messages_room()
    sources: list[Source] = []
    for item in all_loaded(request.items, default_limits):
        if isinstance(item, Missing):
            warn(item.message())
            return Exit.UNKNOWN if item.cut else Exit.INVALID
        sources.append(item)
    found = answering(sources[0].name, default_limits(), partial(_made, sources, request))
    if isinstance(found, Exit):
        return found
    text, messages = found
    for message in messages:
        warn(message)
    if request.to is None:
        StandardOutput().write(text)
    else:
        replace_file(request.to, text)
    return Exit.OK


def _made(sources: Sequence[Source], request: TraceRequest) -> tuple[str, tuple[str, ...]]:
    """Return the JSON of a trace, and what to say of it. Raises what reading raises."""
    if request.imported is not None:
        return _imported(sources, request.imported)
    from rdma_robust.messages.machine.courses import random_run  # noqa: PLC0415 - slow, and reading may have failed
    from rdma_robust.messages.traces.trace_writing import write_trace  # noqa: PLC0415

    program, _ = read_messages(sources[0])
    schedule = random_run(program, request.buffer, request.seed)
    return write_trace(program, request.buffer, schedule), tuple(_said(program, request.buffer, schedule))


def _imported(sources: Sequence[Source], imported: TraceFormat) -> tuple[str, tuple[str, ...]]:
    """Return the JSON of a recorded run, and what its reader should know."""
    from rdma_robust.messages.traces.mp_trace import import_mp_trace  # noqa: PLC0415 - slow
    from rdma_robust.messages.traces.mpi_log import import_mpi_log  # noqa: PLC0415
    from rdma_robust.messages.traces.observed import read_recorded  # noqa: PLC0415
    from rdma_robust.messages.traces.trace_record import trace_json  # noqa: PLC0415

    texts = [(source.name, read_source(source)) for source in sources]
    file, text = texts[0]
    name = PurePath(file).stem
    trace = import_mpi_log(texts, name) if imported == "mpi-log" else import_mp_trace(text, file, name)
    made = trace_json(trace)
    recorded = read_recorded(made, file)
    warnings = warning_texts(trace.warnings, file, text)
    told = [f"{printable(file)}: note: {printable(note)}" for note in recorded.notes]
    return made, (*warnings, *told)


def _said(program: MessageProgram, buffer: RunBuffer, schedule: Schedule) -> Iterator[str]:
    """Yield what is to be said of a run besides its trace: warnings about the program, and how the run ends."""
    from rdma_robust.messages.replay.replaying import replay_schedule  # noqa: PLC0415 - loaded by then

    yield from warning_texts(program.warnings, program.file, program.source)
    end = replay_schedule(program, buffer, schedule)
    ends = {
        "complete": "all processes have ended",
        "deadlock": "it ends in a deadlock",
        "stopped": "a process has stopped",
        "open": "it was cut, it may go on forever",
    }
    violations = f", {count(len(end.violations), 'violation')}" if end.violations else ""
    yield f"{printable(program.file)}: note: a run under {buffer}, {len(end.pairs)} matched: {ends[end.ending]}{violations}"
