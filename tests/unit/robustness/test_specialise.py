"""Specialisation: registers and guards that go, those that must stay, and the same states of the program itself."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.counters.search import explore
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA
from rdma_robust.robustness.frame import InstrumentationFrame
from rdma_robust.robustness.pivot import instrument_pivot
from tests.support.random_programs import SMALL, random_program

SPIN = """
node A { lock = 0, turn = 2 }
thread T on A { reg old = 1; while old != 0 { old = cas(lock, 0, 1) }; if turn == 3 { lock = 5 }; lock = 0 }
thread U on A { reg old = 1; while old != 0 { old = cas(lock, 0, 1) }; turn = 2; lock = 0 }
"""


def prepared(text: str, *, specialised: bool = True) -> InstrumentationFrame:
    frame = InstrumentationFrame.of(load_program(text, "x"), RDMA)
    return frame.specialised() if specialised else frame


def edges(text: str, *, specialised: bool = True) -> list[str]:
    graph = prepared(text, specialised=specialised).graphs[0]
    return [f"{e.source}>{e.target} {e}" for e in graph.edges]


def test_a_spin_lock_needs_no_register_and_what_is_never_read_is_gone() -> None:
    frame = prepared(SPIN)
    assert frame.registers() == ()
    assert not any("lock = 5" in (e.step.text or "") for e in frame.graphs[0].edges)
    assert any(
        e.written is not None and e.written.value == 5
        for e in InstrumentationFrame.of(load_program(SPIN, "x"), RDMA).graphs[0].edges
    )  # type: ignore[union-attr]


def test_a_guard_that_never_holds_takes_its_branch_away() -> None:
    start, rest = "node A { x = 0 }\nthread T on A { reg r = 1; ", "if r == 2 { x = 1 }; x = 2 }"
    assert edges(start + rest) == ["0>1 lW(A.x)"]
    assert len(edges(start + rest, specialised=False)) == 3
    assert len(edges(start + "r = 1; " + rest, specialised=False)) == 1


def test_a_register_of_many_values_stays() -> None:
    adds = "\n".join(["thread T on A { reg r; loop { r = x; x = (r + 1) % 40 } }", "thread U on A { x = 1 }"])
    frame = prepared(f"domain 0..40\nnode A {{ x = 0 }}\n{adds}")
    assert frame.registers() == (("T.r", 0),)


def test_a_pivot_may_read_any_value_of_its_step() -> None:
    """T's read is split by its value, but as the pivot it is one event: its guard says only that it happens."""
    text = "node A { x = 0, y = 0 }\nthread T on A { reg r; r = x; y = r }\nthread U on A { x = 1 }"
    frame = prepared(text)
    reads = [e for e in frame.graphs[0].edges if str(e.cell) == "A.x"]
    assert len(reads) == 2
    assert {str(e.possible) for e in reads} == {"Const(value=1)"}


@pytest.mark.ci
def test_targets_stay_reachable_or_not() -> None:
    limits = Limits(states=5000)
    for seed in range(40):
        program = load_program(random_program(Random(seed), SMALL, loops=bool(seed % 2)), str(seed))
        plain = explore(instrument_pivot(program), limits, engine="bfs", reduce=False)
        instrumented = instrument_pivot(program, reductions=frozenset({"values"}), large=0)
        split = explore(instrumented, limits, engine="bfs", reduce=False)
        if not plain.result.cut and not split.result.cut:
            assert (plain.result.target >= 0) == (split.result.target >= 0)
