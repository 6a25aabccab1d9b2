"""Which order tables say the same of everything that a program has, so that it has the same executions under them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rdma_robust.language.flow.cfg import Program, steps
from rdma_robust.orders.order_record import AS_PUT
from rdma_robust.orders.order_strength import EventKinds, said_of_kinds
from rdma_robust.semantics.event_table import acts_of
from rdma_robust.semantics.kinds import is_send
from rdma_robust.semantics.trace import EventType

_ROWS: Final = dict.fromkeys((EventType.NAR, EventType.NAW, EventType.NA), (EventType.NAR, EventType.NAW))
"""The types of events whose rows count where there is one of these: of an atomic the hardware says which it has."""


def event_kinds(program: Program) -> EventKinds:
    """Return what the program has of which order tables say something."""
    ops = [step.op for thread in program.threads for _, _, step in steps(thread)]
    acts = [act for op in ops for act in acts_of(op)]
    types = frozenset(each.value for act in acts for each in _ROWS.get(act.type, (act.type,)))
    types |= {*AS_PUT} if any(map(is_send, ops)) else frozenset()
    polls = any(act.type is EventType.P for act in acts)
    return EventKinds(types, polls, receives=any(act.message is not None for act in acts))


def like_orders(program: Program, orders: Iterable[str]) -> dict[str, str]:
    """Return for each order the first one that says the same of the program's events."""
    kinds = event_kinds(program)
    first: dict[tuple[object, ...], str] = {}
    return {order: first.setdefault(said_of_kinds(order, kinds), order) for order in orders}
