"""The insertions worth trying: those that can order something, and do not block by themselves.

Left out are

- what no event can follow, and fences no operation of their queue pair can follow: a trace may end before them;
- flushes and fences no operation of their queue pair can precede: they order nothing that is not ordered;
- more polls at a place than can be outstanding there, which block, as everything else that blocks alone;
- a REFILL where a DRAIN has a fixed number of polls and does not block: it does as much and costs more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rdma_robust.analyses.repair.counting import Refused, count, plan
from rdma_robust.analyses.repair.repairs import MOST_POLLS, Choice, Kind
from rdma_robust.analyses.repair.sites import Flow, Sites


def universe(sites: Sites, go_on: Callable[[], None]) -> tuple[Choice, ...]:
    """Return every insertion that can be part of an irreducible solution, in a fixed order.

    `go_on` is called now and then, and may raise.
    """
    found = []
    for thread, flow in enumerate(sites.flows):
        for node in flow.nodes:
            for choice in _of(sites, thread, flow, node):
                go_on()
                found.append(choice)
    return tuple(sorted(found, key=lambda c: (c.place, list(Kind).index(c.kind), c.node, c.copy)))


def _of(sites: Sites, thread: int, flow: Flow, node: str) -> Iterator[Choice]:
    counted = count(flow, node, {})
    behind, ahead, ahead_here = flow.behind(node), flow.ahead(None), flow.ahead(node)
    for place, where in enumerate(sites.places):
        if where.thread != thread or place not in behind or place not in ahead:
            continue
        for copy in range(min(MOST_POLLS, max(counted.at.get(place, {0})))):
            polls = frozenset(Choice(place, Kind.POLL, node, k) for k in range(copy + 1))
            if isinstance(plan(sites, polls), Refused):
                break
            yield Choice(place, Kind.POLL, node, copy)
        fence = Choice(place, Kind.RFENCE, node)
        if place in ahead_here and not isinstance(plan(sites, frozenset({fence})), Refused):
            yield fence
        yield from _flushes(sites, place, node)


def _flushes(sites: Sites, place: int, node: str) -> Iterator[Choice]:
    drain, refill = Choice(place, Kind.DRAIN, node), Choice(place, Kind.REFILL, node)
    alone = plan(sites, frozenset({drain}))
    if not (isinstance(alone, Refused) and alone.blocks):
        yield drain
    blocked = plan(sites, frozenset({refill}))
    if isinstance(alone, Refused) and not (isinstance(blocked, Refused) and blocked.blocks):
        # What has no fixed number of polls alone may have one with others.
        yield refill
