"""The smallest number of processes, backward: which tokens are needed at which control state to reach a target.

A search to the end says which control states there are, which steps between them, and which markings can be reached. Back
from a target, a step is preceded by the least marking from which it is enabled and leaves what is needed after it. What is
needed at the start are fresh tokens: so many processes are enough. No fewer are, if needs are expanded by their size and no
step gives more tokens than it takes, so that the size never falls. A need is dropped if no marking that can be reached is
as large, or if another one of the same control state asks for no more of anything.

Source: Abdulla, Cerans, Jonsson and Tsay 1996; pruned by what can be reached as in Geffroy, Leroux and Sutre 2016.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import chain
from typing import Generic

from rdma_robust.counting.interned import Few, NumberedMove, covers_marking, support
from rdma_robust.counting.known_cycles import need_before_step
from rdma_robust.counting.omega_search import OmegaSearch
from rdma_robust.counting.protocol import A, C, CountingMove, L
from rdma_robust.limits import Limits, Progress

_LOOK = 256


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
            if done % _LOOK == 0:
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
