"""The options of `repair`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from rdma_robust.cli.options.arguments import AwaitLoops, MaxStates, Memory, OrderedReads, Timeout, limit
from rdma_robust.cli.options.defaults import TIMEOUT_S, default_memory
from rdma_robust.cli.options.formats import TextOrJson
from rdma_robust.cli.options.help_texts import REPAIR_HELP
from rdma_robust.options import CheckOptions

CostPoll = Annotated[int, typer.Option(metavar="N", help="Cost of a poll: the processor waits for the card.")]
CostRfence = Annotated[int, typer.Option(metavar="N", help="Cost of a remote fence: the card waits.")]
CostFlush = Annotated[int, typer.Option(metavar="N", help="Cost of a flush: the processor waits for the network.")]
AllMinimal = Annotated[
    bool, typer.Option("--all-minimal", help="List every repair from which nothing can be left out, up to 100.")
]
RemoveNeedless = Annotated[
    bool, typer.Option("--remove-needless", help="Instead find polls, fences and unread gets that can go.")
]
Write = Annotated[bool, typer.Option("--write", "-w", help="Write the patched program back to FILE.")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the patched program to FILE; - prints it.")
]
Force = Annotated[bool, typer.Option("--force", help="Let --output replace a file.")]
Diff = Annotated[bool, typer.Option("--diff", help="Print the unified diff and nothing else.")]

commands = typer.Typer()


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""
    app.registered_commands += commands.registered_commands


@commands.command("repair", help=REPAIR_HELP)
def _repair(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", hidden=True)],
    *,
    cost_poll: CostPoll = 2,
    cost_rfence: CostRfence = 1,
    cost_flush: CostFlush = 5,
    all_minimal: AllMinimal = False,
    remove_needless: RemoveNeedless = False,
    write: Write = False,
    output: Output = None,
    force: Force = False,
    diff: Diff = False,
    format_: Annotated[TextOrJson, typer.Option("--format", help="Form of the report.")] = "text",
    ordered_reads: OrderedReads = False,
    await_loops: AwaitLoops = False,
    timeout: Timeout = TIMEOUT_S,
    max_states: MaxStates = 0,
    memory: Memory = None,
) -> None:
    from rdma_robust.analyses.repair.repairs import Costs, RepairOptions  # noqa: PLC0415
    from rdma_robust.cli.commands.repair import RepairRequest, run_repair  # noqa: PLC0415

    options = RepairOptions(Costs(cost_poll, cost_rfence, cost_flush), all_minimal, timeout=limit(timeout))
    most = (default_memory(1) if memory is None else memory) or None
    limits = CheckOptions(ordered_reads=ordered_reads, await_loops=await_loops, max_states=max_states or None, memory=most)
    request = RepairRequest(file, options, limits, remove_needless, write, output, force, diff, format_)
    context.obj.append(partial(run_repair, request))
