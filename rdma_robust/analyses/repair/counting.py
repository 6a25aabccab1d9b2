"""Outstanding operations: which sets of insertions let no poll wait forever, and leave every poll of the program as it was.

Followed is, for one queue pair, what a thread has outstanding: the operations issued and not yet polled, in the program (p)
and with the insertions (q). The paths are those that both can take; values are ignored, so there are more than can be taken.
A set *stands* if on every path

1. an inserted poll finds something outstanding,
2. a poll of the program that finds nothing without the insertions finds nothing with them, and
3. one that finds something without them finds something with them, unless all that the thread can do next behind it
   it can do without it, as in `loop { poll B }`.

A poll with nothing outstanding waits forever, because only its own thread issues operations on its queue pair; any other
poll ends, because the card completes operations without help. So with a set that stands every thread can go the ways that it
goes in the program, but for polls left out of these, and stops only where it did: fences, and gets of words that nobody
writes into words that nobody reads, do nothing else.

What does not stand is refused with the path that shows it, as a bound that all sets have to keep (`BalanceBound`): how
many more polls than gets a path can have.

The statements worth inserting, and the places that differ for a queue pair.

Left out is what no cheapest set needs (docs/repair-method.md has the arguments):

- places that no event can follow: a trace may end before them; remote fences and `order`s that no operation of their queue
  pair can come before, or that none can follow; `mfence`s that no store can come before, or no read, poll or receive can
  follow;
- for a cheapest set, places behind a statement of the same block that is no poll, no operation of the queue pair, and has no
  blocks: what stands behind it can stand before it, where it costs the same, finds the same outstanding and orders more. Not
  so where it would make a choice before the statement does, and not for gets if a store may be before it that waits in a
  buffer, of which the get would tell.

How many equal statements of a queue pair can stand at one place is bounded: gets by one more than the polls of the program
that can follow, polls by two more than the program has outstanding there at most, and both by MOST_COPIES.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from rdma_robust.analyses.repair.edits import Gap
from rdma_robust.analyses.repair.repairs import MOST_COPIES, MOST_UNBOUNDED, Barrier, Choices, InsertionChoice
from rdma_robust.analyses.repair.sites import Flow, MarkedEdge, Sites, StatePlace
from rdma_robust.language.syntax import ast
from rdma_robust.semantics.event_table import completes_on, polls_of


@dataclass(frozen=True, slots=True)
class PollBalance:
    """The sum of polls towards `node` less that of gets, each as often as `passes` says for its place, or of gets `before`
    if that is another number."""

    node: str
    passes: Mapping[int, int]
    before: Mapping[int, int] | None = None

    def weight(self, choice: InsertionChoice) -> int:
        if choice.node != self.node or choice.kind not in (Barrier.POLL, Barrier.GET):
            return 0
        if choice.kind is Barrier.POLL or self.before is None:
            weight = self.passes.get(choice.place, 0)
            return weight if choice.kind is Barrier.POLL else -weight
        return -self.before.get(choice.place, 0)


@dataclass(frozen=True, slots=True)
class BalanceBound:
    """A bound that sets which stand keep: `row`, by which `sign` is, is at most `most`; if they have `given` (always if
    that is None), and unless one of `escapes` (a row and a number) is at least its number: then the path is none with this
    set.
    """

    row: PollBalance
    sign: int
    most: int
    given: InsertionChoice | None = None
    escapes: tuple[tuple[PollBalance, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Exactly:
    """A refusal of one set alone: to have just `chosen` of what can stand at `places`."""

    chosen: Choices
    places: frozenset[int]


@dataclass(frozen=True, slots=True)
class Nothing:
    """A refusal of all that stands at `place`."""

    place: int


Refusal = BalanceBound | Exactly | Nothing


@dataclass(frozen=True, slots=True)
class _State:
    """A point of the marked program, the point behind the last step of the program itself, the last place since then where
    something is inserted, what is outstanding in the program and with the insertions, and the difference; numbers from
    the cap on stand for all greater ones."""

    point: int
    real: int
    committed: int | None
    have: int
    now: int
    more: int


def path_refusals(sites: Sites, chosen: Choices) -> list[Refusal]:
    """Return why a set does not stand on all paths, at most one reason for each queue pair; nothing if it stands."""
    found: list[Refusal] = []
    for thread in sorted({sites.places[c.place].thread for c in chosen}):
        flow = sites.flows[thread]
        here = frozenset(c for c in chosen if sites.places[c.place].thread == thread)
        for node in dict.fromkeys((*flow.nodes, *sorted(c.node for c in here))):
            refusal = OutstandingWalk(flow, node, here).refusal()
            if refusal is not None:
                found.append(refusal)
    return found


def commits(sites: Sites, chosen: Choices) -> bool:
    """Whether something is at the beginning of a branch, where it makes the choice, and what comes next there may wait."""
    flows = {c.place: sites.flows[sites.places[c.place].thread] for c in chosen}
    return any(flow.commits(place) for place, flow in flows.items())


def stands(sites: Sites, chosen: Choices) -> bool:
    """Whether a set lets no poll wait forever and leaves every poll of the program as it was."""
    return not path_refusals(sites, chosen)


def outstanding(sites: Sites, chosen: Choices, place: int, node: str) -> frozenset[int]:
    """Return what can be outstanding towards `node` at a place, before what is inserted there; a number that is greater than
    the number of operations in the thread stands for all greater ones.
    """
    thread = sites.places[place].thread
    here = frozenset(c for c in chosen if sites.places[c.place].thread == thread)
    walk = OutstandingWalk(sites.flows[thread], node, here)
    walk.refusal()
    source = sites.flows[thread].marks[place].source
    return frozenset(state.now for state in walk.parents if state.point == source)


def most_outstanding(flow: Flow, node: str) -> dict[int, int]:
    """Return for every place that some path comes to the most that the program has outstanding there towards `node`; where
    that has no end, what MOST_UNBOUNDED polls are enough for."""
    walk = OutstandingWalk(flow, node, frozenset())
    walk.refusal()
    found: dict[int, int] = {}
    for state in walk.parents:
        have = state.have if state.have < walk.cap else MOST_UNBOUNDED - 2
        for edge in flow.out.get(state.point, ()):
            if edge.place is not None:
                found[edge.place] = max(have, found.get(edge.place, 0))
    return found


class OutstandingWalk:
    """The paths of one thread and its queue pair to one node, shortest first."""

    def __init__(self, flow: Flow, node: str, chosen: Choices) -> None:
        self.flow, self.node, self.chosen = flow, node, chosen
        self.gets = Counter(c.place for c in chosen if c.node == node and c.kind is Barrier.GET)
        self.polls = Counter(c.place for c in chosen if c.node == node and c.kind is Barrier.POLL)
        self.occupied = {c.place: c for c in sorted(chosen, key=lambda c: c.order, reverse=True)}
        self.cap = 1 + flow.operations(node) + self.gets.total() + self.polls.total()
        entry = flow.thread.entry
        start = _State(entry, entry, None, 0, 0, 0)
        self.parents: dict[_State, tuple[_State, MarkedEdge] | None] = {start: None}

    def refusal(self) -> Refusal | None:
        todo = deque(self.parents)
        while todo:
            state = todo.popleft()
            for edge in self.flow.out.get(state.point, ()):
                refused = self._refused(state, edge)
                if refused is not None:
                    return refused
                for after in self._after(state, edge):
                    if after not in self.parents:
                        self.parents[after] = (state, edge)
                        todo.append(after)
        return None

    def _refused(self, state: _State, edge: MarkedEdge) -> Refusal | None:
        if edge.place is not None:
            if state.now + self.gets[edge.place] < self.polls[edge.place]:
                return self._reason(state, edge, 0)
        elif polls_of(edge.step.op) == self.node:
            if not state.have and state.now:
                return self._reason(state, edge, 0)  # no more gets than polls before it
            if state.have and not state.now:
                if not self.flow.idle(state.real, edge):
                    return self._reason(state, edge, 1)
                if state.committed is not None and not self.flow.idle(self.flow.marks[state.committed].target, edge):
                    return self._reason(state, edge, 1, self.occupied[state.committed])
        return None

    def _after(self, state: _State, edge: MarkedEdge) -> Iterator[_State]:
        """The states that an edge leads to."""
        if edge.place is not None:
            committed = edge.place if edge.place in self.occupied else state.committed
            change = self.gets[edge.place] - self.polls[edge.place]
            for now in _changed(state.now, change, self.cap):
                for more in _moved(state.more, change, self.cap):
                    if _agree(state.have, now, more, self.cap):
                        yield _State(edge.target, state.real, committed, state.have, now, more)
            return
        polled = polls_of(edge.step.op) == self.node
        if polled and not (state.have and state.now):
            return
        change = -1 if polled else int(completes_on(edge.step.op) == self.node)
        for have in _changed(state.have, change, self.cap):
            for now in _changed(state.now, change, self.cap):
                if _agree(have, now, state.more, self.cap):
                    yield _State(edge.target, edge.target, None, have, now, state.more)

    def _reason(self, state: _State, last: MarkedEdge, kept: int, given: InsertionChoice | None = None) -> Refusal:
        """Return what the path to a poll that must not be there asks of every set."""
        path = [last]
        while (step := self.parents[state]) is not None:
            state, edge = step
            path.append(edge)
        return self.reason(path[::-1], kept, given)

    def reason(self, path: Sequence[MarkedEdge], kept: int, given: InsertionChoice | None = None) -> Refusal:
        """Return what a path to a poll that must not be there, its last edge, asks of every set.

        For a poll that finds nothing, that `kept` are outstanding there after the inserted polls. A poll of the program on
        the path that could have been left out is an escape: a set that leaves it nothing does not have the path. A path that
        is there only by numbers beyond the cap may be none.
        """
        last = path[-1]
        have, now, exact, escapes = self._follow(path[:-1])
        row = PollBalance(self.node, _passes(path))
        if last.place is not None:
            exact &= now + self.gets[last.place] < self.polls[last.place]
            found = BalanceBound(row, 1, have, None, escapes)
        elif kept:
            exact &= have > 0 and now == 0
            found = BalanceBound(row, 1, have - kept, given, escapes)
        else:
            exact &= have == 0 and now > 0
            found = BalanceBound(row, -1, 0, None, escapes)
        return found if exact else Exactly(self.chosen, frozenset(self.flow.marks))

    def waited_for(self, path: Sequence[MarkedEdge], operation: int) -> Refusal:
        """Return what a path to an inserted poll, its last edge, asks of every set if operation number `operation` of the
        program on it never completes: that polls take no more than what comes before. Gets behind it have none to offer.
        """
        _, _, exact, escapes = self._follow(path[:-1])
        own = [k for k, e in enumerate(path) if e.place is None and completes_on(e.step.op) == self.node]
        polled = sum(e.place is None and polls_of(e.step.op) == self.node for e in path)
        row = PollBalance(self.node, _passes(path), _passes(path[: own[operation]]))
        found = BalanceBound(row, 1, operation - polled, None, escapes)
        return found if exact else Exactly(self.chosen, frozenset(self.flow.marks))

    def _follow(self, path: Sequence[MarkedEdge]) -> tuple[int, int, bool, tuple[tuple[PollBalance, int], ...]]:
        """Return what is outstanding at the end of a path, in the program and with the insertions, whether it can be taken,
        and its escapes."""
        have: Counter[str] = Counter()
        now = 0
        real = self.flow.thread.entry
        exact = True
        escapes = []
        for done, edge in enumerate(path):
            if edge.place is not None:
                now += self.gets[edge.place] - self.polls[edge.place]
                exact &= now >= 0
                continue
            polled, completes = polls_of(edge.step.op), completes_on(edge.step.op)
            if polled is not None:
                exact &= polled != self.node or (have[polled] > 0 and now > 0)
                if self.flow.shared(edge) or (polled == self.node and self.flow.idle(real, edge)):
                    escapes.append((PollBalance(polled, _passes(path[:done])), have[polled]))
            for node, change in ((polled, -1), (completes, 1)):
                have[node or ""] += change
                now += change if node == self.node else 0
            real = edge.target
        return have[self.node], now, exact, tuple(escapes)


def _passes(path: Sequence[MarkedEdge]) -> Counter[int]:
    return Counter(e.place for e in path if e.place is not None)


def _changed(value: int, by: int, cap: int) -> range:
    """The numbers that `value`, or if it is the cap everything from there on, can become."""
    if value < cap or by >= 0:
        return range(min(value + by, cap), min(value + by, cap) + 1)
    return range(cap + by, cap + 1)


def _moved(value: int, by: int, cap: int) -> range:
    """The same for a number that can be negative."""
    if abs(value) < cap or value * by >= 0:
        found = max(-cap, min(cap, value + by))
        return range(found, found + 1)
    return range(cap + by, cap + 1) if value > 0 else range(-cap, -cap + by + 1)


def _agree(have: int, now: int, more: int, cap: int) -> bool:
    """Whether `now` can be `have` and `more`."""
    (least, most), (less, greatest) = _range(have, cap), _range(more, cap)
    fewest, highest = _range(now, cap)
    return least + less <= highest and fewest <= most + greatest


def _range(value: int, cap: int) -> tuple[float, float]:
    return (value if value > -cap else -inf, value if value < cap else inf)


def universe(
    sites: Sites, go_on: Callable[[], None], *, every: bool = False, standing: bool = False
) -> tuple[InsertionChoice, ...]:
    """Return what can be part of a cheapest solution, or of `every` irreducible one, in a fixed order. `go_on` is called now
    and then, and may raise. If it counts where threads are `standing` there are places that no event follows, too."""
    found: list[InsertionChoice] = []
    for thread, flow in enumerate(sites.flows):
        buffered = flow.stored if standing else flow.buffered
        found += (InsertionChoice(place, Barrier.MFENCE, "") for place in sorted(buffered) if sites.tso)
        for node in sites.queue_pairs(thread):
            go_on()
            found += _of(sites, thread, flow, node, every=every or standing, standing=standing)
    return tuple(sorted(found, key=lambda c: c.order))


def _of(sites: Sites, thread: int, flow: Flow, node: str, *, every: bool, standing: bool) -> Iterator[InsertionChoice]:
    behind, ahead_here = flow.behind(node), flow.ahead(node)
    ahead = flow.marks.keys() if standing else flow.ahead(None)
    most = most_outstanding(flow, node)
    for number, place in enumerate(sites.places):
        if isinstance(place, StatePlace) or place.thread != thread or number not in ahead or number not in most:
            continue
        for memory in sites.memories(thread, node):
            yield InsertionChoice(number, Barrier.GET, node, memory=memory)
        earlier = not every and _can_stand_before(place, node, sites.cards) and not flow.chooses(number - 1)
        if (not earlier or sites.tso) and node in flow.nodes:
            for copy in range(min(MOST_COPIES, flow.polls_ahead(number, node) + 1)):
                yield InsertionChoice(number, Barrier.GET, node, copy)
        if earlier:
            continue
        for copy in range(min(MOST_COPIES, most[number] + 2)):
            yield InsertionChoice(number, Barrier.POLL, node, copy)
        once = (
            (Barrier.FLUSH, Barrier.FLUSH in sites.more),
            (Barrier.ORDER, Barrier.ORDER in sites.more and number in ahead_here),
            (Barrier.RFENCE, number in ahead_here),
        )
        yield from (InsertionChoice(number, kind, node) for kind, there in once if there and number in behind)


def _can_stand_before(place: Gap, node: str, cards: Mapping[str, str]) -> bool:
    """Whether the statement before a place is one that an insertion towards `node` can as well stand before; `cards` are
    those of nodes that have none of their own."""
    match place.before:
        case ast.Assign() | ast.RFenceStatement() | ast.Assume() | ast.Assert():
            return True
        case ast.Call(call) if call.target.owner is None:
            return True
        case ast.PutStatement(ast.Ref(ast.Ident(owner)), flags=flags) | ast.GetStatement(
            _, ast.Ref(ast.Ident(owner)), flags=flags
        ):
            lane = next((flag.lane.text for flag in flags if flag.lane is not None), None)
            return (lane or cards.get(owner, owner)) != node.partition("[")[0]
        case _:
            return False
