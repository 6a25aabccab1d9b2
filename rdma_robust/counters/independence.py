"""Partial-order reduction: which processes it is enough to move next.

For every process and location the footprints of the commands there (`next`) and of all commands that can still follow
(`future`) are known. A set of processes is *closed* in a state if no command next in a member conflicts with a command in
the future of a non-member. The enabled commands of a closed set are a persistent set: whatever the others do first, it
commutes with what the members do next. Expanding only these preserves the reachability of every target, if no command is
put off for ever: a member stands at a location on no cycle of its process, so it can be passed once only, or else one of
the successors of the same rank has not been expanded yet (the searches check that). A transition that raises the rank, as
the start of phase 2 does, is a choice that a run to another target may have no room for; only the others come for free.
A dead end counts as a successor that has not been expanded: where some run to a target has no command of the set, all
successors of the same rank lead to that target, and none of them is a dead end.

A location is *local* if no command there conflicts with any command of another process. A process that comes to a local
location where exactly one transition is enabled, one without effect on unbounded counters, takes it at once as a part of
the transition that led there; the state between is not stored, unless it is a target. Nothing the others do changes what
the process can do there, or whether a target holds that needs the process there.

Source: Godefroid, Partial-Order Methods (1996), Theorem 4.3 and chapter 4.6; Bosnacki, Leue and Lluch Lafuente 2006 for the
condition on the order of expansion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any, Final

from rdma_robust.counters.program import CounterProgram, Footprint, ProcessGraph
from rdma_robust.digraph import components


@dataclass(frozen=True, slots=True)
class LocationMoves:
    """What a process does from one location on; `cyclic` if it is on a cycle of its process, `local` as said above."""

    next: Footprint
    future: Footprint
    cyclic: bool
    local: bool = False


NOWHERE = LocationMoves(Footprint(), Footprint(), False)
LONGEST_CHAIN: Final = 32
"""Transitions at local locations that are taken at once at most: a process may loop there for ever."""


class Independence:
    """The closed sets of processes in a state, from the footprints of a program whose commands all have one."""

    def __init__(self, program: CounterProgram[Any]) -> None:
        places = [_places(p) for p in program.processes]
        whole = [reduce(or_, (p.future for p in found.values()), Footprint()) for found in places]
        self.places = tuple(_marked(found, whole[:i] + whole[i + 1 :]) for i, found in enumerate(places))

    def clusters(self, locations: Sequence[int]) -> Iterator[tuple[int, bool]]:
        """Yield candidates for the processes to move, as bit masks: closed sets, small ones first, all processes last.

        `locations` has the location of each process, perhaps followed by other numbers. The second entry is True where
        a member's location is on a cycle, so that the candidate needs a successor that has not been expanded.
        """
        here = [places.get(at, NOWHERE) for places, at in zip(self.places, locations, strict=False)]
        everything = (1 << len(here)) - 1
        disturbed = [
            sum(1 << q for q, other in enumerate(here) if q != p and place.next.conflicts(other.future))
            for p, place in enumerate(here)
        ]
        closed = {_closure(1 << p, disturbed) for p in range(len(here))} - {everything}
        for members in sorted(closed, key=lambda m: (m.bit_count(), m)):
            yield members, any(place.cyclic for p, place in enumerate(here) if members >> p & 1)
        yield everything, False


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


def _places(process: ProcessGraph[Any]) -> dict[int, LocationMoves]:
    following: dict[int, Footprint] = {}
    graph: dict[int, set[int]] = {process.entry: set()}
    for command in process.commands:
        graph.setdefault(command.source, set()).add(command.target)
        assert command.footprint is not None
        following[command.source] = following.get(command.source, Footprint()) | command.footprint
    found: dict[int, LocationMoves] = {}
    for members in components(graph):
        future = Footprint()
        for at in members:
            future |= following.get(at, Footprint())
            for after in graph.get(at, ()):
                future |= found[after].future if after in found else Footprint()
        cyclic = len(members) > 1 or members[0] in graph.get(members[0], ())
        found |= {at: LocationMoves(following.get(at, Footprint()), future, cyclic) for at in members}
    return found
