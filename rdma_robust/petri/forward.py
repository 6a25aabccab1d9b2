"""Forward coverability: a tree of omega-markings with acceleration, in several orders of exploration.

A new marking is dropped if a stored one is at least as large; a waiting one is dropped, without its subtree, if another
stored one is at least as large when its turn comes. Nothing that has been expanded is ever taken back, so every stored
marking is covered by an expanded one whose successors are all covered by stored ones: at the end the stored markings
are an inductive invariant, and each omega comes from a cycle between a marking and an ancestor that can be repeated.
(The known errors of pruned Karp-Miller trees come from taking back expanded nodes together with their descendants.)
Sources: Karp and Miller 1969; Reynier and Servais 2013; Finkel, Haddad and Khmelnitsky 2020; for the guided order,
Hoffmann and Nebel 2001 (relaxed plans, helpful actions) and Blondin, Haase and Offtermatt 2021 (FastForward).

All that is reachable, with no target in mind: the Karp-Miller search, accelerated, largest markings first, or the
markings one by one of a net that is bounded for a reason that can be seen at once.

Compiled as a whole where that is possible (`kernel/_forest.pyx`), since it stores many markings and thinks little about
each.
Sources: Karp and Miller 1969; Finkel, Haddad and Khmelnitsky 2020 for what may be removed.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from rdma_robust.petri.engine import Covering, DownwardProof, EngineSearch, Finding, FullEnumeration, Kernel, Steps
from rdma_robust.petri.kernel.loops import DEAD, Marking, sparse
from rdma_robust.petri.net import Firing, RepeatedFirings
from rdma_robust.petri.slice import OMEGA, Core, before_firing
from rdma_robust.solver_library import linear_solver

_THIN = 2_000
"""Limits of a proof up to which the covered ones are looked for: the time is quadratic."""

Order = Literal["oldest", "largest", "plan"]
Meet = Callable[[Marking], tuple[Marking, tuple[int, ...], int] | None]
"""Whether a target is known to be coverable from a marking: the cone it is in, a run from the cone, and the target."""


class Forward:
    """One forward search.

    `accelerate` makes it complete for unbounded nets. The order "plan" expands first what needs the shortest relaxed plan
    to a target, and replaces a marking without such a plan by the largest one from which the same argument excludes every
    target. `meet` lets it use cones found by a backward search.
    """

    def __init__(self, core: Core, kernel: Kernel, order: Order, accelerate: bool, meet: Meet = lambda _: None) -> None:
        places = len(core.initial)
        self._core = core
        self._order = order
        self._accelerate = accelerate
        self._meet = meet
        self._firing = kernel.firing(core)
        self._relaxation = kernel.relaxation(core) if order == "plan" else None
        self._size = sum(len(g) + len(d) for g, d in zip(core.guards, core.deltas, strict=True)) // 20
        self._markings: list[Marking] = []
        self._came: list[tuple[int, int, int]] = []
        self._tree = kernel.tree()
        self._cycles: dict[int, list[Cycle]] = {}
        self._seen = kernel.marking_set(places)
        self._dead = kernel.marking_set(places)
        self._dead_limits: list[Marking] = []
        self._heaps: tuple[list[tuple[float, int]], ...] = ([], [])
        self._turn = 0
        self._passed = 0
        self._expanded: set[int] = set()
        self._targets = kernel.marking_set(places)
        for i, target in enumerate(core.targets):
            self._targets.add(i, target)

    @property
    def stored(self) -> int:
        return len(self._markings)

    @property
    def frontier(self) -> int:
        return len(self._markings) - len(self._expanded) - self._passed

    def steps(self) -> Steps:
        if found := self._add(sparse(self._core.initial), (-1, -1, 1), 0, None):
            return found
        while (node := self._pop()) is not None:
            marking = self._markings[node]
            if self._seen.above(marking, node) >= 0 or self._dead.above(marking) >= 0:
                self._seen.remove(node)
                yield 10
                continue
            work = 20
            if self._accelerate:
                work += self._raise(node)
                if self._markings[node] != marking:
                    marking = self._markings[node]
                    if found := self._reached(node):
                        return found
                    self._seen.remove(node)
                    if self._seen.above(marking) >= 0:
                        yield work
                        continue
                    self._seen.add(node, marking)
            rank, helpful = 0, frozenset[int]()
            used: list[tuple[int, int]] = []
            if self._relaxation is not None:
                rank, used = self._relaxation.plan(marking)
                helpful = frozenset(t for t, _ in used)
                work += self._size
                if rank == DEAD:
                    self._bury(node)
                    yield work
                    continue
                if found := self._look_ahead(node, rank, used):
                    return found
            successors = self._firing.successors(marking)
            for transition, after in successors:
                if found := self._add(after, (node, transition, 1), rank, rank if transition in helpful else None):
                    return found
            yield work + len(successors) * (30 + len(marking) // 2)
        return DownwardProof(tuple(self._limits()))

    def _limits(self) -> Iterator[Marking]:
        """The stored and the buried markings; if they are not too many, only the maximal ones, each once."""
        thin = len(self._seen) <= _THIN
        for node in self._seen.numbers():
            marking = self._markings[node]
            if not thin:
                yield marking
            elif self._seen.above(marking, node) >= 0 or self._dead.above(marking) >= 0:
                self._seen.remove(node)
            else:
                yield marking
        for number, limit in enumerate(self._dead_limits):
            if self._dead.above(limit, number) >= 0:
                self._dead.remove(number)
            else:
                yield limit

    def _add(self, marking: Marking, came: tuple[int, int, int], rank: int, eager: float | None) -> Finding | None:
        """Store a marking unless it is covered; return a covering if it covers a target.

        `came` are its parent, the transition and how often it is fired; `rank` is the length of the parent's relaxed plan,
        `eager` the rank in the queue of promising nodes, if it belongs there.
        """
        if self._seen.above(marking) >= 0 or self._dead.above(marking) >= 0:
            return None
        node = self._node(marking, came)
        if found := self._reached(node):
            return found
        self._seen.add(node, marking)
        heapq.heappush(self._heaps[0], (self._key(marking, rank), node))
        if eager is not None:
            heapq.heappush(self._heaps[1], (eager, node))
        return None

    def _node(self, marking: Marking, came: tuple[int, int, int]) -> int:
        self._tree.add(came[0], marking)
        self._markings.append(marking)
        self._came.append(came)
        return len(self._markings) - 1

    def _look_ahead(self, node: int, rank: int, plan: list[tuple[int, int]]) -> Finding | None:
        """Fire what can be fired of a relaxed plan, one transition after the other, and store where that leads.

        Source: Vidal 2004 (YAHSP).
        """
        at, marking, transition, count = node, self._markings[node], -1, 0
        fired = 0
        while plan:
            left = []
            for wanted, times in plan:
                done, after = self._firing.fire(wanted, marking, times)
                if done:
                    if transition >= 0:
                        at = self._node(marking, (at, transition, count))
                        self._passed += 1
                    marking, transition, count = after, wanted, done
                    fired += done
                if done < times:
                    left.append((wanted, times - done))
            if len(left) == len(plan):
                break
            plan = left
        return self._add(marking, (at, transition, count), rank, rank - fired) if fired > 1 else None

    def _key(self, marking: Marking, rank: int) -> float:
        if self._order == "largest":
            return -sum(value == OMEGA for _, value in marking)
        return rank

    def _pop(self) -> int | None:
        """Take the next node: one time in four from all nodes, else from those that their parent's plan leads to."""
        while any(self._heaps):
            self._turn = (self._turn + 1) % 4
            heap = self._heaps[self._turn != 0] or self._heaps[self._turn == 0]
            _, node = heapq.heappop(heap)
            if node not in self._expanded:
                self._expanded.add(node)
                return node
        return None

    def _reached(self, node: int) -> Finding | None:
        marking = self._markings[node]
        target = self._targets.below(marking)
        if target >= 0:
            return Covering(self._run(node, self._core.targets[target]), target)
        met = self._meet(marking)
        if met is None:
            return None
        cone, rest, target = met
        return Covering((*self._run(node, cone), *rest), target)

    def _run(self, node: int, cone: Marking) -> tuple[Firing, ...]:
        return run_into_cone(self._core, node, cone, self._came.__getitem__, self._cycles)

    def _bury(self, node: int) -> None:
        """Replace a marking from which no target can be covered by the limit of its relaxation."""
        assert self._relaxation is not None
        self._seen.remove(node)
        limit = self._relaxation.limit(self._markings[node])
        self._dead.add(len(self._dead_limits), limit)
        self._dead_limits.append(limit)

    def _raise(self, node: int) -> int:
        """Set to omega what a path from an ancestor to `node` increases if it can be repeated; return the work done."""
        ancestors, steps = self._tree.smaller_ancestors(node)
        values = dict(self._markings[node])
        cycles: list[Cycle] = []
        for at in ancestors:
            held = dict(self._markings[at])
            raised = [(p, int(v), int(v - held.get(p, 0))) for p, v in values.items() if v != OMEGA and v > held.get(p, 0)]
            if raised:
                cycles.append((at, tuple(raised)))
                values.update((p, OMEGA) for p, _, _ in raised)
        if cycles:
            self._cycles[node] = cycles
            self._markings[node] = tuple(sorted(values.items()))
            self._tree.replace(node, self._markings[node])
        return steps // 64


