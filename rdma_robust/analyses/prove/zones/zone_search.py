"""Search over control states with a list of zones each; what a kept zone includes is not searched again.

Breadth first, but a zone that takes the place of smaller ones comes before others: what follows from those is about to be
replaced too, and would only be extended in vain (Herbreteau, Tran, FORMATS 2015).

Theorem behind SAFE: each step of the code of a zone has at least the points that a run can reach (exact ones no others), and
clipping adds points only. So at the end the kept zones, which have the start, and of which each has its successors in a
kept one, have every reachable state. The search ends: see :func:`zone_matrix.clipped`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from rdma_robust.analyses.prove.proof_engine import AbstractPath, Region, Searched
from rdma_robust.analyses.prove.transition_system import Bad, Control, Suppose, Transition, TransitionSystem
from rdma_robust.analyses.prove.zones.zone_kernel import RunZone, Zone, ZoneKernel
from rdma_robust.analyses.prove.zones.zone_regions import zone_region
from rdma_robust.analyses.prove.zones.zone_updates import ZoneTransition, zone_transition
from rdma_robust.limits import Limits, Progress

Runs = tuple[RunZone, ...]
Entry = tuple["Place", Zone, int]


class Place:
    """A control state that was reached: its live variables, its zones with their numbers, and what can be done there."""

    __slots__ = ("bads", "control", "edges", "kept", "names", "numbers")

    def __init__(self, control: Control, names: tuple[str, ...], bads: list[tuple[Bad, Runs]]) -> None:
        self.control = control
        self.names = names
        self.bads = bads
        self.kept: list[Zone] = []
        self.numbers: dict[Zone, int] = {}
        self.edges: list[tuple[Transition, Place, Runs]] | None = None


class ZoneSearch:
    """One search of a system, with bounds clipped to `clip`. Raises OverflowError if the kernel cannot have its numbers."""

    def __init__(self, system: TransitionSystem, kernel: ZoneKernel, clip: int) -> None:
        self._system = system
        self._kernel = kernel
        self._clip = clip
        self._places: dict[Control, Place] = {}
        self._runs: dict[tuple[object, ...], Runs] = {}
        self._parents: list[tuple[int, Transition | None]] = []
        self._agenda: deque[Entry] = deque()
        self._urgent: deque[Entry] = deque()
        self._overflowed = False
        self._taken = 0
        self._kept = 0
        self._loose = 0

    def run(self, limits: Limits, progress: Progress) -> Searched:
        """Search until a violation is found, a limit is reached, or nothing is left."""
        values = dict(self._system.wide)
        place = self._place(self._system.initial())
        zone = self._kernel.of_values([values[name] for name in place.names], self._clip)
        path = self._add(place, zone, -1, None)
        reached = limits.watch()
        while (agenda := self._urgent or self._agenda) and path is None:
            if limits.states is not None and self._kept > limits.states:
                return self._searched(None, "states")
            if cut := reached():
                return self._searched(None, cut)
            place, zone, number = agenda.popleft()
            if place.numbers.get(zone) == number:
                path = self._expand(place, zone, number)
            if self._taken & 255 == 0:
                progress(self._kept, len(self._agenda))
        return self._searched(path, "")

    def _expand(self, place: Place, zone: Zone, number: int) -> AbstractPath | None:
        if place.edges is None:
            place.edges = self._edges(place)
        for transition, to, runs in place.edges:
            for run in runs:
                after = run(zone, to.kept)
                if after is None:
                    continue
                self._taken += 1
                if transition.fault is not None:
                    return AbstractPath((*self._transitions(number), transition), None)
                if after is not True and (path := self._add(to, after, number, transition)) is not None:
                    return path
        return None

    def _add(self, place: Place, zone: Zone, parent: int, transition: Transition | None) -> AbstractPath | None:
        """Keep a zone that is in no kept one; return the path if it violates a claim."""
        smaller = self._kernel.smaller(zone, place.kept)
        for other in smaller:
            place.kept.remove(other)
            del place.numbers[other]
            self._kept -= 1
        if not place.kept and self._system.overflowed(place.control):
            self._overflowed = True
        number = len(self._parents)
        self._parents.append((parent, transition))
        place.kept.append(zone)
        place.numbers[zone] = number
        self._kept += 1
        (self._urgent if smaller else self._agenda).append((place, zone, number))
        for bad, runs in place.bads:
            if any(run(zone) is not None for run in runs):
                return AbstractPath(self._transitions(number), bad)
        return None

    def _place(self, control: Control) -> Place:
        place = self._places.get(control)
        if place is None:
            names = tuple(sorted(self._system.live(control)))
            claims = self._system.claims
            bads = [
                (bad, self._compiled((*bad.updates, Suppose(bad.condition)), names, ()))
                for bad in self._system.violations(control)
                if not claims[bad.claim].allowed
            ]
            place = self._places[control] = Place(control, names, bads)
        return place

    def _edges(self, place: Place) -> list[tuple[Transition, Place, Runs]]:
        edges = []
        for transition in self._system.successors(place.control):
            to = self._place(transition.to)
            edges.append((transition, to, self._compiled(transition.updates, place.names, to.names)))
        return edges

    def _compiled(self, updates: Sequence[object], before: tuple[str, ...], after: tuple[str, ...]) -> Runs:
        key = (tuple(updates), before, after)
        runs = self._runs.get(key)
        if runs is None:
            made: ZoneTransition = zone_transition(key[0], before, after, self._clip)  # type: ignore[arg-type]
            self._loose += not made.exact
            runs = self._runs[key] = tuple(self._kernel.compiled(code) for code in made.codes)
        return runs

    def _transitions(self, number: int) -> tuple[Transition, ...]:
        found: list[Transition] = []
        while number >= 0:
            number, transition = self._parents[number]
            if transition is not None:
                found.append(transition)
        return tuple(reversed(found))

    def _searched(self, path: AbstractPath | None, cut: str) -> Searched:
        complete = path is None and not cut and not self._overflowed
        places = {place.control: place for place in self._places.values() if place.kept}
        invariant = ZoneInvariant(places, self._kernel) if complete else None
        counts = {"clip": self._clip, "loose": self._loose, "controls": len(places)}
        return Searched("zones", path, invariant, self._overflowed, cut, self._kept, self._taken, counts)


class ZoneInvariant(Mapping[Control, tuple[Region, ...]]):
    """The kept zones by control state, as regions when they are asked for: most callers do not ask."""

    def __init__(self, places: Mapping[Control, Place], kernel: ZoneKernel) -> None:
        self._places = places
        self._kernel = kernel

    def __getitem__(self, control: Control) -> tuple[Region, ...]:
        place = self._places[control]
        return tuple(zone_region(place.names, self._kernel.entries(zone)) for zone in place.numbers)

    def __iter__(self) -> Iterator[Control]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
