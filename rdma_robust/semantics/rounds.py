"""Rounds of barriers: the k-th barrier of each thread of a list belongs together. Source: docs/deployed.md, "Barriers"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rdma_robust.semantics.connections import Place


class BarrierEvent(Protocol):
    """An event of a thread, as far as counting asks: of a barrier its threads, of any other nothing."""

    @property
    def members(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class BarrierRound:
    """The events of one round of the threads `members`, as places, by thread."""

    members: tuple[str, ...]
    places: tuple[Place, ...]

    @property
    def complete(self) -> bool:
        """Whether every thread has come to it: the event of a thread is there only then."""
        return len(self.places) == len(self.members)


def rounds_of(threads: Sequence[Sequence[BarrierEvent]]) -> tuple[BarrierRound, ...]:
    """Return the rounds of which some event is there; `threads` are the events of threads in program order."""
    found: dict[tuple[tuple[str, ...], int], list[Place]] = {}
    for t, events in enumerate(threads):
        passed: dict[tuple[str, ...], int] = {}
        for position, event in enumerate(events):
            if event.members:
                passed[event.members] = k = passed.get(event.members, 0) + 1
                found.setdefault((event.members, k), []).append((t, position))
    return tuple(BarrierRound(members, tuple(places)) for (members, _), places in found.items())
