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
from math import isqrt
from typing import Any, Final, Protocol

from rdma_robust.analyses.prove.path_replay import constants_of
from rdma_robust.analyses.prove.path_values import path_values
from rdma_robust.analyses.prove.transition_system import (
    AbstractPath,
    Bad,
    Control,
    EngineResult,
    Region,
    Suppose,
    Transition,
    TransitionSystem,
)
from rdma_robust.analyses.prove.zones import zone_matrix
from rdma_robust.analyses.prove.zones.zone_matrix import ZoneCode
from rdma_robust.analyses.prove.zones.zone_updates import ZoneTransition, zone_transition
from rdma_robust.expr import Binary, Const, Expr, Name, Unary
from rdma_robust.limits import Limits, Progress

_LAYOUT: Final = 2

Zone = Any
"""A zone, hashable; equal ones are the same zone."""


class RunZone(Protocol):
    """Returns the zone after a piece of code; None if it is empty, True if it is in a kept one. Reorders the kept ones."""

    def __call__(self, zone: Zone, kept: list[Zone] = ...) -> Any: ...


class ZoneKernel(Protocol):
    """See zone_matrix.py, which is one. The compiled one raises OverflowError where numbers may grow too large for it."""

    def of_values(self, values: Sequence[int], clip: int) -> Zone: ...

    def entries(self, zone: Zone) -> list[int | None]: ...

    def included(self, small: Zone, large: Zone) -> bool: ...

    def smaller(self, zone: Zone, kept: list[Zone]) -> list[Zone]: ...

    def compiled(self, code: ZoneCode) -> RunZone: ...


def _kernels() -> tuple[ZoneKernel, ...]:
    try:
        from rdma_robust.analyses.prove.zones import _zones  # noqa: PLC0415 - it may be missing
    except ImportError:
        return (zone_matrix,)
    return (_zones, zone_matrix) if _zones.LAYOUT == _LAYOUT else (zone_matrix,)


ZONE_KERNELS: Final = _kernels()
"""The fastest first; the last one takes numbers of any size."""


Runs = tuple[RunZone, ...]
Entry = tuple["ZoneNode", Zone, int]


class ZoneNode:
    """A control state that was reached: its live variables, its zones with their numbers, and what can be done there."""

    __slots__ = ("bads", "control", "edges", "kept", "names", "numbers")

    def __init__(self, control: Control, names: tuple[str, ...], bads: list[tuple[Bad, Runs]]) -> None:
        self.control = control
        self.names = names
        self.bads = bads
        self.kept: list[Zone] = []
        self.numbers: dict[Zone, int] = {}
        self.edges: list[tuple[Transition, ZoneNode, Runs]] | None = None


class ZoneSearch:
    """One search of a system, with bounds clipped to `clip`. Raises OverflowError if the kernel cannot have its numbers."""

    def __init__(self, system: TransitionSystem, kernel: ZoneKernel, clip: int) -> None:
        self._system = system
        self._kernel = kernel
        self._clip = clip
        self._places: dict[Control, ZoneNode] = {}
        self._runs: dict[tuple[object, ...], Runs] = {}
        self._parents: list[tuple[int, Transition | None]] = []
        self._agenda: deque[Entry] = deque()
        self._urgent: deque[Entry] = deque()
        self._overflowed = False
        self._taken = 0
        self._kept = 0
        self._loose = 0

    def run(self, limits: Limits, progress: Progress) -> EngineResult:
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

    def _expand(self, place: ZoneNode, zone: Zone, number: int) -> AbstractPath | None:
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

    def _add(self, place: ZoneNode, zone: Zone, parent: int, transition: Transition | None) -> AbstractPath | None:
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

    def _place(self, control: Control) -> ZoneNode:
        place = self._places.get(control)
        if place is None:
            names = tuple(sorted(self._system.live(control)))
            claims = self._system.claims
            bads = [
                (bad, self._compiled((*bad.updates, Suppose(bad.condition)), names, ()))
                for bad in self._system.violations(control)
                if not claims[bad.claim].allowed
            ]
            place = self._places[control] = ZoneNode(control, names, bads)
        return place

    def _edges(self, place: ZoneNode) -> list[tuple[Transition, ZoneNode, Runs]]:
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

    def _searched(self, path: AbstractPath | None, cut: str) -> EngineResult:
        complete = path is None and not cut and not self._overflowed
        places = {place.control: place for place in self._places.values() if place.kept}
        invariant = ZoneInvariant(places, self._kernel) if complete else None
        counts = {"clip": self._clip, "loose": self._loose, "controls": len(places)}
        return EngineResult("zones", path, invariant, self._overflowed, cut, self._kept, self._taken, counts)


