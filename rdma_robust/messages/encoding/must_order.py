"""What surely comes before what, by program order and receives with one candidate: the fourth rule for candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rdma_robust.messages.encoding.endpoint_pairs import EndpointPairs, Truths
from rdma_robust.messages.encoding.symbolic_terms import Symbol
from rdma_robust.messages.encoding.unrolled import Event, Guards, ReceiveEvent, SendEvent, Unrolled, WaitEvent
from rdma_robust.messages.language.message_program import Buffer

_GUARDS: Final = 16
"""So many of the latest events with different guards are compared with the next one."""

Node = tuple[str, int, int]
"""An event ("event", process, position), or the match of a send or receive ("send" or "receive", its number, 0)."""


@dataclass(frozen=True, slots=True)
class MustOrder:
    """For sends, by their numbers, the receives that are matched before they are issued, as bits; and what never happens."""

    matched_before: dict[int, int]
    never_issued: frozenset[int]
    never_matched: frozenset[int]

    def excluded(self, pairs: EndpointPairs) -> Truths:
        """Return which pairs of an endpoint the order excludes."""
        found = np.zeros(pairs.possible.shape, np.bool_)
        if not pairs.receives:
            return found
        low = pairs.receives[0].number
        rows = np.array([each.number - low for each in pairs.receives])
        size = int(rows[-1]) + 1
        for column, send in enumerate(pairs.sends):
            if send.number in self.never_issued:
                found[:, column] = True
                continue
            bits = (self.matched_before.get(send.number, 0) >> low) & ((1 << size) - 1)
            if bits:
                raw = np.frombuffer(bits.to_bytes(size // 8 + 1, "little"), np.uint8)
                found[:, column] = np.unpackbits(raw, bitorder="little")[rows].astype(np.bool_)
        found[[each.number in self.never_matched for each in pairs.receives]] = True
        return found


def must_order(unrolled: Unrolled, endpoints: Sequence[EndpointPairs], buffer: Buffer) -> MustOrder:
    """Return what follows from the candidates as they are. An edge a -> b says: if b happens, so does a, and before it."""
    follows: dict[Node, list[Node]] = {}
    degree: dict[Node, int] = {}
    for a, b in _edges(unrolled, endpoints, buffer):
        follows.setdefault(a, []).append(b)
        degree[b] = degree.get(b, 0) + 1
        degree.setdefault(a, 0)
    for node in _without_candidates(unrolled, endpoints, buffer):
        degree[node] = degree.get(node, 0) + 1
    before: dict[Node, int] = {}
    todo = [node for node, count in degree.items() if not count]
    for node in todo:
        own = 1 << node[1] if node[0] == "receive" else 0
        here = before.get(node, 0) | own
        before[node] = here
        for after in follows.get(node, ()):
            before[after] = before.get(after, 0) | here
            degree[after] -= 1
            if not degree[after]:
                todo.append(after)
    happens = set(todo)
    issues = [(send.number, ("event", send.process, send.position)) for send in unrolled.sends]
    return MustOrder(
        {number: before.get(node, 0) for number, node in issues},
        frozenset(number for number, node in issues if node in degree and node not in happens),
        frozenset(node[1] for node in degree if node[0] == "receive" and node not in happens),
    )


def _without_candidates(unrolled: Unrolled, endpoints: Sequence[EndpointPairs], buffer: Buffer) -> Iterator[Node]:
    """Yield matches that never are, of which something may wait."""
    receives: set[int] = set()
    sends: set[int] = set()
    for pairs in endpoints:
        receives.update(pairs.receives[row].number for row in np.flatnonzero(pairs.possible.any(1)))
        sends.update(pairs.sends[column].number for column in np.flatnonzero(pairs.possible.any(0)))
    yield from (("receive", each.number, 0) for each in unrolled.receives if each.number not in receives)
    if buffer == "zero":
        yield from (("send", each.number, 0) for each in unrolled.sends if each.number not in sends)


def _edges(unrolled: Unrolled, endpoints: Sequence[EndpointPairs], buffer: Buffer) -> Iterator[tuple[Node, Node]]:
    for events in unrolled.events:
        yield from _program_order(events, buffer)
    for pairs in endpoints:
        yield from _single_candidates(pairs)
        if pairs.takes_everything:
            yield from _in_order(pairs)
    if buffer == "zero":
        yield from _single_receives(endpoints)


def _program_order(events: Sequence[Event], buffer: Buffer) -> Iterator[tuple[Node, Node]]:
    """Yield edges from what surely happens before an event of the same process, and between issues, matches and waits."""
    last: dict[int, tuple[Symbol, Node]] = {}
    known = Guards()
    for event in events:
        if not isinstance(event, SendEvent | ReceiveEvent | WaitEvent):
            continue
        node: Node = ("event", event.process, event.position)
        yield from ((before, node) for guard, before in last.values() if known.implies(event.guard, guard))
        last.pop(event.guard.number, None)
        last[event.guard.number] = (event.guard, node)
        if len(last) > _GUARDS:
            del last[next(number for number, (guard, _) in last.items() if not guard.constant)]
        match event:
            case SendEvent():
                yield node, ("send", event.number, 0)
            case ReceiveEvent():
                yield node, ("receive", event.number, 0)
            case WaitEvent() if event.kind == "receive" or buffer == "zero":
                yield (event.kind, event.operation, 0), node
            case _:
                pass


def _single_candidates(pairs: EndpointPairs) -> Iterator[tuple[Node, Node]]:
    for row in np.flatnonzero(pairs.possible.sum(axis=1) == 1):
        send = pairs.sends[int(pairs.possible[row].argmax())]
        yield ("event", send.process, send.position), ("receive", pairs.receives[row].number, 0)


def _in_order(pairs: EndpointPairs) -> Iterator[tuple[Node, Node]]:
    """Yield edges between neighbours of receives that take everything, if the first is surely posted where the second is."""
    known, last = Guards(), None
    for receive in pairs.receives:
        if last is not None and known.implies(receive.guard, last.guard):
            yield ("receive", last.number, 0), ("receive", receive.number, 0)
        if last is None or not last.guard.constant or receive.guard.constant:
            last = receive


def _single_receives(endpoints: Sequence[EndpointPairs]) -> Iterator[tuple[Node, Node]]:
    """Yield edges from the issue of a receive to the match of the send whose only candidate it is."""
    counts: dict[int, int] = {}
    only: dict[int, tuple[SendEvent, ReceiveEvent]] = {}
    for pairs in endpoints:
        for column in np.flatnonzero(pairs.possible.sum(axis=0)):
            send = pairs.sends[column]
            counts[send.number] = counts.get(send.number, 0) + int(pairs.possible[:, column].sum())
            only[send.number] = send, pairs.receives[int(pairs.possible[:, column].argmax())]
    for number, (_, receive) in only.items():
        if counts[number] == 1:
            yield ("event", receive.process, receive.position), ("send", number, 0)
