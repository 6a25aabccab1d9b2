"""Search for a target control state: breadth-first over exact markings, and Karp-Miller with omega-acceleration."""

from __future__ import annotations

import resource
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rdma_robust.vass.model import Control, Effect, Marking, Vass

OMEGA = sys.maxsize
"""Stands for 'any number' in a marking; real markings stay far below it, which :func:`_fire` checks."""

_CHECK_EVERY = 2048
_CHECK_TREE_EVERY = 64
"""Expanded states (tree nodes, which cost more each) between two looks at the clock and the memory: some 30 ms."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`deadline` is a time.monotonic() value, `memory` in mebibytes of this process; None means no limit."""

    deadline: float | None = None
    states: int | None = None
    memory: int | None = None

    def exceeded(self) -> str:
        """Return the name of the limit of time or memory that is reached, or ''."""
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return "time"
        if self.memory is not None and resident_mebibytes() >= self.memory:
            return "memory"
        return ""


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


Progress = Callable[[int, int], None]
"""Called now and then with the number of stored states and of states left to expand."""


def ignore(_states: int, _frontier: int) -> None:
    return None


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
            if successors and not (guarded and all(expanded[seen[s]] if s in seen else 0 for _, s, _ in successors)):
                break
        transitions += len(successors)
        for label, after, _ in successors:
            fired.add(label)
            if after in seen:
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
    fired = ((label, control, effect, _fire(vass.effects, marking, effect)) for label, control, effect in successors)
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


@dataclass(slots=True)
class _Node:
    """A node of the Karp-Miller tree. `pumps` are the cycles (transition, effect indices) that produced its omegas."""

    control: Control
    marking: Marking
    parent: int
    label: int
    effect: int
    pumps: list[tuple[tuple[int, ...], tuple[int, ...]]]


def _explore(
    vass: Vass, limits: Limits, progress: Progress, reduce: bool, by_rank: Vass | None, *, accelerate: bool
) -> SearchResult:
    nodes = [_Node(vass.initial, (0,) * vass.dimension, -1, -1, -1, [])]
    by_control: dict[Control, list[int]] = {vass.initial: [0]}
    fired: set[int] = set()
    transitions = 0

    def result(target: int, at: int, done: int, cut: str = "") -> SearchResult:
        run = _realise(vass.effects, nodes, at) if target >= 0 else ()
        return SearchResult(target, run, len(nodes), transitions, frozenset(fired), cut, len(nodes) - done)

    def covered(control: Control, marking: Marking) -> bool:
        return any(_covers(nodes[i].marking, marking) for i in by_control.get(control, ()))

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
            if enabled and not (guarded and all(covered(control, marking) for _, control, _, marking in enabled)):
                break
        for label, control, effect, marking in enabled:
            transitions += 1
            fired.add(label)
            if covered(control, marking):
                continue
            siblings = by_control.setdefault(control, [])
            if limits.states is not None and len(nodes) >= limits.states:
                return result(-1, 0, done - 1, "states")
            new = _Node(control, marking, at, label, effect, [])
            if accelerate:
                _accelerate(nodes, siblings, new)
            siblings.append(len(nodes))
            agenda.push(len(nodes), control)
            nodes.append(new)
            if len(siblings) == 1:
                found = vass.target(control)
                if found >= 0:
                    return result(found, len(nodes) - 1, done)
    return result(-1, 0, done)


