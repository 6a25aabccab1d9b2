"""Coverability of systems whose processes have counters of their own: backward, through minimal finite markings.

From the target, the least markings before each move are added until all of them are above others that are there, which
happens as the order has no infinite antichains. What finds runs fast goes forward instead, with counters that are cut off at
a small number; what excludes targets fast forgets the counters. Each of these proves one answer only.

Source: Abdulla, Cerans, Jonsson and Tsay 1996; Finkel and Schnoebelen 2001.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic

import networkx as nx

from rdma_robust.counting.both_engines import enabled, reachable_locals
from rdma_robust.counting.interned import NumberedSystem
from rdma_robust.counting.omega_search import omega_search
from rdma_robust.counting.protocol import A, C, CountingMove, L
from rdma_robust.counting.vector_system import CappedSystem, Numbers, UnguardedSystem, VectorMove, VectorSystem
from rdma_robust.errors import LimitReached
from rdma_robust.limits import NO_LIMITS, Limits, Progress, ignore

Token = tuple[int, Numbers]
"""A process: the number of its part, and its vector."""
Tokens = tuple[Token, ...]
"""A finite multiset of processes, sorted."""

_LOOK = 64
_CAPS = (1, 2, 4)
"""Where counters are cut off by the forward searches that look for a run first."""
_TRIED = 5_000
"""Nodes that each of these may store."""
_FEW = 200
"""Markings of the backward search before counters are cut off at more than the smallest of these."""
_FAST = 0.2
"""The part of the time that is left which each of them may take."""
WITHOUT_COUNTERS, CAPPED, BACKWARD = "without counters", "capped", "backward"


@dataclass(frozen=True, slots=True)
class VectorResult(Generic[C, L, A]):
    """`target` is the index of the target that is covered, by the moves `run`; -1: none is, unless `cut` names a limit.

    `engine` is who answered, `stored` the markings that it stored. `run` is None too where it would be too long.
    """

    target: int
    run: tuple[VectorMove[C, L, A], ...] | None
    engine: str
    stored: int
    cut: str = ""


def decide_vectors(
    system: VectorSystem[C, L, A], limits: Limits = NO_LIMITS, progress: Progress = ignore
) -> VectorResult[C, L, A]:
    """Decide whether a target of `system` can be covered: fast ways to one answer first, then the backward search."""
    most = _TRIED if limits.states is None else min(_TRIED, limits.states)
    without = omega_search(UnguardedSystem(system), replace(limits.share(_FAST), states=most), progress)
    if without.target < 0 and not without.cut:
        return VectorResult(-1, None, WITHOUT_COUNTERS, without.states)
    behind: _Backward[C, L, A] | None = None
    for cap in _CAPS if system.dimension else ():
        if cap > _CAPS[0] and behind is None:
            behind, few = backward_with(system, replace(limits.share(_FAST), states=min(most, _FEW)), progress)
            if not few.cut:
                return few
        capped = omega_search(CappedSystem(system, cap), replace(limits.share(_FAST), states=most), progress)
        if capped.target >= 0:
            run = None if capped.run is None else tuple(move.label for move in capped.run)
            return VectorResult(capped.target, run, CAPPED, capped.states)
    return backward_with(system, limits, progress, behind)[1]


def backward(
    system: VectorSystem[C, L, A], limits: Limits = NO_LIMITS, progress: Progress = ignore
) -> VectorResult[C, L, A]:
    """Decide the same by the backward search alone: complete unless a limit is reached."""
    return backward_with(system, limits, progress)[1]


def backward_with(
    system: VectorSystem[C, L, A], limits: Limits, progress: Progress, search: _Backward[C, L, A] | None = None
) -> tuple[_Backward[C, L, A] | None, VectorResult[C, L, A]]:
    """Return the answer of a backward search, and the search: given again, it goes on behind the limit that it reached."""
    try:
        search = _Backward(system, limits) if search is None else search
    except LimitReached as reached:
        return None, VectorResult(-1, None, BACKWARD, 0, reached.limit)
    number, cut = search.decide(limits, progress)
    if number < 0:
        return search, VectorResult(-1, None, BACKWARD, len(search), cut)
    run = search.run(number)
    target = system.target(run[-1].control if run else system.initial)
    return search, VectorResult(target, run, BACKWARD, len(search))


class _Backward(Generic[C, L, A]):
    """Minimal markings from which a target can be covered, by control state, of those that are there without counters."""

    def __init__(self, system: VectorSystem[C, L, A], limits: Limits) -> None:
        self._known: NumberedSystem[C, L, VectorMove[C, L, A]] = NumberedSystem(UnguardedSystem(system))
        self._there = reachable_locals(self._known, limits.poll("listing control states"))
        self._before: dict[int, list[tuple[int, CountingMove[C, L, VectorMove[C, L, A]]]]] = {}
        for control, present in self._there.items():
            for step in enabled(self._known, control, present):
                self._before.setdefault(step.control, []).append((control, self._known.moves[step.move]))
        self._zero = (0,) * system.dimension
        self._markings: list[tuple[int, Tokens]] = []
        self._came: list[tuple[int, VectorMove[C, L, A] | None]] = []
        self._basis: dict[int, list[int]] = {}
        self._gone: set[int] = set()
        self._agenda: list[tuple[int, int, int]] = []

    def __len__(self) -> int:
        return len(self._markings)

    def decide(self, limits: Limits, progress: Progress) -> tuple[int, str]:
        """Return the number of a marking below the initial one, -1 if there is none, and the limit that was reached."""
        for control in self._there:
            if self._known.target(control) >= 0 and self._add(control, (), (-1, None)):
                return len(self) - 1, ""
        done, exceeded = 0, limits.watch(_LOOK)
        while self._agenda:
            if done % _LOOK == 0:
                progress(len(self), len(self._agenda))
            if cut := exceeded():
                return -1, cut
            done += 1
            if limits.states is not None and len(self) > limits.states:
                return -1, "states"
            number = heapq.heappop(self._agenda)[2]
            if number in self._gone:
                continue
            control, tokens = self._markings[number]
            for before, move in self._before.get(control, ()):
                for least in self._least_before(tokens, move.label):
                    if self._add(before, least, (number, move.label)):
                        return len(self) - 1, ""
        return -1, ""

    def run(self, number: int) -> tuple[VectorMove[C, L, A], ...]:
        """Return the moves from a marking to the target."""
        moves = []
        while (move := self._came[number][1]) is not None:
            moves.append(move)
            number = self._came[number][0]
        return tuple(moves)

    def _add(self, control: int, tokens: Tokens, came: tuple[int, VectorMove[C, L, A] | None]) -> bool:
        """Store a marking unless it is above another one; return whether it is below the initial marking."""
        those = self._basis.setdefault(control, [])
        if any(not self._there[control] >> part & 1 for part, _ in tokens):
            return False
        if any(embeds(self._markings[other][1], tokens) for other in those):
            return False
        self._gone.update(other for other in those if embeds(tokens, self._markings[other][1]))
        those[:] = [other for other in those if other not in self._gone]
        those.append(len(self))
        size = len(tokens) * 4 + sum(sum(vector) for _, vector in tokens)
        heapq.heappush(self._agenda, (size, len(self), len(self)))
        self._markings.append((control, tokens))
        self._came.append(came)
        return control == 0 and not tokens

    def _least_before(self, tokens: Tokens, move: VectorMove[C, L, A]) -> set[Tokens]:
        """Return the least markings from which a move leads to one that is at least `tokens`, some larger ones among them.

        What is given may be one of the tokens, or a process that nothing asks for.
        """
        number = self._known.local
        found = set()
        for matched, left in _matchings(
            [(number(part), added) for part, added in move.gives], list(tokens), len(move.takes)
        ):
            asked = list(left)
            for at, (part, guard) in enumerate(move.takes):
                need = guard
                if at < len(matched) and (wanted := matched[at]) is not None:
                    added = move.gives[at][1]
                    need = tuple(max(g, w - a) for g, w, a in zip(guard, wanted[1], added, strict=True))
                if need != self._zero or not self._known.fresh >> number(part) & 1:
                    asked.append((number(part), need))
            found.add(tuple(sorted(asked)))
        return found


def _matchings(
    gives: Sequence[Token], tokens: list[Token], taken: int
) -> Iterator[tuple[tuple[Token | None, ...], list[Token]]]:
    """Yield for each way to find given processes among the tokens which ones these are, and what is left of the tokens.

    One that is born, after as many as are taken, has no more than it is born with.
    """
    if not gives:
        yield (), tokens
        return
    *earlier, (part, added) = gives
    born = len(gives) > taken
    options: list[Token | None] = [None]
    for token in dict.fromkeys(tokens):
        if token[0] == part and (not born or _at_most(token[1], added)):
            options.append(token)
    for option in options:
        left = tokens
        if option is not None:
            left = list(tokens)
            left.remove(option)
        for matched, rest in _matchings(earlier, left, taken):
            yield (*matched, option), rest


def embeds(small: Tokens, large: Tokens) -> bool:
    """Whether each process of `small` has one of its own in `large`, in its part and with a vector at least as large."""
    if len(small) > len(large):
        return False
    if small == large:
        return True
    if Counter(part for part, _ in small) - Counter(part for part, _ in large):
        return False
    return all(_part_embeds(part, small, large) for part in {part for part, _ in small})


def _part_embeds(part: int, small: Tokens, large: Tokens) -> bool:
    """The same for the processes of one part: a matching of all those in `small`."""
    less = [vector for other, vector in small if other == part]
    more = [vector for other, vector in large if other == part]
    if len(less) == 1:
        return any(_at_most(less[0], vector) for vector in more)
    if len(less[0]) <= 1:  # in order of size, as sorted: the largest ones have to hold the largest ones
        return all(_at_most(a, b) for a, b in zip(less, more[len(more) - len(less) :], strict=True))
    above = [[at for at, vector in enumerate(more) if _at_most(small_one, vector)] for small_one in less]
    if not all(above):
        return False
    graph: nx.Graph[tuple[str, int]] = nx.Graph()
    graph.add_edges_from((("less", i), ("more", j)) for i, those in enumerate(above) for j in those)
    return len(nx.bipartite.maximum_matching(graph, [("less", at) for at in range(len(less))])) == 2 * len(less)


def _at_most(small: Numbers, large: Numbers) -> bool:
    return all(map(int.__le__, small, large))
