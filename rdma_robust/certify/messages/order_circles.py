"""Circles: matches of which each has to come before the next, and the last before the first. So not all of them can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from rdma_robust.certify.messages.match_formula import MatchFormula
from rdma_robust.certify.messages.unfolded_terms import TermNode, implied_truth
from rdma_robust.certify.messages.unfolding import Issue, OpKind, WaitingProcess


@dataclass(frozen=True, slots=True)
class MatchRange:
    """A send is taken by a receive of one endpoint from `first` to `last` in posting order, by their numbers."""

    send: int
    first: int
    last: int


Circle = tuple[MatchRange, ...]
Conditions = list[TermNode]


class Circles:
    """Tells for one formula whether matches are a circle, and adds the clause of one."""

    def __init__(self, formula: MatchFormula) -> None:
        self.formula = formula
        self._unfolded = formula.unfolded
        self._waits: dict[tuple[OpKind, int], list[WaitingProcess]] = {}
        for events in self._unfolded.events:
            for event in events:
                if isinstance(event, WaitingProcess) and formula.needs_match(event):
                    self._waits.setdefault((event.kind, event.number), []).append(event)

    def add(self, circle: Circle) -> bool:
        """Add the clause that not all of these matches are; False if they are no circle of pairs that are left."""
        literals: list[int] = []
        if not all(self.receives(each) for each in circle):
            return False
        for a, b in pairwise((*circle, *circle[:1])):
            conditions = self.before(a, b)
            if conditions is None:
                return False
            literals += [-self.formula.truth(each) for each in conditions]
        for each in circle:
            literals += self._not_taken(each)
        self.formula.formula.add(*literals)
        return bool(circle)

    def _not_taken(self, taken: MatchRange) -> list[int]:
        if taken.first == taken.last:
            return [-self.formula.x.get((taken.first, taken.send), -1)]
        behind = self.formula.up_to(taken.send, taken.last)
        return [-behind, self.formula.before(taken.send, taken.first)]

    def known(self, taken: MatchRange) -> bool:
        """Return whether numbers are those of a send and of receives of one endpoint, in order."""
        sends, receives = self._unfolded.sends, self._unfolded.receives
        if not (0 <= taken.send < len(sends) and 0 <= taken.first <= taken.last < len(receives)):
            return False
        return taken.last in self.formula.rows[taken.first]

    def receives(self, taken: MatchRange) -> list[Issue]:
        """Return the receives that may take the send as said."""
        rows = self.formula.rows[taken.first]
        numbers = rows[self.formula.row[taken.first] : self.formula.row[taken.last] + 1]
        return [self._unfolded.receives[each] for each in numbers if (each, taken.send) in self.formula.x]

    def before(self, a: MatchRange, b: MatchRange) -> Conditions | None:
        """Return the conditions under which the first match surely comes before the second; None if that is not known.

        Where several receives may take a send, it has to be so for each of them, without conditions.
        """
        best: Conditions | None = None
        for conditions in self._ways(a, b):
            if conditions is not None and (best is None or len(conditions) < len(best)):
                best = conditions
        if best and not (a.first == a.last and b.first == b.last):
            return None
        return best

    def _ways(self, a: MatchRange, b: MatchRange) -> Iterator[Conditions | None]:
        """Yield for W, Z, NS and NR whether they say so."""
        ours, theirs = self.receives(a), self.receives(b)
        sent, sends = self._unfolded.sends[a.send], self._unfolded.sends[b.send]
        yield _all(self._waited(each, sends) for each in ours)
        yield self._waited(sent, sends)
        yield _all(self._waited(each, other) for each, other in product(ours, theirs))
        yield _all(self._waited(sent, other) for other in theirs)
        if (sent.process, sent.port) == (sends.process, sends.port) and sent.place < sends.place:
            yield _all(self._accepts(other, sent) for other in theirs)
        if a.first == a.last and b.first == b.last and theirs and ours:
            (first,), (second,) = ours, theirs
            if second.number in self.formula.rows[first.number] and first.number < second.number:
                yield self._accepts(first, sends)

    def _waited(self, operation: Issue, later: Issue) -> Conditions | None:
        """Return when an operation, which is matched, was waited for before another one, which is issued."""
        waits = self._waits.get((operation.kind, operation.number), ())
        guards = [each.guard for each in waits if operation.process == later.process and each.place < later.place]
        if not guards:
            return None
        if any(implied_truth(operation.guard, each) or implied_truth(later.guard, each) for each in guards):
            return []
        return [self.formula.terms.either(guards)]

    def _accepts(self, receive: Issue, send: Issue) -> Conditions | None:
        fits = self.formula.accepts(receive, send)
        if fits is self.formula.terms.false:
            return None
        return [] if fits is self.formula.terms.true else [fits]


def _all(each: Iterator[Conditions | None]) -> Conditions | None:
    found: Conditions = []
    for conditions in each:
        if conditions is None:
            return None
        found += conditions
    return found


def read_circle(numbers: Sequence[int]) -> Circle | None:
    """Return the circle in a list of numbers, three for each match."""
    if not numbers or len(numbers) % 3:
        return None
    return tuple(MatchRange(*numbers[at : at + 3]) for at in range(0, len(numbers), 3))
