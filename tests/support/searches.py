"""What two searches of the same program must agree on, whatever numbers they give to transitions."""

from __future__ import annotations

from typing import Any

from rdma_robust.counters.search import CounterSearch


def comparable(found: CounterSearch[Any]) -> tuple[object, ...]:
    """Return everything a search says but its numbering and its memory."""
    r = found.result
    return r.target, found.run, r.states, r.transitions, frozenset(found.fired), r.cut, r.frontier
