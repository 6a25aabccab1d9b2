"""The `lint` command: likely mistakes in programs, without deciding them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final

import typer

from rdma_robust import TOOL
from rdma_robust.cli.answering import answering
from rdma_robust.cli.asked_files import chosen
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import FINDING_FORMATS
from rdma_robust.cli.options.option_sets import CFileOptions, with_option_sets
from rdma_robust.errors import Diagnostic, ProgramError
from rdma_robust.frame.answer import ErrorKind, diagnostics
from rdma_robust.frame.deciding import message_of
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.json_text import dump, layout
from rdma_robust.frame.formats.lines import WRITERS
from rdma_robust.frame.shell.defaults import TIMEOUT_S
from rdma_robust.frame.shell.inputs import Item, Missing, Source, WarningChoice, all_loaded, expand, read_source
from rdma_robust.frame.shell.output import output
from rdma_robust.frame.shell.stderr import warning_texts
from rdma_robust.guard import found_within
from rdma_robust.limits import Limits
from rdma_robust.reports.analyses import lint_report
from rdma_robust.reports.analyses.lint_report import LintRecord
from rdma_robust.text import printable

Needless = Annotated[
    bool, typer.Option("--needless", help="Name the polls and fences, too, that robust programs do not need: decides them.")
]

FAILED: Final[Mapping[Exit, tuple[ErrorKind, str]]] = {
    Exit.INVALID: ("unreadable", "it cannot be read"),
    Exit.INTERNAL: ("internal", "internal error"),
}
"""What is reported where there is no answer; standard error has the reason."""


_NEEDLESS: Final = 0.8
"""Of the time, for what can be taken out: the other warnings need little, and come whatever becomes of that."""


@dataclass(frozen=True, slots=True)
class LintRequest:
    """The programs to look at, how, and where to report."""

    items: Sequence[Item]
    choice: WarningChoice
    timeout: float | None
    memory: int | None
    needless: bool
    form: str
    path: str | None
    quiet: bool

    def limits(self) -> Limits:
        """Return the limits of one program, from now on."""
        return Limits.of(self.timeout, None, self.memory)


@with_option_sets
def lint_command(
    context: typer.Context,
    files: arguments.Files,
    *,
    needless: Needless = False,
    enable: arguments.Enable = None,
    disable: arguments.Disable = None,
    define: arguments.Defines = None,
    c: CFileOptions,
    timeout: arguments.Timeout = TIMEOUT_S,
    memory: arguments.Memory = None,
    format_: arguments.FindingsFormat = None,
    output: arguments.OutputFile = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Note in the context what is to be done."""
    items = expand(files, define=[*(define or ()), *c.definitions()])
    form = report_form(output, format_, FINDING_FORMATS, items)
    choice = chosen(enable, disable)
    request = LintRequest(
        items, choice, arguments.limit(timeout), arguments.memory_limit(memory), needless, form, output, quiet
    )
    context.obj.append(partial(run_lint, request))


def run_lint(request: LintRequest) -> Exit:
    """Report likely mistakes in every program; return the exit code. Raises UsageError, BrokenPipeError."""
    from rdma_robust.analyses.lints import lint  # noqa: F401, PLC0415 - once, before processes are forked

    records = []
    with output(request.path) as out:
        for item in all_loaded(request.items, request.limits):
            record = _record(item, request)
            records.append(record)
            for line in _lines(record, request):
                (out.say if request.form == "text" else out.line)(line)
        if request.form == "text":
            out.say(lint_report.lint_totals(records))
        elif request.form == "json":
            options = {"needless": request.needless, "timeout": request.timeout, "memory": request.memory}
            out.line(layout(lint_report.lint_document(records, TOOL, options)))
    return lint_report.lint_exit(records)


def _lines(record: LintRecord, request: LintRequest) -> list[str]:
    if request.form in WRITERS:
        return lint_report.lint_lines(record, request.form)
    if request.form == "jsonl":
        return [dump(lint_report.lint_object(record))]
    return [record.shown] if request.form == "text" and record.shown else []


def _record(item: Item, request: LintRequest) -> LintRecord:
    if isinstance(item, Missing):
        return LintRecord(item.name, None if item.cut else "unreadable", item.reason, shown=item.message())
    source = item
    found = answering(source.name, request.limits(), lambda: _linted(source, request))
    if isinstance(found, LintRecord):
        return found
    return LintRecord(source.name, *FAILED.get(found, (None, "a limit was reached")))


def _linted(source: Source, request: LintRequest) -> LintRecord:
    from rdma_robust.analyses.lints.lint import linted  # noqa: PLC0415

    text, limits = read_source(source), request.limits()
    left: list[str] = []

    def leave_out(why: str) -> tuple[Diagnostic, ...]:
        left.append(f"what is not needed: {why}")
        return ()

    try:
        most = limits.share(_NEEDLESS)
        ask = partial(_needless, text, source.name, request, most)
        more = found_within(most, ask, leave_out) if request.needless else ()
        also = frozenset({"RR727"}) if request.needless and not left else frozenset[str]()
        linting = linted(text, source.name, limits.exceeded, more, also)
    except ProgramError as error:
        errors = diagnostics(error.diagnostics)
        reason = f"line {errors[0].line}: {errors[0].message}"
        return LintRecord(source.name, "invalid", reason, errors=errors, shown=message_of(error, source.name))
    warnings = request.choice.shown(linting.found)
    shown = list(warning_texts(warnings, source.name, text))
    cut = "; ".join(filter(None, (linting.cut, *left)))
    shown += [f"{printable(source.name)}: unknown: {cut}"] if cut else []
    return LintRecord(source.name, None, cut, diagnostics(warnings), shown="\n".join(shown))


def _needless(text: str, name: str, request: LintRequest, limits: Limits) -> tuple[Diagnostic, ...]:
    from rdma_robust.analyses.repair.needless import needless_statements  # noqa: PLC0415 - decides, and few ask for it
    from rdma_robust.analyses.repair.repairs import RepairOptions  # noqa: PLC0415
    from rdma_robust.options import CheckOptions  # noqa: PLC0415

    options = RepairOptions(timeout=limits.seconds_left())
    return needless_statements(text, name, options, CheckOptions(memory=request.memory))
