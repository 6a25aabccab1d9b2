"""`make bench`: the speed goals of the checker, the state counts of a first prototype, and docs/benchmarks.md."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench import (
    buffers,
    contracts,
    counting,
    coverability,
    crowds,
    families,
    large_nets,
    machines,
    message_solvers,
    message_states,
    messages,
    nets,
    plots,
    safety,
    safety_certificates,
    spin,
    startup,
    tables,
    threads,
)
from bench.measure import Budget, search
from bench.reductions import main as reductions
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome
from rdma_robust.pipeline import check_program
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.sc import ScMachine

ROOT = Path(__file__).resolve().parents[1]
LITMUS = sorted((ROOT / "litmus").glob("*.rdma"))
RUNS = 5
PAPER_STATES = 300_000

SHAPES = {"sb", "mp", "lb", "s", "r", "2plus2w", "corr", "coww", "cowr", "corw"}
QUOTED = {
    "sb-put-plain": 10,
    "sb-put-flushed": 228,
    "dekker-entry-mirrored-flushed": 246,
    "iriw-get": 38,
    "iriw-get-polled": 1_997,
    "scale-ring-n3-flushed": 2_522,
    "scale-ring-n4-flushed": 37_009,
}
"""Pivot states that the first prototype of the search took for the program of this shape."""


def load(path: Path) -> Program:
    return load_program(path.read_text(encoding="utf-8"), path.name)


def median_time(work: Callable[[], object]) -> float:
    """Return the median wall time of a few runs, in seconds, after one that is not counted."""
    work()
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def whole_suite(console: Console) -> None:
    command = [str(Path(sys.executable).parent / "rdma-robust"), "--expect", "--jobs", "2", *map(str, LITMUS)]
    seconds = median_time(lambda: subprocess.run(command, check=True, capture_output=True))
    console.print(f"the suite of {len(LITMUS)} programs, 2 processes, start-up included: {seconds:.1f} s (goal: under 15 s)")


def two_threads(console: Console) -> None:
    shapes = [
        p for p in LITMUS if p.stem.split("-")[0] in {"sb", "mp", "lb", "s", "r", "2plus2w", "corr", "coww", "cowr", "corw"}
    ]
    programs = [p for p in map(load, shapes) if len(p.threads) == 2]
    times = {p.name: median_time(partial(check_program, p, CheckOptions())) for p in programs}
    slowest = max(times, key=lambda name: times[name])
    console.print(
        f"{len(times)} two-thread shapes, once started: median {statistics.median(times.values()) * 1000:.0f} ms, "
        f"slowest {times[slowest] * 1000:.0f} ms ({slowest}; goal: under 50 ms)"
    )


def state_counts(console: Console) -> None:
    table = Table("program", "verdict", "pivot", "quoted", "plain SC", "pivot / SC", "paper", "paper / pivot", "ms")
    for name, quoted in QUOTED.items():
        path = ROOT / "litmus" / f"{name}.rdma"
        program = load(path)
        outcome = check_program(program, CheckOptions())
        seconds = median_time(partial(check_program, program, CheckOptions()))
        plain = explore(ScMachine(program), Limits(), reduce=False).states
        paper = check_program(program, CheckOptions(instrumentation="paper", max_states=PAPER_STATES))
        table.add_row(*row(name, outcome, quoted, plain, paper), f"{seconds * 1000:.0f}")
    console.print(table)


def row(name: str, outcome: Outcome, quoted: int, plain: int, paper: Outcome) -> list[str]:
    states, theirs = outcome.counts.states, paper.counts.states
    cut = "> " if paper.verdict.value == "unknown" else ""
    return [
        name,
        outcome.verdict.value,
        f"{states:,}",
        f"{quoted:,}",
        f"{plain:,}",
        f"{states / plain:.1f}",
        f"{cut}{theirs:,}",
        f"{cut}{theirs / max(1, states):.0f}",
    ]


def throughput(console: Console) -> None:
    program = load_program(families.ring_exchange(5), "ring")
    found = max((search(program, Budget(60, 8_000, 1)) for _ in range(3)), key=lambda run: run.states / run.seconds)
    rates = f"{found.states / found.seconds:,.0f} states/s, {found.transitions / found.seconds:,.0f} transitions/s"
    bytes_each = found.memory / max(1, found.states)
    console.print(f"search of {program.name} without reductions: {rates} of processor time, {bytes_each:.0f} bytes/state")


def say(text: str) -> None:
    print(text, flush=True)


def written(_: Console) -> None:
    """Write the tables and plots of the pages from bench/data."""
    tables.write()
    plots.write()


SECTIONS: dict[str, Callable[[Console], None]] = {
    "startup": startup.report,
    "suite": whole_suite,
    "shapes": two_threads,
    "throughput": throughput,
    "states": state_counts,
    "buffers": buffers.report,
    "cover": lambda _: coverability.report(Console(width=140), coverability.SECONDS),
    "counting": counting.report,
    "crowds": lambda _console: crowds.main(),
    "contracts": lambda _console: contracts.main(),
    "messages": lambda _: messages.report(say),
    "message-solvers": lambda _: message_solvers.report(say),
    "message-states": lambda _: message_states.report(say),
    "nets": lambda _: nets.report(say),
    "large-nets": lambda _: large_nets.report(Console(width=140)),
    "reductions": lambda _: reductions(),
    "spin": lambda _: spin.report("--quick" in sys.argv[1:], say),
    "safety": lambda _: safety.report(say),
    "threads": lambda _: threads.report(say),
    "machines": machines.report,
    "certificates": lambda _: safety_certificates.report(say),
}
DOCUMENTED = ("startup", "nets", "spin", "threads")
"""The sections whose measurements docs/benchmarks.md shows."""


def wanted(arguments: Sequence[str] | None = None) -> list[str]:
    """Return the sections that the command line asks for, in order."""
    parser = ArgumentParser(prog="python -m bench", description="Run sections, then write the tables and plots of the page.")
    sections = [*SECTIONS, "docs", "tables"]
    told = f"one of {', '.join(sections)}; docs: those of the page; without any: all but tables"
    parser.add_argument("section", nargs="*", metavar="SECTION", choices=[*sections, []], help=told)
    parser.add_argument("--quick", action="store_true", help="short limits for SPIN")
    named: list[str] = parser.parse_args(arguments).section or list(SECTIONS)
    return [*DOCUMENTED, *(n for n in named if n != "docs" and n not in DOCUMENTED)] if "docs" in named else named


def main() -> None:
    """Run the sections named on the command line, or all; then write the tables and plots. `docs` are the sections that
    docs/benchmarks.md shows, `tables` writes from what is there."""
    for name in wanted():
        if name != "tables":
            started = time.monotonic()
            SECTIONS[name](Console(width=120))
            say(f"{name}: {time.monotonic() - started:.0f} s")
    written(Console())


if __name__ == "__main__":
    main()