Came = Callable[[int], tuple[int, int, int]]
"""From a node to its parent, the transition between them and how often it is fired; the parent of a root is -1."""
Cycle = tuple[int, tuple[tuple[int, int, int], ...]]
"""The path from an ancestor to a node can be repeated there; it raises places: (place, tokens before, gain)."""


def run_into_cone(
    core: Core, node: int, cone: Marking, came: Came, cycles: Mapping[int, Sequence[Cycle]]
) -> tuple[Firing, ...]:
    """Return a run from the initial marking into `cone`, which the marking of `node` is in.

    The `cycles` of a node are in the order in which they were found: a later one may lower what an earlier one raises.
    Going backwards, `need` is the least marking from which the rest of the run leads into the cone.
    """
    need = {p: int(k) for p, k in cone}
    run: list[Firing] = []

    def fires(firing: Firing) -> None:
        run.append(firing)
        before_firing(need, firing, core.guards, core.deltas)

    while node >= 0:
        for ancestor, raised in reversed(cycles.get(node, ())):
            times = max(-(-(need.get(p, 0) - held) // gain) for p, held, gain in raised)
            if times > 0:
                fires(RepeatedFirings(times, _labels(ancestor, node, came)))
        node, transition, count = came(node)
        if node >= 0:
            fires(transition if count == 1 else RepeatedFirings(1, ((transition, count),)))
    return tuple(reversed(run))


def _labels(ancestor: int, node: int, came: Came) -> tuple[tuple[int, int], ...]:
    """The transitions, and how often each, on the path from `ancestor` to `node`."""
    labels = []
    while node != ancestor:
        node, transition, times = came(node)
        labels.append((transition, times))
    return tuple(reversed(labels))


_COLUMNS = 3_000
"""Different effects of transitions up to which the program is solved, in some 50 ms."""
_LARGEST = 10**15
"""Changes beyond this are more than the solver takes."""
_PIVOTS = 10_000


def is_structurally_bounded(core: Core) -> bool:
    """Whether positive weights of all places were found of which no transition increases the sum.

    Found in floating point and not checked: a hint for the choice of a search, on which no verdict rests. Source: Murata
    1989, structural boundedness.
    """
    columns = sorted({delta for delta in core.deltas if delta})
    if len(columns) > _COLUMNS or any(all(change > 0 for _, change in column) for column in columns):
        return False
    if any(abs(change) > _LARGEST for column in columns for _, change in column):
        return False
    import highspy  # noqa: PLC0415 -- 0.1 s; nets that slicing decides do without
    import numpy as np  # noqa: PLC0415

    places = len(core.initial)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = places, len(columns)
    lp.col_cost_ = np.ones(places)
    lp.col_lower_ = np.ones(places)
    lp.col_upper_ = np.full(places, highspy.kHighsInf)
    lp.row_lower_ = np.full(len(columns), -math.inf)
    lp.row_upper_ = np.zeros(len(columns))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0, *(len(column) for column in columns)])
    lp.a_matrix_.index_ = np.array([p for column in columns for p, _ in column], dtype=np.int32)
    lp.a_matrix_.value_ = np.array([change for column in columns for _, change in column], dtype=float)
    highs = linear_solver()
    highs.setOptionValue("simplex_iteration_limit", _PIVOTS)
    highs.passModel(lp)
    highs.run()
    return "kOptimal" in str(highs.getModelStatus())


