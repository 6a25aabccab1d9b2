"""The `check` command: decide the programs, report them in order, and say by the exit code how it went."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer

from rdma_robust.cli.asked_files import (
    certified,
    chosen,
    explains,
    prints_alone,
    watch_instead,
    without_proofs,
)
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.options.option_sets import HardwareOptions, SearchOptions, SharedSearchOptions, with_option_sets
from rdma_robust.errors import UsageError
from rdma_robust.frame import registry
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.frame.shell.inputs import Item, Source, expand
from rdma_robust.frame.shell.output import StandardOutput
from rdma_robust.options import CheckOptions
from rdma_robust.questions.robustness_question import CHECK, RobustnessAsking
from rdma_robust.text import printable
from rdma_robust.tools._rdma_front_ends import TRENCHER_SUFFIX


def run_dump(items: Sequence[Item], options: CheckOptions, pass_name: str) -> Exit:
    """Print the dump of every item; return the worst exit code. Raises UsageError for an unknown pass."""
    from rdma_robust import pipeline  # noqa: PLC0415 - other checks load it when they decide
    from rdma_robust.cli.answering import answer_each  # noqa: PLC0415

    passes = [each.name for each in pipeline.PASSES]
    if pass_name not in passes:
        raise UsageError(f"--dump-after: there is no pass {pass_name!r}; the passes are {', '.join(passes)}")

    def dumped(source: Source, program: str) -> Exit:
        text = pipeline.dump(program, source.name, options, pass_name)
        StandardOutput().line(printable(text.rstrip("\n"), "\n\t"))
        return Exit.OK

    return answer_each(items, options.limits, dumped)


DumpAfter = Annotated[
    str | None,
    typer.Option("--dump-after", metavar="PASS", help="Print what PASS makes of each program and decide nothing."),
]


@with_option_sets
def check_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    search: SearchOptions,
    hardware: HardwareOptions,
    define: arguments.Defines = None,
    limits: SharedSearchOptions,
    self_check: arguments.SelfCheck = False,
    reductions: arguments.Reductions = "all",
    expect: arguments.Expect = False,
    format_: arguments.VerdictsFormat = None,
    output: arguments.OutputFile = None,
    certificate: arguments.Certificates = None,
    explain: arguments.Explain = None,
    dump_after: DumpAfter = None,
    enable: arguments.Enable = None,
    disable: arguments.Disable = None,
    quiet: arguments.Quiet = False,
    watch: arguments.Watch = False,
) -> None:
    """Note in the context what is to be done."""
    if watch:
        watch_instead(context, files, define)
        return
    items, passed_over = without_proofs(
        expand(files, tuple(registry.commands()), (*registry.fallback_suffixes(), TRENCHER_SUFFIX), define=define)
    )
    if enable or disable:
        choice = chosen(enable, disable)
        items = [dataclasses.replace(item, warnings=choice) if isinstance(item, Source) else item for item in items]
    jobs, limited = limits.shared(items)
    options = CheckOptions(
        **search.values(),
        **hardware.values(),
        **limited,
        self_check=self_check,
        reductions=arguments.parse_reductions(reductions),
        define=tuple(define or ()),
    )
    prints_alone(dump_after, certificate, (output, format_))
    form = report_form(output, format_, VERDICT_FORMATS, items)
    if dump_after is not None:
        context.obj.append(partial(run_dump, items, options, dump_after))
        return
    items = certified(items, certificate)
    alone = explains(items, explain)
    asking = RobustnessAsking(options, expect, alone, full=explain is True, matters=alone)
    context.obj.append(partial(run_question, Run(CHECK, asking, items, jobs, form, output, quiet, passed_over)))
