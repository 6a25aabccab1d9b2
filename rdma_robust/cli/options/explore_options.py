"""Options of the `explore` command."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from rdma_robust.cli.options.arguments import (
    AwaitLoops,
    Browser,
    DecideTimeout,
    Memory,
    OrderedReads,
    Port,
    State,
    Tui,
    limit,
)
from rdma_robust.cli.options.defaults import default_memory
from rdma_robust.options import CheckOptions


def explore_command(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    *,
    tui: Tui = False,
    port: Port = 0,
    browser: Browser = True,
    state: State = "",
    ordered_reads: OrderedReads = False,
    await_loops: AwaitLoops = False,
    timeout: DecideTimeout = 60,
    memory: Memory = None,
) -> None:
    """Note in the context what is to be done."""
    from rdma_robust.cli.commands.explore import ExploreRequest, run_explore  # noqa: PLC0415

    options = CheckOptions(
        ordered_reads=ordered_reads,
        await_loops=await_loops,
        timeout=limit(timeout),
        memory=(default_memory(1) if memory is None else memory) or None,
    )
    request = ExploreRequest(file, options, port, browser, tui, state.rpartition("#")[2])
    context.obj.append(partial(run_explore, request))