def _fire(effects: Sequence[Effect], marking: Marking, effect: int) -> Marking | None:
    """Return the marking after a transition with this effect, or None where it is not enabled."""
    e = effects[effect]
    out = []
    for value, guard, delta in zip(marking, e.guard, e.delta, strict=True):
        if value == OMEGA:
            out.append(OMEGA)
        elif value < guard:
            return None
        else:
            out.append(value + delta)
    if any(value > OMEGA // 2 and value != OMEGA for value in out):
        raise OverflowError("a counter came near the number that stands for omega")
    return tuple(out)


def _covers(large: Marking, small: Marking) -> bool:
    return all(a >= b for a, b in zip(large, small, strict=True))


def _accelerate(nodes: list[_Node], siblings: list[int], new: _Node) -> None:
    """Set to omega what a cycle from an ancestor of the same control state to `new` increases; record the cycle."""
    smaller = {i for i in siblings if _covers(new.marking, nodes[i].marking)}
    at = new.parent
    labels, effects = [new.label], [new.effect]
    while smaller and at >= 0:
        ancestor = nodes[at]
        if at in smaller and _covers(new.marking, ancestor.marking) and new.marking != ancestor.marking:
            raised = tuple(OMEGA if b != OMEGA and b > a else b for a, b in zip(ancestor.marking, new.marking, strict=True))
            if raised != new.marking:
                new.pumps.append((tuple(reversed(labels)), tuple(reversed(effects))))
                new.marking = raised
        smaller.discard(at)
        labels.append(ancestor.label)
        effects.append(ancestor.effect)
        at = ancestor.parent


def realise_path(
    effects: Sequence[Effect], steps: Sequence[tuple[int, Control, int]], *, accelerate: bool
) -> tuple[int, ...]:
    """Return a run with exact markings along a path of a Karp-Miller tree.

    `steps` has for every node on the path the transition to it, its control state and the effect of the transition; the
    first node is the root. The accelerations on the way are computed again.
    """
    nodes = [_Node(steps[0][1], (0,) * len(effects[0].delta), -1, -1, -1, [])]
    for label, control, effect in steps[1:]:
        marking = _fire(effects, nodes[-1].marking, effect)
        assert marking is not None
        new = _Node(control, marking, len(nodes) - 1, label, effect, [])
        if accelerate:
            _accelerate(nodes, [i for i, n in enumerate(nodes) if n.control == control], new)
        nodes.append(new)
    return _realise(effects, nodes, len(nodes) - 1)


def _realise(effects: Sequence[Effect], nodes: list[_Node], at: int) -> tuple[int, ...]:
    """Return a run with exact markings that reaches the control state of node `at`, pumping recorded cycles as needed.

    Going backwards from the node, `need` has what each omega counter must hold at that point of the run; counters that
    are finite in a node hold exactly the node's number there and need no bookkeeping.
    """
    run: list[int] = []
    need = [0] * len(nodes[at].marking)
    while nodes[at].parent >= 0:
        node, parent = nodes[at], nodes[nodes[at].parent]
        markings = [_fire(effects, parent.marking, node.effect)]
        for _, cycle in node.pumps:
            markings.append(_pumped(effects, markings[-1], cycle))
        for (labels, cycle), before, after in zip(
            reversed(node.pumps), reversed(markings[:-1]), reversed(markings[1:]), strict=True
        ):
            assert before is not None and after is not None
            delta = [sum(effects[e].delta[c] for e in cycle) for c in range(len(need))]
            raised = [c for c in range(len(need)) if before[c] != OMEGA and after[c] == OMEGA]
            times = max(-(-(need[c] - before[c]) // delta[c]) for c in raised)
            for _ in range(max(0, times)):
                for label, effect in zip(reversed(labels), reversed(cycle), strict=True):
                    run.append(label)
                    need = _needed(effects, need, effect)
            need = [0 if before[c] != OMEGA else need[c] for c in range(len(need))]
        run.append(node.label)
        need = _needed(effects, need, node.effect)
        need = [0 if parent.marking[c] != OMEGA else need[c] for c in range(len(need))]
        at = node.parent
    return tuple(reversed(run))


def _pumped(effects: Sequence[Effect], marking: Marking | None, cycle: tuple[int, ...]) -> Marking:
    """Return `marking` with omega where the cycle has a positive effect."""
    assert marking is not None
    gains = (sum(effects[e].delta[c] for e in cycle) for c in range(len(marking)))
    return tuple(OMEGA if value == OMEGA or gain > 0 else value for value, gain in zip(marking, gains, strict=True))


def _needed(effects: Sequence[Effect], after: list[int], effect: int) -> list[int]:
    """The least marking from which a transition is enabled and leaves at least `after`."""
    e = effects[effect]
    return [max(g, a - d) for a, g, d in zip(after, e.guard, e.delta, strict=True)]


def resident_mebibytes() -> int:
    """Resident memory of this process now (where the system tells), else its peak."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize() >> 20
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
