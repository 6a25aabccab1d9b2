"""`make bench`: what store buffers cost: states of robust programs under cpu tso, against plain sequential consistency."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from rdma_robust.counters.search import explore
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.plain import instrument_plain

ROOT = Path(__file__).resolve().parents[1]
TSO = Model(cpu="tso")
MOST = 200_000


def ratios(paths: list[Path], reductions: frozenset[str]) -> Iterator[tuple[float, str]]:
    """Yield states over those of the plain program for every program of `paths` that is robust under tso."""
    for path in paths:
        program = load_program(path.read_text(encoding="utf-8"), path.name)
        outcome = decide(program, CheckOptions(hardware=TSO, reductions=reductions, max_states=MOST))
        if outcome.verdict is Verdict.ROBUST:
            plain = explore(instrument_plain(program, TSO), Limits(None, MOST, None), engine="bfs", reduce=False)
            if not plain.result.cut:
                yield outcome.counts.states / plain.result.states, path.stem


def report(console: Console) -> None:
    """Print the median and the most of these ratios, of the litmus programs that say `cpu tso`."""
    paths = [path for path in sorted((ROOT / "litmus").rglob("*.rdma")) if "hardware cpu tso" in path.read_text("utf-8")]
    for name, reductions in (("all reductions", ALL_REDUCTIONS), ("no reduction", frozenset[str]())):
        found = sorted(ratios(paths, reductions))
        median, (most, worst) = statistics.median(ratio for ratio, _ in found), found[-1]
        console.print(
            f"states of {len(found)} programs robust under cpu tso, against plain SC, {name}: median {median:.2f} "
            f"(goal: within 3), most {most:.1f} ({worst})"
        )
