"""Search for a target control state: breadth-first over exact markings, and Karp-Miller with omega-acceleration."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from rdma_robust.counters.karp_miller_tree import KarpMillerNode, covers_exactly, fire_effect, pump, realise_node
from rdma_robust.counters.permutations import real_run
from rdma_robust.counters.vass import Control, Marking, Vass
from rdma_robust.limits import Limits, Progress, ignore

_CHECK_EVERY = 2048
_CHECK_TREE_EVERY = 64
"""Expanded states (tree nodes, which cost more each) between two looks at the clock and the memory: some 30 ms."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`target` is the index of the reached target, -1 if none; `run` its transitions from the initial state.

    `cut` names the limit that ended the search early ('' for a complete one); only `target == -1 and not cut` proves
    that no target is reachable. `fired` has the transitions that were ever enabled, `frontier` the states left to expand.
    """

    target: int
    run: tuple[int, ...]
    states: int
    transitions: int
    fired: frozenset[int]
    cut: str = ""
    frontier: int = 0


Accept = Callable[[int, tuple[int, ...]], bool]
"""Whether a search may end with this target and this run to it; one run is tried for each control state."""


def every_run(_target: int, _run: tuple[int, ...]) -> bool:
    """Accept whatever is found."""
    return True


def breadth_first(
    vass: Vass, limits: Limits, progress: Progress = ignore, reduce: bool = True, accept: Accept = every_run
) -> SearchResult:
    """Explore exact markings, shortest runs first; complete iff the reachable state space is finite."""
    return _search(vass, _store(vass, reduce), limits, progress, by_rank=None, accept=accept)


def depth_first(
    vass: Vass, limits: Limits, progress: Progress = ignore, reduce: bool = True, accept: Accept = every_run
) -> SearchResult:
    """Explore exact markings, states of the highest rank first and the newest of them; complete as above.

    Reaches a target after far fewer states than :func:`breadth_first`, by a run that need not be shortest.
    """
    return _search(vass, _store(vass, reduce), limits, progress, by_rank=vass, accept=accept)


def karp_miller(
    vass: Vass, limits: Limits, progress: Progress = ignore, reduce: bool = True, accept: Accept = every_run
) -> SearchResult:
    """Decide coverability: always complete unless a limit is reached.

    A node is dropped only if a stored node of the same control state has a marking at least as large, and no stored
    node is ever removed, so the nodes form an inductive invariant (the pitfalls of pruned Karp-Miller trees come from
    removing nodes). Every omega comes from a cycle between a node and one of its ancestors.

    Source: Karp and Miller 1969; docs/theory-search.md, "Lowering to vector addition systems".
    """
    return _search(vass, _store(vass, reduce, accelerate=True), limits, progress, by_rank=vass, accept=accept)


Step = tuple[int, Control, int, Marking]
"""A transition that can be taken: its label, the control state after it, the number of its effect, the marking after it."""


class _Store(Protocol):
    """The elements that a search has found: numbered elements, 0 is the initial one; counts the transitions that were
    taken."""

    check_every: int
    transitions: int

    def __len__(self) -> int:
        """Return the number of elements."""

    def expand(self, number: int) -> Iterable[Step]:
        """Return the steps from an element, or as many of them as are enough."""

    def covers(self, step: Step) -> bool:
        """Return whether there is an element for what a step leads to."""

    def add(self, number: int, step: Step) -> bool:
        """Append what a step from an element leads to; return whether it is the first with its control state."""

    def witness(self, number: int, target: int) -> tuple[int, tuple[int, ...]]:
        """Return the labels of a run from the initial element, and the target that it leads to, if that is this one here."""


def _store(vass: Vass, reduce: bool, *, accelerate: bool = False) -> _Store:
    return _Tree(vass, reduce, accelerate) if vass.dimension else _States(vass, reduce)


def _search(
    vass: Vass, store: _Store, limits: Limits, progress: Progress, *, by_rank: Vass | None, accept: Accept
) -> SearchResult:
    """Expand what is stored, in the order of the agenda, until a target is there, nothing is left, or a limit is reached."""
    fired: set[int] = set()
    done = 0

    def result(target: int, at: int = 0, cut: str = "") -> SearchResult:
        target, run = store.witness(at, target) if target >= 0 else (-1, ())
        return SearchResult(target, run, len(store), store.transitions, frozenset(fired), cut, len(store) - done)

    if (found := vass.target(vass.initial)) >= 0 and accept(found, ()):
        return result(found)
    agenda = _Agenda(by_rank, vass.initial)
    most = sys.maxsize if limits.states is None else limits.states
    while (at := agenda.pop()) is not None:
        if done % store.check_every == 0:
            progress(len(store), len(store) - done)
            if cut := limits.exceeded():
                return result(-1, cut=cut)
        done += 1
        for step in store.expand(at):
            label, control, *_ = step
            fired.add(label)
            if store.covers(step) or vass.hopeless(control):
                continue
            if (number := len(store)) >= most:
                done -= 1
                return result(-1, cut="states")
            first = store.add(at, step)
            agenda.push(number, control)
            if not first or (found := vass.target(control)) < 0:
                continue
            if accept is every_run or accept(*store.witness(number, found)):
                return result(found, number)
    return result(-1)


class _States:
    """The control states of a VASS without counters; the steps of a state are counted when it is expanded."""

    check_every = _CHECK_EVERY

    def __init__(self, vass: Vass, reduce: bool) -> None:
        self.transitions = 0
        self._vass = vass
        self._reduce = reduce
        self._arranger = vass.arranger
        initial = self._arranger.arranged(vass.initial) if self._arranger else vass.initial
        self._order = [initial]
        self._parents: list[tuple[int, int]] = [(-1, -1)]
        self._number = {initial: 0}

    def __len__(self) -> int:
        return len(self._order)

    def expand(self, number: int) -> list[Step]:
        control = self._order[number]
        steps: list[Step] = []
        for successors in _parts(self._vass, control, self._reduce):
            steps = [(label, after, effect, ()) for label, after, effect in successors]
            if any(self._vass.advances(control, after) for _, after, _ in successors):
                break
        self.transitions += len(steps)
        if self._arranger:
            return [(label, self._arranger.arranged(after), effect, ()) for label, after, effect, _ in steps]
        return steps

    def covers(self, step: Step) -> bool:
        return step[1] in self._number

    def add(self, number: int, step: Step) -> bool:
        self._number[step[1]] = len(self._order)
        self._order.append(step[1])
        self._parents.append((number, step[0]))
        return True

    def witness(self, number: int, target: int) -> tuple[int, tuple[int, ...]]:
        run: list[int] = []
        kept = [self._order[number]]
        while self._parents[number][0] >= 0:
            number, label = self._parents[number]
            run.append(label)
            kept.append(self._order[number])
        return (
            realised(self._vass, tuple(reversed(kept)), self._reduce) if self._arranger else (target, tuple(reversed(run)))
        )


class _Tree:
    """Nodes with markings, of which larger ones cover smaller ones; a step is counted when it is taken."""

    check_every = _CHECK_TREE_EVERY

    def __init__(self, vass: Vass, reduce: bool, accelerate: bool) -> None:
        self.transitions = 0
        self._vass = vass
        self._reduce = reduce
        self._accelerate = accelerate
        self._nodes = [KarpMillerNode(vass.initial, (0,) * vass.dimension, -1, -1, -1, [])]
        self._by_control: dict[Control, list[int]] = {vass.initial: [0]}

    def __len__(self) -> int:
        return len(self._nodes)

    def expand(self, number: int) -> Iterator[Step]:
        vass, node = self._vass, self._nodes[number]
        steps: list[Step] = []
        for successors in _parts(vass, node.control, self._reduce):
            steps = _enabled(vass, node.marking, successors)
            if any(vass.advances(node.control, step[1]) for step in steps):
                break
        for step in steps:
            self.transitions += 1
            yield step

    def covers(self, step: Step) -> bool:
        return any(covers_exactly(self._nodes[i].marking, step[3]) for i in self._by_control.get(step[1], ()))

    def add(self, number: int, step: Step) -> bool:
        label, control, effect, marking = step
        siblings = self._by_control.setdefault(control, [])
        new = KarpMillerNode(control, marking, number, label, effect, [])
        if self._accelerate:
            pump(self._nodes, siblings, new)
        siblings.append(len(self._nodes))
        self._nodes.append(new)
        return len(siblings) == 1

    def witness(self, number: int, target: int) -> tuple[int, tuple[int, ...]]:
        return target, tuple(realise_node(self._vass.effects, self._nodes, number))


def realised(vass: Vass, kept: Sequence[Control], reduce: bool) -> tuple[int, tuple[int, ...]]:
    """Return the target, and the labels of a run to it, that states stand for which a search has kept."""
    assert vass.arranger is not None

    def successors(control: Control) -> Iterable[tuple[int, Control, int]]:
        *_, every = _parts(vass, control, reduce)
        return every

    run, end = real_run(kept, vass.arranger, vass.initial, successors)
    return vass.target(end), run


def _parts(vass: Vass, control: Control, reduce: bool) -> Iterable[list[tuple[int, Control, int]]]:
    """What may be expanded instead of all successors, in the order of preference; see :class:`Vass`."""
    return vass.expansions(control) if reduce else (vass.successors(control),)


def _enabled(vass: Vass, marking: Marking, successors: list[tuple[int, Control, int]]) -> list[Step]:
    """The successors whose effect the marking allows, with the marking after it."""
    fired = ((label, control, effect, fire_effect(vass.effects, marking, effect)) for label, control, effect in successors)
    return [(label, control, effect, after) for label, control, effect, after in fired if after is not None]


class _Agenda:
    """States waiting to be expanded: with `by_rank` the newest of the highest rank first, else the oldest first."""

    def __init__(self, by_rank: Vass | None, initial: Control) -> None:
        self._by_rank = by_rank
        self._queues: list[deque[int]] = [deque() for _ in range(by_rank.max_rank + 1 if by_rank else 1)]
        self.push(0, initial)

    def push(self, number: int, control: Control) -> None:
        self._queues[self._by_rank.rank(control) if self._by_rank else 0].append(number)

    def pop(self) -> int | None:
        for queue in reversed(self._queues):
            if queue:
                return queue.pop() if self._by_rank else queue.popleft()
        return None
