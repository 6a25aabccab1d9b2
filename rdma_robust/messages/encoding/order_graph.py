"""The order graph of a matching: edges of PO, MP, W, NS, NR and Z among its matches and events, and their circles.

A solution of the other constraints is an execution if and only if these edges have no circle (Theorem 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs
from rdma_robust.messages.encoding.match_candidates import Candidates
from rdma_robust.messages.encoding.symbolic_terms import Symbol
from rdma_robust.messages.encoding.unrolled import Event, Guards, ReceiveEvent, SendEvent, WaitEvent, acceptance

FAMILIES: Final = frozenset({"PO", "MP", "U", "W", "NS", "NR", "Z"})

_CIRCLES: Final = 12
"""So many circles are returned of one graph."""
_STARTS: Final = 60


class Overtaking:
    """Operations that NS and NR speak of, for each pair; of those that the same is true of only the nearest ones.

    Two sends of a channel are alike if every receive of the endpoint accepts both or neither, two receives if they accept
    the same. What NS says of the nearest of alike sends, it says of the one that is matched there about the next.
    """

    def __init__(self, candidates: Candidates) -> None:
        self._unrolled = candidates.unrolled
        self.guards = Guards()
        self.place: dict[int, tuple[EndpointPairs, int]] = {}
        self._columns: dict[tuple[int, int], int] = {}
        self._earlier_sends: dict[int, list[list[int]]] = {}
        self._earlier_receives: dict[int, list[list[int]]] = {}
        self._fits: dict[tuple[int, ...], Symbol] = {}
        self.waits = [_waits(events) for events in candidates.unrolled.events]
        for pairs in candidates.endpoints:
            for row, receive in enumerate(pairs.receives):
                self.place[receive.number] = pairs, row
            for column, send in enumerate(pairs.sends):
                self._columns[id(pairs), send.number] = column
            self._earlier_sends[id(pairs)] = list(_earlier_sends(pairs, self.guards))
            rows = [_row_kind(pairs, row) for row in range(len(pairs.receives))]
            self._earlier_receives[id(pairs)] = _nearest(rows, [each.guard for each in pairs.receives], self.guards)

    def column(self, pairs: EndpointPairs, send: int) -> int:
        return self._columns[id(pairs), send]

    def fits(self, pairs: EndpointPairs, row: int, column: int) -> Symbol:
        """Return where the receive of a row accepts the send of a column."""
        if pairs.rule[row, column] == 1:
            return self._unrolled.symbols.false
        if pairs.sure[row, column]:
            return self._unrolled.symbols.true
        receive, send = pairs.receives[row], pairs.sends[column]
        pattern = [-1 if each is None else each.number for each in (receive.source, receive.tag)]
        key = (receive.process, receive.port, *pattern, send.process, send.to.number, send.port, send.tag.number)
        if key not in self._fits:
            self._fits[key] = acceptance(self._unrolled, receive, send)
        return self._fits[key]

    def messages_before(self, pairs: EndpointPairs, row: int, column: int) -> Iterator[tuple[int, Symbol]]:
        """Yield the columns of sends that NS has before the match of a pair, and where it does."""
        for earlier in self._earlier_sends[id(pairs)][column]:
            accepted = self.fits(pairs, row, earlier)
            if accepted is not self._unrolled.symbols.false:
                yield earlier, accepted

    def receives_before(self, pairs: EndpointPairs, row: int, column: int) -> Iterator[tuple[int, Symbol]]:
        """Yield the rows of receives that NR has before the match of a pair, and where it does."""
        for earlier in self._earlier_receives[id(pairs)][row]:
            accepted = self.fits(pairs, earlier, column)
            if accepted is not self._unrolled.symbols.false:
                yield earlier, accepted

    def earlier_rows(self, pairs: EndpointPairs, row: int) -> Sequence[int]:
        return self._earlier_receives[id(pairs)][row]


def _waits(events: Sequence[Event]) -> dict[int, WaitEvent]:
    """Return the first waits for receives."""
    found: dict[int, WaitEvent] = {}
    for event in events:
        if isinstance(event, WaitEvent) and event.kind == "receive":
            found.setdefault(event.operation, event)
    return found


def _earlier_sends(pairs: EndpointPairs, known: Guards) -> Iterator[list[int]]:
    for columns in pairs.channels():
        kinds = [_column_kind(pairs, column) for column in range(columns.start, columns.stop)]
        guards = [each.guard for each in pairs.sends[columns]]
        for nearest in _nearest(kinds, guards, known):
            yield [columns.start + each for each in nearest]


def _column_kind(pairs: EndpointPairs, column: int) -> object:
    surely, never = pairs.sure[:, column], pairs.rule[:, column] == 1
    if (surely | never).all():
        return surely.tobytes()
    send = pairs.sends[column]
    return send.to.number, send.tag.number


def _row_kind(pairs: EndpointPairs, row: int) -> object:
    surely, never = pairs.sure[row], pairs.rule[row] == 1
    if (surely | never).all():
        return surely.tobytes()
    receive = pairs.receives[row]
    return tuple(-1 if each is None else each.number for each in (receive.source, receive.tag))


def _nearest(kinds: Sequence[object], guards: Sequence[Symbol], known: Guards) -> list[list[int]]:
    """Return for each place the nearest earlier ones of each kind: back to one that surely happens if it does."""
    found: list[list[int]] = []
    before: dict[object, list[int]] = {}
    for at, (kind, guard) in enumerate(zip(kinds, guards, strict=True)):
        nearest: list[int] = []
        for places in before.values():
            for each in reversed(places):
                nearest.append(each)
                if known.implies(guard, guards[each]):
                    break
        found.append(nearest)
        if guard.constant:
            before[kind] = [at]
        else:
            before.setdefault(kind, []).append(at)
    return found


@dataclass(frozen=True, slots=True)
class SendRange:
    """A send is taken by a receive of one endpoint that is between `first` and `last` in posting order, by their numbers."""

    send: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle of choices that exclude each other where the conditions hold: whichever receives take the sends, what must
    come before goes round.

    Where the way goes from the issue of a send to the wait for its receive, all receives do that are waited for before the
    way goes on; where it goes, under zero, from the issue of a receive to the wait for its send, all that are posted later.
    """

    taken: tuple[SendRange, ...]
    conditions: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class MatchSolution:
    """A solution of the other constraints: its pairs, which events happen, which truths hold."""

    matches: Sequence[tuple[int, int]]
    happens: Callable[[Event], bool]
    holds: Callable[[Symbol], bool]


