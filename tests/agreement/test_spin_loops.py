"""What failed rounds of spin loops change: nothing that can be seen at the end, under SC and on the hardware.

Random programs whose loops wait, or only look so, are run by both machines as they are and without failed rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from unittest.mock import patch

import pytest

from rdma_robust.errors import ProgramError
from rdma_robust.language.flow import spinning
from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.language.flow.spinning import blocking, spin_assumed
from rdma_robust.language.load import load_decidable
from rdma_robust.model import Hardware
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.machines.outcomes import OutcomesReport, explore_outcomes
from tests.support.shares import chunks
from tests.support.spin_loops import spinning_program

STATES = 1200


def _ends(report: OutcomesReport) -> tuple[object, ...]:
    def what(faults: Iterable[Fault]) -> frozenset[object]:
        return frozenset(fault if fault.kind == "assertion" else fault.kind for fault in faults)

    return report.states, what(report.sc.faults), what(report.rdma.faults)


def _loaded(seed: int) -> Program | None:
    try:
        return load_decidable(spinning_program(Random(seed)), f"seed {seed}")
    except ProgramError:
        return None


def _compare(seed: int) -> str:
    """Compare a program with itself without failed rounds; return what it was good for."""
    program = _loaded(seed)
    if program is None:
        return "not well-formed"
    assumed = spin_assumed(program)
    if assumed == blocking(program):
        return "no spin loop beyond one read"
    model = Hardware("tso" if seed % 3 == 0 else None).over(program.hardware).model
    whole = explore_outcomes(program, model, max_states=STATES)
    left = explore_outcomes(assumed, model, max_states=STATES)
    if not (whole.complete and left.complete):
        return "too large"
    assert _ends(whole) == _ends(left), f"seed {seed}\n{program.source}"
    if decide(assumed, CheckOptions(hardware=model)).verdict is Verdict.ROBUST:
        assert not whole.only_rdma, f"seed {seed}\n{program.source}"
        return "robust, with an end" if whole.states else "robust"
    return "not robust"


def test_programs_end_alike_without_failed_rounds() -> None:
    found = Counter(map(_compare, range(40)))
    assert found["robust, with an end"] >= 2, found
    assert found["robust"] + found["not robust"] >= 10, found


@pytest.mark.parametrize("chunk", chunks(1, 8))
def test_more_programs_end_alike(chunk: int) -> None:
    found = Counter(map(_compare, range(1000 + 150 * chunk, 1150 + 150 * chunk)))
    assert found["robust, with an end"] >= 5, found


def test_registers_that_count_are_needed() -> None:
    with patch.object(spinning, "_live", lambda _, out: dict.fromkeys(out, frozenset())), pytest.raises(AssertionError):
        for seed in range(300):
            _compare(seed)
