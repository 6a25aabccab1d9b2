"""The `verify` command: check what programs claim."""

from __future__ import annotations

from functools import partial

import typer

from rdma_robust.cli.asked_files import watch_instead
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.cli.safety_run import SafetyReport, SafetySearch, safety_run
from rdma_robust.frame.run_question import run_question
from rdma_robust.questions.safety_question import VERIFY


@with_option_sets
def verify_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    search: SafetySearch,
    no_hangs: arguments.NoHangs = False,
    strict: arguments.Strict = False,
    report: SafetyReport,
    watch: arguments.Watch = False,
) -> None:
    """Note in the context what is to be done."""
    if watch:
        watch_instead(context, files, search.define)
        return
    context.obj.append(partial(run_question, safety_run(VERIFY, files, search, report, hangs=not no_hangs, strict=strict)))
