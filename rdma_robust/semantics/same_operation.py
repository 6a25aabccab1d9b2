"""Which events belong to one operation of a network card: told by the types of events that follow each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, Protocol

from rdma_robust.language.flow.cfg import Step
from rdma_robust.semantics.trace import CPU_TYPES, NIC_WRITE_TYPES, READ_TYPES, EventType

CARD_READS: Final = READ_TYPES - CPU_TYPES


TOGETHER: Final = (
    (EventType.NLR, EventType.NRW),
    (EventType.NRR, EventType.NLW),
    (EventType.NAR, EventType.NAW),
    (EventType.NAR, EventType.NLW),
    (EventType.NA, EventType.NLW),
    (EventType.NLR, EventType.NAR),
    (EventType.NLR, EventType.NA),
)
"""The types of a card's read of one operation and of what it carries a value to: a write, or the read behind an operand."""


class OperationEvent(Protocol):
    """What is asked of an event."""

    @property
    def type(self) -> EventType: ...

    @property
    def remote(self) -> str | None: ...

    @property
    def step(self) -> Step | None: ...

    @property
    def peer(self) -> str | None: ...

    @property
    def completing(self) -> bool | None: ...


def read_and_writes(events: Sequence[OperationEvent]) -> Iterator[tuple[int, int]]:
    """Yield (read, write) for what the card reads and then writes in one operation, as places in `events`; also each of its
    operands with the read behind them.

    `events` are those of one thread in program order. Such pairs are always ordered, whatever the order table says: the
    write carries the value that was read, or is that of the same read-modify-write.
    """
    read = -1
    operands: list[int] = []
    for place, event in enumerate(events):
        if event.type in CARD_READS:
            yield from ((operand, place) for operand in operands if _together(events[operand], event))
            operands = [*operands, place] if event.type is EventType.NLR else []
            read = place
        elif read >= 0 and event.type in NIC_WRITE_TYPES and _together(events[read], event):
            yield read, place
            operands = []
        else:
            read, operands = -1, []


def data_and_messages(events: Sequence[OperationEvent]) -> Iterator[tuple[int, int]]:
    """Yield (write, message) for each write with immediate of a thread's events, as places in `events`."""
    for place, (write, message) in enumerate(pairwise(events)):
        both = write.type is message.type is EventType.NRW and write.remote == message.remote
        if both and message.peer is not None and write.peer is None and not write.completing:
            yield place, place + 1


def read_modify_writes(events: Sequence[OperationEvent]) -> Iterator[tuple[int, int]]:
    """Yield (naR, naW) for each read-modify-write of a thread's events, as places in `events`."""
    for read, write in read_and_writes(events):
        if events[write].type is EventType.NAW:
            yield read, write


def _together(read: OperationEvent, write: OperationEvent) -> bool:
    of_one_step = read.step is None or write.step is None or read.step == write.step
    return (read.type, write.type) in TOGETHER and read.remote == write.remote and of_one_step
