"""The `compare` command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from functools import partial
from typing import Annotated, Final, Literal

import typer

from rdma_robust.batch.compare import compare, read_report
from rdma_robust.cli.answering import default_limits
from rdma_robust.cli.destinations import Destination, report_form
from rdma_robust.cli.options import arguments
from rdma_robust.cli.options.formats import COMPARE_FORMATS
from rdma_robust.errors import LimitReached, UsageError
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.inputs import UnreadableError, read_source, source_of
from rdma_robust.frame.shell.output import width_of_output
from rdma_robust.guard import Overrun, guarded_by
from rdma_robust.reports.batch.compare_report import (
    Comparison,
    Kind,
    Report,
    comparison_json,
    comparison_markdown,
    comparison_text,
)

LARGEST: Final = 1024 * 1024 * 1024
WRITERS: Final[Mapping[str, Callable[[Comparison], str]]] = {
    "json": comparison_json,
    "md": comparison_markdown,
}
FailOn = Literal["regressions", "changes"]
COUNTED: Final[Mapping[FailOn, frozenset[Kind]]] = {
    "regressions": frozenset({"regression"}),
    "changes": frozenset({"regression", "improvement"}),
}
COUNTED_IF_STRICT: Final[frozenset[Kind]] = frozenset({"new", "missing"})


def compare_command(
    context: typer.Context,
    old: Annotated[str, typer.Argument(metavar="OLD", hidden=True)],
    new: Annotated[str, typer.Argument(metavar="NEW", hidden=True)],
    *,
    format_: arguments.ComparisonFormat = None,
    output: arguments.OutputFile = None,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="What exits with 1: a verdict or claim that got worse, or any that changed.")
    ] = "regressions",
    strict: Annotated[
        bool, typer.Option("--strict", help="New and missing programs exit with 1 too, and claims not answered any more.")
    ] = False,
) -> None:
    """Note in the context what is to be done."""
    form = report_form(output, format_, COMPARE_FORMATS, [source_of(old), source_of(new)])
    bad = COUNTED[fail_on] | (COUNTED_IF_STRICT if strict else set())
    context.obj.append(partial(run_compare, old, new, Destination(form, None if output == "-" else output), bad))


def run_compare(old: str, new: str, place: Destination, bad: Set[Kind]) -> Exit:
    """Compare the reports in the files `old` and `new`; return the exit code, 1 if there are changes of a kind in `bad`.

    Raises UsageError.
    """
    try:
        with guarded_by(default_limits()):
            return _compare(old, new, place, bad)
    except (LimitReached, Overrun) as error:
        raise UsageError(str(error)) from error


def _compare(old: str, new: str, place: Destination, bad: Set[Kind]) -> Exit:
    comparison = compare(_read(old), _read(new))
    if place.format == "text":
        place.say(comparison_text(comparison, width_of_output(place.path)))
    else:
        place.write(WRITERS[place.format](comparison))
    gone = [claim for claim in comparison.claims if claim.kind == "missing"]
    counted = [claim for claim in gone if "improvement" in bad or ("missing" in bad and claim.edited is not True)]
    found = {change.kind for change in comparison.changes} | {
        c.kind for c in comparison.claims if c.kind not in ("new", "missing")
    }
    return Exit.OK if bad.isdisjoint(found) and not counted else Exit.NOT_ROBUST


def _read(path: str) -> Report:
    source = source_of(path)
    try:
        return read_report(source.name, read_source(source, largest=LARGEST))
    except UnreadableError as error:
        raise UsageError(f"{source.name}: {error}") from error
