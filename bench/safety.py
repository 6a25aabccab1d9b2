"""Proofs of the programs in litmus/prove, and their fewest flushes and fences.

`python -m bench safety` measures on one core, without certificates; docs/prove-results.md is written from what it kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from bench.records import Placement, Proof, save
from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.analyses.repair.repairs import COUNTING, RepairOptions, WaitOptions
from rdma_robust.analyses.repair.safe.placement import make_safe
from rdma_robust.language.check.refusals import model_refusals
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits

LITMUS: Final = Path(__file__).resolve().parents[1] / "litmus/prove"
PROOF_S: Final = 60.0
PLACEMENT_S: Final = 60.0


def programs() -> Iterator[tuple[Path, Program]]:
    """Yield the programs of the suite."""
    for path in sorted(LITMUS.glob("*.rdma")):
        yield path, load_program(path.read_text(encoding="utf-8"), path.name)


def report(say: Callable[[str], None]) -> None:
    """Measure every proof and every placement, and keep them."""
    proofs = [_proof(path, program, model) for path, program in programs() for model in models_of(program)]
    save("proofs", proofs)
    say(f"{len(proofs)} proofs: {sum(each.seconds for each in proofs):.1f} s")
    placements = []
    for path, program in programs():
        if path.stem.endswith("plain"):
            placements += [
                _placement(path, program, model) for model in models_of(program) if model in ("tso", "pso", "rma")
            ]
            say(f"{path.stem}: placed")
    save("placements", placements)


def models_of(program: Program) -> list[AnyModelName]:
    """Return the models that a program says something of, and that have what it does."""
    named = (each.model for each in program.expectations if each.kind == "safe")
    return [model for model in dict.fromkeys(named) if model is not None and not model_refusals(program, model)]


def _proof(path: Path, program: Program, model: AnyModelName) -> Proof:
    started = time.process_time()
    outcome = decide_safety(program, model, Limits.of(PROOF_S))
    seconds = time.process_time() - started
    return Proof(path.stem, model, outcome.safety.value, outcome.engine or "", outcome.states, outcome.taken, seconds)


def _placement(path: Path, program: Program, model: AnyModelName) -> Placement:
    started = time.process_time()
    found = make_safe(program.source, path.name, WaitOptions(model), RepairOptions(COUNTING, timeout=PLACEMENT_S))
    seconds = time.process_time() - started
    fewest = found.cost if found.status in ("safe", "repaired") else None
    return Placement(path.stem, model, found.status, found.optimal, fewest, found.candidates, found.checked, seconds)
