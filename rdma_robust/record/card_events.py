"""The deeds of the card in a recorded run: which request takes which receive, and what it carries from where to where."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.errors import UsageError
from rdma_robust.record.memory_words import CardTransfer, EventPlaces
from rdma_robust.record.recorded_log import (
    LoggedEvent,
    LoggedRequest,
    LoggedRun,
    MemoryPiece,
    ThreadKey,
    logged_request,
    receive_of,
)

WRITE, WRITE_IMM, SEND, SEND_IMM, READ, SWAP, ADD = range(7)
"""Opcodes of work requests, as in verbs.h."""
TAKES_RECEIVE: Final = frozenset({WRITE_IMM, SEND, SEND_IMM})
ATOMIC: Final = frozenset({SWAP, ADD})
FENCE, SIGNALED, INLINE = 1, 2, 8
"""Flags of work requests."""
_ATOMIC_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class LoggedQueuePair:
    """A queue pair: its process, the one that it is connected with, and the threads that post requests to it, take their
    completions, post receives, and take those of receives. `queue` is where its receives are: a shared queue, or its own."""

    number: int
    process: int
    peer: int
    queue: int
    posts: ThreadKey | None = None
    receives: ThreadKey | None = None


@dataclass(slots=True)
class CardEvents:
    """Queue pairs; by the number of the event: requests that took effect with their transfers, and the request that took a
    posted receive. `effects` are the requests in the order in which they took effect, `arrived` the messages among them, by
    the queue of receives that they came to. `waits` says that a message that finds no receive waits forever."""

    queue_pairs: dict[int, LoggedQueuePair] = field(default_factory=dict)
    requests: dict[int, LoggedRequest] = field(default_factory=dict)
    transfers: dict[int, list[CardTransfer]] = field(default_factory=dict)
    taken: dict[int, LoggedRequest] = field(default_factory=dict)
    effects: list[tuple[LoggedEvent, LoggedRequest]] = field(default_factory=list)
    arrived: dict[int, deque[LoggedRequest]] = field(default_factory=lambda: defaultdict(deque))
    waits: bool = False

    def atomics(self) -> list[MemoryPiece]:
        """Return the memory that remote atomics are about."""
        return [
            piece
            for request in self.requests.values()
            if request.opcode in ATOMIC
            for each in self.transfers[request.event.number]
            for piece in (each.source, each.target)
            if piece is not None
        ]


def card_events(run: LoggedRun, told: EventPlaces) -> CardEvents:
    """Return what the card did. Raises UsageError for queue pairs that several threads use at one end."""
    found, queues = CardEvents(), receive_queues(run)
    users = _users(run, queues, told)
    processes, peers, retries = dict[int, int](), dict[int, int](), set[int]()
    for event in run.events:
        if event.kind == "Q":
            processes[int(event.words[0])] = event.thread[0]
        elif event.kind == "K":
            peers[int(event.words[0])] = int(event.words[1])
            retries.update([int(event.words[2])] if event.words[2] != "-1" else [])
    for number, process in processes.items():
        posts, receives = users.get((number, "P")), users.get((queues[number], "V"))
        found.queue_pairs[number] = LoggedQueuePair(number, process, peers.get(number, 0), queues[number], posts, receives)
    found.waits = retries == {7}
    _effects(run, found)
    _refuse_overtaking(run, found, told)
    return found


def receive_queues(run: LoggedRun) -> dict[int, int]:
    """Return for each queue pair where its receives are: in a shared queue, or in its own, which has its number."""
    found = dict[int, int]()
    for event in run.events:
        if event.kind == "Q":
            own, *shared = map(int, event.words)
            found[own] = shared[0] if any(shared) else own
    return found


def _refuse_overtaking(run: LoggedRun, found: CardEvents, told: EventPlaces) -> None:
    """Raises UsageError where the messages of a shared receive queue are polled in another order than they came: nothing
    says then that another run has them in that order."""
    arrived = {number: deque(requests) for number, requests in found.arrived.items()}
    for event in run.events:
        if event.kind == "C" and event.words[1] == "1":
            pair = found.queue_pairs[int(event.words[0])]
            if arrived[pair.queue].popleft().qp != pair.peer:
                raise UsageError(
                    f"messages of a shared receive queue are polled in another order than they came, at {told.of(event)}: "
                    "one completion queue for all its queue pairs is recorded"
                )


def _users(run: LoggedRun, queues: dict[int, int], told: EventPlaces) -> dict[tuple[int, str], ThreadKey]:
    """Return who posts requests to each queue pair (`P`), and receives to each queue of them (`V`). Raises UsageError for
    several threads."""
    first: dict[tuple[int, str], LoggedEvent] = {}
    for event in run.events:
        if event.kind in ("P", "V", "C"):
            number = int(event.words[0])
            role = ("V" if event.words[1] == "1" else "P") if event.kind == "C" else event.kind
            number = queues.get(number, number) if role == "V" else number
            before = first.setdefault((number, role), event)
            if before.thread != event.thread:
                what = "requests" if role == "P" else "receives"
                raise UsageError(
                    f"two threads use the {what} of one queue pair: {told.of(before)} and {told.of(event)}. A queue pair, "
                    "and the completions of it, belong to one thread at each end"
                )
    return {key: event.thread for key, event in first.items()}


def _effects(run: LoggedRun, found: CardEvents) -> None:
    posted: dict[int, deque[LoggedRequest]] = defaultdict(deque)
    receives: dict[int, deque[tuple[LoggedEvent, tuple[MemoryPiece, ...]]]] = defaultdict(deque)
    for event in run.events:
        if event.kind == "P":
            request = logged_request(event)
            posted[request.qp].append(request)
        elif event.kind == "V":
            number, pieces = receive_of(event)
            receives[number].append((event, pieces))
        elif event.kind == "E":
            request = posted[int(event.words[0])].popleft()
            peer = found.queue_pairs[found.queue_pairs[request.qp].peer]
            into: tuple[MemoryPiece, ...] = ()
            if request.opcode in TAKES_RECEIVE:
                receive, into = receives[peer.queue].popleft()
                found.taken[receive.number] = request
                found.arrived[peer.queue].append(request)
            found.requests[request.event.number] = request
            found.transfers[request.event.number] = _transfers(request, peer.process, into, run)
            found.effects.append((event, request))


def _transfers(request: LoggedRequest, peer: int, into: tuple[MemoryPiece, ...], run: LoggedRun) -> list[CardTransfer]:
    remote, own = MemoryPiece(peer, request.remote, request.length), request.pieces
    if request.opcode in ATOMIC:
        return [CardTransfer(request.event, MemoryPiece(peer, request.remote, _ATOMIC_BYTES), own[0])]
    if request.opcode == READ:
        return _side_by_side(request, [(remote, remote.length)], own)
    unknown = request.data is not None
    sources = [(None if unknown and not _is_registered(piece, run) else piece, piece.length) for piece in own]
    return _side_by_side(request, sources, into if request.opcode in (SEND, SEND_IMM) else (remote,))


def _is_registered(piece: MemoryPiece, run: LoggedRun) -> bool:
    return any(
        region.process == piece.process and 0 <= piece.address - region.address <= region.length - piece.length
        for region in run.regions
    )


def _side_by_side(
    request: LoggedRequest, sources: Iterable[tuple[MemoryPiece | None, int]], targets: tuple[MemoryPiece, ...]
) -> list[CardTransfer]:
    """Return the transfers from pieces one after the other to pieces one after the other."""
    made, left = list[CardTransfer](), deque(piece for piece in targets if piece.length)
    for source, length in sources:
        done = 0
        while done < length and left:
            room = left.popleft()
            part = min(length - done, room.length)
            here = None if source is None else MemoryPiece(source.process, source.address + done, part)
            made.append(CardTransfer(request.event, here, MemoryPiece(room.process, room.address, part)))
            if part < room.length:
                left.appendleft(MemoryPiece(room.process, room.address + part, room.length - part))
            done += part
    return made
