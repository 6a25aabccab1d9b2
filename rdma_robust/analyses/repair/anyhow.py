"""Some repair, where the time for the cheapest is over: flushes wherever they can stand, and then without what is not
needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from rdma_robust.analyses.repair.cheapest import PatchedSolution, RepairSearch
from rdma_robust.analyses.repair.counting import BalanceBound, outstanding, path_refusals, stands, universe
from rdma_robust.analyses.repair.edits import Gap
from rdma_robust.analyses.repair.hitting import OutOfTimeError
from rdma_robust.analyses.repair.patch import Patcher
from rdma_robust.analyses.repair.repairs import Barrier, Choices, InsertionChoice
from rdma_robust.language.syntax import ast


def any_solution(search: RepairSearch) -> None:
    """Look for some solution and note it in `search`. Raises LimitReached."""
    patcher = search.patcher
    best = None
    with suppress(OutOfTimeError):
        flushes = _flushes(search)
        best = _good(search, patcher, flushes) if stands(search.sites, flushes) else None
        changed = best is not None
        while best is not None and changed:
            changed = False
            for gone in _parts(search, best.chosen):
                search.stop()
                fewer = best.chosen - gone
                stays = gone <= best.chosen and stands(search.sites, fewer)
                found = _good(search, patcher, fewer) if stays else None
                if found is not None:
                    best, changed = found, True
    if best is not None:
        search.found.append(best)


def _flushes(search: RepairSearch) -> Choices:
    """Return a flush at every place where one can stand, and every `mfence`; of flushes the statements, if there are any.

    Behind each operation of its queue pair a get and two polls leave nothing outstanding, in loops as well. Where the
    program has polls of its own, flushes leave them as much as they had, from the first place to the last.
    """
    flows = [search.sites.flows[place.thread] for place in search.sites.places]
    waits = (c for c in universe(search.sites, search.stop) if c.kind in (Barrier.MFENCE, Barrier.FLUSH))
    chosen: Choices = frozenset(c for c in waits if c.kind is Barrier.MFENCE or not flows[c.place].commits(c.place))
    if Barrier.FLUSH in search.sites.more:
        return chosen
    polled = {(p.thread, node) for p, node in _spots(search) if search.sites.flows[p.thread].polls_of_program(node)}
    numbers = {place: k for k, place in enumerate(search.sites.places) if isinstance(place, Gap)}
    for place, node in _spots(search):
        search.stop()
        number, flow = numbers[place], search.sites.flows[place.thread]
        if flow.commits(number):
            continue  # whether it waits where the program did not would have to be searched for
        found = outstanding(search.sites, chosen, number, node) if (place.thread, node) in polled else frozenset()
        gets = polls = max(found, default=0) + 1
        bounded = found and polls <= flow.operations(node) + 1
        if not bounded:
            gets, polls = 1, 2
            if not isinstance(place.before, ast.PutStatement | ast.GetStatement | ast.SendStatement):
                continue
        flush = [InsertionChoice(number, Barrier.GET, node, k) for k in range(gets)]
        flush += [InsertionChoice(number, Barrier.POLL, node, k) for k in range(polls)]
        if not bounded or stands(search.sites, chosen | frozenset(flush)):
            chosen |= frozenset(flush)
    while refused := [r for r in path_refusals(search.sites, chosen) if isinstance(r, BalanceBound)]:
        search.stop()
        chosen = frozenset(c for c in chosen if not any(r.row.weight(c) for r in refused))
    return chosen


def _spots(search: RepairSearch) -> list[tuple[Gap, str]]:
    """The places where something can be put, each with the node of a queue pair."""
    found = dict.fromkeys((c.place, c.node) for c in universe(search.sites, search.stop) if c.kind is not Barrier.MFENCE)
    places = [(search.sites.places[number], node) for number, node in found]
    return [(place, node) for place, node in places if isinstance(place, Gap)]


def _parts(search: RepairSearch, chosen: Choices) -> Iterator[Choices]:
    """Yield what to leave out: a get with a poll of its place, any other poll with it, single statements; the dear first."""
    last = sorted((c for c in chosen if _after(c) not in chosen), key=lambda c: (-search.cost(c), c.order))
    for get in (c for c in last if c.kind is Barrier.GET):
        near = (c for c in last if c.kind is Barrier.POLL and c.node == get.node)
        yield from (frozenset({get, poll}) for poll in sorted(near, key=lambda c: c.place != get.place))
    yield from (frozenset({choice}) for choice in last)


def _after(choice: InsertionChoice) -> InsertionChoice:
    return InsertionChoice(choice.place, choice.kind, choice.node, choice.copy + 1)


def _good(search: RepairSearch, patcher: Patcher, chosen: Choices) -> PatchedSolution | None:
    patch = patcher.patch(chosen)
    good = search.checker.judge(patch.text).good
    found = search.judged(chosen, patch) if good else None
    return found if isinstance(found, PatchedSolution) else None
