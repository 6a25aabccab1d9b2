"""The `prove` command: are programs safe under memory models, with unbounded data and nothing given by hand?"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from rdma_robust.cli.asked_files import (
    certified,
    explains,
    prints_alone,
    watch_instead,
)
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.options.option_sets import CFileOptions, SharedSearchOptions, with_option_sets
from rdma_robust.cli.options.safety_options import SafetyEngine, SafetyModels, SafetyReduction, models_named
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.frame.shell.inputs import expand
from rdma_robust.frame.shell.output import width_of_output
from rdma_robust.questions.proof_question import PROVE, ProofAsking

DumpReduced = Annotated[
    Literal["reduce"] | None,
    typer.Option("--dump-after", help="Print what each program is reduced to under each model, and decide nothing."),
]


@with_option_sets
def prove_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    models: SafetyModels = None,
    engine: SafetyEngine = "auto",
    reduction: SafetyReduction = "slots",
    bound: Annotated[
        int, typer.Option(metavar="K", min=0, max=256, help="Buffered stores, or like operations in flight, to begin with.")
    ] = 1,
    define: arguments.Defines = None,
    c: CFileOptions,
    limits: SharedSearchOptions,
    expect: arguments.Expect = False,
    format_: arguments.VerdictsFormat = None,
    output: arguments.OutputFile = None,
    certificate: arguments.Certificates = None,
    explain: arguments.Explain = None,
    dump_after: DumpReduced = None,
    quiet: arguments.Quiet = False,
    watch: arguments.Watch = False,
) -> None:
    """Note in the context what is to be done."""
    named, every = models_named(models)
    define = [*(define or ()), *c.definitions()]
    if watch:
        watch_instead(context, files, define)
        return
    items = expand(files, define=define)
    jobs, limited = limits.shared(items)
    asking = ProofAsking(
        named,
        every,
        engine,
        reduction,
        bound,
        **limited,
        explain=explains(items, explain),
        full=explain is True,
        needs=explain is True,
        width=width_of_output(output),
        expect=expect,
        define=tuple(define),
    )
    if dump_after is not None:
        prints_alone(dump_after, certificate, (output, format_))
        from rdma_robust.cli.processes.dump_reduced import run_dump_reduced  # noqa: PLC0415

        context.obj.append(partial(run_dump_reduced, items, asking))
        return
    form = report_form(output, format_, VERDICT_FORMATS, items)
    items = certified(items, certificate)
    context.obj.append(partial(run_question, Run(PROVE, asking, items, jobs, form, output, quiet)))
