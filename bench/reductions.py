"""`make bench`: states and time per litmus family with each reduction off and on; docs/reductions.md gets those of all."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.measure import keep
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.options import ALL_REDUCTIONS, REDUCTIONS, CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide

ROOT = Path(__file__).resolve().parents[1]
LITMUS = sorted((ROOT / "litmus").glob("*.rdma"))
DOCUMENT = ROOT / "docs" / "reductions.md"
BEGIN, END = "<!-- bench/reductions.py writes from here -->", "<!-- to here -->"
RUNS = 4
SLOWER = 1.10
"""A reduction may make a family slower by a tenth at most; NOISE seconds a program are not told from noise."""
NOISE = 0.002

SETTINGS = {
    "default": ALL_REDUCTIONS,
    **{f"-{name}": ALL_REDUCTIONS - {name} for name in REDUCTIONS},
    "none": frozenset[str](),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Stored states and least seconds of one program with one set of reductions."""

    states: int
    seconds: float


def measure(program: Program) -> dict[str, Cost]:
    """Decide `program` with every setting, alternating. Raises AssertionError where verdicts differ."""
    times: dict[str, list[float]] = {setting: [] for setting in SETTINGS}
    states: dict[str, int] = {}
    verdicts: set[Verdict] = set()
    for _ in range(RUNS):
        for setting, reductions in SETTINGS.items():
            options = CheckOptions(reductions=reductions)
            started = time.process_time()
            outcome = decide(program, options)
            times[setting].append(time.process_time() - started)
            states[setting] = outcome.counts.states
            verdicts.add(outcome.verdict)
    assert len(verdicts) == 1, program.name
    return {setting: Cost(states[setting], min(times[setting])) for setting in SETTINGS}


def families() -> Iterator[tuple[str, list[dict[str, Cost]]]]:
    found: dict[str, list[dict[str, Cost]]] = {}
    for path in LITMUS:
        program = load_program(path.read_text(encoding="utf-8"), path.name)
        found.setdefault(path.stem.split("-")[0], []).append(measure(program))
    yield from found.items()


def row(name: str, programs: Sequence[dict[str, Cost]]) -> str:
    cells = []
    for setting in SETTINGS:
        states = sum(p[setting].states for p in programs)
        cells.append(f"{states:,} / {sum(p[setting].seconds for p in programs) * 1000:,.0f}")
    return f"| {name} | {len(programs)} | {' | '.join(cells)} |"


def slower(name: str, programs: Sequence[dict[str, Cost]]) -> Iterator[str]:
    """Yield a line for each reduction without which the family is faster by more than it may be."""
    default = sum(p["default"].seconds for p in programs)
    for reduction in REDUCTIONS:
        without = sum(p[f"-{reduction}"].seconds for p in programs)
        if default > SLOWER * without + NOISE * len(programs):
            yield f"- {name}: {reduction} costs {default / without - 1:.0%}"


def main() -> None:
    head = f"| family | programs | {' | '.join(SETTINGS)} |\n|---|---|{'---|' * len(SETTINGS)}"
    rows = [head]
    complaints: list[str] = []
    everything: list[dict[str, Cost]] = []
    for name, programs in families():
        rows.append(row(name, programs))
        complaints += slower(name, programs)
        everything += programs
    rows.append(row("all", everything))
    verdict = "\n".join(complaints) or "No reduction makes a family slower by more than a tenth (and 2 ms a program)."
    keep(DOCUMENT, BEGIN, END, f"{head}\n{rows[-1]}\n\n{verdict}")
    print("\n".join(rows), verdict, sep="\n\n")


if __name__ == "__main__":
    main()
