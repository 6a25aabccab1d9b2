"""The `races` command: do programs have data races?"""

from __future__ import annotations

from functools import partial

import typer

from rdma_robust.cli.asked_files import certified, explains, watch_instead
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import NEEDS_FORMATS
from rdma_robust.cli.options.option_sets import BatchOptions, HardwareOptions, with_option_sets
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.frame.shell.inputs import expand
from rdma_robust.options import CheckOptions
from rdma_robust.questions.races_question import RACES, RacesAsking


@with_option_sets
def races_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    hardware: HardwareOptions,
    define: arguments.Defines = None,
    limits: BatchOptions,
    expect: arguments.Expect = False,
    certificate: arguments.Certificates = None,
    format_: arguments.NeedsFormat = None,
    output: arguments.OutputFile = None,
    explain: arguments.Explain = None,
    quiet: arguments.Quiet = False,
    watch: arguments.Watch = False,
) -> None:
    """Note in the context what is to be done."""
    if watch:
        watch_instead(context, files, define)
        return
    items = expand(files, define=tuple(define or ()))
    form = report_form(output, format_, NEEDS_FORMATS, items)
    options = CheckOptions(
        **hardware.values(),
        **limits.of_each(items, limits.jobs),
        define=tuple(define or ()),
    )
    items = certified(items, certificate)
    asking = RacesAsking(options, expect, explains(items, explain))
    context.obj.append(partial(run_question, Run(RACES, asking, items, limits.jobs, form, output, quiet)))
