"""The forward search and the engines for nets, one after the other or at once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pytest

from rdma_robust.counting import both_engines
from rdma_robust.counting.both_engines import FORWARD, NET, CountingDecision, as_net, by_net
from rdma_robust.counting.protocol import CountingMove
from rdma_robust.limits import Limits
from tests.support.counting_systems import HandMove, HandSystem, doubling, hand, replayed, stairs
from tests.support.inductive_markings import why_not_inductive

SAFE = hand([(0, "A", 1, "B"), (1, "B", 0, "A"), (1, "BB", 2, "")], (2,))


@pytest.mark.parametrize("system", [stairs(3), doubling(3), SAFE], ids=["stairs", "doubling", "safe"])
@pytest.mark.parametrize("processes", (1, 2))
@pytest.mark.parametrize("alone", (0, 1, 20_000))
def test_the_answer_depends_on_nothing(system: HandSystem, processes: int, alone: int) -> None:
    found = CountingDecision(system, processes=processes, alone=alone).decide()
    assert not found.cut
    if system is SAFE:
        assert found.target == -1
        if found.engine == FORWARD:
            assert found.markings is not None and why_not_inductive(system, found.markings) == ""
    else:
        assert found.run is not None and system.target(replayed(system, found.run)[0]) == found.target == 0


def test_what_can_be_there_is_asked_for_after_few_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """No target is there even if no process leaves a local state; else, or with more to list, the search goes on."""
    monkeypatch.setattr(both_engines, "_FIRST", 2)
    rounds = [(n % 2, "ABCDEFG"[n], 1 - n % 2, "ABCDEFG"[n + 1]) for n in range(6)]
    found = CountingDecision(hand([*rounds, (0, "H", 9, "")], (9,))).decide()
    assert (found.target, found.engine, found.markings) == (-1, NET, None)
    climbs = hand([(n, "A", n + 1, "B") for n in range(6)], (9,))
    assert (CountingDecision(climbs).decide().target, CountingDecision(climbs).decide().engine) == (-1, FORWARD)
    assert (CountingDecision(SAFE, alone=5).decide().target, CountingDecision(stairs(3)).decide().target) == (-1, 0)


def test_the_net_has_places_for_what_can_be_there() -> None:
    made = as_net(hand([(0, "A", 1, "B"), (1, "B", 0, "C"), (2, "C", 3, "D"), (1, "CC", 3, "")], (3,)))
    assert made.net.places == ("control0", "control1", "control2", "local1", "local2")
    assert len(made.moves) == len(made.net.transitions) == 3 and made.targets == (0,)


@dataclass(frozen=True)
class Endless(HandSystem):
    """Controls without end: only a limit ends a search."""

    def moves(self, control: int, present: Collection[str]) -> list[HandMove]:
        assert not {"C"}.intersection(present)
        return [CountingMove(0, ("A",), control + 1, ("B",))]


@pytest.mark.parametrize("processes", (1, 2))
def test_limits_are_named(processes: int) -> None:
    endless = Endless((), ("A",), (-1,))
    found = CountingDecision(endless, processes=processes, alone=10).decide(Limits.of(0.2))
    assert (found.cut, found.target, found.run) == ("time", -1, None)
    assert CountingDecision(endless, alone=100).decide(Limits(states=50)).cut == "states"
    assert by_net(endless, Limits.of(0.05)).engine == NET
    assert by_net(endless, Limits.of(0.05)).cut == "time"


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    CountingDecision(stairs(5)).decide(Limits(), lambda stored, frontier: told.append((stored, frontier)))
    assert told
