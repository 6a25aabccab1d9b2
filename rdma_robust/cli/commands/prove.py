"""The `prove` command: are programs safe under memory models, with unbounded data and nothing given by hand?"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from rdma_robust.cli.asked_files import (
    certified,
    checkpoints_of,
    explains,
    memory_each,
    prints_alone,
    searchers_each,
    watch_instead,
)
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.options.option_sets import CFileOptions, with_option_sets
from rdma_robust.cli.options.safety_options import SafetyEngine, SafetyModels, SafetyReduction, models_named
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.frame.shell.defaults import TIMEOUT_S
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
    timeout: arguments.Timeout = TIMEOUT_S,
    max_states: arguments.MaxStates = 0,
    memory: arguments.Memory = None,
    jobs: arguments.Jobs = None,
    threads: arguments.Threads = None,
    executor: arguments.Processes = None,
    checkpoint: arguments.Checkpoints = None,
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
    each, jobs, executor = searchers_each(threads, jobs, executor, items)
    asking = ProofAsking(
        named,
        every,
        engine,
        reduction,
        bound,
        arguments.limit(timeout),
        max_states or None,
        memory_each(memory, jobs, items),
        explain=explains(items, explain),
        full=explain is True,
        needs=explain is True,
        width=width_of_output(output),
        expect=expect,
        define=tuple(define),
        threads=each,
        executor=executor,
        checkpoint=checkpoints_of(checkpoint, executor, items),
    )
    if dump_after is not None:
        prints_alone(dump_after, certificate, (output, format_))
        from rdma_robust.cli.processes.dump_reduced import run_dump_reduced  # noqa: PLC0415

        context.obj.append(partial(run_dump_reduced, items, asking))
        return
    form = report_form(output, format_, VERDICT_FORMATS, items)
    items = certified(items, certificate)
    context.obj.append(partial(run_question, Run(PROVE, asking, items, jobs, form, output, quiet)))
