"""Remote fences that order nothing, read off the order table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rdma_robust.analyses.lints.queue_flow import ThreadFlow
from rdma_robust.analyses.lints.trails import Trail, by_the_card
from rdma_robust.diagnose import quote
from rdma_robust.errors import Diagnostic
from rdma_robust.language.flow.cfg import Op, RFence
from rdma_robust.model import Model
from rdma_robust.semantics.event_table import Act, requests_to
from rdma_robust.semantics.machines.waiting_points import makes_choices
from rdma_robust.semantics.order_table import ORDERS, ippo_scope, oppo_scope
from rdma_robust.semantics.trace import EventType

NF: Final = EventType.NF
_MODELS: Final = tuple(Model(order=order) for order in ORDERS)


def fences_without_effect(flow: ThreadFlow, found: list[Trail]) -> Iterator[Diagnostic]:
    """Yield the remote fences that put no two requests in order that are not in order anyway (RR724).

    `found` are the trails of all requests. In the order table a fence is an event between those of earlier and of later
    requests of its queue pair. What was polled is done as far as a fence waits for it, and the CPU posts in order. A fence
    that decides between branches of which one has to wait is no such fence: it has an effect without ordering anything.
    """
    for span, edges in flow.statements.items():
        fences = [edge for edge in edges if isinstance(edge[2].op, RFence)]
        steps = frozenset(step for _, _, step in fences)
        if not fences or makes_choices(flow.thread, steps.__contains__):
            continue
        step = fences[0][2]
        assert isinstance(step.op, RFence)
        node = step.op.node
        earlier = [op for t in found if t.node == node and any(not p.polled for p in t.at(span)) for op in t.ops]
        later = [s.op for _, target, _ in fences for _, _, s in flow.from_point(target) if requests_to(s.op) == node]
        why = _useless(earlier, later, node)
        if why:
            what = quote(step.text if len(fences) == len(edges) else "fenced")
            yield Diagnostic("warning", "RR724", f"{what} orders nothing: {why}", span)


def _useless(earlier: list[Op], later: list[Op], node: str) -> str:
    """Return why a fence between these requests orders nothing, empty if it does."""
    if not earlier:
        return f"nothing towards {node} is outstanding before it"
    if not later:
        return f"nothing towards {node} comes after it"
    if any(orders(one, other) for one in _acts(earlier) for other in _acts(later)):
        return ""
    return (
        f"it waits for gets and atomics; puts towards {node} are in order without it, and it does not wait until they arrive"
    )


def _acts(ops: Iterable[Op]) -> set[Act]:
    return {act for op in ops for act in by_the_card(op)}


def orders(earlier: Act, later: Act) -> bool:
    """Whether a fence between two events of a queue pair orders them where nothing else does, on some hardware.

    A put has no other reason to be late than the requests before it and its own read. So that it is *issued* before the
    fence says nothing: what it waits for, the later event waits for as well. A message waits for its receive.
    """
    if earlier.type is EventType.NRW and earlier.message is None:
        return False
    a, b = earlier.type, later.type
    return any(
        scope(a, NF, model) != "-" and scope(NF, b, model) != "-" and scope(a, b, model) == "-"
        for model in _MODELS
        for scope in (ippo_scope, oppo_scope)
    )
