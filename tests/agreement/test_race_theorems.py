"""Race freedom and robustness: Theorems A and B of docs/theory-hangs.md, "Races", on random programs of every family."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.analyses.races.find_races import RaceVerdict, find_races
from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.happens_before import Synchronising, synchronising_words
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from rdma_robust.semantics.waits import messages_wait
from tests.support.race_agreement import SIZE, SOURCES, with_words

LIMITS = Limits(states=20_000)


def finds_buffers(program: Program) -> bool:
    """Whether every message finds a buffer under sequential consistency."""
    if messages_wait(program):
        return False
    return not any(fault.kind == "rnr" for fault in explore(ScMachine(program), LIMITS).faults)


def race_free_data(program: Program, model: Model) -> bool:
    """Compare a program in which no word synchronises with brute force; return whether it is race free."""
    moments = frozenset(cell for cell in program.cells if cell.moment)
    if find_races(program, model, LIMITS, synchronising=Synchronising(moments)).verdict is not RaceVerdict.RACE_FREE:
        return False
    try:
        assert oracle_robust(program, model, SIZE) is None, f"{program.source}\n{model}"
    except SizeLimitError:
        return False
    return True


def pivot_synchronises(program: Program, model: Model) -> bool:
    """Compare the pivot of a race-free program that is not robust; return whether there is one."""
    words = synchronising_words(program)
    if find_races(program, model, LIMITS).verdict is not RaceVerdict.RACE_FREE:
        return False
    outcome = decide(program, CheckOptions(hardware=model, max_states=20_000))
    pivot = outcome.witness.pivot if outcome.verdict is Verdict.NOT_ROBUST and outcome.witness else None
    assert pivot is None or pivot.cell in words, f"{program.source}\n{model}\n{pivot}"
    return pivot is not None


def held(source: str, seeds: range) -> tuple[int, int]:
    """Return how many programs each theorem was tried on."""
    data = pivots = 0
    for program, model in SOURCES[source](seeds):
        if finds_buffers(program):
            data += race_free_data(program, model)
            pivots += pivot_synchronises(with_words(program, Random(program.file)), model)
    return data, pivots


@pytest.mark.ci
def test_race_freedom_of_data_gives_robustness() -> None:
    tried = [held(source, range(2_000, 2_004)) for source in ("plain", "stores", "messages", "weaker", "flushes")]
    assert sum(data for data, _ in tried) >= 2


@pytest.mark.long
@pytest.mark.parametrize("source", SOURCES)
def test_they_hold_on_many(source: str) -> None:
    data, _ = held(source, range(2_000, 2_200))
    assert data >= 1
