"""Accumulates on one location that are under way on several queue pairs, in their order.

By the standard a later one on that location is performed later (MPI 4.1, 12.7.2). That its request is complete here means
that it was performed, so that the sources of the older ones were read; MPI only says that its own was.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Sequence
from typing import NamedTuple

from rdma_robust.c.evaluate.calls import CallContext


class _Oldest(NamedTuple):
    """The oldest accumulate that is under way on a location and a queue pair; its number tells which came first there."""

    location: Hashable
    connection: str


def accumulated(call: CallContext, locations: Sequence[Hashable], connections: Sequence[str]) -> None:
    """Note accumulates on locations, each on a queue pair."""
    numbers = call.state.numbers
    for location, connection in zip(locations, connections, strict=True):
        latest = max((number for each, number in _oldest(call).items() if each.location == location), default=0)
        numbers.setdefault(_Oldest(location, connection), latest + 1)


def accumulates_completed(call: CallContext, connection: str) -> None:
    """Note that nothing is under way on a queue pair."""
    for each in _oldest(call):
        if each.connection == connection:
            del call.state.numbers[each]


def follows_others(call: CallContext, connection: str, waited: Container[str]) -> bool:
    """Return whether one on this queue pair has older ones on its location under way on others that are not `waited` for."""
    oldest = _oldest(call)
    own = {each.location: number for each, number in oldest.items() if each.connection == connection}
    others = ((each, number) for each, number in oldest.items() if each.connection not in waited)
    return any(number < own.get(each.location, 0) for each, number in others)


def _oldest(call: CallContext) -> dict[_Oldest, int]:
    return {each: number for each, number in call.state.numbers.items() if isinstance(each, _Oldest)}
