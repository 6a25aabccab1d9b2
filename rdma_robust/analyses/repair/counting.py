"""Outstanding operations: how many polls a flush needs, and which polls could wait for ever.

Followed is, for one queue pair, what a thread can have outstanding: the operations issued and not yet polled, with the
insertions and without them. The paths are those of the program without insertions: values are ignored, so there are more
than can be taken, but a poll of the program is passed only where it had something to take.

**Blocking.** A poll with nothing outstanding waits for ever, because only its own thread issues operations on its queue
pair; any other poll ends, because the card completes operations without help. A set of insertions *blocks* if on some path

- an inserted poll finds nothing outstanding, or
- the thread comes to a point where nothing but polls of the program can follow, and all find nothing outstanding, while
  without the insertions it could have gone on: a poll found something, or (in `loop` and `choose`) another branch was open.

If a set does not block, insertions never keep a thread from going on: fences and gets of words that nobody writes into words
that nobody reads do nothing. So under sequential consistency a program with them gets stuck only where it did without.
The paths do not depend on the set, and with more insertions less is outstanding and fewer branches are open: every
superset of a blocking set blocks.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass

from rdma_robust.analyses.repair.repairs import FLUSHES, MOST_POLLS, Choice, Choices, Kind
from rdma_robust.analyses.repair.sites import Edge, Flow, Sites
from rdma_robust.semantics.event_table import completes_on, polls_of, takes_completion

State = tuple[int, int, bool, int, int]
"""A point of the marked program, the point after the last step that was no mark, whether the thread has come here by a step
(of the program, or something inserted), what is outstanding, and what insertions took; each number up to `most`, which
stands for more too."""


def most(flow: Flow, node: str) -> int:
    """Return a number that is outstanding only if some path comes to an operation twice."""
    return 1 + sum(completes_on(e.step.op) == node for edges in flow.out.values() for e in edges)


@dataclass(frozen=True, slots=True)
class Insert:
    """What a set of choices puts at one place for one queue pair: a number of polls, then at most one flush."""

    polls: int = 0
    flush: Kind | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """The outcome for one queue pair: the numbers that can be outstanding at each place (before what is inserted there) and
    before its flush, and whether an insertion blocks. `parents` leads from every state towards the start, by the place that
    lies between if there is one."""

    at: Mapping[int, frozenset[int]]
    before_flush: Mapping[int, frozenset[int]]
    blocks: bool
    parents: Mapping[State, tuple[State, Edge] | None]


@dataclass(frozen=True, slots=True)
class Plan:
    """The gets and polls that each flush of a set of choices needs."""

    flushes: Mapping[Choice, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Refused:
    """The choices of one thread that cannot stand.

    If they `block`, no superset can. Else they have a flush without a fixed number of polls, and so has every set that has
    this flush and does not differ from these in `among` (choices, whether chosen or not).
    """

    chosen: Choices
    blocks: bool
    among: Choices = frozenset()


def inserts(chosen: Choices, node: str) -> dict[int, Insert]:
    """Return what `chosen` puts at each place for the queue pairs towards `node`."""
    found: dict[int, Insert] = {}
    for choice in chosen:
        if choice.node == node and choice.kind is not Kind.RFENCE:
            old = found.get(choice.place, Insert())
            poll = choice.kind is Kind.POLL
            found[choice.place] = Insert(old.polls + poll, old.flush if poll else choice.kind)
    return found


def count(flow: Flow, node: str, put: Mapping[int, Insert], occupied: frozenset[int] = frozenset()) -> Counted:
    """Follow one thread and its queue pair to `node` with `put` at its places, shortest paths first.

    At the places `occupied` stands something else: who has come past cannot take another branch.
    """
    occupied |= put.keys()
    at: dict[int, set[int]] = {}
    before_flush: dict[int, set[int]] = {}
    blocks = False
    many = most(flow, node)
    start = (flow.thread.entry, flow.thread.entry, True, 0, 0)
    parents: dict[State, tuple[State, Edge] | None] = {start: None}
    todo = deque([start])
    while todo:
        now = todo.popleft()
        point, real, stepped, have, lost = now
        if stepped and not have and goes_on(flow, real, node, lost, frozenset()):
            blocks |= not goes_on(flow, point, node, 0, occupied)
        for edge in flow.out.get(point, ()):
            if edge.place is not None:
                insert = put.get(edge.place, Insert())
                blocks |= have < insert.polls
                left = _less(have, insert.polls, many)
                at.setdefault(edge.place, set()).add(have)
                before_flush.setdefault(edge.place, set()).update(left)
                taken = min(lost + insert.polls, many)
                drains = insert.flush is Kind.DRAIN
                step = edge.place in occupied
                after = [(real, step, 0, min(taken + h, many)) if drains else (real, step, h, taken) for h in left]
            elif not _polls(edge, node):
                after = [(edge.target, True, min(have + (completes_on(edge.step.op) == node), many), lost)]
            elif have:
                after = [(edge.target, True, h, lost) for h in _less(have, 1, many)]
            else:
                after = [(edge.target, True, 0, less) for less in _less(lost, 1, many)]
            for following in after:
                state = (edge.target, *following)
                if state not in parents:
                    parents[state] = (now, edge)
                    todo.append(state)
    return Counted(_frozen(at), _frozen(before_flush), blocks, parents)


def goes_on(flow: Flow, point: int, node: str, outstanding: int, occupied: frozenset[int]) -> bool:
    """Whether a thread at a point has a step to take, or can end; marks that are not occupied are no steps.

    Polls of other queue pairs do not count as steps: what they find is not known here.
    """
    todo, seen = [point], {point}
    while todo:
        out = flow.out.get(todo.pop(), ())
        if not out:
            return True
        for edge in out:
            if edge.place is not None and edge.place not in occupied:
                if edge.target not in seen:
                    seen.add(edge.target)
                    todo.append(edge.target)
            elif polls_of(edge.step.op) is None or (outstanding and _polls(edge, node)):
                return True
    return False


def plan(sites: Sites, chosen: Choices) -> Plan | Refused:
    """Return the gets and polls of every flush, or the choices of a queue pair that cannot be.

    A DRAIN makes one get and polls it with everything before it: it needs to know how much that is. A REFILL makes as many
    gets as can be outstanding and one more, and polls as often: its first get is polled whatever was outstanding, and that
    many operations are outstanding afterwards. Blocking sets are as small as leaving out choices makes them.
    """
    flushes: dict[Choice, tuple[int, int]] = {}
    for thread in sorted({sites.places[c.place].thread for c in chosen}):
        flow = sites.flows[thread]
        here = frozenset(c for c in chosen if sites.places[c.place].thread == thread)
        occupied = frozenset(c.place for c in here)
        for node in dict.fromkeys((*flow.nodes, *sorted(c.node for c in here))):
            counted = count(flow, node, inserts(here, node), occupied)
            if counted.blocks:
                return Refused(_least_blocking(flow, node, here), True)
            for choice in sorted((c for c in here if c.node == node and c.kind in FLUSHES), key=lambda c: c.place):
                found = counted.before_flush.get(choice.place, frozenset({0}))
                if max(found) == most(flow, node) or (choice.kind is Kind.DRAIN and len(found) > 1):
                    mine = frozenset(c for c in here if c.node == node)
                    drains = frozenset(c.place for c in mine if c.kind is Kind.DRAIN)
                    return Refused(mine, False, _reason(flow, counted, choice, drains))
                polls = max(found) + 1
                flushes[choice] = (1 if choice.kind is Kind.DRAIN else polls, polls)
    return Plan(flushes)


def _reason(flow: Flow, counted: Counted, choice: Choice, drains: frozenset[int]) -> Choices:
    """Return the choices that could give a flush a fixed number of polls, or more than those.

    Two paths show that a DRAIN has none: what they have outstanding differs by what they do since they parted. Insertions
    they share, before they part and after they meet again, take the same from both; only a flush that drains, after that,
    levels them. Where a path has more outstanding than it has operations, it goes through some cycle that leaves more
    each time: only insertions between the first point that it comes back to and the last, or flushes that drain, change
    that. Where polls of the program lie on the paths, anything on them may: one can be passed with nothing to take.
    """
    arriving: dict[int, State] = {}
    for state in counted.parents:
        if state[0] == flow.marks[choice.place].source:
            arriving.setdefault(state[3], state)
    paths = [_path_to(counted, state, drains) for state in arriving.values()]
    endless = next((path for path, full in paths if full == most(flow, choice.node)), None)
    if endless is not None:
        one = other = endless
        inner, outer = _around(endless)
    else:
        one, other = paths[0][0], paths[1][0]
        inner, outer = _apart(one, other)
    if any(takes_completion(e.step.op) for e in (*one, *other)):
        inner, outer = {*one, *other}, set()
    polls = [Choice(e.place, Kind.POLL, choice.node, k) for e in inner if e.place is not None for k in range(MOST_POLLS)]
    flushes = [Choice(e.place, kind, choice.node) for e in inner if e.place is not None for kind in FLUSHES]
    levels = [Choice(e.place, Kind.DRAIN, choice.node) for e in outer if e.place is not None]
    return frozenset({*polls, *flushes, *levels, choice})


def _path_to(counted: Counted, state: State, drains: frozenset[int]) -> tuple[list[Edge], int]:
    """Return a path to a state, and the most that was outstanding on it since it was last drained."""
    path: list[Edge] = []
    full = state[3]
    drained = False
    while (step := counted.parents[state]) is not None:
        state, edge = step
        drained |= edge.place in drains
        full = full if drained else max(full, state[3])
        path.append(edge)
    return path[::-1], full


def _around(path: list[Edge]) -> tuple[set[Edge], set[Edge]]:
    """Return the edges of a path between the first point that it comes back to and the last, and the others."""
    points = Counter([path[0].source, *(e.target for e in path)])
    again = [k for k, e in enumerate(path) if points[e.source] > 1]
    inner = {*path[again[0] : again[-1] + 1]} if again else {*path}
    return inner, {*path} - inner


def _apart(one: list[Edge], other: list[Edge]) -> tuple[set[Edge], set[Edge]]:
    """Return the edges of two paths between where they part and where they finally meet, and those behind that."""
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a is not b), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    same = 0
    while same < min(len(one), len(other)) and one[-1 - same] is other[-1 - same]:
        same += 1
    return {*one[: len(one) - same], *other[: len(other) - same]}, {*one[len(one) - same :]}


def _least_blocking(flow: Flow, node: str, chosen: Choices) -> Choices:
    for choice in sorted(chosen, key=lambda c: (c.node == node, c.place, c.kind.value, c.node, -c.copy)):
        fewer = chosen - {choice}
        if count(flow, node, inserts(fewer, node), frozenset(c.place for c in fewer)).blocks:
            chosen = fewer
    return chosen


def _polls(edge: Edge, node: str) -> bool:
    return polls_of(edge.step.op) == node


def _less(have: int, by: int, many: int) -> range:
    """The numbers that `have` less `by` may stand for; none if it is less than `by`."""
    if have < by:
        return range(0)
    return range(have - by, many + 1) if have == many and by else range(have - by, have - by + 1)


def _frozen(sets: Mapping[int, set[int]]) -> dict[int, frozenset[int]]:
    return {place: frozenset(found) for place, found in sets.items()}
