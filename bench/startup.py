"""What one start of the tool costs: processor time of the whole process and of those that it starts, user and system.

Goal: 0.25 s for one small program, on a terminal too. Commands take turns, so that what else the machine does meets all of
them alike; the least of their times is what a quiet machine would need, the median what this one did.
"""

from __future__ import annotations

import os
import resource
import shlex
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import cache_from_source
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.records import Start, save

ROOT = Path(__file__).resolve().parents[1]
RUNS = 15
TOOL = Path(sys.executable).parent / "rdma-robust"
LOADING = "import rdma_robust.cli.app, rdma_robust.cli.commands.check, rdma_robust.pipeline"
ON_TERMINAL = "one small program, on a terminal"
MEASURED = {
    "the interpreter": (sys.executable, "-c", "pass"),
    "--version": (str(TOOL), "--version"),
    "--help": (str(TOOL), "--help"),
    "check --help": (str(TOOL), "check", "--help"),
    "a mistyped command": (str(TOOL), "chek", "litmus/sb-put-plain.rdma"),
    "importing what a check needs": (sys.executable, "-c", LOADING),
    "one small program, robust": (str(TOOL), "litmus/mailbox-polled.rdma"),
    "one small program, not robust": (str(TOOL), "litmus/sb-put-plain.rdma"),
    ON_TERMINAL: (str(TOOL), "litmus/sb-put-plain.rdma"),
    "verify of one small program": (str(TOOL), "verify", "litmus/sb-put-plain.rdma"),
}
SLOW = (
    "networkx",
    "pydantic",
    "numpy",
    "highspy",
    "rich",
    "jinja2",
    "textual",
    "starlette",
    "pygraphviz",
    "multiprocessing",
)
"""Packages that deciding one small program must not load."""


def processor_seconds(action: Callable[[], object]) -> float:
    """Return user and system time of the processes that `action` starts and waits for, and of theirs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def run(command: Sequence[str]) -> None:
    """Run a command with its output in pipes."""
    subprocess.run(command, cwd=ROOT, check=False, capture_output=True)


def run_on_terminal(command: Sequence[str]) -> None:
    """Run a command whose output is a terminal."""
    controller, terminal = os.openpty()
    with subprocess.Popen(command, cwd=ROOT, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        try:
            while os.read(controller, 1 << 16):
                pass
        except OSError:  # so ends a terminal whose last writer is gone
            pass
        process.wait()
    os.close(controller)


def loaded_without_need(*arguments: str) -> list[str]:
    """Return which of the slow packages the tool loads, by default for deciding a program."""
    command = (sys.executable, "-X", "importtime", str(TOOL), *(arguments or ("litmus/sb-put-plain.rdma",)))
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    names = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    return [name for name in SLOW if name in names]


def compiled() -> bool:
    """Whether the modules are there as bytecode; without it, each start compiles them."""
    modules = list((ROOT / "rdma_robust").rglob("*.py"))
    return all(os.path.exists(cache_from_source(str(module))) for module in modules)


def report(console: Console) -> None:
    """Print the table and keep it."""
    times: dict[str, list[float]] = {name: [] for name in MEASURED}
    for _ in range(RUNS):
        for name, command in MEASURED.items():
            action = partial(run_on_terminal if name == ON_TERMINAL else run, command)
            times[name].append(processor_seconds(action))
    table = Table("command", "processor seconds: least", "median", title=f"start-up, {RUNS} rounds")
    starts = [Start(name, min(found), statistics.median(found)) for name, found in times.items()]
    save("startup", starts)
    for start in starts:
        table.add_row(start.command, f"{start.least_s:.3f}", f"{start.median_s:.3f}")
    suite = (str(TOOL), "--jobs", "1", "litmus/")
    table.add_row(shlex.join(suite[1:]), *2 * [f"{processor_seconds(partial(run, suite)):.3f}"])
    console.print(table)
    console.print(f"loaded without need: {', '.join(loaded_without_need()) or 'nothing'}")
    console.print(f"bytecode of all modules: {'there' if compiled() else 'not there, `make run` makes it'}")
