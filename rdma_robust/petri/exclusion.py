"""Pairs of conditions that never hold together: an invariant that costs a pass over the rules, not a search.

A condition is "at least k tokens on p", for numbers k that matter. Two of them may hold together if they do at the start,
or if some transition leads there from markings of which no two conditions are known to exclude each other. The pairs that
are left out are an upward-closed set that is never entered: each predecessor of one of them is above another one.
Source: the invariants h^2 of Haslum and Geffner 2000, as greatest inductive set of cones over at most two places.

Backward coverability: the cones from which a target can be covered, without those that are proven unreachable.

The basis grows by predecessors until every predecessor of a member is above another member or violates one of the cuts,
inequalities that every reachable marking keeps. Sources: Abdulla, Cerans, Jonsson and Tsay 1996; pruning by the state
equation as in Geffroy, Leroux and Sutre 2016 (ICover), with each proof kept as a cut (Farkas' lemma) that prunes later
cones by a sum over their few places.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Collection, Generator, Iterable, Sequence
from functools import cache

from rdma_robust.petri.engine import Covering, Finding, ForbiddenCones, Kernel, Steps, UpwardProof
from rdma_robust.petri.kernel.loops import Marking, as_vector
from rdma_robust.petri.kernel.pair_table import PairTable
from rdma_robust.petri.net import Vector
from rdma_robust.petri.slice import Core
from rdma_robust.petri.state_equation import Cuts, StateEquation

_NUMBERS = 12
"""Conditions on one place at most; a guard of more counts as the largest of them below it."""
MOST = 8_000
"""Conditions up to which the table is made: a bit for each pair, 8 megabytes."""
_DEAD = 4
"""The part of the transitions that must be found dead for the search to begin again without them: one in so many."""
_WORDS = 1_000_000
"""Words of the table that are looked at in one step, some 1 ms."""
_PREDECESSORS = 10_000
"""Predecessors that are looked at in one step, some 1 ms."""


class Conditions:
    """The conditions of a core, by number; 0 is the one that always holds."""

    def __init__(self, core: Core) -> None:
        self._numbers = _numbers_that_matter(core)
        self._first: list[int] = []
        self._known: dict[tuple[int, float], int] = {}
        self._places: list[tuple[int, int]] = [(-1, 0)]
        for p, numbers in enumerate(self._numbers):
            self._first.append(len(self._places))
            self._places += [(p, k) for k in numbers]

    def __len__(self) -> int:
        return len(self._places)

    def at(self, place: int, tokens: float) -> int:
        """Return the strongest condition that `tokens` on `place` meet."""
        found = bisect_right(self._numbers[place], tokens)
        return self._first[place] + found - 1 if found else 0

    def of(self, cone: Iterable[tuple[int, float]]) -> list[int]:
        """Return the conditions on single places that a cone consists of, without the one that always holds."""
        known, found = self._known, []
        for pair in cone:
            x = known.get(pair, -1)
            if x < 0:
                x = known[pair] = self.at(*pair)
            if x:
                found.append(x)
        return found

    def lowest(self) -> list[int]:
        """Return for each condition the weakest one on its place."""
        return [0, *(self._first[p] for p, _ in self._places[1:])]

    def all_of(self, values: Sequence[int]) -> list[int]:
        """Return all conditions that a marking with one entry per place meets."""
        return [0, *(x for x, (p, k) in enumerate(self._places) if x and values[p] >= k)]

    def on(self, place: int) -> Iterable[tuple[int, int]]:
        """Yield the conditions on a place with their numbers of tokens."""
        return enumerate(self._numbers[place], self._first[place])

    def cone(self, conditions: Iterable[int]) -> Vector:
        """Return the least marking that meets all of the conditions."""
        least: dict[int, int] = {}
        for x in conditions:
            p, k = self._places[x]
            least[p] = max(k, least.get(p, 0))
        return tuple(sorted(least.items()))


def _numbers_that_matter(core: Core) -> list[list[int]]:
    """For each place the numbers of tokens that are asked for, and what they are before a transition."""
    asked: list[set[int]] = [set() for _ in core.initial]
    changes: list[set[int]] = [set() for _ in core.initial]
    for vector in (*core.guards, *core.targets):
        for p, k in vector:
            asked[p].add(k)
    for delta in core.deltas:
        for p, change in delta:
            changes[p].add(change)
    return [_closed(numbers, sorted(changes[p])) for p, numbers in enumerate(asked)]


def _closed(asked: Collection[int], changes: Sequence[int]) -> list[int]:
    """Numbers of tokens with those before a change, the small ones if there are too many; losses are undone once only."""
    numbers = sorted(asked)[:_NUMBERS]
    losses = sorted({k - change for k in numbers for change in changes if change < 0})
    numbers += [k for k in losses if k not in asked][: max(0, _NUMBERS - len(numbers))]
    known = set(numbers)
    for k in numbers:
        for change in changes:
            if 0 < k - change < k and k - change not in known and len(known) < _NUMBERS:
                known.add(k - change)
                numbers.append(k - change)
    return sorted(known)


class ExclusivePairs:
    """The search for pairs of conditions that exclude each other; it only ever proves that targets cannot be covered.

    With `reduce` it ends with the cones that are never entered, if no target is proved out of reach but many transitions
    are. From the moment when the table is filled, `excluding` and `prunes` tell about any cone.
    """

    def __init__(self, core: Core, kernel: Kernel, *, reduce: bool = False) -> None:
        self._core = core
        self._kernel = kernel
        self._reduce = reduce
        self._conditions: Conditions
        self._table: PairTable | None = None
        self.stored = 0
        self.frontier = 0

    def steps(self) -> Steps:
        """Fill the table; prove from it that no target can be covered, or that many transitions are dead."""
        core = self._core
        # Only now: most nets are decided before.
        self._conditions = Conditions(core)
        if len(self._conditions) > MOST:
            return None
        yield from self._fill()
        never = [target for target in core.targets if self.excluding(target)]
        if len(never) == len(core.targets):
            return UpwardProof((yield from self.closed(never)), (), ())
        if not self._reduce:
            return None
        dead = [guard for guard in core.guards if self.excluding(guard)]
        if len(dead) * _DEAD < len(core.guards):
            return None
        return ForbiddenCones((yield from self.closed((*never, *dead))))

    def _fill(self) -> Generator[int, None, None]:
        table = self._new_table()
        yield sum(map(len, self._core.deltas))
        done = False
        while not done:
            done, words = table.work(_WORDS)
            yield words // 1000
        self._table = table

    def _new_table(self) -> PairTable:
        core, at = self._core, self._conditions.at

        @cache
        def before(p: int, change: int, asked: int) -> list[tuple[int, int]]:
            """The conditions on a place with those that must hold before a transition that changes it."""
            return [(x, at(p, max(k - change, asked))) for x, k in self._conditions.on(p)]

        raised: list[list[tuple[int, int]]] = []
        lowered: list[list[tuple[int, int]]] = []
        for guard, delta in zip(core.guards, core.deltas, strict=True):
            asked = dict(guard)
            steps = [(change > 0, before(p, change, asked.get(p, 0))) for p, change in delta]
            raised.append([step for up, found in steps if up for step in found])
            lowered.append([step for up, found in steps if not up for step in found])
        guards = [self._conditions.of(guard) or [0] for guard in core.guards]
        initial = self._conditions.all_of(core.initial)
        return self._kernel.pairs(self._conditions.lowest(), initial, guards, raised, lowered)

    def excluding(self, cone: Marking | Vector) -> tuple[int, int] | None:
        """Return two conditions of a cone that never hold together, the same twice if one never holds.

        None if there are none or the table is not known yet.
        """
        return None if self._table is None else self._table.excluding(self._conditions.of(cone))

    def prunes(self, cone: Marking) -> bool:
        """Whether two conditions of a cone are known to exclude each other; then they become part of the proof."""
        return self._table is not None and self._table.choose(self._conditions.of(cone))

    def closed(self, cones: Iterable[Marking | Vector] = ()) -> Generator[int, None, tuple[Vector, ...]]:
        """Return pairs such that each of the `cones`, all excluded, and each cone that was pruned is above one, and so is
        each predecessor of one.
        """
        table = self._table
        if table is None:
            return ()
        for cone in cones:
            table.choose(self._conditions.of(cone))
        done = False
        while not done:
            done, work = table.close(_PREDECESSORS)
            yield work // 10
        chosen = table.chosen()
        self.stored = len(chosen)
        return tuple(self._conditions.cone(pair) for pair in chosen)


_TRIALS = 32
"""Cones that are tried with the linear program before its success decides how often it is asked."""
_SHARE = 300
"""Elementary operations that may go to the linear program for each cone that is expanded, whatever the success."""
_TRAPS = 3
"""Traps that may be added for the sake of one cone."""


class Backward:
    """One backward search. Without `equation` it prunes by domination and by the `cuts` it is given only.

    Once the table of `pairs` is known, it prunes by pairs of conditions that exclude each other as well.
    """

    def __init__(
        self, core: Core, kernel: Kernel, equation: StateEquation | None, cuts: Cuts, pairs: ExclusivePairs | None = None
    ) -> None:
        self._core = core
        self._firing = kernel.firing(core)
        self._equation = equation
        self._cuts = cuts
        self._pairs = pairs
        self._cones: list[Marking] = []
        self._came: list[tuple[int, int]] = []
        self._heap: list[tuple[float, int]] = []
        self._asked = self._pruned = self._skipped = self._expanded = 0
        self.basis = kernel.marking_set(len(core.initial))

    @property
    def stored(self) -> int:
        return len(self.basis)

    @property
    def frontier(self) -> int:
        return len(self._heap)

    def steps(self) -> Steps:
        for i, target in enumerate(self._core.targets):
            if found := self._add(target, -1 - i, -1):
                return found
        yield len(self._core.targets)
        while self._heap:
            _, number = heapq.heappop(self._heap)
            if not self.basis.has(number):
                continue
            cone = self._cones[number]
            work = self._equation.work if self._equation else 0
            if self._cuts.violated(cone) >= 0 or self._excluded(cone) or self._separated(cone):
                self.basis.remove(number)
                yield 1 + (self._equation.work - work if self._equation else 0)
                continue
            self._expanded += 1
            predecessors = self._firing.predecessors(cone)
            for transition, before in predecessors:
                if found := self._add(before, number, transition):
                    return found
            yield 1 + len(predecessors) * 20 + (self._equation.work - work if self._equation else 0)
        basis = tuple(as_vector(self._cones[n]) for n in self.basis.numbers())
        if self._pairs is not None:
            basis += yield from self._pairs.closed()
        return UpwardProof(
            basis,
            tuple(self._cuts.known),
            tuple(self._equation.traps) if self._equation else (),
        )

    def cone(self, number: int) -> Marking:
        return self._cones[number]

    def chain(self, number: int) -> tuple[tuple[int, ...], int]:
        """Return the transitions that lead from cone `number` into a target, and that target."""
        transitions = []
        while self._came[number][0] >= 0:
            number, transition = self._came[number]
            transitions.append(transition)
        return tuple(transitions), -1 - self._came[number][0]

    def _add(self, cone: Marking, successor: int, transition: int) -> Finding | None:
        """Add a cone to the basis unless it is pruned; return a covering if the initial marking is inside."""
        if self._cuts.violated(cone) >= 0 or self.basis.below(cone) >= 0 or self._excluded(cone):
            return None
        number = len(self._cones)
        self._cones.append(cone)
        self._came.append((successor, transition))
        if all(self._core.initial[p] >= k for p, k in cone):
            return Covering(*self.chain(number))
        for larger in self.basis.all_above(cone):
            self.basis.remove(larger)
        self.basis.add(number, cone)
        heapq.heappush(self._heap, (sum(k for _, k in cone), number))
        return None

    def _excluded(self, cone: Marking) -> bool:
        return self._pairs is not None and self._pairs.prunes(cone)

    def _separated(self, cone: Marking) -> bool:
        """Look for a cut that proves `cone` unreachable, as often as that has paid so far; keep it."""
        if self._equation is None:
            return False
        self._skipped += 1
        if (
            self._asked > _TRIALS
            and self._skipped * self._pruned * 20 < self._asked
            and self._equation.work > self._expanded * _SHARE
        ):
            return False
        self._skipped = 0
        self._asked += 1
        cut = self._equation.separate(cone, _TRAPS if self._equation.traps_pay else 0)
        if cut is None:
            return False
        self._pruned += 1
        self._cuts.add(cut)
        return True
