"""What it costs to share a search among processes, and programs among the workers of a cluster, in processor time.

`python -m bench machines` prints what a search takes by one thread and by 2 and 16 processes, with their start, and what
the suite takes with `--jobs 2` and on two workers of a Dask cluster, with their start-up left out. Processor time, so a
machine of two processors shows what sixteen would have to do.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console
from rich.table import Table

from bench import families
from bench.measure import processor_time
from bench.startup import ROOT, TOOL
from rdma_robust.counters.search import explore
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import ALL_REDUCTIONS
from rdma_robust.robustness.pivot import instrument_pivot

SEARCHED: Final = {f"pipeline of 4 threads, rings of {n}": partial(families.pipeline, 4, n) for n in (8, 10)}
PROCESSES: Final = (2, 16)
SUITE: Final = 120
"""Programs of the suite that are decided."""


def report(console: Console) -> None:
    """Print both tables."""
    for name, text in SEARCHED.items():
        table = Table("searched by", "processor time", "to one thread", "states", "bytes/state", title=name)
        first = 0.0
        for who, limits in (
            ("one thread", Limits()),
            *((f"{n} processes", Limits(executor=f"local:{n}")) for n in PROCESSES),
        ):
            program = instrument_pivot(load_program(text(), "it"), reductions=ALL_REDUCTIONS)
            before = processor_time()
            found = explore(program, limits)
            seconds = processor_time() - before
            first = first or seconds
            states = found.result.states
            table.add_row(who, f"{seconds:.1f} s", f"{seconds / first:.2f}", f"{states:,}", f"{found.bytes / states:.1f}")
        console.print(table)
    table = Table("decided by", "processor time", "to --jobs 2", title=f"{SUITE} programs of the suite")
    first = 0.0
    for who, seconds in _suite():
        first = first or seconds
        table.add_row(who, f"{seconds:.1f} s", f"{seconds / first:.2f}")
    console.print(table)


def _suite() -> Iterator[tuple[str, float]]:
    """Who decides the suite, and the processor time that it takes."""
    from distributed import Client, LocalCluster  # noqa: PLC0415 - an extra

    files = sorted(map(str, (ROOT / "litmus").glob("*.rdma")))
    files = files[:: max(1, len(files) // SUITE)][:SUITE]
    yield "--jobs 2", _reported(files, "--jobs", "2")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(protocol="tcp://", host="127.0.0.1", **options) as cluster, Client(cluster) as client:
        address = cluster.scheduler_address.removeprefix("tcp://")
        decide: Callable[[], float] = partial(_reported, files, "--executor", f"dask://{address}")
        decide()  # loads the tool there, as a cluster that is in use has done
        before = client.run(time.process_time)
        seconds = decide()
        after = client.run(time.process_time)
        yield "two workers", seconds + sum(after[worker] - before[worker] for worker in after)


def _reported(files: list[str], *options: str) -> float:
    with TemporaryDirectory() as folder:
        command = [str(TOOL), "report", *files, "--no-cache", "-o", str(Path(folder) / "all.json"), *options]
        before = processor_time()
        subprocess.run(command, check=False, capture_output=True)
        return processor_time() - before
