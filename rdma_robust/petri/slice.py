"""Slicing: from a coverability question to the part of it that matters, and back again.

A place is *omega* if its number of tokens at the start is arbitrary or can be raised at will before anything else
happens, *marked* if it can ever hold a token in the abstraction that never takes tokens away, and *relevant* if tokens
on it can help to cover a target. Only marked, relevant places that are not omega remain, and only transitions that can
fire and can help. Runs and invariants found on the core are translated to the net they came from.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rdma_robust.errors import InternalError
from rdma_robust.petri.net import (
    DownwardInvariant,
    Firing,
    LinearInvariant,
    Net,
    NetRun,
    RepeatedFirings,
    UpwardInvariant,
    Vector,
)

OMEGA = math.inf
"""Any number of tokens. Python compares it exactly with integers of any size, and adding to it leaves it as it is."""


@dataclass(frozen=True, slots=True)
class Core:
    """A net with one initial marking (one entry per place) in which every place and transition may matter."""

    initial: tuple[int, ...]
    guards: tuple[Vector, ...]
    deltas: tuple[Vector, ...]
    targets: tuple[Vector, ...]


@dataclass(frozen=True, slots=True)
class InitialPump:
    """A transition that can be fired any number of times from a start, and the (place, tokens before) it makes omega."""

    transition: int
    raised: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """A net, its core, and how they correspond.

    `places[i]`, `transitions[i]`, `targets[i]` are the indices in `net` of the core's; `marked` and `omega` are sets of
    places of `net`; `pumps` come before every run of the core, in their order.
    """

    net: Net
    core: Core
    places: tuple[int, ...]
    transitions: tuple[int, ...]
    targets: tuple[int, ...]
    marked: frozenset[int]
    omega: frozenset[int]
    pumps: tuple[InitialPump, ...]

    def run(self, firings: Iterable[Firing], target: int) -> NetRun:
        """Translate a run of the core that covers the core's `target`, filling in what feeds the omega places.

        Raises InternalError if the run does not replay on the net.
        """
        net = self.net
        found = [self._firing(firing) for firing in firings]
        goal = self.targets[target]
        need = dict(net.targets[goal])
        guards, deltas = _vectors(net)
        for firing in reversed(found):
            before_firing(need, firing, guards, deltas)
        prefix: list[Firing] = []
        for pump in reversed(self.pumps):
            gain = dict(deltas[pump.transition])
            times = max(-(-(need.get(p, 0) - held) // gain[p]) for p, held in pump.raised)
            if times > 0:
                prefix.append(RepeatedFirings(1, ((pump.transition, times),)))
                before_firing(need, prefix[-1], guards, deltas)
        start = tuple(
            max(low, need.get(p, 0)) if high is None else high
            for p, (low, high) in enumerate(zip(net.least, net.most, strict=True))
        )
        run = NetRun(start, (*reversed(prefix), *found), goal)
        replay_firings(net, run)
        return run

    def _firing(self, firing: Firing) -> Firing:
        if isinstance(firing, RepeatedFirings):
            return RepeatedFirings(firing.times, tuple((self.transitions[t], times) for t, times in firing.body))
        return self.transitions[firing]

    def upward(
        self,
        basis: Iterable[Vector],
        weights: Iterable[Vector],
        bounds: Iterable[int],
        traps: Sequence[Sequence[int]] = (),
        shares: Iterable[Vector] = (),
    ) -> UpwardInvariant:
        """Translate an upward-closed invariant of the core; cones may mention fewer places, which makes them larger."""
        return UpwardInvariant(
            tuple(self.vector(b) for b in basis),
            tuple(self.vector(w) for w in weights),
            tuple(bounds),
            self._marked(),
            self.places if traps else None,
            tuple(tuple(sorted(self.places[p] for p in trap)) for trap in traps),
            tuple(shares) if traps else (),
        )

    def downward(self, limits: Iterable[Sequence[int | None]]) -> DownwardInvariant:
        """Translate omega-markings of the core (one entry per place): what is irrelevant is omega, what is dead is 0."""
        rest: list[int | None] = [None if p in self.marked else 0 for p in range(len(self.net.places))]
        out = []
        for limit in limits:
            row = list(rest)
            for i, value in enumerate(limit):
                row[self.places[i]] = value
            out.append(tuple(row))
        return DownwardInvariant(tuple(out))

    def linear(self, weights: Iterable[Vector]) -> LinearInvariant:
        """Translate one weight vector for each target of the core."""
        per_target = dict(zip(self.targets, map(self.vector, weights), strict=True))
        return LinearInvariant(self._marked(), tuple(per_target.get(i, ()) for i in range(len(self.net.targets))))

    def vector(self, vector: Vector) -> Vector:
        """Translate a vector of the core."""
        return tuple(sorted((self.places[p], value) for p, value in vector))

    def _marked(self) -> tuple[int, ...]:
        return tuple(sorted(self.marked))


def _vectors(net: Net) -> tuple[list[Vector], list[Vector]]:
    return [t.guard for t in net.transitions], [t.delta for t in net.transitions]


def replay_firings(net: Net, run: NetRun) -> None:
    """Check that `run` is a run of `net` from an initial marking that covers its target; raises InternalError if not."""
    marking = dict(enumerate(run.start))
    for p, value in marking.items():
        high = net.most[p]
        if value < net.least[p] or (high is not None and value > high):
            raise InternalError(f"a run starts outside the initial markings at place {net.places[p]}")
    guards, deltas = _vectors(net)
    for firing in run.transitions:
        loop = firing if isinstance(firing, RepeatedFirings) else RepeatedFirings(1, ((firing, 1),))
        least, change = firing_effect(loop.body, guards, deltas)
        lost = dict(change)
        if any(marking[p] < k + max(0, -lost.get(p, 0)) * (loop.times - 1) for p, k in least):
            raise InternalError(f"a run fires {net.transitions[loop.body[0][0]].name} where it is not enabled")
        for p, gain in change:
            marking[p] += loop.times * gain
    if any(marking[p] < k for p, k in net.targets[run.target]):
        raise InternalError("a run does not cover its target")


def firing_effect(
    group: Sequence[tuple[int, int]], guards: Sequence[Vector], deltas: Sequence[Vector]
) -> tuple[Vector, Vector]:
    """Return the least marking in which the (transition, times) pairs can be fired one after the other, and the change."""
    need: dict[int, int] = {}
    change: dict[int, int] = {}
    for t, times in reversed(group):
        need_before(need, guards[t], deltas[t], times)
        for p, gain in deltas[t]:
            change[p] = change.get(p, 0) + times * gain
    return tuple(sorted(need.items())), tuple(sorted((p, gain) for p, gain in change.items() if gain))


def before_firing(need: dict[int, int], firing: Firing, guards: Sequence[Vector], deltas: Sequence[Vector]) -> None:
    """Turn the least marking needed after a firing into the one needed before it."""
    if isinstance(firing, RepeatedFirings):
        need_before(need, *firing_effect(firing.body, guards, deltas), firing.times)
    else:
        need_before(need, guards[firing], deltas[firing])


def need_before(need: dict[int, int], guard: Vector, delta: Vector, times: int = 1) -> None:
    """Turn the least marking needed after `times` firings of a transition into the one needed before them."""
    change = dict(delta)
    for p, gain in delta:
        need[p] = need.get(p, 0) - times * gain
    for p, k in guard:
        need[p] = max(need.get(p, 0), k + max(0, -(times - 1) * change.get(p, 0)))
    for p, _ in delta:
        if need[p] <= 0:
            del need[p]


def slice_net(net: Net) -> Slice:
    """Return the part of `net` that its coverability question depends on."""
    start: list[float] = [OMEGA if high is None else high for high in net.most]
    pumps = _saturate(net, start)
    marked = _marked(net, start)
    omega = frozenset(p for p, value in enumerate(start) if value == OMEGA)
    alive = [i for i, t in enumerate(net.transitions) if all(p in marked for p, _ in t.guard)]
    targets = [i for i, target in enumerate(net.targets) if all(p in marked for p, _ in target)]
    relevant, used = _relevant(net, alive, [net.targets[i] for i in targets], omega)
    places = sorted(relevant)
    index = {p: i for i, p in enumerate(places)}

    def project(vector: Vector) -> Vector:
        return tuple((index[p], value) for p, value in vector if p in index)

    kept: dict[Vector, list[tuple[Vector, int]]] = {}
    for i in sorted(used):
        t = net.transitions[i]
        kept.setdefault(project(t.delta), []).append((project(t.guard), i))
    rows = sorted((i, guard, delta) for delta, rivals in kept.items() for guard, i in _least(rivals))
    core = Core(
        tuple(int(start[p]) for p in places),
        tuple(guard for _, guard, _ in rows),
        tuple(delta for _, _, delta in rows),
        tuple(project(net.targets[i]) for i in targets),
    )
    return Slice(net, core, tuple(places), tuple(i for i, _, _ in rows), tuple(targets), marked, omega, pumps)


def _least(rivals: list[tuple[Vector, int]]) -> list[tuple[Vector, int]]:
    """The pairs whose vector has no smaller one among the others, the first of equal ones."""
    if len(rivals) == 1:
        return rivals
    found: list[tuple[Vector, int]] = []
    least: dict[int | None, list[Vector]] = {}
    uses = Counter(p for guard, _ in rivals for p, _ in guard)
    for guard, i in sorted(rivals, key=lambda rival: (sum(k for _, k in rival[0]), rival[1])):
        near = (small for p in (None, *(p for p, _ in guard)) for small in least.get(p, ()))
        if not any(_below(small, guard) for small in near):
            rarest = min((p for p, _ in guard), key=lambda p: (uses[p], p), default=None)
            least.setdefault(rarest, []).append(guard)
            found.append((guard, i))
    return found


def _below(small: Vector, large: Vector) -> bool:
    values = dict(large)
    return all(values.get(p, 0) >= k for p, k in small)


def _saturate(net: Net, start: list[float]) -> tuple[InitialPump, ...]:
    """Set to omega in `start` what some transition that takes nothing finite away can raise, again and again."""
    waiting = list(range(len(net.transitions) - 1, -1, -1))
    queued = [True] * len(waiting)
    touching: dict[int, list[int]] = {}
    for i, t in enumerate(net.transitions):
        for p in {p for p, _ in t.guard} | {p for p, change in t.delta if change < 0}:
            touching.setdefault(p, []).append(i)
    pumps = []
    while waiting:
        i = waiting.pop()
        queued[i] = False
        t = net.transitions[i]
        if any(start[p] < k for p, k in t.guard) or any(c < 0 and start[p] != OMEGA for p, c in t.delta):
            continue
        raised = tuple((p, int(start[p])) for p, change in t.delta if change > 0 and start[p] != OMEGA)
        if not raised:
            continue
        pumps.append(InitialPump(i, raised))
        for p, _ in raised:
            start[p] = OMEGA
            for j in touching.get(p, ()):
                if not queued[j]:
                    queued[j] = True
                    waiting.append(j)
    return tuple(pumps)


def _marked(net: Net, start: Sequence[float]) -> frozenset[int]:
    """The least set of places that holds the initially marked ones and is closed under transitions guarded inside it."""
    missing = [len(t.guard) for t in net.transitions]
    guarded: dict[int, list[int]] = {}
    for i, t in enumerate(net.transitions):
        for p, _ in t.guard:
            guarded.setdefault(p, []).append(i)
    marked: set[int] = set()
    waiting = [p for p, value in enumerate(start) if value > 0]
    waiting += [p for t in net.transitions if not t.guard for p, change in t.delta if change > 0]
    while waiting:
        p = waiting.pop()
        if p in marked:
            continue
        marked.add(p)
        for i in guarded.get(p, ()):
            missing[i] -= 1
            if missing[i] == 0:
                waiting += [q for q, change in net.transitions[i].delta if change > 0]
    return frozenset(marked)


def _relevant(net: Net, alive: Iterable[int], targets: Iterable[Vector], omega: frozenset[int]) -> tuple[set[int], set[int]]:
    """The places that are not omega on which tokens can help to cover a target, and the transitions that put them there."""
    producers: dict[int, list[int]] = {}
    for i in alive:
        for p, change in net.transitions[i].delta:
            if change > 0 and p not in omega:
                producers.setdefault(p, []).append(i)
    relevant: set[int] = set()
    used: set[int] = set()
    waiting = [p for target in targets for p, _ in target]
    while waiting:
        p = waiting.pop()
        if p in relevant or p in omega:
            continue
        relevant.add(p)
        for i in producers.get(p, ()):
            if i not in used:
                used.add(i)
                waiting += [q for q, _ in net.transitions[i].guard]
    return relevant, used
