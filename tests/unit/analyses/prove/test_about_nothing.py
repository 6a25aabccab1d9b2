"""Claims that hold because nothing comes to them are named, by every engine, and no others."""

from __future__ import annotations

import pytest

from rdma_robust.analyses.prove import engines
from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.analyses.prove.safety_outcome import Safety
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program

ASSUMED = """node M { x }
thread A on M { reg r; assume x == 2; assert r == 3 }
thread B on M { reg r; x = 1; assert r == 0 }
"""
WAITING = """node M { x }
thread A on M { await x == 5 }
thread B on M { BODY }
outcome M.x == 7 : forbidden under sc, forbidden under tso
"""


@pytest.fixture(params=["explicit", "compiled", "zones"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "compiled":
        monkeypatch.setattr(engines, "PROBE", 0)
    return str(request.param)


@pytest.mark.parametrize("model", ["sc", "tso"])
def test_an_assertion_behind_an_assume_that_is_never_true_is_about_nothing(engine: str, model: AnyModelName) -> None:
    program = load_program(ASSUMED, "f.rdma")
    outcome = decide_safety(program, model, engine="zones" if engine == "zones" else "auto")
    assert outcome.safety is Safety.SAFE and (outcome.invariant is None) == (engine == "compiled")
    assert [claim.span.line for claim in outcome.about_nothing] == [2]
    met = load_program(ASSUMED.replace("x == 2", "x == 1").replace("r == 3", "r == 0"), "f.rdma")
    assert decide_safety(met, model).about_nothing == ()


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("model", ["sc", "tso"])
def test_an_outcome_without_a_final_state_is_about_nothing(model: AnyModelName) -> None:
    never = decide_safety(load_program(WAITING.replace("BODY", "x = 1"), "f.rdma"), model)
    assert never.safety is Safety.SAFE and [claim.kind for claim in never.about_nothing] == ["outcome"]
    ends = decide_safety(load_program(WAITING.replace("BODY", "x = 5"), "f.rdma"), model)
    assert ends.safety is Safety.SAFE and ends.about_nothing == ()
