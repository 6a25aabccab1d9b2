"""The search for the invariant behind ROBUST, and what it does where there is none."""

from __future__ import annotations

import pytest

from rdma_robust.counters.inductive import inductive_set, limit_covers
from rdma_robust.counters.lower import lower
from rdma_robust.counters.searches import breadth_first
from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA
from rdma_robust.robustness.invariant import inductive_invariant
from rdma_robust.robustness.pivot import instrument_pivot
from tests.conftest import NOT_ROBUST, ROBUST, ROOT

POLLED = (ROOT / "litmus/mailbox-polled.rdma").read_text(encoding="utf-8")
PUMPED = "node A { x }\nnode B { y }\nthread T on A { loop { put B.y = x; choose { poll B } or { skip } } }\n"


def test_it_is_the_reachable_states_without_those_below_others() -> None:
    """Polls are bounded here, so a search of all markings ends; it never drops what it has stored."""
    lowered = lower(instrument_pivot(load_program(POLLED, "polled")), bounded=False)
    found = inductive_set(lowered, Limits())
    assert lowered.dimension == 2
    assert breadth_first(lowered, Limits(), reduce=False).states >= len(found.states)
    assert len(found.states) <= found.stored
    assert list(found.states) == sorted(set(found.states), key=found.states.index)
    for control, limit in found.states:
        others = [other for same, other in found.states if same == control and other != limit]
        assert not any(limit_covers(other, limit) for other in others)
    for control, limit in found.states:
        for _, after, effect in lowered.successors(control):
            e = lowered.effects[effect]
            if all(v is None or v >= g for v, g in zip(limit, e.guard, strict=True)):
                fired = tuple(None if v is None else v + d for v, d in zip(limit, e.delta, strict=True))
                assert any(same == after and limit_covers(other, fired) for same, other in found.states)


def test_unbounded_counters_become_omega() -> None:
    found = inductive_invariant(load_program(PUMPED, "pumped"), RDMA, Limits())
    assert found.counters
    assert any(None in limit for _, limit in found.states)
    assert limit_covers((None, 3), (4, 3))
    assert not limit_covers((4, 3), (None, 3))


def test_limits_are_errors() -> None:
    with pytest.raises(SizeLimitError, match="limit of states after 3 states"):
        inductive_invariant(load_program(ROBUST, "calm"), RDMA, Limits(states=3))
    with pytest.raises(SizeLimitError, match="limit of time"):
        inductive_invariant(load_program(ROBUST, "calm"), RDMA, Limits(deadline=0.0))


def test_a_not_robust_program_has_none() -> None:
    with pytest.raises(InternalError, match="reached a target"):
        inductive_invariant(load_program(NOT_ROBUST, "sb"), RDMA, Limits())
