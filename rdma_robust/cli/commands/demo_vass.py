"""`demo vass`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rdma_robust.cli.options.arguments import Force, limit
from rdma_robust.cli.options.demo_options import AllMoves, Html, MaybeFile, Pace, Save, SearchTimeout, showing

if TYPE_CHECKING:
    from rdma_robust.teaching.demos.walk import Walkthrough

HELP = """Turn a VASS into an RDMA program and back: why robustness is ExpSpace-hard, and why it is no harder.

FILE is a Petri net in the `.spec` format, a VASS as JSON (what `export --to json` writes), or a program, `.rdma`. A net or
VASS becomes a program that is not robust iff a target can be covered. A program becomes the VASS that the checker builds for
it, drawn, and that VASS becomes a program again. Without FILE a small net is taken.

With a program, -o saves the VASS: as JSON if the name ends with .json, else as a net.

\b
Examples
  rdma-robust demo vass
  rdma-robust demo vass tests/nets/mutex-semaphore.spec -o mutex.rdma
  rdma-robust demo vass litmus/mailbox-polled.rdma --html mailbox.html
"""

commands = typer.Typer()


@commands.command("vass", help=HELP, short_help="hardness: a vector addition system as a program, and back")
def _vass(
    context: typer.Context,
    file: MaybeFile = None,
    *,
    timeout: SearchTimeout = 60,
    max_states: Annotated[
        int, typer.Option(metavar="N", min=1, help="Control states of a program's VASS that are written out.")
    ] = 5_000,
    output: Save = None,
    html: Html = None,
    force: Force = False,
    pace: Pace = "auto",
    all_moves: AllMoves = False,
) -> None:
    from rdma_robust.cli.commands.demo_show import run_demo  # noqa: PLC0415 - each command loads what it needs

    shown = showing(output, html, force, pace, all_moves)
    build = partial(_walk, file, limit(timeout), max_states, output)
    context.obj.append(partial(run_demo, "demo vass", build, shown, file, ".spec"))


def _walk(file: str | None, timeout: float | None, max_states: int, output: str | None, text: str) -> Walkthrough:
    from rdma_robust.teaching.demos.walk_vass import EXAMPLE, EXAMPLE_FILE, read_question, vass_walk  # noqa: PLC0415

    if file is None:
        return vass_walk(read_question(EXAMPLE, EXAMPLE_FILE), timeout)
    if file.endswith(".rdma"):
        from rdma_robust.teaching.demos.walk_vass_back import back_walk  # noqa: PLC0415

        return back_walk(text, file, timeout, max_states, output)
    return vass_walk(read_question(text, file), timeout)
