"""Circles in solutions of the checker's formula, made as general as the checker accepts them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from rdma_robust.certify.messages.match_formula import MatchFormula
from rdma_robust.certify.messages.order_circles import Circle, Circles, MatchRange
from rdma_robust.certify.messages.unfolding import WaitingProcess

_MOST: Final = 20
"""So many circles are taken of one solution."""
_STARTS: Final = 60

Holds = Callable[[int], bool]


def circles_of(formula: MatchFormula, circles: Circles, holds: Holds) -> list[Circle]:
    """Return the shortest circles found among the matches of a solution; `holds` tells which literals it has."""
    graph = _Order(formula, holds)
    found: dict[Circle, None] = {}
    starts = sorted(graph.left())
    for start in starts[:: max(1, len(starts) // _STARTS)]:
        way = graph.circle(start)
        if way:
            found[_turned(tuple(MatchRange(graph.matches[each][1], *[graph.matches[each][0]] * 2) for each in way))] = None
    shortest = min((len(each) for each in found), default=0)
    kept = sorted((each for each in found if len(each) <= shortest + 1), key=len)[:_MOST]
    return list(dict.fromkeys(_widened(formula, circles, each) for each in kept))


def _turned(circle: Circle) -> Circle:
    """Return a circle from its first send on."""
    at = min(range(len(circle)), key=lambda each: circle[each].send)
    return circle[at:] + circle[:at]


def _widened(formula: MatchFormula, circles: Circles, circle: Circle) -> Circle:
    """Let each send of a circle be taken by as many neighbouring receives as it still is one with."""
    for at in range(len(circle)):
        for end in ("first", "last"):
            while True:
                wider = _wider(formula, circle[at], end)
                changed = (*circle[:at], wider, *circle[at + 1 :]) if wider else circle
                around = (changed[at - 1], changed[at]), (changed[at], changed[(at + 1) % len(changed)])
                if changed is circle or any(circles.before(a, b) is None for a, b in around):
                    break
                circle = changed
    return circle


def _wider(formula: MatchFormula, taken: MatchRange, end: str) -> MatchRange | None:
    rows = formula.rows[taken.first]
    if end == "first":
        at = formula.row[taken.first] - 1
        return replace(taken, first=rows[at]) if at >= 0 else None
    at = formula.row[taken.last] + 1
    return replace(taken, last=rows[at]) if at < len(rows) else None


class _Order:
    """What comes before what in a solution: vertices are its matches, by their numbers here, then events."""

    def __init__(self, formula: MatchFormula, holds: Holds) -> None:
        self.matches = [pair for pair, literal in formula.x.items() if holds(literal)]
        self.after: list[list[int]] = [[] for _ in self.matches]
        self._of_receive = {receive: at for at, (receive, _) in enumerate(self.matches)}
        self._of_send = {send: at for at, (_, send) in enumerate(self.matches)}
        for events in formula.unfolded.events:
            last = -1
            for event in events:
                matched = (self._of_receive if event.kind == "receive" else self._of_send).get(event.number)
                waits = isinstance(event, WaitingProcess)
                if matched is None or (waits and not self._passed(formula, event, holds)):
                    continue
                here = len(self.after)
                self.after.append([])
                self.after[matched if waits else here].append(here if waits else matched)
                if last >= 0:
                    self.after[last].append(here)
                last = here
        for at, (number, nth) in enumerate(self.matches):
            self._overtaking(formula, holds, at, number, nth)

    def _passed(self, formula: MatchFormula, wait: object, holds: Holds) -> bool:
        assert isinstance(wait, WaitingProcess)
        if not formula.needs_match(wait):
            return False
        return holds(formula.reached[wait.process][wait.place + 1]) and holds(formula.truth(wait.guard))

    def _overtaking(self, formula: MatchFormula, holds: Holds, at: int, number: int, nth: int) -> None:
        receive, send = formula.unfolded.receives[number], formula.unfolded.sends[nth]
        for earlier in formula.sends_before(send):
            if earlier.number in self._of_send and holds(formula.truth(formula.accepts(receive, earlier))):
                self.after[self._of_send[earlier.number]].append(at)
        for other in formula.receives_before(receive):
            if other.number in self._of_receive and holds(formula.truth(formula.accepts(other, send))):
                self.after[self._of_receive[other.number]].append(at)

    def left(self) -> list[int]:
        """Return the matches that are on circles or behind them."""
        degree = [0] * len(self.after)
        for following in self.after:
            for each in following:
                degree[each] += 1
        todo = [each for each, count in enumerate(degree) if not count]
        while todo:
            for each in self.after[todo.pop()]:
                degree[each] -= 1
                if not degree[each]:
                    todo.append(each)
        self._left = {each for each, count in enumerate(degree) if count}
        return [each for each in self._left if each < len(self.matches)]

    def circle(self, start: int) -> Sequence[int]:
        """Return the matches of a circle through one with as few of them as possible, none if there is no such circle."""
        came: dict[int, int] = {}
        todo = deque([start])
        while todo and start not in came:
            at = todo.popleft()
            for each in self.after[at]:
                if each in self._left and each not in came:
                    came[each] = at
                    if each < len(self.matches):
                        todo.append(each)
                    else:
                        todo.appendleft(each)
        if start not in came:
            return ()
        way = [start]
        while len(way) == 1 or way[-1] != start:
            way.append(came[way[-1]])
        way.reverse()
        return [a for a, _ in pairwise(way) if a < len(self.matches)]
