"""The `export` command: one program in the language of another tool."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rdma_robust.cli.answering import answer_item, default_limits, only
from rdma_robust.cli.destinations import made_file
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.option_sets import CFileOptions, ModelOptions, with_option_sets
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import Source
from rdma_robust.frame.shell.output import output
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.text import printable

if TYPE_CHECKING:
    from rdma_robust.exports import ExportOptions


MAX_COUNTER_BOUND = 32_767


@with_option_sets
def export_command(
    context: typer.Context,
    file: arguments.File,
    *,
    to: Annotated[
        Literal["promela", "spec", "dot", "json", "verbs-c", "shmem-test", "mpi-test", "verbs-test"],
        typer.Option(help="The form to write."),
    ],
    instrumentation: Annotated[
        Literal["pivot", "paper", "none"] | None,
        typer.Option(
            help="What to ask of the program; none is the program under sequential consistency, and asks for its faults. "
            "Default: paper for promela of programs that it has, else pivot.",
            show_default=False,
        ),
    ] = None,
    of: Annotated[Literal["vass", "program"], typer.Option(help="dot: which graph to draw.")] = "vass",
    counter_bound: Annotated[
        int,
        typer.Option(
            metavar="K", min=1, max=MAX_COUNTER_BOUND, help="promela: where poll counters without a proven bound stop."
        ),
    ] = 7,
    max_states: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Control states written out.", show_default="2000 for dot, else 100000"),
    ] = 0,
    model: ModelOptions,
    await_loops: arguments.AwaitLoops = False,
    define: arguments.Define = None,
    c: CFileOptions,
    output: arguments.MadeFile = None,
    force: arguments.Force = False,
) -> None:
    """Note in the context what is to be done."""
    from rdma_robust.exports import ExportOptions  # noqa: PLC0415

    bound = max_states or None
    options = ExportOptions(to, instrumentation, of, counter_bound, bound, None, await_loops, model.hardware())
    context.obj.append(partial(run_export, file, options, output, force, [*(define or ()), *c.definitions()]))


def run_export(
    file: str, options: ExportOptions, to: str | None, force: bool = False, define: Sequence[str] | None = None
) -> Exit:
    """Write the program `file` to the file `to`, or to standard output; return the exit code."""
    item = only(file, "export", define)
    made_file(to, [item], force=force)
    place = output(to)

    def exported(source: Source, text: str) -> Exit:
        from rdma_robust.exports import export_text  # noqa: PLC0415 - slow, and reading may have failed

        export = export_text(text, source.name, options)
        for remark in export.remarks:
            warn(f"{printable(source.name)}: {printable(remark)}")
        with place:
            place.line(export.text.rstrip("\n"))
        return Exit.OK

    return answer_item(item, default_limits(), exported)
