"""Partial-order reduction: which processes it is enough to move next.

For every process and location the footprints of the commands there (`next`) and of all commands that can still follow
(`future`) are known. A set of processes is *closed* in a state if no command next in a member conflicts with a command in
the future of a non-member. The enabled commands of a closed set are a persistent set: whatever the others do first, it
commutes with what the members do next. Expanding only these preserves the reachability of every target, if no command is
put off forever. Where a run to a target has no command of the set, it is possible after each of its commands, and is no
shorter then; so one of these must be progress, of which there is no end only if less of the run is left: it *advances* its
process, to a location of a larger number. Any numbers will do; here the edges that decrease them are those by which loops
close. A transition that raises the rank, as the start of phase 2 does, is a choice that a run to another target may have no
room for; only the others come for free. Whether a set is enough depends on nothing but the state: not on the order in which
states are expanded, nor on how many do that at once.

A location is *local* if no command there conflicts with any command of another process. A process that comes to a local
location where exactly one transition is enabled, one without effect on unbounded counters, takes it at once as a part of
the transition that led there; the state between is not stored, unless it is a target. Nothing the others do changes what
the process can do there, or whether a target holds that needs the process there.

Source: Godefroid, Partial-Order Methods (1996), Theorem 4.3 and chapter 4.6; Kurshan, Levin, Minea, Peled and Yenigün 1998
for a condition on cycles that is a part of the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any, Final

from rdma_robust.counters.permutations import Blocks
from rdma_robust.counters.program import CounterProgram, Footprint, ProcessGraph, pc
from rdma_robust.digraph import components, numbered_forward


@dataclass(frozen=True, slots=True)
class LocationMoves:
    """The moves of a process from one location on; its `number` and whether it is `local` as said above."""

    next: Footprint
    future: Footprint
    number: int
    local: bool = False


NOWHERE = LocationMoves(Footprint(), Footprint(), 0)
LONGEST_CHAIN: Final = 32
"""Transitions at local locations that are taken at once at most: a process may loop there forever."""


class Independence:
    """The closed sets of processes in a state, from the footprints of a program whose commands all have one."""

    def __init__(self, program: CounterProgram[Any]) -> None:
        places = [_places(p) for p in program.processes]
        if not all(_kept_by(group, places) for group in program.alike):
            places = [_places(p, within_cycles=False) for p in program.processes]
        whole = [reduce(or_, (p.future for p in found.values()), Footprint()) for found in places]
        self.places = tuple(_marked(found, whole[:i] + whole[i + 1 :]) for i, found in enumerate(places))

    def clusters(self, locations: Sequence[int]) -> Iterator[int]:
        """Yield candidates for the processes to move, as bit masks: closed sets, small ones first, all processes last.

        `locations` has the location of each process, perhaps followed by other numbers.
        """
        here = [places.get(at, NOWHERE) for places, at in zip(self.places, locations, strict=False)]
        everything = (1 << len(here)) - 1
        disturbed = [
            sum(1 << q for q, other in enumerate(here) if q != p and place.next.conflicts(other.future))
            for p, place in enumerate(here)
        ]
        closed = {_closure(1 << p, disturbed) for p in range(len(here))} - {everything}
        yield from sorted(closed, key=lambda m: (m.bit_count(), m))
        yield everything

    def advances(self, before: Sequence[int], after: Sequence[int]) -> bool:
        """Whether some process comes to a location of a larger number."""
        every = zip(self.places, before, after, strict=False)
        return any(a != b and at.get(b, NOWHERE).number > at.get(a, NOWHERE).number for at, a, b in every)


def independence(program: CounterProgram[Any]) -> Independence | None:
    """Return the independence of `program`, or None if some command has no footprint."""
    known = all(c.footprint is not None for p in program.processes for c in p.commands)
    return Independence(program) if known and len(program.processes) > 1 else None


def _marked(places: dict[int, LocationMoves], others: list[Footprint]) -> dict[int, LocationMoves]:
    return {at: replace(p, local=not any(p.next.conflicts(o) for o in others)) for at, p in places.items()}


def _closure(members: int, disturbed: Sequence[int]) -> int:
    grown = members
    for p, others in enumerate(disturbed):
        if members >> p & 1:
            grown |= others
    return grown if grown == members else _closure(grown, disturbed)


def _kept_by(group: Blocks, places: Sequence[dict[int, LocationMoves]]) -> bool:
    """Whether exchanges of these blocks take locations to such of the same number."""
    names = {pc(i): i for i in range(len(places))}
    trades = [t for exchange in group.exchanges.values() for t in exchange if t.one.field in names]
    ways = [way for t in trades for way in ((t.one, t.other, t.codes), (t.other, t.one, t.back))]
    for one, other, codes in ways:
        becomes, there = dict(codes), places[names[other.field]]
        here = places[names[one.field]].items()
        if any(there.get(becomes.get(at, at), NOWHERE).number != place.number for at, place in here):
            return False
    return not any(t.when for t in trades)


def _places(process: ProcessGraph[Any], *, within_cycles: bool = True) -> dict[int, LocationMoves]:
    """What a process does from its locations on; without `within_cycles` no number grows on a cycle."""
    following: dict[int, Footprint] = {}
    graph: dict[int, set[int]] = {process.entry: set()}
    for command in process.commands:
        graph.setdefault(command.source, set()).add(command.target)
        assert command.footprint is not None
        following[command.source] = following.get(command.source, Footprint()) | command.footprint
    found: dict[int, LocationMoves] = {}
    numbers = numbered_forward(process.entry, graph)
    for members in components(graph):
        future, number = Footprint(), 0
        for at in members:
            future |= following.get(at, Footprint())
            for after in graph.get(at, ()):
                if after in found:
                    future |= found[after].future
                    number = min(number, found[after].number - 1)
        for at in members:
            own = numbers[at] if within_cycles else number
            found[at] = LocationMoves(following.get(at, Footprint()), future, own)
    return found
