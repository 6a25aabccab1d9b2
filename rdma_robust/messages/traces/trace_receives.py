"""The receives of a trace: where each is over, what those of a log took, and whether messages may disagree with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from rdma_robust.messages.traces.trace_record import Field, MessageTrace, TraceEvent, TraceProcess


@dataclass(frozen=True, slots=True)
class PlacedReceive:
    """A receive, the number of its event, and that of the event at which it is over; None if it is not waited for."""

    event: TraceEvent
    at: int
    over: int | None


def receives_of(process: TraceProcess) -> Iterator[PlacedReceive]:
    """Yield the receives of a process in the order in which they are posted."""
    waits = {event.fields["request"]: at for at, event in enumerate(process.events) if event.op == "wait"}
    for at, event in enumerate(process.events):
        if event.op.removeprefix("i").endswith("recv"):
            over = waits.get(event.fields["request"]) if "request" in event.fields else at
            yield PlacedReceive(event, at, over)


def logged_matches(trace: MessageTrace) -> dict[tuple[int, int], tuple[int, int] | None]:
    """Return what the receives of a log took that were completed; None for those that say nothing of it."""
    found: dict[tuple[int, int], tuple[int, int] | None] = {}
    for me, process in enumerate(trace.processes):
        for nth, receive in enumerate(receives_of(process)):
            match receive.event.fields.get("matched"):
                case (int() as sender, int() as send):
                    found[me, nth] = sender, send
                case _ if receive.over is not None and receive.over < len(process.events) - 1:
                    found[me, nth] = None
                case _:
                    pass
    return found


@dataclass(slots=True)
class _SentData:
    """The messages of one channel with one tag: their types, and the length of the longest."""

    types: set[Field] = field(default_factory=set)
    most: int = 0


def without_agreed_data(trace: MessageTrace) -> MessageTrace:
    """Return a trace without what it says of types and lengths where no receive may take a message that disagrees with it.

    Those that are compared are questions of their own, which no engine answers at once.
    """
    sent: dict[tuple[Field, Field], dict[tuple[int, Field], _SentData]] = {}
    for me, process in enumerate(trace.processes):
        for said in (event.fields for event in process.events if event.op in ("send", "isend")):
            channels = sent.setdefault((said["to"], said.get("port")), {})
            data = channels.setdefault((me, said.get("tag") or 0), _SentData())
            data.types |= {said["type"]} if "type" in said else set()
            data.most = max(data.most, _number(said.get("size")))

    @cache
    def agrees(me: int, port: Field, wanted: tuple[Field, Field], kind: Field, room: Field) -> bool:
        return all(
            (kind is None or data.types <= {kind}) and (room is None or data.most <= _number(room))
            for channel, data in sent.get((me, port), {}).items()
            if all(asked in (told, "any") for asked, told in zip(wanted, channel, strict=True))
        )

    checked: set[tuple[Field, Field]] = set()
    for me, process in enumerate(trace.processes):
        for said in (each.event.fields for each in receives_of(process)):
            port, wanted = said.get("port"), (said.get("from", "any"), said.get("tag", "any"))
            checked |= set() if agrees(me, port, wanted, said.get("type"), said.get("room")) else {(me, port)}

    def kept(me: int, event: TraceEvent) -> TraceEvent:
        to = event.fields.get("to") if event.op in ("send", "isend") else me
        if (to, event.fields.get("port")) in checked or event.op not in _WITH_DATA:
            return event
        return replace(event, fields={name: value for name, value in event.fields.items() if name not in _DATA})

    processes = [
        replace(process, events=tuple([kept(me, event) for event in process.events]))
        for me, process in enumerate(trace.processes)
    ]
    return replace(trace, processes=tuple(processes))


_DATA: Final = ("type", "size", "room")
_WITH_DATA: Final = ("send", "isend", "recv", "irecv")


def _number(known: Field) -> int:
    return known if isinstance(known, int) else 0
