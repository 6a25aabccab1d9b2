"""`demo abp`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from rdma_robust.cli.options.arguments import Force
from rdma_robust.cli.options.demo_options import AllMoves, Html, Pace, Save, showing

HELP = """Send symbols by puts: bare, by the alternating-bit protocol as told in the paper, and with one more check.

Every run of the RDMA machine is checked for every word up to a length: what can the receiver have received when it ends?

\b
Examples
  rdma-robust demo abp
  rdma-robust demo abp --word aba --length 2
  rdma-robust demo abp -o transfers/ --html abp.html
"""

commands = typer.Typer()


@commands.command("abp", help=HELP, short_help="lost and duplicated symbols without a protocol, none with it")
def _abp(
    context: typer.Context,
    *,
    word: Annotated[str, typer.Option(metavar="WORD", help="The word whose programs and runs are shown.")] = "ab",
    letters: Annotated[str, typer.Option(metavar="LETTERS", help="The alphabet.")] = "ab",
    length: Annotated[int, typer.Option(metavar="N", min=0, help="Check every word of up to N letters.")] = 3,
    output: Save = None,
    html: Html = None,
    force: Force = False,
    pace: Pace = "auto",
    all_moves: AllMoves = False,
) -> None:
    from rdma_robust.cli.commands.demo_show import run_demo  # noqa: PLC0415 - each command loads what it needs
    from rdma_robust.teaching.demos.walk_abp import abp_walk  # noqa: PLC0415

    shown = showing(output, html, force, pace, all_moves)
    context.obj.append(partial(run_demo, "demo abp", lambda _: abp_walk(word, letters, length), shown))
