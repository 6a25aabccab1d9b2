"""`python -m bench.symmetry`: programs with like threads with the reduction `permute` on and off, one after the other.

Writes the table of docs/reductions.md. A search is given up at so many states or seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from bench.families import claimed_slots, lock_server, producers
from bench.measure import keep
from rdma_robust.language.load import load_program
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.decide import decide

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "reductions.md"
BEGIN, END = "<!-- bench/symmetry.py writes from here -->", "<!-- to here, permute -->"
MOST_STATES, MOST_SECONDS = 750_000, 60.0

FAMILIES: Final[dict[str, tuple[Callable[[int], str], range]]] = {
    "lock server, n clients that write their numbers": (lock_server, range(3, 11)),
    "n producers, each with a ring of 2 slots, one consumer": (partial(producers, size=2), range(3, 7)),
    "n producers that claim one of 2 slots": (partial(claimed_slots, size=2), range(3, 5)),
}

HEAD = "| family | n | states, on | off | ratio | time, on | off | ratio |\n|---|---|---|---|---|---|---|---|"


def measured(text: str, reductions: frozenset[str]) -> tuple[Outcome, float]:
    """Decide a program; return the processor time, reading it left out."""
    program = load_program(text, "like-threads.rdma")
    options = CheckOptions(reductions=reductions, max_states=MOST_STATES, timeout=MOST_SECONDS)
    started = time.process_time()
    outcome = decide(program, options)
    return outcome, time.process_time() - started


def rows() -> Iterator[str]:
    for name, (family, sizes) in FAMILIES.items():
        cut = False
        for n in sizes:
            on, seconds = measured(family(n), ALL_REDUCTIONS)
            if cut:
                yield f"| {name} | {n} | {_states(on)} | - | - | {seconds:.2f} s | - | - |"
                continue
            off, longer = measured(family(n), ALL_REDUCTIONS - {"permute"})
            cut = off.verdict is Verdict.UNKNOWN
            assert cut or on.verdict is off.verdict, (name, n)
            times = f"{seconds:.2f} s | {longer:.2f} s"
            ratios = ("-", "-") if cut else (f"{off.counts.states / on.counts.states:.1f}", f"{longer / seconds:.1f}")
            yield f"| {name} | {n} | {_states(on)} | {_states(off)} | {ratios[0]} | {times} | {ratios[1]} |"


def _states(outcome: Outcome) -> str:
    return f"{'over ' * (outcome.verdict is Verdict.UNKNOWN)}{outcome.counts.states:,}"


def main() -> None:
    lines = [HEAD]
    for row in rows():
        print(row, flush=True)
        lines.append(row)
    keep(DOCUMENT, BEGIN, END, "\n".join(lines))


if __name__ == "__main__":
    main()
