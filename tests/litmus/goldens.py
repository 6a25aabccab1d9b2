"""What the tests pin of every litmus program; `python -m tests.litmus.goldens` rewrites the files (make promote).

A golden never holds an expectation: those are the `expect` and `outcome` lines of the programs. It holds the sizes of the
searches, so that a change that makes one larger is seen, and which of the slower methods were beyond their budget. It also
holds what `verify` answers to every claim, that the program does not hang among them, and by which argument.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rdma_robust.analyses.safety.verify import Checked, check_claims
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from tests.support.compare import by_oracle

LITMUS = Path(__file__).parents[2] / "litmus"
EXPECTED = LITMUS / "expected"
PROGRAMS = sorted(LITMUS.glob("*.rdma"))
PAPER_BUDGET = 10_000
"""States for the paper's instrumentation, a fifth of a second; docs/benchmarks.md tells how large it gets."""
CLAIMS_BUDGET = 30_000
"""States of each search for what a program claims."""


def load(path: Path) -> Program:
    return load_program(path.read_text(encoding="utf-8"), path.name)


def family(path: Path) -> str:
    return path.stem.split("-")[0]


def measure_pivot(program: Program) -> dict[str, Any]:
    outcome = decide(program, CheckOptions())
    ordered = decide(program, CheckOptions(ordered_reads=True))
    return {
        "verdict": outcome.verdict.value,
        "engine": outcome.engine,
        "states": outcome.counts.states,
        "pivots": outcome.counts.pivots,
        "counters": outcome.counts.counters,
        "ordered_reads": ordered.verdict.value,
    }


def measure_paper(program: Program, budget: int = PAPER_BUDGET) -> dict[str, Any]:
    outcome = decide(program, CheckOptions(instrumentation="paper", max_states=budget))
    if outcome.verdict is Verdict.UNKNOWN:
        return {"verdict": f"beyond {PAPER_BUDGET} states"}
    return {"verdict": outcome.verdict.value, "states": outcome.counts.states}


def measure_claims(program: Program) -> list[str]:
    return [_told(checked) for checked in check_claims(blocking(program), Limits(states=CLAIMS_BUDGET)).checked]


def _told(checked: Checked) -> str:
    claim = checked.claim
    model = f", {'allowed' if claim.allowed else 'forbidden'} under {claim.model}" if claim.kind == "outcome" else ""
    kind = "" if claim.kind in ("assertion", "hang") else f"{claim.kind} "
    return f"{kind}{claim.text}{model}: {checked.status.value} ({checked.answer.argument.value})"


def measure(program: Program) -> dict[str, Any]:
    return {
        "pivot": measure_pivot(program),
        "paper": measure_paper(program),
        "brute force": by_oracle(program, False),
        "claims": measure_claims(program),
    }


def golden_path(path: Path) -> Path:
    return EXPECTED / f"{family(path)}.json"


def read_golden(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(golden_path(path).read_text(encoding="utf-8"))[path.stem]
    return found


def main() -> None:
    EXPECTED.mkdir(exist_ok=True)
    files: dict[Path, dict[str, Any]] = {}
    for path in PROGRAMS:
        files.setdefault(golden_path(path), {})[path.stem] = measure(load(path))
    for old in EXPECTED.glob("*.json"):
        if old not in files:
            old.unlink()
    for golden, content in files.items():
        golden.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
