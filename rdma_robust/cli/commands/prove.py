"""The `prove` command: are programs safe under memory models, with unbounded data and nothing given by hand?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import typer

from rdma_robust import TOOL
from rdma_robust.cli.asked_otherwise import prints_alone, watch_instead
from rdma_robust.cli.batch import Question, answer_all
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options.arguments import (
    Certificates,
    Defines,
    Expect,
    Explain,
    Files,
    Jobs,
    MaxStates,
    Memory,
    OutputFile,
    Quiet,
    Timeout,
    VerdictsFormat,
    Watch,
    limit,
    memory_limit,
)
from rdma_robust.cli.options.defaults import TIMEOUT_S, processors
from rdma_robust.cli.options.formats import VERDICT_FORMATS
from rdma_robust.cli.options.safety_options import SafetyEngine, SafetyModels, SafetyReduction, models_named
from rdma_robust.cli.processes.decide_proof import ProofAnswer, ProofAsking, answer_proof, load_proving, lost_proof
from rdma_robust.frame.exits import Exit, worst
from rdma_robust.frame.formats.json_text import dump, layout
from rdma_robust.frame.formats.lines import WRITERS
from rdma_robust.frame.shell.inputs import Item, expand
from rdma_robust.frame.shell.output import Output, output
from rdma_robust.frame.shell.screen import width_of_output
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.reports.prove import proof_json
from rdma_robust.reports.prove.proof_text import ProofText

DumpReduced = Annotated[
    Literal["reduce"] | None,
    typer.Option("--dump-after", help="Print what each program is reduced to under each model, and decide nothing."),
]


@dataclass(frozen=True, slots=True)
class ProveRequest:
    """What to ask of which programs, and how to report it. `jobs` of None is one process per processor."""

    items: Sequence[Item]
    asking: ProofAsking
    jobs: int | None = None
    format: str = "text"
    path: str | None = None
    quiet: bool = False


def prove_command(
    context: typer.Context,
    files: Files,
    *,
    models: SafetyModels = None,
    engine: SafetyEngine = "auto",
    reduction: SafetyReduction = "slots",
    bound: Annotated[
        int, typer.Option(metavar="K", min=0, max=256, help="Buffered stores, or like operations under way, to begin with.")
    ] = 1,
    define: Defines = None,
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
    jobs: Jobs = None,
    expect: Expect = False,
    format_: VerdictsFormat = None,
    output: OutputFile = None,
    certificate: Certificates = None,
    explain: Explain = None,
    dump_after: DumpReduced = None,
    quiet: Quiet = False,
    watch: Watch = False,
) -> None:
    """Note in the context what is to be done."""
    named, every = models_named(models)
    if watch:
        watch_instead(context, files)
        return
    items = expand(files, define=define)
    asking = ProofAsking(
        named,
        every,
        engine,
        reduction,
        bound,
        limit(timeout),
        max_states or None,
        memory_limit(memory, min(jobs or processors(), len(items))),
        explain=len(items) == 1 if explain is None else explain,
        full=explain is True,
        needs=explain is True,
        width=width_of_output(output),
        expect=expect,
        define=tuple(define or ()),
    )
    if dump_after is not None:
        prints_alone(dump_after, certificate, (output, format_))
        from rdma_robust.cli.processes.dump_reduced import run_dump_reduced  # noqa: PLC0415

        context.obj.append(partial(run_dump_reduced, items, asking))
        return
    form = report_form(output, format_, VERDICT_FORMATS, items)
    path = None if output == "-" else output
    if certificate is not None:
        from rdma_robust.cli.certificates import with_certificates  # noqa: PLC0415

        items = with_certificates(items, certificate)
    context.obj.append(partial(run_prove, ProveRequest(items, asking, jobs, form, path, quiet)))


@dataclass(frozen=True, slots=True)
class _Run:
    """Where and how to report."""

    request: ProveRequest
    out: Output
    text: ProofText

    def report(self, answer: ProofAnswer) -> None:
        request, record = self.request, answer.record
        if request.format in WRITERS:
            from rdma_robust.reports.prove.proof_findings import proof_findings  # noqa: PLC0415 - for few forms

            for finding in proof_findings(record, request.asking.expect):
                self.out.line(WRITERS[request.format](finding))
        elif not request.quiet or record.verdict == "error" or answer.uncertified:
            for message in (
                answer.messages[-answer.uncertified :] if request.quiet and answer.uncertified else answer.messages
            ):
                warn(message)
        if request.format == "jsonl":
            self.out.line(dump(proof_json.result_object(record, request.asking.expect)))
        elif request.format == "text":
            for line in self.text.rows(record, request.quiet):
                self.out.say(line)

    def end(self, answers: Sequence[ProofAnswer], spent: float, stopped: Exit | None) -> Exit:
        request, expect = self.request, self.request.asking.expect
        records = [answer.record for answer in answers]
        requested = len(request.items)
        code = proof_json.exit_of_all(records, expect, stopped)
        if any(answer.uncertified for answer in answers) and stopped is None:
            code = worst([code, Exit.UNKNOWN])
        match request.format:
            case "text":
                matrix = [] if request.quiet else self.text.matrix(records)
                self.out.say("\n".join([*matrix, *self.text.totals(records, requested, spent, stopped is not None)]))
            case "json":
                options = request.asking.described()
                made = proof_json.document(records, requested, spent, stopped, expect=expect, tool=TOOL, options=options)
                self.out.line(layout(made))
            case "junit":
                from rdma_robust.reports.prove.proof_findings import proof_junit  # noqa: PLC0415

                self.out.line(proof_junit(records, expect).rstrip("\n"))
            case "sarif":
                from rdma_robust.reports.prove.proof_findings import proof_sarif  # noqa: PLC0415

                self.out.line(proof_sarif(records, expect, stopped, code, TOOL).rstrip("\n"))
        if stopped is not None and request.format != "text":
            warn(f"interrupted: {len(records)} of {requested} programs done")
        return code


def run_prove(request: ProveRequest) -> Exit:
    """Answer and report every item of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    started = time.monotonic()
    asking = request.asking
    question = Question(lambda item, *tell: answer_proof(item, asking, *tell), lost_proof, asking.limits, load_proving)
    with output(request.path) as out:
        names = [item.name for item in request.items]
        run = _Run(request, out, ProofText(names, asking.expect, asking.explain, asking.width))
        if request.format == "text" and not request.quiet:
            out.line("\n".join(run.text.header()))
        jobs = request.jobs or processors()
        answers, stopped = answer_all(request.items, question, jobs, run.report, quiet=request.quiet)
        return run.end(answers, time.monotonic() - started, stopped)
