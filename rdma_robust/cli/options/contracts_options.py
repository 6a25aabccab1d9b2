"""Options of the commands about contracts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Final, Literal

import typer

from rdma_robust.cli.options.option_sets import OptionSet
from rdma_robust.contracts.checks.function_checks import Checking
from rdma_robust.contracts.contract_answers import Mode
from rdma_robust.contracts.language.contract_program import ContractBuffer
from rdma_robust.errors import UsageError

MOST_PROCS: Final = 64
"""Processes that a contract is checked for, at most."""

Procs = Annotated[
    str, typer.Option("--procs", metavar="N", help="Numbers of processes: one, a range as 1..4, or several with commas.")
]
Only = Annotated[
    str | None,
    typer.Option("--only", metavar="NAMES", help="Check these functions only; with commas.", show_default=False),
]
ModeOption = Annotated[
    Mode,
    typer.Option(
        "--mode",
        help="modular: callees by their contracts; inlined: by their bodies; auto: modular, and where that fails inlined.",
    ),
]
ContractEngineOption = Annotated[
    Literal["runs", "explicit"],
    typer.Option("--engine", help="runs: one run for each matching, with terms; explicit: the same as --self-check."),
]
ContractsSelfCheck = Annotated[
    bool,
    typer.Option(
        "--self-check",
        help="Compare answers with two other ways: inputs as numbers, and all interleavings of the messages. A difference "
        "is a defect, exit code 4.",
    ),
]
AnyN = Annotated[
    bool, typer.Option("--any-n", help="Try to prove each function for every number of processes, too; needs z3.")
]

ContractBufferOption = Annotated[
    ContractBuffer,
    typer.Option("--buffer", help="When a send completes: infinite, at once; zero, when a receive has got its message."),
]


@dataclass(frozen=True)
class ContractOptions(OptionSet):
    """The options that say what is asked of contracts, and how it is decided."""

    procs: Procs = "1..4"
    only: Only = None
    mode: ModeOption = "auto"
    engine: ContractEngineOption = "runs"
    buffer: ContractBufferOption = "infinite"
    self_check: ContractsSelfCheck = False

    def checking(self) -> Checking:
        """Return what is asked. Raises UsageError."""
        procs, only = numbers_of_processes(self.procs), names_in(self.only)
        self_check = self.self_check or self.engine == "explicit"
        return Checking(procs, self.mode, only, self.buffer, self_check=self_check)


_PART: Final = re.compile(r"(\d+)(?:\.\.(\d+))?")


def numbers_of_processes(text: str) -> tuple[int, ...]:
    """Return what `--procs` asks for, in order. Raises UsageError."""
    found: dict[int, None] = {}
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        if match is None:
            raise UsageError(f"--procs: {part.strip()!r} is no number of processes; expected 3, 1..4 or 1,2,8")
        low = int(match[1])
        high = int(match[2]) if match[2] is not None else low
        if not 1 <= low <= high <= MOST_PROCS:
            raise UsageError(f"--procs: {part.strip()} is not within 1..{MOST_PROCS}, the smaller number first")
        found |= dict.fromkeys(range(low, high + 1))
    return tuple(sorted(found))


def names_in(text: str | None) -> tuple[str, ...]:
    """Return the names that an option lists with commas. Raises UsageError if one is empty."""
    names = tuple(part.strip() for part in text.split(",")) if text is not None else ()
    if not all(names):
        raise UsageError("--only: a name is missing between commas")
    return names
