"""`demo finite`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rdma_robust.cli.options.arguments import Define, Force, limit
from rdma_robust.cli.options.demo_options import AllMoves, Html, MaybeFile, Pace, Save, SearchTimeout, showing
from rdma_robust.errors import UsageError

if TYPE_CHECKING:
    from rdma_robust.teaching.demos.walk import Walkthrough

HELP = """Turn a finite-state program and a target into an RDMA program without polls: why that case is PSpace-hard.

FILE is a program without remote instructions. --target is a condition over its variables and `T ended`, and over
registers of threads that have ended. Or --automata is a JSON file with finite automata (schema/automata.schema.json), and
the question is whether there is a word that each accepts. Without either, built-in automata are taken.

\b
Examples
  rdma-robust demo finite
  rdma-robust demo finite turns.rdma --target 'T1 ended && T1.r == 2'
  rdma-robust demo finite --automata automata.json -o automata.rdma
"""

commands = typer.Typer()


@commands.command("finite", help=HELP, short_help="hardness without polls: reachability, and automata, as programs")
def _finite(
    context: typer.Context,
    file: MaybeFile = None,
    *,
    target: Annotated[
        str | None, typer.Option(metavar="CONDITION", help="What is to be reached in FILE.", show_default=False)
    ] = None,
    automata: Annotated[
        str | None, typer.Option(metavar="FILE.json", help="Automata instead of a program.", show_default=False)
    ] = None,
    define: Define = None,
    timeout: SearchTimeout = 60,
    output: Save = None,
    html: Html = None,
    force: Force = False,
    pace: Pace = "auto",
    all_moves: AllMoves = False,
) -> None:
    from rdma_robust.cli.commands.demo_show import run_demo  # noqa: PLC0415 - each command loads what it needs

    if (file is None) != (target is None) or (file is not None and automata is not None):
        raise UsageError("a question is a FILE with --target, or --automata alone")
    if define and file is None:
        raise UsageError("-D defines constants of a FILE")
    shown = showing(output, html, force, pace, all_moves)

    def build(text: str) -> Walkthrough:
        from rdma_robust.language.defines import with_definitions  # noqa: PLC0415 - slow

        return _walk(file, target, automata, limit(timeout), with_definitions(text, define or ()))

    suffix = ".rdma" if file is not None else ".json"
    context.obj.append(partial(run_demo, "demo finite", build, shown, file or automata, suffix))


def _walk(file: str | None, target: str | None, automata: str | None, timeout: float | None, text: str) -> Walkthrough:
    from rdma_robust.teaching.demos.walk_finite import automata_question, finite_walk, program_question  # noqa: PLC0415

    if file is not None and target is not None:
        question = program_question(text, file, target)
    elif automata is not None:
        question = automata_question(text, automata)
    else:
        question = automata_question(None)
    return finite_walk(question, timeout)
