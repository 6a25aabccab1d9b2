"""The `record` command: compile programs with hooks, run them with a card in software, and decide the run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from rdma_robust.cli.asked_files import explains
from rdma_robust.cli.destinations import made_file, report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.options.option_sets import LimitOptions, ModelOptions, with_option_sets
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.question import Question
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.frame.shell.inputs import Source
from rdma_robust.frame.shell.output import replace_file
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.options import CheckOptions
from rdma_robust.text import printable


@dataclass(frozen=True, slots=True)
class Recording:
    """A run that is asked for: a command, as how many processes, what becomes of it; `join` is a folder of others."""

    command: tuple[str, ...]
    number: int
    seconds: float
    join: str | None
    out: str | None
    drops_failed: bool

    @property
    def name(self) -> str:
        """The name of the run in reports."""
        made = self.command[0] if self.command else self.join or ""
        return f"run of {os.path.basename(os.path.normpath(made))}"


@with_option_sets
def record_command(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[cc|c++] [--] ...",
            help="`cc` or `c++` with the arguments of a compiler, or a program with its arguments.",
            show_default=False,
        ),
    ] = None,
    *,
    number: arguments.Number = 1,
    join: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Decide what processes that were started by hand have recorded in DIR, with RDMA_ROBUST_RECORD=DIR.",
        ),
    ] = None,
    run_timeout: arguments.RunTimeout = arguments.RUN_TIMEOUT_S,
    out: arguments.RunFile = None,
    races: arguments.AboutRaces = False,
    hardware: ModelOptions,
    await_loops: arguments.AwaitLoops = False,
    limits: LimitOptions,
    format_: arguments.VerdictsFormat = None,
    output: arguments.OutputFile = None,
    explain: arguments.Explain = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Note in the context what is to be done."""
    from rdma_robust.record.toolchain import COMPILERS, compile_recorded  # noqa: PLC0415 - only for this command

    words = words or []
    if words and words[0] in COMPILERS:
        context.obj.append(partial(_compiled, partial(compile_recorded, words[0], words[1:])))
        return
    if not words and join is None:
        raise UsageError("which program? `rdma-robust record -- ./program`; `rdma-robust record cc` compiles it")
    recording = Recording(tuple(words), number, run_timeout, join, out, await_loops)
    made_file(out, [], force=True)
    item = Source(recording.name, None, b"")
    form = report_form(output, format_, VERDICT_FORMATS, [item])
    options = CheckOptions(
        **hardware.values(),
        await_loops=await_loops,
        **limits.of_each(),
    )
    told = explains([item], explain)
    question: Question[Any, Any]
    asking: object
    if races:
        from rdma_robust.questions.races_question import RACES, RacesAsking  # noqa: PLC0415 - one of both

        question, asking = RACES, RacesAsking(options, explain=told)
    else:
        from rdma_robust.questions.robustness_question import CHECK, RobustnessAsking  # noqa: PLC0415 - one of both

        question, asking = CHECK, RobustnessAsking(options, explain=told, full=explain is True, matters=told)

    def ask(source: Source) -> Exit:
        return run_question(Run(question, asking, [source], 1, form, output, quiet))

    context.obj.append(partial(_recorded, recording, ask))


def _compiled(compile_: Callable[[], int]) -> Exit:
    return Exit.INVALID if compile_() else Exit.OK


def _recorded(recording: Recording, ask: Callable[[Source], Exit]) -> Exit:
    """Run and record, and ask about the run. Raises UsageError."""
    from rdma_robust.record.recorded_process import run_recorded  # noqa: PLC0415 - only for this command
    from rdma_robust.record.recorded_text import recorded_text  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="rdma-robust-record-") as made:
        folder = Path(recording.join or made)
        if recording.command:
            for remark in run_recorded(recording.command, recording.number, folder, recording.seconds):
                warn(f"note: {printable(remark)}")
        elif not os.path.isdir(folder):
            raise UsageError(f"there is no folder {printable(str(folder))}")
        try:
            text = recorded_text(folder, "recorded", drops_failed=recording.drops_failed)
        except (ValueError, IndexError, KeyError, OSError) as error:
            if recording.command:
                raise  # It was written a moment ago, so that this is a defect.
            raise UsageError(
                f"the recording in {printable(str(folder))} cannot be read: {error}; let all processes end, and record again"
            ) from error
    if recording.out is not None:
        replace_file(recording.out, text)
    return ask(Source(recording.name, None, text.encode()))
