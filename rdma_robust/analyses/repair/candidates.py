"""The statements worth inserting, and the places that differ for a queue pair.

Left out is what no cheapest set needs (docs/repair.md has the arguments):

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

from collections.abc import Callable, Iterator, Mapping

from rdma_robust.analyses.repair.automata_sites import StatePlace
from rdma_robust.analyses.repair.counting import most_outstanding
from rdma_robust.analyses.repair.edits import Gap
from rdma_robust.analyses.repair.repairs import MOST_COPIES, Barrier, InsertionChoice
from rdma_robust.analyses.repair.sites import Flow, Sites
from rdma_robust.language.syntax import ast


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
