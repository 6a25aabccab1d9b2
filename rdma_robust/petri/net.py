"""Petri nets with read arcs and sets of initial markings: what a `.spec` file says, as data.

A net is a VASS with one control state. Numbers are Python integers: they never wrap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat

Vector = tuple[tuple[int, int], ...]
"""A sparse vector: (place index, value) pairs, by increasing index, no value 0."""


@dataclass(frozen=True, slots=True)
class NetTransition:
    """Enabled iff marking >= `guard`; then adds `delta`. guard + delta >= 0 on every place; a guard of more than the
    amount subtracted is a read arc. `line` is the line of the rule in its file, 0 if there is none.
    """

    name: str
    guard: Vector
    delta: Vector
    line: int = 0


@dataclass(frozen=True, slots=True)
class Net:
    """A coverability question: does some run from an initial marking reach a marking >= one of `targets`?

    The initial markings are those with `least[p] <= marking[p] <= most[p]` for every place p; most[p] is None where any
    number is allowed. `least` and `most` have one entry per place; each target is a cone given by its least element.
    """

    name: str
    places: tuple[str, ...]
    transitions: tuple[NetTransition, ...]
    least: tuple[int, ...]
    most: tuple[int | None, ...]
    targets: tuple[Vector, ...]
    weights: tuple[Vector, ...] = ()
    """Hints from an `invariants` section: weighted sums said never to change. Unverified."""


@dataclass(frozen=True, slots=True)
class RepeatedFirings:
    """A group of (transition, times in a row) pairs, one after the other, all of it `times` times."""

    times: int
    body: tuple[tuple[int, int], ...]


Firing = int | RepeatedFirings
"""A transition fired once, or a loop, so that a run that pumps a place a million times stays short."""


@dataclass(frozen=True, slots=True)
class NetRun:
    """A firing sequence: a concrete initial marking, transition indices in order, and the index of the covered target."""

    start: tuple[int, ...]
    transitions: tuple[Firing, ...]
    target: int

    @property
    def length(self) -> int:
        """The number of transitions that are fired."""
        loops = (firing for firing in self.transitions if isinstance(firing, RepeatedFirings))
        single = sum(not isinstance(firing, RepeatedFirings) for firing in self.transitions)
        return single + sum(loop.times * sum(times for _, times in loop.body) for loop in loops)

    def unrolled(self) -> Iterator[int]:
        """Yield the transitions one by one, which may take forever."""
        for firing in self.transitions:
            if isinstance(firing, RepeatedFirings):
                for _ in range(firing.times):
                    for transition, times in firing.body:
                        yield from repeat(transition, times)
            else:
                yield firing


@dataclass(frozen=True, slots=True)
class DownwardInvariant:
    """A downward-closed inductive invariant: the union of the sets below `limits`, omega-markings with None for omega."""

    limits: tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True, slots=True)
class UpwardInvariant:
    """An upward-closed set (its minimal elements, sparse) that contains the targets, is closed under predecessors, and
    contains no initial marking, all modulo `weights`: on every reachable marking each weighted sum is at most `bounds[i]`
    (checked: no transition that can fire increases it, no initial marking exceeds it), so basis elements that violate one
    are left out. Weights are not negative, so nothing above such an element keeps the bound either.

    `marked` is as in :class:`LinearInvariant`: transitions with a guard outside it never fire and need not be considered,
    and neither are targets and predecessors with a place outside it; None stands for all places.

    With `traps`, `shares[i]` has (trap, times) pairs: not the sum with `weights[i]` alone is never increased, but that with
    `times` added to the weight of each place of each of these traps, and the bound is by the sum of the times smaller. A
    trap is a set of places from which no transition takes the last token, and the initial marking has one there.

    All of this is about the net restricted to the places of `scope` (None: all): guards and targets elsewhere are
    forgotten, which only adds runs, and transitions that then add to no place, which only help to cover less.
    """

    basis: tuple[Vector, ...]
    weights: tuple[Vector, ...] = ()
    bounds: tuple[int, ...] = ()
    marked: tuple[int, ...] | None = None
    scope: tuple[int, ...] | None = None
    traps: tuple[tuple[int, ...], ...] = ()
    shares: tuple[Vector, ...] = ()


@dataclass(frozen=True, slots=True)
class LinearInvariant:
    """A proof by inequalities: for target i, `weights[i]` is increased by no transition that can fire, and the target's
    value of it exceeds that of every initial marking. Weights are not negative, so what is above a target exceeds it too.

    `marked` are the places that can ever hold a token (support closed under transitions whose guards lie in it); only
    transitions with guards inside `marked` need to be considered, and a target with a place outside `marked` needs no
    inequality (`weights[i]` is empty).
    """

    marked: tuple[int, ...]
    weights: tuple[Vector, ...]


@dataclass(frozen=True, slots=True)
class EnumeratedInvariant:
    """The set of so many reachable markings of the core, which the engine stored one by one and which are too many to be
    listed: nothing that could be checked again without doing the same.
    """

    markings: int


@dataclass(frozen=True, slots=True)
class StagedInvariant:
    """A proof in two stages: no marking above one of the cones in `never` can be reached, as no initial marking is above one
    and each predecessor of one is above one; and `rest` proves safe what is left of the net without the transitions whose
    guard, and without the targets that are above one of these cones.

    `marked` is as in :class:`LinearInvariant`; predecessors with a place outside it need not be considered.
    """

    never: tuple[Vector, ...]
    marked: tuple[int, ...]
    rest: DownwardInvariant | UpwardInvariant | LinearInvariant


Invariant = DownwardInvariant | UpwardInvariant | LinearInvariant | StagedInvariant
"""What a certificate can hold."""


@dataclass(frozen=True, slots=True)
class CoverResult:
    """The answer of an engine: a run (UNSAFE), an invariant (SAFE), or neither with the limit that cut it (UNKNOWN).

    `stored` counts the markings or basis elements the engine kept.
    """

    engine: str
    run: NetRun | None = None
    invariant: Invariant | EnumeratedInvariant | None = None
    cut: str = ""
    stored: int = 0
