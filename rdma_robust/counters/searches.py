"""Search for a target control state: breadth-first over exact markings, and Karp-Miller with omega-acceleration."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from rdma_robust.counters.karp_miller_tree import Node, covers, fire, pump, realise
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


def breadth_first(vass: Vass, limits: Limits, progress: Progress = ignore, reduce: bool = True) -> SearchResult:
    """Explore exact markings, shortest runs first; complete iff the reachable state space is finite."""
    return (
        _explore(vass, limits, progress, reduce, None, accelerate=False)
        if vass.dimension
        else _finite(vass, limits, progress, reduce, None)
    )


def depth_first(vass: Vass, limits: Limits, progress: Progress = ignore, reduce: bool = True) -> SearchResult:
    """Explore exact markings, states of the highest rank first and the newest of them; complete as above.

    Reaches a target after far fewer states than :func:`breadth_first`, by a run that need not be shortest.
    """
    return (
        _explore(vass, limits, progress, reduce, vass, accelerate=False)
        if vass.dimension
        else _finite(vass, limits, progress, reduce, vass)
    )


def karp_miller(vass: Vass, limits: Limits, progress: Progress = ignore, reduce: bool = True) -> SearchResult:
    """Decide coverability: always complete unless a limit is reached.

    A node is dropped only if a stored node of the same control state has a marking at least as large, and no stored
    node is ever removed, so the nodes form an inductive invariant (the pitfalls of pruned Karp-Miller trees come from
    removing nodes). Every omega comes from a cycle between a node and one of its ancestors.

    Source: Karp and Miller 1969; normal-form.md, part 3.
    """
    return (
        _explore(vass, limits, progress, reduce, vass, accelerate=True)
        if vass.dimension
        else _finite(vass, limits, progress, reduce, vass)
    )


def _finite(vass: Vass, limits: Limits, progress: Progress, reduce: bool, by_rank: Vass | None) -> SearchResult:
    initial = vass.initial
    order = [initial]
    parents: list[tuple[int, int]] = [(-1, -1)]
    seen = {initial: 0}
    expanded = bytearray(1)
    fired: set[int] = set()
    transitions = 0
    cut = ""

    def result(target: int, at: int, done: int, cut: str = "") -> SearchResult:
        run = _path(parents, at) if target >= 0 else ()
        return SearchResult(target, run, len(order), transitions, frozenset(fired), cut, len(order) - done)

    def done_with(control: Control, successors: list[Control]) -> bool:
        same = (s for s in successors if vass.rank(s) == vass.rank(control))
        return all(expanded[seen[s]] if s in seen else 0 for s in same)

    found = vass.target(initial)
    if found >= 0:
        return result(found, 0, 0)
    agenda = _Agenda(by_rank, initial)
    done = 0
    while (at := agenda.pop()) is not None:
        if done % _CHECK_EVERY == 0:
            progress(len(order), len(order) - done)
            if cut := limits.exceeded():
                return result(-1, 0, done, cut)
        done += 1
        expanded[at] = 1
        for guarded, successors in _parts(vass, order[at], reduce):
            if successors and not (guarded and done_with(order[at], [s for _, s, _ in successors])):
                break
        transitions += len(successors)
        for label, after, _ in successors:
            fired.add(label)
            if after in seen or vass.hopeless(after):
                continue
            if limits.states is not None and len(order) >= limits.states:
                return result(-1, 0, done - 1, "states")
            seen[after] = len(order)
            expanded.append(0)
            agenda.push(len(order), after)
            order.append(after)
            parents.append((at, label))
            found = vass.target(after)
            if found >= 0:
                return result(found, len(order) - 1, done)
    return result(-1, 0, done)


def _parts(vass: Vass, control: Control, reduce: bool) -> Iterable[tuple[bool, list[tuple[int, Control, int]]]]:
    """What may be expanded instead of all successors, in the order of preference; see :class:`Vass`."""
    return vass.expansions(control) if reduce else ((False, vass.successors(control)),)


def _enabled(
    vass: Vass, marking: Marking, successors: list[tuple[int, Control, int]]
) -> list[tuple[int, Control, int, Marking]]:
    """The successors whose effect the marking allows, with the marking after it."""
    fired = ((label, control, effect, fire(vass.effects, marking, effect)) for label, control, effect in successors)
    return [(label, control, effect, after) for label, control, effect, after in fired if after is not None]


def _path(parents: list[tuple[int, int]], node: int) -> tuple[int, ...]:
    run: list[int] = []
    while parents[node][0] >= 0:
        node, label = parents[node]
        run.append(label)
    return tuple(reversed(run))


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


def _explore(
    vass: Vass, limits: Limits, progress: Progress, reduce: bool, by_rank: Vass | None, *, accelerate: bool
) -> SearchResult:
    nodes = [Node(vass.initial, (0,) * vass.dimension, -1, -1, -1, [])]
    by_control: dict[Control, list[int]] = {vass.initial: [0]}
    fired: set[int] = set()
    transitions = 0

    def result(target: int, at: int, done: int, cut: str = "") -> SearchResult:
        run = realise(vass.effects, nodes, at) if target >= 0 else ()
        return SearchResult(target, run, len(nodes), transitions, frozenset(fired), cut, len(nodes) - done)

    def covered(control: Control, marking: Marking) -> bool:
        return any(covers(nodes[i].marking, marking) for i in by_control.get(control, ()))

    found = vass.target(vass.initial)
    if found >= 0:
        return result(found, 0, 0)
    agenda = _Agenda(by_rank, vass.initial)
    done = 0
    while (at := agenda.pop()) is not None:
        if done % _CHECK_TREE_EVERY == 0:
            progress(len(nodes), len(nodes) - done)
            if cut := limits.exceeded():
                return result(-1, 0, done, cut)
        done += 1
        node = nodes[at]
        for guarded, successors in _parts(vass, node.control, reduce):
            enabled = _enabled(vass, node.marking, successors)
            same = ((s, marking) for _, s, _, marking in enabled if vass.rank(s) == vass.rank(node.control))
            if enabled and not (guarded and all(covered(s, marking) for s, marking in same)):
                break
        for label, control, effect, marking in enabled:
            transitions += 1
            fired.add(label)
            if covered(control, marking) or vass.hopeless(control):
                continue
            siblings = by_control.setdefault(control, [])
            if limits.states is not None and len(nodes) >= limits.states:
                return result(-1, 0, done - 1, "states")
            new = Node(control, marking, at, label, effect, [])
            if accelerate:
                pump(nodes, siblings, new)
            siblings.append(len(nodes))
            agenda.push(len(nodes), control)
            nodes.append(new)
            if len(siblings) == 1 and (found := vass.target(control)) >= 0:
                return result(found, len(nodes) - 1, done)
    return result(-1, 0, done)
