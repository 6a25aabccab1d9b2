"""The `outcomes` command: explore both machines and report the final states."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rdma_robust import TOOL
from rdma_robust.cli.answering import answer_item, only
from rdma_robust.cli.destinations import Destination, report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import TEXT_OR_JSON
from rdma_robust.cli.options.option_sets import MachineOptions, with_option_sets
from rdma_robust.errors import UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.json_text import layout
from rdma_robust.frame.shell.defaults import TIMEOUT_S, default_memory
from rdma_robust.frame.shell.inputs import expand
from rdma_robust.frame.shell.output import width_of_output
from rdma_robust.frame.shell.stderr import warn_of
from rdma_robust.guard import ENDING
from rdma_robust.limits import ENDLESS, Limits
from rdma_robust.model import Hardware, Model
from rdma_robust.options import RECV_DEPTH

if TYPE_CHECKING:
    from rdma_robust.language.flow.cfg import Program
    from rdma_robust.semantics.machines.outcomes import OutcomesReport


@dataclass(frozen=True, slots=True)
class OutcomesRequest:
    """Of each search; None means none."""

    hardware: Hardware
    depth: int | None
    max_states: int | None
    timeout: float | None
    under_way: int | None = None
    define: tuple[str, ...] = ()
    recv_depth: int = RECV_DEPTH
    models: bool = False


@with_option_sets
def outcomes_command(
    context: typer.Context,
    file: arguments.File,
    *,
    depth: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Moves of an execution.", show_default="no limit")
    ] = None,
    max_states: arguments.SearchedStates = None,
    under_way: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Operations of a queue pair in flight, completions that wait for a poll included. Default: no limit; for "
            "programs with loops and without a bound 4, then 8 and 16 if that was quick, and 100000 states.",
            show_default=False,
        ),
    ] = None,
    machine: MachineOptions,
    define: arguments.Define = None,
    models: Annotated[
        bool, typer.Option("--models", help="Compare all hardware: which setting is the first to allow each final state.")
    ] = False,
    timeout: arguments.Timeout = TIMEOUT_S,
    format_: arguments.AnswerFormat = None,
    output: arguments.OutputFile = None,
) -> None:
    """Note in the context what is to be done."""
    hardware, defined = machine.hardware(), tuple(define or ())
    if models and hardware.said:
        raise UsageError("--models asks about all hardware: leave out --cpu, --atomics, --order and --ordered-reads")
    bounds = OutcomesRequest(
        hardware,
        depth,
        arguments.searched_states(max_states),
        arguments.limit(timeout),
        under_way,
        defined,
        machine.recv_depth,
        models,
    )
    form = report_form(output, format_, TEXT_OR_JSON, expand([file]))
    context.obj.append(partial(run_outcomes, file, bounds, Destination(form, None if output == "-" else output)))


def run_outcomes(file: str, bounds: OutcomesRequest, place: Destination) -> Exit:
    """Report the final states of the program `file`; return the exit code."""
    item = only(file, "outcomes", bounds.define)
    limits = Limits.of(bounds.timeout, bounds.max_states, default_memory(1))
    return answer_item(item, limits, lambda source, text: _explore(text, source.name, bounds, place, limits), ENDING)


def _explore(text: str, name: str, bounds: OutcomesRequest, place: Destination, limits: Limits) -> Exit:
    from rdma_robust.language.load import load_decidable  # noqa: PLC0415 - slow, and reading may have failed
    from rdma_robust.reports.analyses import outcomes_report  # noqa: PLC0415

    started = time.monotonic()
    program = load_decidable(text, name)
    warn_of(program.warnings, name, text)
    if bounds.models:
        return _on_all_hardware(program, name, bounds, place, limits)
    model = bounds.hardware.over(program.hardware).model
    report = _explored(program, bounds, model, limits)
    if place.format == "json":
        options = {**model.described(), **_described(bounds)}
        result = outcomes_report.outcomes_object(report, name, TOOL, options, time.monotonic() - started)
        place.write(layout(result) + "\n")
    else:
        place.say("\n".join([*outcomes_report.outcomes_text(report, name, width_of_output(place.path)), ""]))
    return outcomes_report.exit_of_claims(report)


def _explored(program: Program, bounds: OutcomesRequest, model: Model, limits: Limits) -> OutcomesReport:
    from rdma_robust.semantics.machines.outcomes import explore_outcomes  # noqa: PLC0415

    return explore_outcomes(
        program,
        model,
        bounds.depth,
        bounds.max_states,
        limits=limits,
        under_way=bounds.under_way,
        recv_depth=bounds.recv_depth,
    )


def _on_all_hardware(program: Program, name: str, bounds: OutcomesRequest, place: Destination, limits: Limits) -> Exit:
    from rdma_robust.analyses.hardware.on_all_hardware import states_on_hardware  # noqa: PLC0415
    from rdma_robust.reports.analyses import outcomes_report as report  # noqa: PLC0415

    started = time.monotonic()
    found = states_on_hardware(program, limits, partial(_explored, program, bounds))
    if place.format == "json":
        spent = time.monotonic() - started
        result = report.hardware_states_object(found, name, TOOL, _described(bounds), spent)
        place.write(layout(result) + "\n")
    else:
        place.say("\n".join([*report.hardware_states_text(found, name, width_of_output(place.path)), ""]))
    return report.exit_of_states(found)


def _described(bounds: OutcomesRequest) -> dict[str, object]:
    return {
        "depth": bounds.depth,
        "max_states": None if bounds.max_states == ENDLESS else bounds.max_states,
        "timeout": bounds.timeout,
        "under_way": bounds.under_way,
        "define": list(bounds.define),
        "recv_depth": bounds.recv_depth,
    }
