"""The `messages check` command: decide message programs, report them in order, and say by the exit code how it went."""

from __future__ import annotations

from functools import partial

import typer

from rdma_robust.cli.asked_files import certified, memory_each, watch_instead
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.options.messages_options import NAMED, Deny, MessageCheckOptions, denied, reported
from rdma_robust.cli.options.option_sets import with_option_sets
from rdma_robust.frame.run_question import Run, run_question
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import expand
from rdma_robust.messages.language.recognised import MESSAGES_SUFFIX
from rdma_robust.questions.messages_question import MESSAGES_CHECK, MessagesAsking


@with_option_sets
def check_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    asked: MessageCheckOptions,
    define: arguments.Defines = None,
    timeout: arguments.Timeout = TIMEOUT_S,
    memory: arguments.Memory = None,
    jobs: arguments.Jobs = None,
    expect: arguments.Expect = False,
    deny: Deny = None,
    format_: arguments.VerdictsFormat = None,
    output: arguments.OutputFile = None,
    certificate: arguments.Certificates = None,
    explain: arguments.Explain = None,
    quiet: arguments.Quiet = False,
    watch: arguments.Watch = False,
) -> None:
    """Note in the context what is to be done."""
    if watch:
        watch_instead(context, files)
        return
    items = expand(files, suffixes=(MESSAGES_SUFFIX,), define=define, named=NAMED)
    form = report_form(output, format_, VERDICT_FORMATS, items)
    asking = MessagesAsking(
        **asked.values(),
        timeout=arguments.limit(timeout),
        memory=memory_each(memory, jobs, items),
        expect=expect,
        deny=denied(deny),
        define=tuple(define or ()),
        **reported(form, items, output, explain),
    )
    items = certified(items, certificate)
    context.obj.append(partial(run_question, Run(MESSAGES_CHECK, asking, items, jobs, form, output, quiet)))
