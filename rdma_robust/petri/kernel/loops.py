"""The inner loops of the Petri-net engines in Python: sets of markings under domination, successors, relaxed plans.

`compiled` has the same in compiled form; this is the reference it is tested against, and what runs where numbers are
too large for machine words. Markings are sparse vectors with values from 1 to :data:`OMEGA`.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence

from rdma_robust.petri.net import Vector
from rdma_robust.petri.slice import OMEGA, Core

Marking = tuple[tuple[int, float], ...]
"""A sparse marking: (place, value) pairs by increasing place; no value is 0, and a value may be OMEGA."""

DEAD = -1
"""The length of a relaxed plan where there is none."""
_DEAREST = 10**5000
"""What a token costs at most in a relaxed plan, and how many are asked for at most, lest they double at every step."""


class MarkingSet:
    """Markings by number, indexed for the two questions of domination."""

    def __init__(self, places: int) -> None:
        self._rows: dict[int, dict[int, float]] = {}
        self._holding: list[set[int]] = [set() for _ in range(places)]
        self._watching: list[set[int]] = [set() for _ in range(places)]
        self._watched: dict[int, int] = {}
        self._empty: set[int] = set()

    def __len__(self) -> int:
        return len(self._rows)

    def has(self, number: int) -> bool:
        return number in self._rows

    def numbers(self) -> list[int]:
        return sorted(self._rows)

    def add(self, number: int, marking: Marking) -> None:
        self._rows[number] = dict(marking)
        for p, _ in marking:
            self._holding[p].add(number)
        if marking:
            watched = min((len(self._watching[p]), p) for p, _ in marking)[1]
            self._watched[number] = watched
            self._watching[watched].add(number)
        else:
            self._empty.add(number)

    def remove(self, number: int) -> None:
        row = self._rows.pop(number)
        for p in row:
            self._holding[p].remove(number)
        if row:
            self._watching[self._watched.pop(number)].remove(number)
        else:
            self._empty.remove(number)

    def below(self, marking: Marking) -> int:
        """Return the number of a member <= `marking`, or -1."""
        if self._empty:
            return min(self._empty)
        values = dict(marking)
        for p, _ in marking:
            for number in sorted(self._watching[p]):
                if all(values.get(q, 0) >= k for q, k in self._rows[number].items()):
                    return number
        return -1

    def above(self, marking: Marking, but: int = -1) -> int:
        """Return the number of a member >= `marking`, other than `but`, or -1."""
        return next(self._above(marking, but), -1)

    def all_above(self, marking: Marking) -> list[int]:
        """Return the numbers of all members >= `marking`, in increasing order."""
        return list(self._above(marking, -1))

    def _above(self, marking: Marking, but: int) -> Iterator[int]:
        if not marking:
            numbers: Collection[int] = self._rows
        else:
            numbers = min((self._holding[p] for p, _ in marking), key=len)
        for number in sorted(numbers):
            if number != but:
                row = self._rows[number]
                if all(row.get(p, 0) >= k for p, k in marking):
                    yield number


class Tree:
    """Markings with a parent each, numbered in the order they come; a parent of -1 makes a root."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self._markings: list[Marking] = []

    def add(self, parent: int, marking: Marking) -> None:
        self._parents.append(parent)
        self._markings.append(marking)

    def replace(self, node: int, marking: Marking) -> None:
        self._markings[node] = marking

    def smaller_ancestors(self, node: int) -> tuple[list[int], int]:
        """Return the proper ancestors with a marking <= that of `node`, nearest first, and the number of all ancestors."""
        values = dict(self._markings[node])
        found, steps = [], 0
        at = self._parents[node]
        while at >= 0:
            steps += 1
            if all(values.get(p, 0) >= k for p, k in self._markings[at]):
                found.append(at)
            at = self._parents[at]
        return found, steps