_ENDED = -2
_AT_ONCE = 2_000
"""Elementary operations in one step: some 2 ms."""
_PATIENCE = 200_000
"""Elementary operations, besides those for the size of the net, that others do before the markings are listed: most bounded
nets are proved safe by linear programs, and have too many markings."""
_LISTED = 20_000_000
"""Numbers of tokens in the markings of a proof, beyond which it would be too large for the memory and for a file."""


class ReachableSet:
    """One search of a compiled forest; `one_by_one`, it lists the markings of a net that is seen to be bounded."""

    def __init__(self, core: Core, kernel: Kernel, *, one_by_one: bool) -> None:
        self._core = core
        self._kernel = kernel
        self._one_by_one = one_by_one
        self._forest: Any = kernel.forest(core)

    @property
    def stored(self) -> int:
        return int(self._forest.stored)

    @property
    def frontier(self) -> int:
        return int(self._forest.frontier)

    def steps(self) -> Steps:
        if self._one_by_one and is_structurally_bounded(self._core):
            self._forest = self._kernel.forest(self._core, True)
            yield _PATIENCE + 100 * sum(map(len, self._core.deltas)) + 200 * len(self._core.initial)
        forest = self._forest
        while True:
            found, work = forest.work(_AT_ONCE)
            if found >= 0:
                return self._covering(found)
            if found == _ENDED:
                live = forest.live_nodes()
                if len(live) * len(self._core.initial) > _LISTED:
                    return FullEnumeration(len(live))
                return DownwardProof(tuple(forest.marking(node) for node in live))
            yield work

    def _covering(self, node: int) -> Covering:
        target = self._forest.target

        def came(at: int) -> tuple[int, int, int]:
            parent, transition = self._forest.came(at)
            return parent, transition, 1

        return Covering(run_into_cone(self._core, node, self._core.targets[target], came, self._forest.cycles), target)


def reachable_set(core: Core, kernel: Kernel, *, one_by_one: bool = False) -> EngineSearch:
    """Return the Karp-Miller search of a core, in the implementation of the kernel."""
    if kernel.forest is None:
        return Forward(core, kernel, "largest", True)
    return ReachableSet(core, kernel, one_by_one=one_by_one)
