"""The engine that looks at all interleavings, on functions whose contracts are written out here."""

from __future__ import annotations

import pytest

from rdma_robust.limits import Limits
from tests.support.contracts_oracle import local_steps
from tests.support.contracts_oracle.interleavings import by_interleavings
from tests.support.gathering import BOUNDS, QUIET, TEXT, WAITS, Gathering

GATHERING = Gathering(by_interleavings)


@pytest.mark.parametrize(("procs", "states"), [(1, 3), (2, 24), (3, 180)])
def test_a_right_function(procs: int, states: int) -> None:
    found = GATHERING.answer(procs, WAITS, QUIET)
    assert (found.verdict, found.runs, found.states) == ("VERIFIED", procs, states)


def test_each_class_is_noticed() -> None:
    GATHERING.notices_each_class()


def test_what_is_cut_short_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_steps, "MOST_STEPS", 1_000)
    assert GATHERING.answer(2, QUIET, bounds=BOUNDS[:1]).reason == "needs bounds: root may be anything"
    assert GATHERING.answer(2, QUIET, limits=Limits(states=5)).reason == "reached the limit of 5 states"
    forever = TEXT.replace("return all", "while 1 { skip }\n return all")
    assert GATHERING.answer(1, text=forever).reason == "process 0 does not end: it computes forever"
    longer = TEXT.replace("return all", "while 1 { v = v + 1 }\n return all")
    assert GATHERING.answer(1, text=longer).reason == "process 0 computes longer than is followed"


def test_nothing_to_look_at() -> None:
    GATHERING.has_nothing_to_look_at()
