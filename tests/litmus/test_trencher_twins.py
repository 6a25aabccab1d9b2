"""The programs of litmus/trencher: what each expects of itself, and the fewest fences of those that are not robust."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from rdma_robust.analyses.repair.plan import repair
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide

TWINS: Final = sorted((Path(__file__).parents[2] / "litmus/trencher").glob("*.trencher"))
TSO: Final = CheckOptions(hardware=Model(cpu="tso"))

FENCES: Final = {
    "burns": 3,
    "chase-lev": 1,
    "dekker": 4,
    "dijkstra": 4,
    "fast-mutex": 4,
    "kept-locked": 1,
    "lamport-fast": 4,
    "nbw-told": 2,
    "parker": 1,
    "peterson": 2,
    "the-steal": 1,
}
"""The fewest fences, as counted by hand for the small ones; the fenced variants have at least as many."""


@pytest.mark.parametrize("path", TWINS, ids=lambda p: p.stem)
def test_a_twin_is_what_it_expects(path: Path) -> None:
    program = load_program(path.read_text(), path.name)
    assert program.hardware.cpu == "tso"
    outcome = decide(program, TSO)
    assert outcome.verdict is (Verdict.ROBUST if program.expect_robust else Verdict.NOT_ROBUST)
    assert not outcome.faults


QUICK: Final = frozenset({"burns", "kept-locked", "parker", "peterson", "the-steal"})


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.long) for n in FENCES])
def test_the_fewest_fences_of_a_twin(name: str) -> None:
    path = next(p for p in TWINS if p.stem == name)
    answer = repair(path.read_text(), path.name, limits=TSO)
    assert (answer.status, answer.optimal, len(answer.insertions)) == ("repaired", True, FENCES[name])
    by_hand = (path.parent / f"{name}-fenced.trencher").read_text()
    assert by_hand.count("mfence") - path.read_text().count("mfence") >= FENCES[name]
    assert decide(load_program(answer.patched, path.name), TSO).verdict is Verdict.ROBUST


def test_every_program_that_is_not_robust_is_repaired() -> None:
    assert {p.stem for p in TWINS if not load_program(p.read_text(), p.name).expect_robust} == set(FENCES)
