"""The `messages record` command: run a program with MPI, record its calls, and decide the run with every other matching."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rdma_robust.cli.answering import answering, default_limits
from rdma_robust.cli.asked_files import memory_each
from rdma_robust.cli.destinations import made_file, report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.options.messages_options import Deny, MessageCheckOptions, denied, reported
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import Source
from rdma_robust.frame.shell.output import replace_file
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.questions.messages_question import MESSAGES_CHECK, MessagesAsking
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.messages.traces.logged_answers import Tried

_AGAIN_S: Final = 2.0
"""Seconds that a run that is tried may take beyond twice those of the recording: it may hang."""


@dataclass(frozen=True, slots=True)
class RecordedCommand:
    """A run that is asked for: a command, as how many processes, for how long; its trace goes to `out`."""

    command: tuple[str, ...]
    number: int
    seconds: float
    out: str | None


@with_option_sets
def record_command(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[--] PROGRAM ...", help="A program with its arguments.", show_default=False),
    ] = None,
    *,
    number: arguments.Number = 1,
    run_timeout: arguments.RunTimeout = arguments.RUN_TIMEOUT_S,
    out: arguments.RunFile = None,
    library_only: Annotated[
        bool, typer.Option("--library-only", help="Only compile the library that records, into the file of -o.")
    ] = False,
    asked: MessageCheckOptions,
    timeout: arguments.Timeout = TIMEOUT_S,
    memory: arguments.Memory = None,
    deny: Deny = None,
    format_: arguments.VerdictsFormat = None,
    output: arguments.OutputFile = None,
    explain: arguments.Explain = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Note in the context what is to be done."""
    if library_only:
        if words or output is None:
            raise UsageError("--library-only compiles the library into the file of -o, and runs nothing")
        context.obj.append(partial(_library, Path(output)))
        return
    if not words:
        raise UsageError("which program? `rdma-robust messages record -n 4 ./program`")
    made_file(out, [], force=True)
    item = Source(f"run of {Path(words[0]).name}", None, b"")
    form = report_form(output, format_, VERDICT_FORMATS, [item])
    asking = MessagesAsking(
        **asked.values(),
        timeout=arguments.limit(timeout),
        memory=memory_each(memory, None, [item]),
        deny=denied(deny),
        **reported(form, [item], output, explain),
    )

    def ask(source: Source, tried: Tried) -> Exit:
        return run_question(Run(MESSAGES_CHECK, replace(asking, tried=tried), [source], 1, form, output, quiet))

    recording = RecordedCommand(tuple(words), number, run_timeout, out)
    context.obj.append(partial(_recorded, recording, item, ask))


def _library(to: Path) -> Exit:
    from rdma_robust.record.mpi_runs import build_library, mpi_of  # noqa: PLC0415 - only for this command

    build_library(mpi_of(None), to)
    return Exit.OK


def _recorded(recording: RecordedCommand, item: Source, ask: Callable[[Source, Tried], Exit]) -> Exit:
    """Run and record, and ask about the run. Raises UsageError."""
    from rdma_robust.messages.traces.trace_record import trace_json  # noqa: PLC0415 - only for this command
    from rdma_robust.record.mpi_runs import recordable  # noqa: PLC0415
    from rdma_robust.record.tried_runs import TriedRuns  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="rdma-robust-record-") as folder:
        program, started = recordable(recording.command, recording.number, Path(folder)), time.monotonic()
        found = answering(item.name, default_limits(), partial(program.run, recording.seconds))
        if isinstance(found, Exit):
            return found
        for remark in found.remarks:
            warn(f"note: {printable(remark)}")
        text = trace_json(found.trace)
        if recording.out is not None:
            replace_file(recording.out, text)
        again = min(recording.seconds, _AGAIN_S + 2 * (time.monotonic() - started))
        return ask(replace(item, data=text.encode()), TriedRuns(program, found.trace, again))
