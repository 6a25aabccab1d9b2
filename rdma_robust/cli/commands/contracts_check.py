"""The `contracts check` command: check contracts, report them in order, and say by the exit code how it went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import typer

from rdma_robust.cli.asked_files import explains, memory_each, watch_instead
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.contracts_options import AnyN, ContractOptions
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.options.messages_options import NAMED
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.frame.formats.lines import WRITERS
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import Item, Source, UnreadableError, expand, read_source
from rdma_robust.frame.shell.output import width_of_output
from rdma_robust.language.load import C_SUFFIX
from rdma_robust.messages.language.recognised import MESSAGES_SUFFIX, has_contracts_in_c
from rdma_robust.questions.contracts_question import CONTRACTS_CHECK, ContractsAsking
from rdma_robust.value_ranges import file_of


@with_option_sets
def check_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    asked: ContractOptions,
    any_n: AnyN = False,
    define: arguments.Defines = None,
    timeout: arguments.Timeout = TIMEOUT_S,
    memory: arguments.Memory = None,
    jobs: arguments.Jobs = None,
    expect: arguments.Expect = False,
    format_: arguments.VerdictsFormat = None,
    output: arguments.OutputFile = None,
    explain: arguments.Explain = None,
    quiet: arguments.Quiet = False,
    watch: arguments.Watch = False,
) -> None:
    """Note in the context what is to be done."""
    if watch:
        watch_instead(context, files)
        return
    items = _expanded(files, define)
    form = report_form(output, format_, VERDICT_FORMATS, items)
    asking = ContractsAsking(
        replace(asked.checking(), any_n=any_n),
        arguments.limit(timeout),
        memory_each(memory, jobs, items),
        expect=expect,
        define=tuple(define or ()),
        explain=form == "junit" or explains(items, explain),
        each=explain is True,
        width=width_of_output(output),
        findings=form in (*WRITERS, "sarif"),
    )
    context.obj.append(partial(run_question, Run(CONTRACTS_CHECK, asking, items, jobs, form, output, quiet)))


def _expanded(files: Sequence[str], define: Sequence[str] | None) -> list[Item]:
    """Return what is checked; of the C in folders what seems to have contracts."""
    found = expand(files, suffixes=(MESSAGES_SUFFIX, C_SUFFIX), define=define, named=NAMED)
    left = [each for each in found if not (isinstance(each, Source) and _is_other_c(each))]
    return left or expand(files, suffixes=(MESSAGES_SUFFIX,), define=define, named=NAMED)


def _is_other_c(item: Source) -> bool:
    if not item.in_folder or not file_of(item.name).endswith(C_SUFFIX):
        return False
    try:
        return not has_contracts_in_c(read_source(item))
    except UnreadableError:
        return False
