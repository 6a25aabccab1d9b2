"""Coverability of a counting system by a forward search with any number of tokens where there can be: Karp and Miller's.

Why the answer is right. Every node stands for markings below it that can be reached, and all that follows from a node that
is expanded is below nodes. A new marking is dropped if a node of the same control state is at least as large; a node is not
expanded, or no further, if a later one is at least as large: no move asks for an absence, so what follows from it is below
what follows from the larger one. No node is removed: they stay the ancestors that later ones are compared with (pruned
trees that forget ancestors are wrong). So at the end what is below the nodes is closed under moves. For the same reason a
control state is left for a later milestone from its maximal markings only, once nothing before it is left to be expanded.

Why it ends. On an infinite path two nodes of one control state have markings m <= m', and the later one has been raised to
any number where m' is larger; it is larger somewhere, as it was not dropped. So it has more unlimited local states.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Generic

from rdma_robust.counting.interned import Few, NumberedMove, NumberedSystem, covers_marking, fire_move, set_bits, support
from rdma_robust.counting.omega_tree import KnownCycles, OmegaTree, counting_run
from rdma_robust.counting.protocol import A, C, CountingMove, CountingSystem, L, OmegaMarking
from rdma_robust.limits import NO_LIMITS, Limits, Progress, ignore

_LOOK = 64
"""Expanded nodes between two looks at the memory, and two messages."""
_NONE = -1
LONGEST_RUN = 200_000
"""Moves of a run that is written out; one that pumps tokens can be far longer than any memory."""


@dataclass(frozen=True, slots=True)
class OmegaOptions:
    """Choices that make the search faster and change no answer, and whether it ends at the first target.

    `copycats` as in :class:`OmegaTree`; `milestones`: wait for them; `drop_idle`: forget tokens that are idle; `cycles`
    as in :mod:`omega_tree`. With `to_the_end` targets are noted, not left, and everything else is searched.
    """

    copycats: bool = True
    milestones: bool = True
    drop_idle: bool = True
    cycles: bool = True
    to_the_end: bool = False


ALL = OmegaOptions()


@dataclass(frozen=True)
class OmegaResult(Generic[C, L, A]):
    """`target` is the index of the target that is covered, -1 if none is.

    Only `target == -1 and not cut` proves that none can be, with any number of processes; `cut` names the limit that ended
    the search. `run` has finite numbers of tokens, None if it would be longer than :data:`LONGEST_RUN`. `states` are the
    nodes that were stored, `moves` those that were fired, `counted` nodes had finite numbers.
    """

    target: int
    states: int
    moves: int
    counted: int
    cut: str
    frontier: int
    search: OmegaSearch[C, L, A]
    node: int = -1

    @cached_property
    def run(self) -> tuple[CountingMove[C, L, A], ...] | None:
        """Moves from the initial marking to the target."""
        if self.target < 0:
            return None
        return self.search.run(self.node)

    @cached_property
    def inductive(self) -> tuple[OmegaMarking[C, L], ...]:
        """The maximal markings; what is below them is closed under moves if no target was covered and no limit reached."""
        return self.search.maximal()


class OmegaSearch(Generic[C, L, A]):
    """One forward search, by the largest markings first."""

    def __init__(self, system: CountingSystem[C, L, A], options: OmegaOptions) -> None:
        self.known = NumberedSystem(system)
        self.options = options
        cycles = KnownCycles(self.known.fresh) if options.cycles else None
        self.tree = OmegaTree(self.known, copycats=options.copycats, drop_idle=options.drop_idle, cycles=cycles)
        self._alive: list[bool] = []
        self.largest: dict[int, list[int]] = {}
        """The nodes of each control state that no other one of it covers."""
        self._agenda: list[tuple[int, int, int, int]] = []
        """Nodes to be expanded, of most unlimited local states first; then control states to be left, by milestone."""
        self._leaving: set[int] = set()
        self.covered: dict[int, int] = {}
        """Control states with a target that were found by a search to the end, and their first nodes."""
        self._fired = 0
        self._done = 0

    def decide(self, limits: Limits, progress: Progress = ignore, most: int | None = None) -> OmegaResult[C, L, A]:
        """Search until a target is covered, nothing is left, or a limit is reached.

        The limit "later" is that of nodes stored, `most`: after it, as after any other limit, another call goes on.
        """
        if not len(self.tree):
            self.tree.root()
            if (found := self._stored(0)) >= 0:
                return self._result(found, 0)
        exceeded = limits.watch(_LOOK)
        while self._agenda:
            if most is not None and len(self.tree) > most:
                return self._result(-1, cut="later")
            if self._done % _LOOK == 0:
                progress(len(self.tree), len(self._agenda))
            if cut := exceeded():
                return self._result(-1, cut=cut)
            self._done += 1
            _, milestone, _, number = heapq.heappop(self._agenda)
            if milestone == _NONE:
                target = self._expand(-number, leaving=False) if self._largest(-number) else -1
            else:
                target = self._leave(number)
            if target >= 0:
                return self._result(target, len(self.tree) - 1)
            if limits.states is not None and len(self.tree) > limits.states:
                return self._result(-1, cut="states")
        first = min(self.covered.values(), default=-1)
        return self._result(self.known.target(self.tree.control[first]) if self.covered else -1, first)

    def run(self, node: int) -> tuple[CountingMove[C, L, A], ...] | None:
        """Return a run with finite numbers of tokens to the control state of a node."""
        run = counting_run(self.tree, node, LONGEST_RUN)
        return None if run is None else tuple(self.known.moves[move] for move in run)

    def maximal(self) -> tuple[OmegaMarking[C, L], ...]:
        """Return the largest markings found, by control state in the order in which these were found."""
        names, tree = self.known.locals, self.tree
        return tuple(
            OmegaMarking(
                self.known.controls[control],
                tuple(names[local] for local in set_bits(tree.wide[node] & ~self.known.fresh)),
                tuple((names[local], count) for local, count in sorted(tree.few[node].items())),
            )
            for control in sorted(self.largest)
            for node in self.largest[control]
        )

    def _largest(self, number: int) -> bool:
        """Whether nothing larger than a node is there, nor can be made of it at once."""
        if self._alive[number] and self.tree.can_rise(number):
            self.tree.add(number, None, (self.tree.wide[number], self.tree.few[number]))
            self._stored(len(self.tree) - 1)
        return self._alive[number]

    def _leave(self, control: int) -> int:
        """Take the steps to later milestones from the maximal markings of a control state; return a target found, or -1."""
        for node in tuple(self.largest[control]):
            if (target := self._expand(node, leaving=True)) >= 0:
                return target
        return -1

    def _expand(self, number: int, *, leaving: bool) -> int:
        """Fire what is enabled at a node, the steps to later milestones or the others; return a target found, or -1."""
        tree, known = self.tree, self.known
        control, wide, few = tree.control[number], tree.wide[number], tree.few[number]
        present = support(wide, few)
        phase = known.milestone(control)
        loops = known.loops(control, present)
        for step in chain(known.away(control, present), loops):
            if step.need & ~present:
                continue
            later = self.options.milestones and known.milestone(step.control) > phase
            if later != leaving:
                if later and control not in self._leaving:
                    self._leaving.add(control)
                    heapq.heappush(self._agenda, (1, phase, 0, control))
                continue
            after = fire_move(step, wide, few)
            if after is None:
                continue
            self._fired += 1
            if (target := self._reach(number, step, wide, after)) >= 0:
                return target
            if not self._alive[number]:
                break
        return -1

    def _reach(self, number: int, step: NumberedMove, wide: int, few: Few) -> int:
        """Store what a step leads to unless it is covered; return the target that is covered then, or -1."""
        tree = self.tree
        wide, few = tree.without_idle(step.control, wide, few)
        if self._covered(step.control, wide, few):
            return -1
        tree.add(number, step, (wide, few))
        return self._stored(len(tree) - 1)

    def _covered(self, control: int, wide: int, few: Few) -> bool:
        """Whether a node of the control state is at least as large: :func:`covers_marking` written out, asked most often."""
        tree = self.tree
        for node in self.largest.get(control, ()):
            larger = tree.wide[node]
            if wide & ~larger:
                continue
            if not few:
                return True
            numbers = tree.few[node]
            for local, count in few.items():
                if not larger >> local & 1 and numbers.get(local, 0) < count:
                    break
            else:
                return True
        return False

    def _stored(self, number: int) -> int:
        """Note a new node, without those that it covers; return the target that holds there, or -1."""
        tree = self.tree
        control, wide, few = tree.control[number], tree.wide[number], tree.few[number]
        self._alive.append(True)
        kept = []
        for other in self.largest.get(control, ()):
            if covers_marking(wide, few, tree.wide[other], tree.few[other]):
                self._alive[other] = False
            else:
                kept.append(other)
        kept.append(number)
        self.largest[control] = kept
        target = self.known.target(control)
        if target < 0:
            heapq.heappush(self._agenda, (0, _NONE, -wide.bit_count(), -number))
        elif self.options.to_the_end:
            self.covered.setdefault(control, number)
            return -1
        return target

    def _result(self, target: int, node: int = -1, cut: str = "") -> OmegaResult[C, L, A]:
        counted = sum(map(bool, self.tree.few))
        return OmegaResult(target, len(self.tree), self._fired, counted, cut, len(self._agenda), self, node)


def omega_search(
    system: CountingSystem[C, L, A],
    limits: Limits = NO_LIMITS,
    progress: Progress = ignore,
    options: OmegaOptions = ALL,
) -> OmegaResult[C, L, A]:
    """Decide whether a target of `system` can be covered with some number of processes; complete unless a limit is reached.

    Source: Karp and Miller 1969; parameterised systems as vector addition systems: German and Sistla 1992.
    """
    return OmegaSearch(system, options).decide(limits, progress)
