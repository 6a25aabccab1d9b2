"""Large searches by one thread and by several: seconds, and bytes a state.

`python -m bench.threads [--threads N] [--runs R]` decides four programs with 1, 2 .. N threads, by turns, and prints for
each the states, the bytes a state with everything, and the least seconds of wall time and of processor time. It is for a
machine that does nothing else.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from typing import Any, Final
from unittest.mock import patch

from bench.families import bakery, pipeline, szymanski
from rdma_robust.counters.kernel import driver
from rdma_robust.language.load import load_program
from rdma_robust.limits import processors
from rdma_robust.options import CheckOptions
from rdma_robust.robustness.decide import decide

PROGRAMS: Final[Mapping[str, Callable[[], str]]] = {
    "pipeline of 4 threads, rings of 8": lambda: pipeline(4, 8),
    "pipeline of 3 threads, rings of 40": lambda: pipeline(3, 40),
    "bakery of 4": lambda: bakery(4),
    "Szymanski of 4": lambda: szymanski(4),
}


def measured(text: str, threads: int) -> tuple[int, float, float, float]:
    """Return the states of the search of a decision, its bytes a state, its seconds and those of the processors."""
    told: list[tuple[int, float, float, float]] = []
    whole = driver.search

    def timed(*given: Any, **more: Any) -> driver.KernelResult[Any]:
        started, used = time.perf_counter(), time.process_time()
        found = whole(*given, **more)
        states = found.result.states
        told.append((states, found.bytes / states, time.perf_counter() - started, time.process_time() - used))
        return found

    with patch.object(driver, "search", timed):
        decide(load_program(text, "it"), CheckOptions(threads=threads))
    return max(told)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=processors())
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    assert driver.AVAILABLE
    counts = range(1, options.threads + 1)
    print("| program | threads | states | bytes a state | seconds | of processors | times as fast |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, text in PROGRAMS.items():
        runs = [{n: measured(text(), n) for n in counts} for _ in range(options.runs)]
        alone = min(run[1][2] for run in runs)
        for n in counts:
            states, each, _, _ = runs[0][n]
            wall, used = min(run[n][2] for run in runs), min(run[n][3] for run in runs)
            print(f"| {name} | {n} | {states:,} | {each:.0f} | {wall:.2f} | {used:.2f} | {alone / wall:.2f} |", flush=True)


if __name__ == "__main__":
    main()
