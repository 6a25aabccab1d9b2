"""The pass that takes failed rounds of spin loops away (option `--await-loops`), what GenMC calls spin-assume.

A round is a way of a thread through its graph back to where it was. It fails, and is as good as never made, if it only
reads words and sets registers that every later use overwrites first, and if what it has read leaves it no other way. The
pass leaves out of a graph every failed round, so that a thread can only make rounds that lead on: a loop `c = x`,
`while c == 0 { c = x }` becomes one blocking read, as `while x == 0 { }` does. It works on the graph
alone, by data flow, whatever the loop was written with.

What is left is for robustness alone: the text of the argument is docs/theory-hangs.md, "Spin loops". Where threads stand in
the middle of a round, and what they hold there, is no longer to be seen.

The pass that turns loops that only wait into blocking reads (option `--await-loops`).

A thread waits at a program point that one read leaves and every other read comes back to at once: of the reads of a
`while x != 1 { }` all but the last fail, and change nothing but that they were made. The pass takes the failed reads away,
so that the thread can only make the last one. It works on the graph alone, whatever the program was written in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Final

from rdma_robust.digraph import by_key, components, live_names, reachable, sets_of
from rdma_robust.expr import FALSE, TRUE, Expr, conj, disj, names, size, substitute
from rdma_robust.language.flow.cfg import Poll, Program, Read, RecvPoll, RemoteRmw, Silent, Step, Thread, operands, steps
from rdma_robust.language.flow.exclusive import equality_cases, exclusive, exclusive_guards, projected


def blocking(program: Program, wanted: bool = True) -> Program:
    """Return `program` without the failed reads of loops that only wait; unchanged if it has none, or if not `wanted`."""
    threads = tuple(_blocking(thread) for thread in program.threads) if wanted else program.threads
    return program if threads == program.threads else replace(program, threads=threads)


def waits(program: Program) -> bool:
    """Return whether some thread has a loop that only waits."""
    return any(waiting_points(thread) for thread in program.threads)


def waiting_points(thread: Thread) -> tuple[int, ...]:
    """Return the program points at which `thread` only waits for what it reads.

    Such a point has steps back to itself that assign nothing and cannot go wrong, at least one of which reads; and where
    one of them can be taken, no step that leaves can, but for one that goes wrong and ends the execution.
    """
    out: dict[int, tuple[list[Step], list[Step]]] = {}
    for source, target, step in steps(thread):
        out.setdefault(source, ([], []))[source != target].append(step)
    return tuple(point for point, (back, leaving) in out.items() if _only_waits(back, leaving))


def _blocking(thread: Thread) -> Thread:
    points = frozenset(waiting_points(thread))
    if not points:
        return thread
    return replace(thread, edges=tuple(e for e in steps(thread) if e[0] != e[1] or e[0] not in points))


def _only_waits(back: list[Step], leaving: list[Step]) -> bool:
    onward = [step for step in leaving if step.fault is None or step.fault.kind == "assertion"]
    idle = all(isinstance(s.op, Read | Silent) and not s.assigns and s.fault is None for s in back)
    if not onward or not idle or not any(isinstance(s.op, Read) for s in back):
        return False
    return all(
        exclusive(b.guard, s.guard, same_read=isinstance(b.op, Read) and b.op == s.op) for b, s in _compatible(back, onward)
    )


def _compatible(back: list[Step], onward: list[Step]) -> Iterator[tuple[Step, Step]]:
    """Yield the pairs of steps, but for those that differ in the index of an array: there are many of them."""
    index = next((term for step in back for term, _ in equality_cases(step.guard)), None)
    sorted_out = by_key((_case(step, index), step) for step in onward)
    for step in back:
        at = _case(step, index)
        for key in (at, None) if at is not None else tuple(sorted_out):
            yield from ((step, other) for other in sorted_out.get(key, ()))


def _case(step: Step, index: Expr | None) -> int | None:
    return next((value for term, value in equality_cases(step.guard) if term == index), None)


MOST_POINTS: Final = 200
"""Of the ways of one round, written out as a tree; a loop with more is left as it is."""

LARGEST: Final = 300
"""Operators and names of a condition on the rest of a round; of a larger one nothing is asked."""

MOST_NESTED: Final = 8
"""Spin loops in one another; further out they stay."""

Out = Mapping[int, list[tuple[int, Step]]]
Edge = tuple[int, int, Step]


def spin_assumed(program: Program, wanted: bool = True) -> Program:
    """Return `program` without failed rounds of its spin loops; unchanged if it has none, or if not `wanted`."""
    if not wanted:
        return program
    first = blocking(program)
    threads = tuple(_spin_assumed(thread) for thread in first.threads)
    return first if threads == first.threads else replace(first, threads=threads)


def _spin_assumed(thread: Thread) -> Thread:
    for _ in range(MOST_NESTED):
        found = _Rounds(thread).without_failed()
        if found is None:
            break
        thread = found
    return thread


@dataclass(frozen=True, slots=True)
class _Way:
    """Steps that can follow in a round: where to (a point, or more of the round), and under which condition they lead on."""

    edges: tuple[tuple[Step, int | _Way], ...]
    onward: Expr
    pruned: bool

    def points(self) -> int:
        """The number of points inside of the round from here on."""
        return 1 + sum(target.points() for _, target in self.edges if isinstance(target, _Way))


@dataclass(slots=True)
class _Rounds:
    """The rounds of one thread. A point is of the same class as another one from which all the same can be done."""

    thread: Thread
    out: Out = field(init=False)
    live: Mapping[int, frozenset[str]] = field(init=False)
    classes: Mapping[int, int] = field(init=False)
    left: int = MOST_POINTS

    def __post_init__(self) -> None:
        out: dict[int, list[tuple[int, Step]]] = {point: [] for point in self.thread.points}
        for source, target, step in steps(self.thread):
            out.setdefault(source, []).append((target, step))
        self.out = out

    def without_failed(self) -> Thread | None:
        """Return the thread without the rounds that fail, None if it has none."""
        returning = _on_clean_cycles(self.out)
        if not returning:
            return None
        self.live, self.classes = _live(self.thread, self.out), _classes(self.out, self.thread.exit)
        like = {self.classes[point] for point in returning}
        ways = {}
        for point in self.out:
            if self.classes[point] in like and (way := self._from(point)) is not None:
                ways[point] = way
        return _rewritten(self.thread, self.out, ways) if ways else None

    def _from(self, header: int) -> _Way | None:
        """Return what can be done from a point in a round that does not fail; None if no round there does."""
        back = _can_come_back(self.out, {p for p, c in self.classes.items() if c == self.classes[header]})
        self.left = MOST_POINTS
        found = self._way(header, header, back, frozenset(), frozenset((header,)), reads=False)
        if found is None or not found.pruned or self.left < 0:
            return None
        onward = any(step.fault is None or step.fault.kind == "assertion" for step, _ in found.edges)
        return found if onward else None

    def _way(
        self, point: int, header: int, back: Set[int], changed: frozenset[str], passed: frozenset[int], *, reads: bool
    ) -> _Way:
        self.left -= 1
        edges: list[tuple[Step, int | _Way]] = []
        onward: Expr = FALSE
        pruned = False
        decided = exclusive_guards(self.out[point], _waits_for_another)
        for number, (target, step) in enumerate(self.out[point]):
            to: int | _Way = target
            after: Expr = TRUE
            if is_clean(step) and number in decided and self.left >= 0:
                sets, read = changed | {name for name, _ in step.assigns}, reads or isinstance(step.op, Read)
                if self.classes[target] == self.classes[header] and read and not sets & self.live[header]:
                    pruned = True
                    continue
                if target in back and target not in passed:
                    way = self._way(target, header, back, sets, passed | {target}, reads=read)
                    if way.pruned:
                        to, after, pruned = way, way.onward, True
            guard = conj(step.guard, substitute(after, dict(step.assigns)))
            if FALSE in (after, guard) or (isinstance(to, _Way) and not to.edges):
                continue
            if size(guard) > LARGEST:
                guard = step.guard
            edges.append((replace(step, guard=guard), to))
            onward = disj(onward, projected(guard))
        return _Way(tuple(edges), onward if size(onward) <= LARGEST else TRUE, pruned)


def is_clean(step: Step) -> bool:
    """Whether a step does nothing but read a word and set registers."""
    return isinstance(step.op, Read | Silent) and step.fault is None


def _waits_for_another(step: Step, other: Step) -> bool:
    """Whether `step` is taken where what `other` waits for is not there: the failure of a `trypoll`."""
    return isinstance(step.op, Silent) and isinstance(other.op, Poll | RecvPoll)


def _clean_predecessors(out: Out) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for source, edges in out.items():
        for target, step in edges:
            if is_clean(step):
                found.setdefault(target, set()).add(source)
    return found


def _can_come_back(out: Out, goals: Set[int]) -> frozenset[int]:
    """Return the points from which clean steps lead to one of `goals`."""
    return frozenset(reachable(goals, _clean_predecessors(out)))


def _on_clean_cycles(out: Out) -> frozenset[int]:
    """Return the points on cycles of clean steps."""
    following = {p: [t for t, step in edges if is_clean(step)] for p, edges in out.items()}
    cycles = (c for c in components(following) if len(c) > 1 or c[0] in following.get(c[0], ()))
    return frozenset(point for cycle in cycles for point in cycle)


def _uses(step: Step) -> Iterator[str]:
    for expr in (step.guard, *operands(step.op), *(value for _, value in step.assigns)):
        yield from names(expr)
    if isinstance(step.op, RemoteRmw) and step.op.wraps is not None:
        yield from names(step.op.wraps[0])


def _live(thread: Thread, out: Out) -> dict[int, frozenset[str]]:
    """Return the registers whose values count at each point: that some way from there uses before it sets them.

    At its exit all do; where a fault has ended it, none is looked at any more.
    """
    everything = frozenset(name for name, _ in thread.registers)
    flows = [
        (source, target, everything.intersection(_uses(step)), sets_of(name for name, _ in step.assigns))
        for source, edges in out.items()
        for target, step in edges
    ]
    return live_names(flows, {point: everything if point == thread.exit else frozenset() for point in out})


def _classes(out: Out, exit_: int) -> dict[int, int]:
    """Return a number for each point, the same only where the same steps lead to points of the same numbers.

    Faults that end the execution are the same if they are of one kind, wherever the statement is.
    """
    whole = {p: 0 if edges else 1 + (p == exit_) for p, edges in out.items()}
    parts = {p: [(t, (s.op, s.guard, s.assigns, _what(s), s.aside)) for t, s in edges] for p, edges in out.items()}
    count = len(set(whole.values()))
    while True:
        keys = {p: (whole[p], frozenset((what, whole[t]) for t, what in edges)) for p, edges in parts.items()}
        numbers: dict[object, int] = {}
        whole = {p: numbers.setdefault(key, len(numbers)) for p, key in keys.items()}
        if len(numbers) == count:
            return whole
        count = len(numbers)


def _what(step: Step) -> object:
    return step.fault if step.fault is None or step.fault.kind == "assertion" else step.fault.kind


def _rewritten(thread: Thread, out: Out, ways: Mapping[int, _Way]) -> Thread:
    """Return the thread with `ways` at their points, without what can no longer be reached."""
    fresh = max(thread.points) + 1
    edges: list[Edge] = []
    todo, seen = [thread.entry], {thread.entry}
    while todo:
        point = todo.pop()
        pending: list[tuple[int, _Way]] = [(point, ways[point])] if point in ways else []
        found = [] if pending else [(point, target, step) for target, step in out[point]]
        while pending:
            source, way = pending.pop()
            for step, target in way.edges:
                if isinstance(target, int):
                    found.append((source, target, step))
                else:
                    found.append((source, fresh, step))
                    pending.append((fresh, target))
                    seen.add(fresh)
                    fresh += 1
        edges += found
        new = {target for _, target, _ in found} - seen
        seen |= new
        todo += sorted(new)
    labels = tuple((name, at) for name, at in thread.labels if at in seen)
    points = tuple(sorted(seen | {thread.exit}))
    return replace(thread, edges=tuple(sorted(edges, key=lambda e: e[:2])), points=points, labels=labels)
