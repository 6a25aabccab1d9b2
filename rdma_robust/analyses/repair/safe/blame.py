"""The clause of a run about all sets of waits: the spots at which a thread would have been kept.

Between two steps of a thread what it has under way only becomes less. So if a spot that the thread comes past has nothing to
wait for before the thread's next step, a wait there can be passed just then, and the run is one with that wait as well. The
others are the clause of the run: a set without any of them leaves the run, and is not safe.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.analyses.repair.repairs import Barrier, Choices
from rdma_robust.analyses.repair.safe.spots import WaitSpots, ends
from rdma_robust.analyses.repair.safe.standing import started
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.claims import PointAt
from rdma_robust.semantics.machines.machine import Action, Verb

_OWN: Final = frozenset({Verb.ACCESS, Verb.ISSUE})
"""What a thread does itself; all else is done by what it has under way."""


def blame(spots: WaitSpots, chosen: Choices, run: SafetyRun, claim: SafetyClaim) -> Choices:
    """Return the clause of a run of the program with `chosen`, which violates `claim`."""
    walk = _Walk(spots, chosen)
    for move in run.moves[1:]:
        action = move.action
        if action.verb in _OWN:
            walk.step(action, move.state.threads[action.thread].point)
        walk.count(action)
    for _, atom in claim.atoms:
        thread = next(t for t, each in enumerate(spots.full.threads) if each.name == atom.thread)
        labels = dict(spots.full.threads[thread].labels)
        walk.stand(thread, labels[atom.label] if isinstance(atom, PointAt) else spots.full.threads[thread].exit)
    universe = {c.place: c for c in spots.universe}
    return frozenset(universe[k] for k in walk.kept if k in universe)


class _Walk:
    """Follows a run through the graphs of the full program; `kept` are the spots that would have kept a thread."""

    def __init__(self, spots: WaitSpots, chosen: Choices) -> None:
        self._spots = spots
        self._under_way: Counter[tuple[int, str]] = Counter()
        self._chosen = frozenset(c.place for c in chosen)
        self._here = [thread.entry for thread in spots.full.threads]
        self._ends = [ends(t, gone) for t, gone in zip(spots.full.threads, spots.gone(chosen), strict=True)]
        self.kept: set[int] = set()

    def step(self, action: Action, to: int) -> None:
        """Follow a step of a thread, to a point of the program with the chosen spots."""
        thread = action.thread
        for point in self._ahead(thread):
            for _, target, step in self._spots.out[thread].get(point, ()):
                if step == action.step and self._ends[thread][target] == to:
                    self._pass(thread, point)
                    self._here[thread] = target
                    return
        raise InternalError("a run is no path of the program with all waits")

    def stand(self, thread: int, point: int) -> None:
        """Bring a thread to a point that is the same as where it is in the program with the chosen spots, if it is."""
        if point in self._ahead(thread):
            self._pass(thread, point)
            self._here[thread] = point

    def count(self, action: Action) -> None:
        """Count what is under way after a move."""
        kind = Barrier.FLUSH if self._spots.model == "rma" else Barrier.MFENCE
        op = None if action.step is None else action.step.op
        what = None if op is None else started(op, kind)
        if action.verb is Verb.FLUSH:
            self._under_way[action.thread, ""] -= 1
        elif what is not None and action.verb in _OWN:
            self._under_way[action.thread, what] += 1
        elif what is not None and action.verb is Verb.NIC_WRITE:
            self._under_way[action.thread, what] -= 1

    def _ahead(self, thread: int) -> Iterator[int]:
        """Yield where a thread is, and the points behind the spots that follow and are not chosen."""
        point, at = self._here[thread], self._spots.at[thread]
        seen = {point}
        yield point
        while at.get(point, -1) not in (-1, *self._chosen):
            ((_, point, _),) = self._spots.out[thread][point]
            if point in seen:
                return
            seen.add(point)
            yield point

    def _pass(self, thread: int, point: int) -> None:
        """Note the spots on the way to a point that have something to wait for."""
        here, at = self._here[thread], self._spots.at[thread]
        while here != point:
            spot = at[here]
            if self._under_way[thread, self._spots.spots[spot].node] > 0:
                self.kept.add(spot)
            ((_, here, _),) = self._spots.out[thread][here]
