"""What the card reads and writes in one operation is told by the types of the two events."""

from __future__ import annotations

import pytest

from rdma_robust.semantics.trace import NIC_WRITE_TYPES, Event, EventType
from rdma_robust.semantics.vertices import TOGETHER, read_and_writes


def event(place: int, kind: EventType, remote: str = "B") -> Event:
    return Event(place, kind, 0, place, remote)


@pytest.mark.parametrize("read", [EventType.NLR, EventType.NRR, EventType.NAR, EventType.NA])
@pytest.mark.parametrize("write", sorted(NIC_WRITE_TYPES, key=lambda t: t.value))
def test_only_types_of_one_operation_belong_together(read: EventType, write: EventType) -> None:
    """A naR with an inline put behind it, say, are two operations, also in a trace without steps."""
    found = list(read_and_writes([event(0, read), event(1, write)]))
    assert found == ([(0, 1)] if (read, write) in TOGETHER else [])


def test_a_read_modify_write_has_two_writes_and_an_inline_put_behind_it_none_of_its_reads() -> None:
    kinds = (EventType.NAR, EventType.NAW, EventType.NLW, EventType.NRW)
    assert list(read_and_writes([event(n, kind) for n, kind in enumerate(kinds)])) == [(0, 1), (0, 2)]


def test_other_queue_pairs_are_other_operations() -> None:
    assert list(read_and_writes([event(0, EventType.NLR), event(1, EventType.NRW, "C")])) == []
