"""The options that only `repair` has."""

from __future__ import annotations

from typing import Annotated

import typer

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
