"""A counting system as a Petri net, which other engines can decide.

Places are the control states and the local states that can be there together in the abstraction that never takes a token
away; of fresh local states there are always enough, so they are no places. A transition for each move.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Generic

from rdma_robust.counting.interned import NumberedMove, NumberedSystem
from rdma_robust.counting.protocol import A, C, CountingMove, CountingSystem, L
from rdma_robust.limits import NEVER, Poll
from rdma_robust.petri.net import Net, NetRun, NetTransition, Vector


@dataclass(frozen=True, slots=True)
class SystemNet(Generic[C, L, A]):
    """`moves[t]` is the move of transition t, and `targets[i]` the index in the system of the net's target i.

    The first place is that of the initial control state, then those of the others, then the local states.
    """

    net: Net
    moves: tuple[CountingMove[C, L, A], ...]
    targets: tuple[int, ...]

    def run(self, run: NetRun, most: int) -> tuple[CountingMove[C, L, A], ...] | None:
        """Return the moves of a firing sequence, None if these are more than `most`."""
        return tuple(self.moves[transition] for transition in run.unrolled()) if run.length <= most else None


def as_net(system: CountingSystem[C, L, A], poll: Poll = NEVER) -> SystemNet[C, L, A]:
    """Return the net of a system, whose controls with a target are its targets. Raises what `poll` does."""
    known = NumberedSystem(system)
    there = reachable_locals(known, poll)
    steps = [(control, step) for control in sorted(there) for step in enabled(known, control, there[control])]
    controls = {control: place for place, control in enumerate(sorted(there))}
    locals_ = sorted({local for present in there.values() for local in range(present.bit_length()) if present >> local & 1})
    places = {
        local: len(controls) + at for at, local in enumerate(local for local in locals_ if not known.fresh >> local & 1)
    }
    transitions = tuple(_transition(known, (control, step), controls, places) for control, step in steps)
    goals = [control for control in controls if known.target(control) >= 0]
    names = (*(f"control{control}" for control in controls), *(f"local{local}" for local in places))
    least = tuple(int(place == 0) for place in range(len(names)))
    targets: tuple[Vector, ...] = tuple(((controls[control], 1),) for control in goals)
    net = Net("counting", names, transitions, least, least, targets)
    return SystemNet(net, tuple(known.moves[step.move] for _, step in steps), tuple(map(known.target, goals)))


def reachable_locals(known: NumberedSystem[C, L, A], poll: Poll) -> dict[int, int]:
    """Return for every control state the local states that may be there: a token that has been given stays for ever."""
    return dict(growing(known, poll))


def growing(known: NumberedSystem[C, L, A], poll: Poll) -> Iterator[tuple[int, int]]:
    """Yield the same while it grows: control states with what may be there, the last time with all of it."""
    there = {0: known.fresh}
    waiting = {0: None}
    yield 0, known.fresh
    while waiting:
        poll()
        control = next(iter(waiting))
        del waiting[control]
        for step in enabled(known, control, there[control]):
            before = there.get(step.control)
            after = (before or 0) | there[control] | step.gain
            after &= ~known.idle(step.control, after)
            if after != before:
                there[step.control] = after
                waiting[step.control] = None
                yield step.control, after


def enabled(known: NumberedSystem[C, L, A], control: int, present: int) -> list[NumberedMove]:
    if known.target(control) >= 0:
        return []
    steps = chain(known.away(control, present), known.loops(control, present))
    return [step for step in steps if not step.need & ~present]


def _transition(
    known: NumberedSystem[C, L, A], step: tuple[int, NumberedMove], controls: dict[int, int], places: dict[int, int]
) -> NetTransition:
    control, (_, _, takes, after, _, gives) = step
    guard = {controls[control]: 1}
    delta = {controls[control]: -1}
    delta[controls[after]] = delta.get(controls[after], 0) + 1
    idle = known.idle(after, sum(1 << local for local, _ in gives))
    for local, count in takes:
        if local in places:
            guard[places[local]] = count
            delta[places[local]] = -count
    for local, count in gives:
        if local in places and not idle >> local & 1:
            delta[places[local]] = delta.get(places[local], 0) + count
    return NetTransition(str(step[1].move), _vector(guard), _vector(delta))


def _vector(amounts: dict[int, int]) -> Vector:
    return tuple(sorted((place, amount) for place, amount in amounts.items() if amount))
