"""The `explain` command: decide one program and write why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rdma_robust import TOOL, __version__
from rdma_robust.cli.answering import only, tell_of
from rdma_robust.cli.destinations import report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import EXPLAIN_FORMATS, Drawing
from rdma_robust.cli.options.option_sets import HardwareOptions, LimitOptions, with_option_sets
from rdma_robust.cli.options.safety_options import SafetyModels, models_named
from rdma_robust.errors import UsageError
from rdma_robust.frame import registry
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.columns import PAPER
from rdma_robust.frame.shell.inputs import Source, expand, read_source
from rdma_robust.frame.shell.output import width_of_output
from rdma_robust.frame.shell.stderr import warn_of
from rdma_robust.guard import ENDING, found_within
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome
from rdma_robust.questions.proof_question import ProofAsking
from rdma_robust.questions.races_question import RACES, RacesAsking, races_found

if TYPE_CHECKING:
    from rdma_robust.analyses.explain.explanation import Explanation
    from rdma_robust.language.flow.claims import AnyModelName


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """The program to explain, and how. `width` of None is that of the terminal, `to` of None standard output."""

    file: str
    options: CheckOptions
    format: str = "text"
    of: Drawing = "graph"
    final_states: int = 0
    width: int | None = None
    to: str | None = None
    full: bool = False


@with_option_sets
def explain_command(
    context: typer.Context,
    file: arguments.File,
    *,
    format_: arguments.ExplanationFormat = None,
    of: Annotated[Drawing, typer.Option(help="svg: what to draw.")] = "graph",
    hardware: HardwareOptions,
    define: arguments.Define = None,
    limits: LimitOptions,
    final_states: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="States of each machine searched for final states, a tenth of it for programs with loops; 0: none.",
        ),
    ] = 100_000,
    width: Annotated[
        int | None,
        typer.Option(metavar="N", min=40, help="text: width of the lines.", show_default="that of the terminal"),
    ] = None,
    output: arguments.OutputFile = None,
    all_steps: arguments.AllSteps = False,
    models: SafetyModels = None,
    races: arguments.AboutRaces = False,
) -> None:
    """Note in the context what is to be done."""
    named, every = models_named(models)
    options = CheckOptions(
        **hardware.values(),
        **limits.of_each(),
        define=tuple(define or ()),
    )
    form = report_form(output, format_, EXPLAIN_FORMATS, expand([file]))
    if (other := registry.explained_by(file)) is not None:
        item = only(file, "explain", options.define, other.suffixes)
        context.obj.append(partial(tell_of, item, (form, output), options.limits, partial(_told_by_front_end, form)))
        return
    if races and named:
        raise UsageError("--races and --model are two questions; ask one of them")
    if races:
        if form == "dot":
            raise UsageError("--format dot draws the execution graph of a counterexample; a race has a run: svg")
        context.obj.append(partial(run_explain_races, ExplainRequest(file, options, form, of, 0, width, output, all_steps)))
        return
    if named:
        from rdma_robust.cli.proof_explained import run_explain_proof  # noqa: PLC0415 - another question

        asking = _asking(named, options, every=every, full=all_steps, width=width or width_of_output(output))
        context.obj.append(partial(run_explain_proof, file, asking, form, output))
        return
    request = ExplainRequest(file, options, form, of, final_states, width, output, all_steps)
    context.obj.append(partial(run_explain, request))


def _asking(
    models: tuple[AnyModelName, ...], options: CheckOptions, *, every: bool, full: bool, width: int | None
) -> ProofAsking:
    return ProofAsking(
        models,
        every,
        "auto",
        "slots",
        1,
        options.timeout,
        options.max_states,
        options.memory,
        explain=True,
        full=full,
        needs=True,
        width=width,
        define=options.define,
    )


def run_explain(request: ExplainRequest) -> Exit:
    """Decide and explain the program of `request`; return the exit code, that of `check`. Raises UsageError."""
    item = only(request.file, "explain", request.options.define)
    written = request.format, request.to
    return tell_of(item, written, request.options.limits, partial(_told, request))


def run_explain_races(request: ExplainRequest) -> Exit:
    """Explain the data races of a program; return the exit code, that of `races`. Raises UsageError."""
    asking = RacesAsking(request.options)
    item = only(request.file, "explain", request.options.define)
    return tell_of(item, (request.format, request.to), asking.limits, partial(_told_of_races, request, asking))


def _told_of_races(request: ExplainRequest, asking: RacesAsking, source: Source, limits: Limits) -> tuple[str, Exit]:
    from rdma_robust.reports.analyses import race_explanation  # noqa: PLC0415 - slow, and reading may have failed
    from rdma_robust.reports.analyses.races_report import races_record  # noqa: PLC0415

    text = read_source(source)
    outcome = races_found(source.name, text, asking, limits)
    warn_of(outcome.program.warnings, source.name, text)
    record = races_record(outcome, source.name)
    code = RACES.view(asking).exit_of(record)
    match request.format:
        case "text":
            return "\n".join(race_explanation.races_text(record, outcome, _width(request), full=request.full)), code
        case "json":
            from rdma_robust.frame.formats.json_text import layout  # noqa: PLC0415
            from rdma_robust.frame.formats.section import document  # noqa: PLC0415
            from rdma_robust.frame.run_question import section_of  # noqa: PLC0415

            return layout(document(section_of(RACES, asking, [Answer(record)], requested=1, time_s=record.time_s))), code
        case "svg":
            return race_explanation.race_svg(record, outcome), code
        case _:
            return race_explanation.races_html(record, outcome, text, __version__), code


def _told_by_front_end(form: str, source: Source, limits: Limits) -> tuple[str, Exit]:
    explain = registry.front_end_of(read_source(source), source.name).explain
    if explain is None:
        raise UsageError("what it is written in has no explanation")
    return explain(source, form, limits)


def _told(request: ExplainRequest, source: Source, limits: Limits) -> tuple[str, Exit]:
    told = _explain(source.name, read_source(source), request, limits)
    text = _written(told, request)
    from rdma_robust.reports.explanation.explanation_text import EXITS  # noqa: PLC0415 - loaded by then

    return text, EXITS[told.verdict]


def _explain(name: str, text: str, request: ExplainRequest, limits: Limits) -> Explanation:
    """Return the explanation of a program; where a limit stops the search from outside, of what is known."""
    from rdma_robust.analyses.explain.compose import explanation, undecided_outcome  # noqa: PLC0415 - slow, and reading may have failed
    from rdma_robust.language.load import load_decidable  # noqa: PLC0415
    from rdma_robust.pipeline import check_program  # noqa: PLC0415

    options = request.options
    program = load_decidable(text, name, crowds=True)
    warn_of(program.warnings, name, text)
    known: list[Outcome] = []

    def otherwise(why: str) -> Outcome:
        if not known:
            return undecided_outcome(program, options, why)
        return replace(known[-1], left_out=(*known[-1].left_out, f"what comes beside the verdict: {why}"))

    outcome = found_within(limits, partial(check_program, program, options, crowds=True, keep=known.append), otherwise)
    return explanation(outcome, options, ENDING.of(limits), final_state_limit=request.final_states)


def _written(explained: Explanation, request: ExplainRequest) -> str:
    match request.format:
        case "text":
            from rdma_robust.reports.explanation.explanation_text import explanation_text  # noqa: PLC0415

            return "\n".join(explanation_text(explained, _width(request), full=request.full))
        case "json":
            from rdma_robust.frame.formats.json_text import layout  # noqa: PLC0415
            from rdma_robust.reports.explanation.explanation_text import explanation_object  # noqa: PLC0415

            return layout(explanation_object(explained, TOOL))
        case "dot":
            from rdma_robust.reports.explanation.explanation_dot import graph_dot  # noqa: PLC0415

            return graph_dot(explained)
        case "svg":
            from rdma_robust.reports.explanation.explanation_svg import drawn  # noqa: PLC0415

            return drawn(explained, request.of)
        case _:
            from rdma_robust.reports.explanation.explanation_html import explanation_html  # noqa: PLC0415

            return explanation_html(explained, __version__)


def _width(request: ExplainRequest) -> int:
    if request.width is not None:
        return request.width
    return width_of_output(request.to) or PAPER
