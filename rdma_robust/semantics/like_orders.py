"""Order tables that say the same of everything that a program has, so that it has the same executions under them."""

from __future__ import annotations

from collections.abc import Iterable

from rdma_robust.language.flow.cfg import Program, steps
from rdma_robust.orders.order_record import MESSAGE, SOURCE, UPDATES, VARIANT_OF, OrderTable
from rdma_robust.orders.order_strength import EventKinds, said_of_kinds
from rdma_robust.semantics.event_table import acts_of
from rdma_robust.semantics.kinds import UPDATE_TYPES, is_send, is_update
from rdma_robust.semantics.trace import EventType


def event_kinds(program: Program) -> EventKinds:
    """Return what the program has of which order tables say something."""
    ops = [step.op for thread in program.threads for _, _, step in steps(thread)]
    acts = [act for op in ops for act in acts_of(op)]
    types = frozenset(act.type.value for act in acts if act.type not in UPDATE_TYPES) | atomic_rows(program)
    types |= {MESSAGE, SOURCE} if any(map(is_send, ops)) else frozenset()
    polls = any(act.type is EventType.P for act in acts)
    return EventKinds(types, polls, receives=any(act.message is not None for act in acts))


def atomic_rows(program: Program) -> frozenset[str]:
    """Return the rows of tables that say something of the program's remote atomics: whether such a one is one event or two,
    the hardware says."""
    ops = [step.op for thread in program.threads for _, _, step in steps(thread)]
    found = {is_update(op) for op in ops if any(act.type in UPDATE_TYPES for act in acts_of(op))}
    return frozenset(row for update in found for row in (UPDATES if update else ("naR", "naW")))


def unknown_to(program: Program, table: OrderTable) -> frozenset[tuple[str, str]]:
    """Return the cells of a table that nobody knows, those of sends and of atomics that fetch nothing if the program has
    some."""
    if not table.unknown:
        return frozenset()
    types = event_kinds(program).types
    return frozenset(cell for cell in table.unknown if types.issuperset({*cell} & {*VARIANT_OF}))


def like_orders(program: Program, orders: Iterable[str]) -> dict[str, str]:
    """Return for each order the first one that says the same of the program's events."""
    kinds = event_kinds(program)
    first: dict[tuple[object, ...], str] = {}
    return {order: first.setdefault(said_of_kinds(order, kinds), order) for order in orders}