@dataclass(frozen=True, slots=True)
class MatchOrder:
    """The matches of a solution in an order in which they can happen; or, if there is none, the shortest circles found."""

    matches: tuple[tuple[int, int], ...]
    circles: tuple[Circle, ...]


def order_matches(
    candidates: Candidates, overtaking: Overtaking, solution: MatchSolution, families: frozenset[str] = FAMILIES
) -> MatchOrder:
    """Return how the matches of a solution can be ordered, or at least one circle.

    `families` are the families of constraints whose edges count; Z counts only for sends that a match completes.
    """
    graph = _Graph(candidates, overtaking, solution, families)
    order = graph.order()
    if len(order) == len(solution.matches):
        return MatchOrder(tuple([solution.matches[each] for each in order]), ())
    return MatchOrder((), tuple(graph.circles()))


def _peeled(vertices: Iterable[int], after: Mapping[int, list[int]] | Sequence[list[int]]) -> list[int]:
    """Return the vertices before which no circle comes, in an order along the edges."""
    degree = dict.fromkeys(vertices, 0)
    for each in degree:
        for following in after[each]:
            if following in degree:
                degree[following] += 1
    found = [each for each, count in degree.items() if not count]
    for each in found:
        for following in after[each]:
            if following in degree:
                degree[following] -= 1
                if not degree[following]:
                    found.append(following)
    return found


def _way_back(start: int, came: Mapping[int, int]) -> list[int]:
    """Return the way from `start` to itself, given from where each vertex was come to."""
    way = [start]
    while len(way) == 1 or way[-1] != start:
        way.append(came[way[-1]])
    return way[:0:-1]


