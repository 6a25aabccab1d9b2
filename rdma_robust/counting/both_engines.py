"""A counting system decided by whichever is faster: the forward search, or the engines for Petri nets on its net.

Most systems are small: the forward search alone has so many nodes before anything else begins. Then it is asked whether a
control state with a target can be there if no process ever leaves a local state: where none can, which is so for most
systems without one, that is cheaper than to go on, and with two processes would be the answer of the net. What is left
after many more nodes is raced in two processes, or with one process the net is tried for a while and the forward search
goes on. Whether a target is covered does not depend on who answers; the run may, so what is shown to people should come
from :func:`smallest`.

A counting system as a Petri net, which other engines can decide.

Places are the control states and the local states that can be there together in the abstraction that never takes a token
away; of fresh local states there are always enough, so they are no places. A transition for each move.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Generic

from rdma_robust.counting.interned import NumberedMove, NumberedSystem
from rdma_robust.counting.omega_search import ALL, LONGEST_RUN, OmegaOptions, OmegaResult, OmegaSearch
from rdma_robust.counting.protocol import A, C, CountingMove, CountingSystem, L, OmegaMarking
from rdma_robust.errors import LimitReached
from rdma_robust.limits import NEVER, NO_LIMITS, Limits, Poll, Progress, ignore
from rdma_robust.petri.cover import cover
from rdma_robust.petri.net import Net, NetRun, NetTransition, Vector
from rdma_robust.petri.race import race_for
from rdma_robust.processes import can_fork


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
    """Return for every control state the local states that may be there: a token that has been given stays forever."""
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


_FIRST = 3_000
"""Nodes of the forward search before it is asked what can be there if no process ever leaves a local state."""
_ALONE = 20_000
"""Nodes of the forward search before the net is tried."""
_NET_ALONE = 50_000
"""Markings and cones of the engines for nets before one process goes on with the forward search."""
FORWARD, NET = "forward", "net"


@dataclass(frozen=True, slots=True)
class CountingAnswer(Generic[C, L, A]):
    """`target` is the index of the target that is covered, -1 if none is: proved unless `cut` names a limit.

    `run` leads to it, None if it would be too long; `markings` are an inductive set that excludes all targets where the
    forward search has the answer. `engine` is who answered and `stored` what that engine stored.
    """

    target: int
    run: tuple[CountingMove[C, L, A], ...] | None
    markings: tuple[OmegaMarking[C, L], ...] | None
    engine: str
    stored: int
    cut: str = ""


class CountingDecision(Generic[C, L, A]):
    """The decision whether a target of `system` can be covered with some number of processes, in as many parts as wanted.

    The forward search has `alone` nodes for itself; then both ways are tried, at once if there are two `processes`.
    """

    def __init__(
        self, system: CountingSystem[C, L, A], *, processes: int = 1, options: OmegaOptions = ALL, alone: int = _ALONE
    ) -> None:
        self._system = system
        self._processes = processes
        self._alone = alone
        self._search = OmegaSearch(system, options)
        self._tried = False

    def decide(self, limits: Limits = NO_LIMITS, progress: Progress = ignore) -> CountingAnswer[C, L, A]:
        """Decide within limits. After one of them another call goes on where this one has ended."""
        search = self._search
        if self._tried:
            return _of_search(search.decide(limits, progress))
        first = search.decide(limits, progress, min(self._alone, _FIRST))
        if first.cut == "later":
            if controls := _without_targets(self._system, limits, len(search.tree)):
                return CountingAnswer(-1, None, None, NET, controls)
            first = search.decide(limits, progress, self._alone)
        if first.cut != "later":
            return _of_search(first)
        self._tried = True
        if self._processes > 1 and can_fork():
            tasks = [partial(_forward, search), partial(by_net, self._system)]
            return race_for(tasks, limits, progress, lambda cut, n: CountingAnswer(-1, None, None, FORWARD, n, cut))
        tried = by_net(self._system, limits.share(0.5).at_most(_NET_ALONE), progress)
        return tried if not tried.cut else _forward(search, limits, progress)


def _without_targets(system: CountingSystem[C, L, A], limits: Limits, most: int) -> int:
    """Return how many control states there are if no process ever leaves a local state; 0 if one of these has a target, or
    there are more than `most`, or a limit is reached."""
    known = NumberedSystem(system)
    try:
        for control, _ in growing(known, limits.poll("listing control states")):
            if known.target(control) >= 0 or len(known.controls) > most:
                return 0
    except LimitReached:
        return 0
    return len(known.controls)


def _forward(search: OmegaSearch[C, L, A], limits: Limits, progress: Progress) -> CountingAnswer[C, L, A]:
    return _of_search(search.decide(limits, progress))


def _of_search(result: OmegaResult[C, L, A]) -> CountingAnswer[C, L, A]:
    markings = result.inductive if result.target < 0 and not result.cut else None
    return CountingAnswer(result.target, result.run, markings, FORWARD, result.states, result.cut)


def by_net(
    system: CountingSystem[C, L, A], limits: Limits = NO_LIMITS, progress: Progress = ignore, engine: str = "auto"
) -> CountingAnswer[C, L, A]:
    """Decide the same by an engine for Petri nets alone, one of :data:`COVER_ENGINES`."""
    try:
        made = as_net(system, limits.poll("listing control states"))
    except LimitReached as reached:
        return CountingAnswer(-1, None, None, NET, 0, reached.limit)
    found = cover(made.net, limits, engine, progress)
    if found.run is not None:
        target = made.targets[found.run.target]
        return CountingAnswer(target, made.run(found.run, LONGEST_RUN), None, NET, found.stored)
    return CountingAnswer(-1, None, None, NET, found.stored, found.cut)
