"""Control states of crowds from which no target can be reached: the compiled look ahead against the one in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdma_robust.counters.kernel.driver import AVAILABLE
from rdma_robust.counting.omega_search import omega_search
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.options import ALL_REDUCTIONS
from rdma_robust.robustness.crowds.hero_at_start import HeroAtStart
from rdma_robust.robustness.crowds.hopeless import CrowdLook
from rdma_robust.robustness.crowds.instance import TwoCopyInstance
from rdma_robust.robustness.crowds.steps import InstanceSteps
from tests.support.crowd_agreement import model_of
from tests.support.shares import share

CROWDS = Path(__file__).parents[3] / "litmus/crowds"


@pytest.mark.skipif(not AVAILABLE, reason="the extension module is not installed")
@pytest.mark.parametrize("name", share(["refcount", "rpc-slot-loop", "two-templates", "lock-cas-one-list"], 2))
def test_both_say_the_same_of_every_state(name: str) -> None:
    text = (CROWDS / f"{name}.rdma").read_text(encoding="utf-8")
    program = load_decidable(text, name, crowds=True)
    steps = InstanceSteps(TwoCopyInstance.of(program, model_of(program), ALL_REDUCTIONS))
    omega_search(HeroAtStart(steps), Limits(states=300))
    said = steps.hopeless._known
    assert {*said.values()} == {False, True}
    for (state, hero), dead in said.items():
        assert CrowdLook(steps.hopeless, state, hero).dead() is dead
