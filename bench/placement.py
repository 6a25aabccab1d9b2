"""`python -m bench.placement`: the fewest flushes or `mfence`s of every program of `litmus/prove` without any.

With `--all-minimal` all irreducible sets; with `--only WORD` the programs with this word in their names. The goal is 60
seconds of one processor for each program and model. Beside the numbers are those of the papers for the algorithm, of their
own programs, which are not printed there: flushes of the VMCAI paper's table 3, for RMA.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rdma_robust.analyses.repair.repairs import COUNTING, Repair, RepairOptions, WaitOptions
from rdma_robust.analyses.repair.safe.placement import make_safe
from rdma_robust.analyses.repair.safe.standing import WAITS
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program

PROGRAMS = sorted((Path(__file__).resolve().parents[1] / "litmus/prove").glob("*-plain.rdma"))
GOAL_S = 60.0
LIMIT_S = 240.0

PAPER = {
    "dekker": "4/12",
    "peterson": "4/7",
    "abp": "1/2",
    "pgsql": "2/4",
    "qw": "4/5",
    "sober": "0/9",
    "kessels": "5/10",
    "szymanski": "7/14",
    "queue": "1/2",
    "ticket": "5/6",
    "bakery": "6/10",
    "mcs": "9/18",
}
"""The fewest flushes and those of the start, by the first word of a program's name."""


@dataclass(frozen=True)
class Row:
    """One program under one model, with the seconds of the processor and by the clock."""

    name: str
    model: AnyModelName
    repair: Repair
    processor: float
    wall: float

    @property
    def waits(self) -> str:
        """The fewest waits and how many there could be."""
        number = len(self.repair.insertions)
        return f"{number}/{self.repair.candidates}" if self.repair.status in ("safe", "repaired") else "-"


def rows(only: str, options: RepairOptions) -> Iterator[Row]:
    """Yield every program under every model that it expects something under and that has waits."""
    for path in PROGRAMS:
        text = path.read_text(encoding="utf-8")
        expected = {e.model for e in load_program(text, path.name).expectations if e.kind == "safe"}
        for model, kind in WAITS.items():
            if model in expected and kind is not None and only in path.stem:
                processor, wall = time.process_time(), time.perf_counter()
                found = make_safe(text, path.name, WaitOptions(model), options)
                yield Row(path.stem, model, found, time.process_time() - processor, time.perf_counter() - wall)


def main(arguments: list[str]) -> int:
    """Print the table; return 1 if a row missed the goal."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--all-minimal", action="store_true")
    parser.add_argument("--only", default="")
    asked = parser.parse_args(arguments)
    table = Table(title="the fewest waits for safety (seconds of one processor)")
    for name in (
        "program",
        "model",
        "waits",
        "paper, rma",
        "proven",
        "sets",
        "undecided",
        "decided",
        "learnt",
        "s",
        "by the clock",
    ):
        table.add_column(name, justify="left" if name in ("program", "model") else "right")
    found = []
    for row in rows(asked.only, RepairOptions(COUNTING, all_minimal=asked.all_minimal, timeout=LIMIT_S)):
        found.append(row)
        each = row.repair
        paper = PAPER.get(row.name.partition("-")[0], "") if row.model == "rma" else ""
        proven = each.status if each.status not in ("safe", "repaired") else "fewest" if each.optimal else "no"
        numbers = (len(each.solutions), len(each.undecided), each.checked, each.cycles)
        times = (f"{row.processor:.1f}", f"{row.wall:.1f}")
        table.add_row(row.name, row.model, row.waits, paper, proven, *map(str, numbers), *times)
        print(row.name, row.model, row.waits, proven, times[0], file=sys.stderr, flush=True)
    Console(width=120).print(table)
    total = sum(row.processor for row in found)
    Console().print(f"{len(found)} rows, {sum(row.repair.optimal for row in found)} proven fewest, {total:.0f} s")
    return int(any(row.processor >= GOAL_S for row in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
