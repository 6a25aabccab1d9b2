"""`python -m bench crowds`: litmus/crowds for any number of copies, and beside it P(4) decided explicitly.

Seconds are processor time in this process, reading left out; the ratio is of one run. What takes more than SECONDS is cut.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.language.load import load_decidable
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome
from rdma_robust.robustness.decide import decide

CROWDS = sorted((Path(__file__).resolve().parents[1] / "litmus/crowds").glob("*.rdma"))
SECONDS = 60.0
COPIES = 4


def timed(program: Program) -> tuple[Outcome, float]:
    """Decide a program; return the processor time."""
    started = time.process_time()
    outcome = decide(program, CheckOptions(timeout=SECONDS))
    return outcome, time.process_time() - started


def rows() -> Iterator[tuple[str, str, float, str, float]]:
    """Yield name, verdict and seconds for any number of copies, and for P(4)."""
    for path in CROWDS:
        program = load_decidable(path.read_text(encoding="utf-8"), path.name, crowds=True)
        outcome, seconds = timed(program)
        four = copies_of(program, dict.fromkeys((t.name for t in program.crowds), COPIES))
        explicit, longer = timed(four)
        yield path.stem, outcome.verdict.value, seconds, explicit.verdict.value, longer


def main() -> None:
    table = Table("program", "any number", "seconds", f"P({COPIES})", "seconds", "any / P(4)")
    every: list[tuple[float, float]] = []
    for name, verdict, seconds, explicit, longer in rows():
        every.append((seconds, longer))
        table.add_row(name, verdict, f"{seconds:.2f}", explicit, f"{longer:.2f}", f"{seconds / longer:.1f}")
    Console(width=110).print(table)
    slower = sum(a > b for a, b in every)
    most, total, explicitly = max(a for a, _ in every), sum(a for a, _ in every), sum(b for _, b in every)
    print(f"{len(every)} crowds: {total:.1f} s, the slowest {most:.2f} s")
    print(f"P({COPIES}): {explicitly:.1f} s; any number takes longer in {slower} of them")


if __name__ == "__main__":
    main()