class Firing:
    """Firing in a marking of a core, and the predecessors of a cone."""

    def __init__(self, core: Core) -> None:
        self._guards = core.guards
        self._deltas = core.deltas
        places = len(core.initial)
        uses = [0] * places
        for guard in core.guards:
            for p, _ in guard:
                uses[p] += 1
        self._always = [t for t, guard in enumerate(core.guards) if not guard]
        self._waiting: list[list[int]] = [[] for _ in range(places)]
        for t, guard in enumerate(core.guards):
            if guard:
                self._waiting[min((uses[p], p) for p, _ in guard)[1]].append(t)
        self._producers: list[list[int]] = [[] for _ in range(places)]
        for t, delta in enumerate(core.deltas):
            for p, change in delta:
                if change > 0:
                    self._producers[p].append(t)

    def successors(self, marking: Marking) -> list[tuple[int, Marking]]:
        """Return (transition, marking after it) for every enabled transition that changes the marking."""
        values = dict(marking)
        out = []
        candidates = [*self._always, *(t for p, _ in marking for t in self._waiting[p])]
        for t in candidates:
            if all(values.get(p, 0) >= k for p, k in self._guards[t]):
                after = dict(values)
                for p, change in self._deltas[t]:
                    after[p] = _plus(after.get(p, 0), change)
                    if not after[p]:
                        del after[p]
                if after != values:
                    out.append((t, tuple(sorted(after.items()))))
        return out

    def fire(self, transition: int, marking: Marking, times: int) -> tuple[int, Marking]:
        """Fire a transition up to `times` times in a row; return how often it could be fired and the marking after that."""
        values = dict(marking)
        change = dict(self._deltas[transition])
        for p, k in self._guards[transition]:
            held, loss = values.get(p, 0), -change.get(p, 0)
            if held < k:
                return 0, marking
            if loss > 0 and held != OMEGA:
                times = min(times, 1 + int((held - k) // loss))
        for p, gain in self._deltas[transition]:
            values[p] = _plus(values.get(p, 0), times * gain)
            if not values[p]:
                del values[p]
        return times, tuple(sorted(values.items()))

    def predecessors(self, cone: Marking) -> list[tuple[int, Marking]]:
        """Return (transition, least marking from which it leads into the cone) where that is not inside the cone."""
        values = dict(cone)
        out = []
        for t in dict.fromkeys(t for p, _ in cone for t in self._producers[p]):
            before = dict(values)
            for p, change in self._deltas[t]:
                before[p] = before.get(p, 0) - change
            for p, k in self._guards[t]:
                before[p] = max(before.get(p, 0), k)
            out.append((t, tuple(sorted((p, k) for p, k in before.items() if k > 0))))
        return out


class Relaxation:
    """Relaxed plans: how to cover a target if transitions took nothing away.

    A guard of k on a place with v tokens asks for k - v more; a place that some usable transition adds to can have any
    number, at the price of the cheapest such transition for each token. Without a plan no target can be covered.
    Source: Hoffmann and Nebel 2001, with costs added up as by Bonet and Geffner 2001.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        places = len(core.initial)
        self._needing: list[list[tuple[int, int]]] = [[] for _ in range(places)]
        self._gains: list[list[tuple[int, int]]] = []
        for t, guard in enumerate(core.guards):
            for p, k in guard:
                self._needing[p].append((t, k))
            self._gains.append([(p, change) for p, change in core.deltas[t] if change > 0])
        self._taken = [{p: -change for p, change in delta if change < 0} for delta in core.deltas]

    def plan(self, marking: Marking) -> tuple[int, list[tuple[int, int]]]:
        """Return the length of a relaxed plan and its transitions with how often each is fired, in an order in which the
        relaxation can fire them; (DEAD, []) if there is none.
        """
        values = dict(marking)
        price, best, order = self._prices(values)
        goal, cheapest = -1, OMEGA
        for i, target in enumerate(self._core.targets):
            missing = [(p, k - int(values.get(p, 0))) for p, k in target if values.get(p, 0) < k]
            cost = OMEGA if any(price[p] == OMEGA for p, _ in missing) else sum(k * price[p] for p, k in missing)
            if cost < cheapest:
                goal, cheapest = i, cost
        if goal < 0:
            return DEAD, []
        need = dict(self._core.targets[goal])
        length = 0
        used = []
        for p in reversed(order):
            held = values.get(p, 0)
            if need.get(p, 0) <= held:
                continue
            t = best[p]
            gain = dict(self._gains[t])[p]
            times = -((int(held) - need[p]) // gain)
            length += times
            used.append((t, times))
            for q, k in self._core.guards[t]:
                need[q] = max(need.get(q, 0), min(_DEAREST, k + (times - 1) * self._taken[t].get(q, 0)))
        used.reverse()
        return length, used

    def limit(self, marking: Marking) -> Marking:
        """Return the largest marking that relaxed transitions make of `marking`: what they add to becomes omega."""
        price, _, _ = self._prices(dict(marking))
        out = dict(marking)
        for p, cost in enumerate(price):
            if cost < OMEGA:
                out[p] = OMEGA
        return tuple(sorted(out.items()))

    def _prices(self, values: dict[int, float]) -> tuple[list[float], dict[int, int], list[int]]:
        """Price of one more token of each place, the transition that makes it, and the places by increasing price."""
        core = self._core
        price: list[float] = [OMEGA] * len(core.initial)
        cost = [1] * len(core.guards)
        missing = [0] * len(core.guards)
        for t, guard in enumerate(core.guards):
            missing[t] = sum(values.get(p, 0) < k for p, k in guard)
        best: dict[int, int] = {}
        order: list[int] = []
        heap: list[tuple[int, int, int]] = []

        def offer(t: int) -> None:
            for p, _ in self._gains[t]:
                if cost[t] < price[p]:
                    price[p] = cost[t]
                    heapq.heappush(heap, (cost[t], p, t))

        for t, count in enumerate(missing):
            if not count:
                offer(t)
        while heap:
            at, p, t = heapq.heappop(heap)
            if p in best:
                continue
            best[p] = t
            order.append(p)
            held = values.get(p, 0)
            for t, k in self._needing[p]:
                if held < k:
                    cost[t] = min(_DEAREST, cost[t] + (k - int(held)) * at)
                    missing[t] -= 1
                    if not missing[t]:
                        offer(t)
        return price, best, order


def _plus(tokens: float, change: int) -> float:
    """Tokens after a change. Omega stays: Python cannot add a very large number to it."""
    return tokens if tokens == OMEGA else tokens + change


def sparse(values: Sequence[float]) -> Marking:
    """Return the sparse form of a vector with one entry per place."""
    return tuple((p, value) for p, value in enumerate(values) if value)


def as_vector(marking: Marking) -> Vector:
    """Return a finite marking as a vector of integers."""
    return tuple((p, int(value)) for p, value in marking)
