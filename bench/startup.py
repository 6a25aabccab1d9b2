"""What one small program costs in all: processor time of the whole process, and what of it is loading.

Goal: 0.25 s for the program. Times are the least of several runs, since what a busy machine adds is not ours.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
RUNS = 15
TOOL = Path(sys.executable).parent / "rdma-robust"
LOADING = "import rdma_robust.cli.app, rdma_robust.cli.commands.check, rdma_robust.pipeline"
MEASURED = {
    "the interpreter": (sys.executable, "-c", "pass"),
    "--version": (str(TOOL), "--version"),
    "importing what a check needs": (sys.executable, "-c", LOADING),
    "one small program, robust": (str(TOOL), "litmus/mailbox-polled.rdma"),
    "one small program, not robust": (str(TOOL), "litmus/sb-put-plain.rdma"),
}
SLOW = ("networkx", "pydantic", "numpy", "sympy", "highspy", "rich", "jinja2", "textual", "starlette", "pygraphviz")
"""Packages that deciding one small program must not load."""


def processor_seconds(command: Sequence[str]) -> float:
    """Return user and system time of a process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def loaded_without_need() -> list[str]:
    """Return which of the slow packages deciding a program loads."""
    command = (sys.executable, "-X", "importtime", str(TOOL), "litmus/sb-put-plain.rdma")
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    names = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    return [name for name in SLOW if name in names]


def report(console: Console) -> None:
    """Print the table."""
    table = Table("command", "processor seconds, least of 15 runs", title="start-up")
    for name, command in MEASURED.items():
        table.add_row(name, f"{min(processor_seconds(command) for _ in range(RUNS)):.3f}")
    console.print(table)
    console.print(f"loaded without need: {', '.join(loaded_without_need()) or 'nothing'}")
