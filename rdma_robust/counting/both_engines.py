"""A counting system decided by whichever is faster: the forward search, or the engines for Petri nets on its net.

Most systems are small: the forward search alone has so many nodes before anything else begins. Then it is asked whether a
control state with a target can be there if no process ever leaves a local state: where none can, which is so for most
systems without one, that is cheaper than to go on, and with two processes would be the answer of the net. What is left
after many more nodes is raced in two processes, or with one process the net is tried for a while and the forward search
goes on. Whether a target is covered does not depend on who answers; the run may, so what is shown to people should come
from :func:`smallest`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Generic

from rdma_robust.counting.as_net import as_net, growing
from rdma_robust.counting.inductive_markings import OmegaMarking
from rdma_robust.counting.interned import NumberedSystem
from rdma_robust.counting.omega_search import ALL, LONGEST_RUN, OmegaOptions, OmegaResult, OmegaSearch
from rdma_robust.counting.protocol import A, C, CountingMove, CountingSystem, L
from rdma_robust.errors import LimitReached
from rdma_robust.limits import NO_LIMITS, Limits, Progress, ignore
from rdma_robust.petri.cover import cover
from rdma_robust.petri.race import race_for
from rdma_robust.processes import can_fork

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