class ZoneInvariant(Mapping[Control, tuple[Region, ...]]):
    """The kept zones by control state, as regions when they are asked for: most callers do not ask."""

    def __init__(self, places: Mapping[Control, ZoneNode], kernel: ZoneKernel) -> None:
        self._places = places
        self._kernel = kernel

    def __getitem__(self, control: Control) -> tuple[Region, ...]:
        place = self._places[control]
        return tuple(zone_region(place.names, self._kernel.entries(zone)) for zone in place.numbers)

    def __iter__(self) -> Iterator[Control]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def zone_region(names: Sequence[str], entries: Sequence[int | None]) -> Region:
    """Return the constraints of a closed matrix over variables, those left out that others imply.

    Rows at a fixed distance of each other are tied to the first of them, the constant 0 before all; of the first ones those
    bounds stay that are no sum of two others (Larsen, Larsson, Pettersson, Yi, RTSS 1997).
    """
    size = isqrt(len(entries))
    rows = [entries[i * size : (i + 1) * size] for i in range(size)]
    found: list[Expr] = []
    heads: list[int] = []
    for i in range(size):
        head = next((h for h in heads if _fixed(rows[i][h], rows[h][i])), None)
        if head is None:
            heads.append(i)
        else:
            found += [_constraint(names, i, head, rows[i][head]), _constraint(names, head, i, rows[head][i])]
    for i in heads:
        for j in heads:
            if i != j and rows[i][j] is not None and not _implied(rows, heads, i, j):
                found.append(_constraint(names, i, j, rows[i][j]))
    return tuple(found)


def _fixed(there: int | None, back: int | None) -> bool:
    return there is not None and back is not None and there + back == 0


def _implied(rows: Sequence[Sequence[int | None]], heads: Sequence[int], i: int, j: int) -> bool:
    direct = rows[i][j]
    assert direct is not None
    for k in heads:
        first, second = rows[i][k], rows[k][j]
        if k not in (i, j) and first is not None and second is not None and first + second <= direct:
            return True
    return False


def _constraint(names: Sequence[str], i: int, j: int, bound: int | None) -> Expr:
    assert bound is not None
    if j == 0:
        left: Expr = Name(names[i - 1])
    elif i == 0:
        left = Unary("-", Name(names[j - 1]))
    else:
        left = Binary("-", Name(names[i - 1]), Name(names[j - 1]))
    return Binary("<=", left, Const(bound))


COARSE = 2
"""The clip that comes first."""


def search_zones(system: TransitionSystem, limits: Limits, progress: Progress) -> EngineResult:
    """Search with the coarse clip, then with the largest constant and one more, then with four times that.

    The next clip is tried where the path that was found is no sequence of integers. Any of them is sound.
    """
    least = 1 + largest_value(system)
    searched: EngineResult | None = None
    for clip in sorted({COARSE, max(COARSE, least), max(COARSE, 4 * least)}):
        searched = with_clip(system, clip, limits, progress)
        if searched.path is None or path_values(system, searched.path).feasible is not False:
            break
    assert searched is not None
    return searched


def with_clip(
    system: TransitionSystem, clip: int, limits: Limits, progress: Progress, kernels: tuple[ZoneKernel, ...] = ZONE_KERNELS
) -> EngineResult:
    """Search with one clip, in the first kernel that has room for the numbers."""
    for kernel in kernels[:-1]:
        try:
            return ZoneSearch(system, kernel, clip).run(limits, progress)
        except OverflowError:
            continue
    return ZoneSearch(system, kernels[-1], clip).run(limits, progress)


def largest_value(system: TransitionSystem) -> int:
    """Return the largest absolute value that the program or its claims name, or that a variable starts with."""
    starts = [value for _, value in system.wide]
    return max(map(abs, (*starts, *constants_of(system.program, system.claims))), default=0)
