"""Some repair, where the time for the cheapest is over: flushes wherever they can stand, and then without what is not
needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rdma_robust.analyses.repair.candidates import universe
from rdma_robust.analyses.repair.cheapest import Found, Search
from rdma_robust.analyses.repair.counting import outstanding, stands
from rdma_robust.analyses.repair.patch import Patcher
from rdma_robust.analyses.repair.repairs import Choice, Choices, Kind
from rdma_robust.outcome import Verdict

_Spot = tuple[int, str]
"""A place and the node that a flush goes to."""


def any_solution(search: Search) -> None:
    """Look for some solution and note it in `search`. Raises OutOfTimeError or LimitReached."""
    patcher = Patcher(search.sites)
    spots = list(dict.fromkeys((c.place, c.node) for c in universe(search.sites, search.stop)))
    best = _robust(search, patcher, _flushes(search, spots))
    if best is None:
        return
    for spot in sorted(spots, key=lambda s: -search.sites.places[s[0]].depth):
        fewer = [s for s in spots if s != spot]
        found = None if search.checker.late else _robust(search, patcher, _flushes(search, fewer))
        if found is not None:
            best, spots = found, fewer
    search.found.append(_thinned(search, patcher, best))


def _flushes(search: Search, spots: Sequence[_Spot]) -> Choices:
    """Return a flush at every one of `spots` where one can stand."""
    chosen: Choices = frozenset()
    for place, node in spots:
        search.stop()
        found = outstanding(search.sites, chosen, place, node)
        if not found:
            continue
        polls = max(found) + 1
        gets = 1 if len(found) == 1 else polls
        flush = [Choice(place, Kind.GET, node, k) for k in range(gets)] + [
            Choice(place, Kind.POLL, node, k) for k in range(polls)
        ]
        if stands(search.sites, chosen | frozenset(flush)):
            chosen |= frozenset(flush)
    return chosen


def _thinned(search: Search, patcher: Patcher, best: Found) -> Found:
    """Leave out single statements, and gets with a poll, as long as there are some that can go."""
    changed = True
    while changed:
        changed = False
        for gone in _parts(search, best.chosen):
            fewer = best.chosen - gone
            if search.checker.late:
                return best
            found = _robust(search, patcher, fewer) if gone <= best.chosen and stands(search.sites, fewer) else None
            if found is not None:
                best, changed = found, True
    return best


def _parts(search: Search, chosen: Choices) -> Iterator[Choices]:
    last = sorted((c for c in chosen if _after(c) not in chosen), key=lambda c: (-search.cost(c), c.order))
    for choice in last:
        yield frozenset({choice})
    for get in (c for c in last if c.kind is Kind.GET):
        for poll in (c for c in last if c.kind is Kind.POLL and c.node == get.node):
            yield frozenset({get, poll})


def _after(choice: Choice) -> Choice:
    return Choice(choice.place, choice.kind, choice.node, choice.copy + 1)


def _robust(search: Search, patcher: Patcher, chosen: Choices) -> Found | None:
    patch = patcher.patch(chosen)
    robust = search.checker.check(patch.text).verdict is Verdict.ROBUST
    return search.judged(chosen, patch) if robust else None