class _Graph:
    """Vertices are numbers: first the matches, then events. `why` has the conditions of edges that have one."""

    def __init__(
        self, candidates: Candidates, overtaking: Overtaking, solution: MatchSolution, families: frozenset[str]
    ) -> None:
        self.matches = matches = solution.matches
        self.overtaking = overtaking
        self.event: dict[int, Event] = {}
        happens, holds = solution.happens, solution.holds
        self.of_receive = {receive: at for at, (receive, _) in enumerate(matches)}
        self.of_send = {send: at for at, (_, send) in enumerate(matches)}
        self.count = len(matches)
        self.why: dict[tuple[int, int], Symbol] = {}
        self.after: list[list[int]] = [[] for _ in matches]
        self._candidates = candidates
        for events in candidates.unrolled.events:
            self._process(events, happens, families)
        for at, (receive, send) in enumerate(matches):
            pairs, row = overtaking.place[receive]
            column = overtaking.column(pairs, send)
            if "NS" in families:
                earlier = [(pairs.sends[each].number, on) for each, on in overtaking.messages_before(pairs, row, column)]
                self._before(at, ((self.of_send.get(number), on) for number, on in earlier), holds)
            if "NR" in families:
                posted = [(pairs.receives[each].number, on) for each, on in overtaking.receives_before(pairs, row, column)]
                self._before(at, ((self.of_receive.get(number), on) for number, on in posted), holds)

    def _before(self, at: int, earlier: Iterable[tuple[int | None, Symbol]], holds: Callable[[Symbol], bool]) -> None:
        for other, accepted in earlier:
            if other is not None and other != at and holds(accepted):
                self._edge(other, at, accepted)

    def _edge(self, a: int, b: int, condition: Symbol | None = None) -> None:
        self.after[a].append(b)
        if condition is not None and not condition.constant:
            self.why[a, b] = condition

    def _process(self, events: Sequence[Event], happens: Callable[[Event], bool], families: frozenset[str]) -> None:
        """Add the events of one process that matches come after, or that come after matches."""
        last = -1
        for event in events:
            match event:
                case SendEvent():
                    at, waiting = self.of_send.get(event.number), False
                case ReceiveEvent():
                    at, waiting = self.of_receive.get(event.number), False
                case WaitEvent() if self._orders(event, families):
                    matched = self.of_receive if event.kind == "receive" else self.of_send
                    at, waiting = matched.get(event.operation), True
                case _:
                    continue
            if at is None or not happens(event):
                continue
            here = len(self.after)
            self.after.append([])
            self.event[here] = event
            if waiting:
                self._edge(at, here)
            elif "MP" in families:
                self._edge(here, at)
            if last >= 0 and "PO" in families:
                self._edge(last, here)
            last = here

    def _orders(self, wait: WaitEvent, families: frozenset[str]) -> bool:
        """Return whether a wait comes after a match, by W or Z."""
        family = "W" if wait.kind == "receive" else "Z"
        return family in families and self._candidates.unrolled.opened(wait, self._candidates.buffer) == "zero"

    def order(self) -> list[int]:
        """Return the matches in an order along the edges, as far as there is one; `left` is on circles or between them."""
        found = _peeled(range(len(self.after)), self.after)
        behind = set(range(len(self.after))).difference(found)
        before: dict[int, list[int]] = {each: [] for each in behind}
        for each in behind:
            for following in self.after[each]:
                before[following].append(each)
        self.left = behind.difference(_peeled(behind, before))
        return [each for each in found if each < self.count]

    def circles(self) -> list[Circle]:
        """Return the shortest circles through some of the matches that are left, none of them twice; at least one."""
        ways: dict[tuple[int, ...], list[int]] = {}
        most: int | None = None
        starts = [each for each in sorted(self.left) if each < self.count]
        step = max(1, len(starts) // _STARTS)
        some = starts[::step]
        for number, start in enumerate([*some, *[each for each in starts if each not in set(some)]]):
            if number >= len(some) and ways:
                break
            way = self._circle(start, most)
            if way:
                matches = tuple(sorted(each for each in way if each < self.count))
                ways.setdefault(matches, way)
                most = len(matches) + 1 if most is None else min(most, len(matches) + 1)
        circles = [self._along(ways[each]) for each in sorted(ways, key=len)[:_CIRCLES] if most is None or len(each) <= most]
        return list({frozenset(each.taken): each for each in circles}.values())

    def _circle(self, start: int, most: int | None) -> list[int]:
        """Return a circle from a match on with as few other matches as possible, none if there is none with so few."""
        came: dict[int, int] = {}
        here, length = [start], 1
        while here and (most is None or length <= most):
            ahead: list[int] = []
            while here:
                at = here.pop()
                for each in self.after[at]:
                    if each == start:
                        came[start] = at
                        return _way_back(start, came)
                    if each in self.left and each not in came:
                        came[each] = at
                        (ahead if each < self.count else here).append(each)
            here, length = ahead, length + 1
        return []

    def _along(self, way: Sequence[int]) -> Circle:
        start = way[0]
        conditions = [self.why[edge] for edge in pairwise([*way, start]) if edge in self.why]
        conditions += self._not_implied(way)
        places = [at for at, vertex in enumerate(way) if vertex < self.count]
        events = [way[at + 1 : after] for at, after in pairwise([*places, len(way)])]
        taken = [
            self._taken(way[at], ahead, behind)
            for at, ahead, behind in zip(places, [events[-1], *events], events, strict=False)
        ]
        return Circle(tuple(taken), tuple(dict.fromkeys(conditions)))

    def _not_implied(self, way: Sequence[int]) -> Iterator[Symbol]:
        """Yield the guards of waits that are not implied by that of the operation behind them, by which the way goes on."""
        behind: Event | None = None
        after = -1
        for vertex in [*way, *way][::-1]:
            event = self.event.get(vertex)
            if 0 <= after < self.count:
                behind = event
            known = behind is None or event is None or self.overtaking.guards.implies(behind.guard, event.guard)
            if isinstance(event, WaitEvent) and not known:
                yield event.guard
            after = vertex

    def _waited(self, receive: ReceiveEvent, end: Event) -> bool:
        """Return whether the process has surely waited for a receive where it gets to `end`."""
        wait = self.overtaking.waits[receive.process].get(receive.number)
        return wait is not None and wait.position < end.position and self.overtaking.guards.implies(end.guard, wait.guard)

    def _is_behind(self, receive: ReceiveEvent, wait: Event) -> bool:
        """Return whether the process has surely passed a wait where it posts a receive."""
        return wait.position < receive.position and self.overtaking.guards.implies(receive.guard, wait.guard)

    @staticmethod
    def _waits_for_sends(*events: Event) -> bool:
        return all(isinstance(event, WaitEvent) and event.kind == "send" for event in events)

    def _taken(self, match: int, ahead: Sequence[int], behind: Sequence[int]) -> SendRange:
        """Return which receives could take the send of a match, and the circle would still be one.

        `ahead` are the events before the match and after the one before it on the circle, `behind` those up to the next. Of
        two matches with events of one process between them, only one may have a choice of receives there.
        """
        receive, send = self.matches[match]
        if not ahead or not behind:
            return SendRange(send, receive, receive)
        entry, leaves = self.event[ahead[-1]], self.event[behind[0]]
        pairs, row = self.overtaking.place[receive]
        candidates = np.flatnonzero(pairs.possible[:, self.overtaking.column(pairs, send)]).tolist()
        if isinstance(entry, SendEvent) and isinstance(leaves, WaitEvent) and leaves.kind == "receive":
            end = self.event[behind[-1]]
            fits = [self._waited(pairs.receives[each], end) for each in candidates]
        elif isinstance(entry, ReceiveEvent) and self._waits_for_sends(leaves, self.event[ahead[0]]):
            begin = self.event[ahead[0]]
            fits = [self._is_behind(pairs.receives[each], begin) for each in candidates]
        else:
            return SendRange(send, receive, receive)
        low = high = candidates.index(row)
        if not fits[low]:
            return SendRange(send, receive, receive)
        while low > 0 and fits[low - 1]:
            low -= 1
        while high + 1 < len(candidates) and fits[high + 1]:
            high += 1
        return SendRange(send, pairs.receives[candidates[low]].number, pairs.receives[candidates[high]].number)
