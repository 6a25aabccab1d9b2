"""`demo pcp`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rdma_robust.cli.options.arguments import Force, MaxStates, limit
from rdma_robust.cli.options.demo_options import AllMoves, Html, MaybeFile, Pace, Save, SearchTimeout, showing
from rdma_robust.errors import UsageError

if TYPE_CHECKING:
    from rdma_robust.hardness.pcp import PcpInstance
    from rdma_robust.teaching.demos.walk import Walkthrough

HELP = """Solve an instance of Post's Correspondence Problem by running an RDMA program: why reachability is undecidable.

FILE has the instance as two lines, the top and the bottom words between commas, or as JSON: {"top": ["a", "ab"],
"bottom": ["baa", "aa"]}. Without an instance a classic one is solved. The search answers with a shortest solution, with the
proof that there is none, or with how far it came: no procedure can do better for every instance.

\b
Examples
  rdma-robust demo pcp
  rdma-robust demo pcp --top a,ab,bba --bottom baa,aa,bb -o pcp.rdma
  rdma-robust demo pcp instance.txt --indices 30 --html pcp.html
"""

commands = typer.Typer()


@commands.command("pcp", help=HELP, short_help="undecidability: Post's problem as a program, solved by running it")
def _pcp(
    context: typer.Context,
    file: MaybeFile = None,
    *,
    top: Annotated[
        str | None, typer.Option(metavar="WORDS", help="The top words, between commas.", show_default=False)
    ] = None,
    bottom: Annotated[
        str | None, typer.Option(metavar="WORDS", help="The bottom words, between commas.", show_default=False)
    ] = None,
    indices: Annotated[int, typer.Option(metavar="N", min=1, help="Search sequences of up to N indices.")] = 20,
    max_states: MaxStates = 0,
    timeout: SearchTimeout = 60,
    output: Save = None,
    html: Html = None,
    force: Force = False,
    pace: Pace = "auto",
    all_moves: AllMoves = False,
) -> None:
    from rdma_robust.cli.commands.demo_show import run_demo  # noqa: PLC0415 - each command loads what it needs

    if (top is None) != (bottom is None) or (file is not None and top is not None):
        raise UsageError("an instance is a FILE, or both --top and --bottom")
    shown = showing(output, html, force, pace, all_moves)
    build = partial(_walk, file, top, bottom, (indices, max_states or None, limit(timeout)))
    context.obj.append(partial(run_demo, "demo pcp", build, shown, file, ".pcp"))


def _walk(
    file: str | None, top: str | None, bottom: str | None, limits: tuple[int, int | None, float | None], text: str
) -> Walkthrough:
    from rdma_robust.teaching.demos.walk_pcp import pcp_walk  # noqa: PLC0415

    return pcp_walk(_instance(file, text, top, bottom), *limits)


def _instance(file: str | None, text: str, top: str | None, bottom: str | None) -> PcpInstance:
    from rdma_robust.hardness.pcp import pcp_instance, read_instance  # noqa: PLC0415
    from rdma_robust.teaching.demos.walk_pcp import CLASSIC  # noqa: PLC0415

    if file is None:
        return CLASSIC if top is None or bottom is None else pcp_instance(top, bottom)
    return read_instance(text, file)
