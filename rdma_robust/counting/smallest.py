"""The smallest number of processes with which a target is reached, and a run with so many.

First through finite markings, by the number of processes that were started: taking a token of a fresh local state that is
not in the marking starts one. A marking is dropped if one of the same control state that needs no more processes is at least
as large; all that could follow from it follows from that one with no more. This is fast where few processes are enough.
Where it stores too much, the search goes backward (:class:`Needs`), if everything can be searched to its end and no move
gives more tokens than it takes; else the first search goes on.

The smallest number of processes, backward: which tokens are needed at which control state to reach a target.

A search to the end says which control states there are, which steps between them, and which markings can be reached. Back
from a target, a step is preceded by the least marking from which it is enabled and leaves what is needed after it. What is
needed at the start are fresh tokens: so many processes are enough. No fewer are, if needs are expanded by their size and no
step gives more tokens than it takes, so that the size never falls. A need is dropped if no marking that can be reached is
as large, or if another one of the same control state asks for no more of anything.

Source: Abdulla, Cerans, Jonsson and Tsay 1996; pruned by what can be reached as in Geffroy, Leroux and Sutre 2016.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, replace
from itertools import chain
from typing import Generic

from rdma_robust.counting.interned import Few, NumberedMove, NumberedSystem, covers_marking, support
from rdma_robust.counting.omega_search import OmegaOptions, OmegaSearch
from rdma_robust.counting.omega_tree import need_before_step
from rdma_robust.counting.protocol import A, C, CountingMove, CountingSystem, L, NamedRun, name_copies
from rdma_robust.limits import NO_LIMITS, Limits, Progress, ignore

_LOOK_NEED = 256


@dataclass(frozen=True, slots=True)
class LeastNeed(Generic[C, L, A]):
    """A run with the smallest number of processes, `size`; None where `cut` names a limit: no fewer than `size` do."""

    size: int
    run: tuple[CountingMove[C, L, A], ...] | None
    stored: int
    cut: str = ""


class Needs(Generic[C, L, A]):
    """The search back from the targets that `search` has found, which has been to the end."""

    def __init__(self, search: OmegaSearch[C, L, A]) -> None:
        self._search = search
        self._known = search.known
        self._before: dict[int, list[tuple[int, NumberedMove]]] = {}
        self._control: list[int] = []
        self._need: list[Few] = []
        self._came: list[tuple[int, int]] = []
        self._least: dict[int, list[int]] = {}
        self._gone: set[int] = set()
        self._agenda: list[tuple[int, int, int]] = []
        self.births = False
        tree = search.tree
        for control, nodes in search.largest.items():
            if self._known.target(control) >= 0:
                continue
            present = 0
            for node in nodes:
                present |= support(tree.wide[node], tree.few[node])
            for step in chain(self._known.away(control, present), self._known.loops(control, present)):
                if not step.need & ~present:
                    self._before.setdefault(step.control, []).append((control, step))
                    self.births |= _size(step.gives) > _size(step.takes)

    def decide(self, limits: Limits, progress: Progress) -> LeastNeed[C, L, A]:
        """Return the smallest run to a target, or the limit. The search must have covered one, and have no `births`."""
        for control in self._search.covered:
            self._add(control, {}, (-1, -1), 0)
        size = done = 0
        while self._agenda:
            size, depth, number = heapq.heappop(self._agenda)
            if number in self._gone:
                continue
            if done % _LOOK_NEED == 0:
                progress(len(self._need), len(self._agenda))
                if cut := limits.exceeded():
                    return LeastNeed(size, None, len(self._need), cut)
            done += 1
            control, need = self._control[number], self._need[number]
            if not control and not support(0, need) & ~self._known.fresh:
                return LeastNeed(size, self._run(number), len(self._need))
            if limits.states is not None and len(self._need) > limits.states:
                return LeastNeed(size, None, len(self._need), "states")
            for before, step in self._before.get(control, ()):
                self._add(before, need_before_step(need, step), (number, step.move), depth + 1)
        raise AssertionError("a target that was covered is not reached backward")

    def _add(self, control: int, need: Few, came: tuple[int, int], depth: int) -> None:
        those = self._least.setdefault(control, [])
        if any(_within(self._need[other], need) for other in those):
            return
        tree = self._search.tree
        if not any(covers_marking(tree.wide[node], tree.few[node], 0, need) for node in self._search.largest[control]):
            return
        number = len(self._need)
        for other in those:
            if _within(need, self._need[other]):
                self._gone.add(other)
        those[:] = [other for other in those if other not in self._gone]
        those.append(number)
        self._control.append(control)
        self._need.append(need)
        self._came.append(came)
        heapq.heappush(self._agenda, (sum(need.values()), depth, number))

    def _run(self, number: int) -> tuple[CountingMove[C, L, A], ...]:
        moves = []
        while (came := self._came[number])[0] >= 0:
            number = came[0]
            moves.append(self._known.moves[came[1]])
        return tuple(moves)


def _size(amounts: tuple[tuple[int, int], ...]) -> int:
    return sum(count for _, count in amounts)


def _within(small: Few, large: Few) -> bool:
    return len(small) <= len(large) and all(large.get(local, 0) >= count for local, count in small.items())


_LOOK = 256
_FEW = 2_000
"""Markings of the forward search before the backward one is tried."""
_Waiting = tuple[int, Few, tuple[int, int]]
"""A control state and marking that can be reached, and the number of the marking and the move it comes from."""


@dataclass(frozen=True, slots=True)
class SmallestResult(Generic[C, L, A]):
    """`run` has the smallest number of processes, `least`, if no limit was reached.

    With `cut`, the limit that was reached, no fewer than `least` will do; `run` is the bound if one was given, else None.
    """

    least: int
    run: NamedRun[C, L, A] | None
    target: int
    states: int
    cut: str = ""


class _Finite(Generic[C, L, A]):
    """Finite markings by number, with the step that led there; those that count at each control state."""

    def __init__(self, known: NumberedSystem[C, L, A]) -> None:
        self.known = known
        self.control: list[int] = []
        self.few: list[Few] = []
        self.came: list[tuple[int, int]] = []
        self.alive: list[bool] = []
        self.maximal: dict[int, list[int]] = {}

    def add(self, control: int, few: Few, came: tuple[int, int]) -> bool:
        """Store a marking, and drop smaller ones, unless one is at least as large; return whether it was stored."""
        those = self.maximal.setdefault(control, [])
        if any(_at_least(self.few[other], few) for other in those):
            return False
        kept = []
        for other in those:
            if _at_least(few, self.few[other]):
                self.alive[other] = False
            else:
                kept.append(other)
        kept.append(len(self.control))
        self.maximal[control] = kept
        self.control.append(control)
        self.few.append(few)
        self.came.append(came)
        self.alive.append(True)
        return True

    def run(self, number: int) -> tuple[CountingMove[C, L, A], ...]:
        """Return the moves to a marking."""
        moves = []
        while number >= 0:
            number, move = self.came[number]
            if move >= 0:
                moves.append(self.known.moves[move])
        return tuple(reversed(moves))


class _Levels(Generic[C, L, A]):
    """The search: one level for each number of started processes, the smallest first."""

    def __init__(self, system: CountingSystem[C, L, A], most: int | None) -> None:
        self.known = NumberedSystem(system)
        self.found = _Finite(self.known)
        self.level = 0
        self._most = most
        self._waiting: dict[int, list[_Waiting]] = {0: [(0, {}, (-1, -1))]}
        self._agenda: deque[int] = deque()
        self._done = 0

    def decide(self, limits: Limits, progress: Progress) -> tuple[int, str]:
        """Return the number of the first marking with a target, -1 if there is none below `most`, and the limit reached."""
        exceeded = limits.watch(_LOOK)
        while self._waiting and (self._most is None or min(self._waiting) < self._most):
            self.level = min(self._waiting)
            for reached in self._waiting.pop(self.level):
                if (target := self._add(*reached)) >= 0:
                    return target, ""
            while self._agenda:
                if self._done % _LOOK == 0:
                    progress(len(self.found.control), len(self._agenda))
                if cut := exceeded():
                    return -1, cut
                self._done += 1
                if (target := self._expand(self._agenda.popleft())) >= 0:
                    return target, ""
                if limits.states is not None and len(self.found.control) > limits.states:
                    return -1, "states"
        self.level = self._most or 0
        return -1, ""

    def _expand(self, number: int) -> int:
        found = self.found
        if not found.alive[number]:
            return -1
        for step, few, more in _steps(self.known, found.control[number], found.few[number]):
            reached = (step.control, few, (number, step.move))
            if more:
                self._waiting.setdefault(self.level + more, []).append(reached)
            elif (target := self._add(*reached)) >= 0:
                return target
        return -1

    def _add(self, control: int, few: Few, came: tuple[int, int]) -> int:
        """Store a marking, to be expanded; return its number if a target holds there, else -1."""
        if not self.found.add(control, few, came):
            return -1
        number = len(self.found.control) - 1
        self._agenda.append(number)
        return number if self.known.target(control) >= 0 else -1


def smallest(
    system: CountingSystem[C, L, A],
    limits: Limits = NO_LIMITS,
    progress: Progress = ignore,
    bound: tuple[CountingMove[C, L, A], ...] | None = None,
) -> SmallestResult[C, L, A] | None:
    """Return the smallest number of processes with which a target of `system` is reached; None if none is, with any.

    `bound` is a known run to a target, which is returned where nothing smaller was found before a limit.
    """
    best = None if bound is None else name_copies(system, bound)
    few = _FEW if limits.states is None else min(_FEW, limits.states)
    quick = by_starts(system, replace(limits.share(0.25), states=few), progress, best)
    if quick is None or not quick.cut:
        return quick
    search = OmegaSearch(system, OmegaOptions(to_the_end=True))
    explored = search.decide(limits.share(0.25), progress)
    if not explored.cut and explored.target < 0:
        return None
    if not explored.cut:
        needs = Needs(search)
        if not needs.births:
            found = needs.decide(limits.share(0.5), progress)
            if found.run is not None:
                run = name_copies(system, found.run)
                return SmallestResult(found.size, run, _target(system, run), explored.states + found.stored)
    return by_starts(system, limits, progress, best)


def by_starts(
    system: CountingSystem[C, L, A],
    limits: Limits = NO_LIMITS,
    progress: Progress = ignore,
    best: NamedRun[C, L, A] | None = None,
) -> SmallestResult[C, L, A] | None:
    """Return the same by the search through finite markings, which looks for runs with fewer processes than `best`.

    It ends without a limit where `best` is given or a target can be reached, if no move gives more tokens than it takes.
    """
    levels = _Levels(system, None if best is None else best.total)
    number, cut = levels.decide(limits, progress)
    stored = len(levels.found.control)
    if number >= 0:
        run = name_copies(system, levels.found.run(number))
        return SmallestResult(levels.level, run, _target(system, run), stored)
    if best is None:
        return SmallestResult(levels.level, None, -1, stored, cut) if cut else None
    return SmallestResult(levels.level, best, _target(system, best), stored, cut)


def _target(system: CountingSystem[C, L, A], run: NamedRun[C, L, A]) -> int:
    return system.target(run.steps[-1][0].control if run.steps else system.initial)


def _steps(known: NumberedSystem[C, L, A], control: int, few: Few) -> list[tuple[NumberedMove, Few, int]]:
    """Return the steps that are enabled, with the marking after each and how many processes it starts."""
    present = support(known.fresh, few)
    steps = []
    for step in chain(known.away(control, present), known.loops(control, present)):
        if step.need & ~present:
            continue
        after = dict(few)
        more = 0
        for local, count in step.takes:
            left = after.get(local, 0) - count
            if left > 0:
                after[local] = left
                continue
            after.pop(local, None)
            if left < 0:
                if not known.fresh >> local & 1:
                    more = -1
                    break
                more -= left
        if more < 0:
            continue
        for local, count in step.gives:
            after[local] = after.get(local, 0) + count
        idle = known.idle(step.control, support(0, after))
        if idle:
            after = {local: count for local, count in after.items() if not idle >> local & 1}
        if step.control != control or after != few:
            steps.append((step, after, more))
    return steps


def _at_least(large: Few, small: Few) -> bool:
    return len(large) >= len(small) and all(large.get(local, 0) >= count for local, count in small.items())
