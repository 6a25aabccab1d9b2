"""Sockets between the parts of a search: each is connected with every other, and they take turns at nothing.

In: where the others listen, and a key that all know. Out: frames that arrive, in the order in which one peer sent them.
Nothing here waits for a peer to read: what it does not take yet is kept, and who has kept too much is told so.
"""

from __future__ import annotations

import hmac
import selectors
import socket
import struct
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

HEADER: Final = struct.Struct("<II")
RECORDS, IDLE, END = range(3)
"""What a frame is: states for this part; its sender has nothing to do; its sender's round is over."""

_FRAME: Final = 1 << 19
"""Bytes of records in a frame at most, about."""
FULL: Final = 64 << 20
"""Bytes that wait for a peer, from which on no more states are unfolded."""
_CONNECT_S: Final = 20.0


class PeerLostError(Exception):
    """Another part is gone, or does not answer."""


@dataclass
class _Peer:
    socket: socket.socket
    out: deque[memoryview] = field(default_factory=deque)
    waiting: int = 0
    writes: bool = False
    """The selector tells when more can be sent."""
    begun: bytes = b""
    """What has arrived of a frame whose rest is not there yet."""


TakeFrame = Callable[[int, int, memoryview], None]
"""What is called with each frame: who sent it, what it is, and its bytes, which are gone afterwards."""


class Links:
    """The connections of part number `part` with others; with :meth:`close` they are gone.

    What is sent is cut into frames between two records of `record` bytes only: half of one would be read as another state.
    """

    def __init__(self, part: int, host: str, record: int) -> None:
        self.part = part
        self._most = max(1, _FRAME // record) * record
        self._peers: dict[int, _Peer] = {}
        self._room = bytearray(2 * self._most + HEADER.size)  # one for all: there are as many links as pairs of parts
        self._selector = selectors.DefaultSelector()
        self._listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self._listener.bind((host, 0))
        self._listener.listen()
        self._listener.settimeout(_CONNECT_S)

    def __del__(self) -> None:
        """Close what is left open where nobody needs a part any more: the results of a cluster's tasks just go."""
        self.close()

    @property
    def address(self) -> tuple[str, int]:
        """Where this part listens."""
        name = self._listener.getsockname()
        return str(name[0]), int(name[1])

    def connect(self, addresses: Sequence[tuple[str, int]], key: bytes) -> None:
        """Connect with all others: those before this one are called, those after it call. Raises PeerLostError."""
        try:
            for number in range(self.part):
                made = socket.create_connection(addresses[number], _CONNECT_S)
                self._add(number, made)
                made.sendall(key + struct.pack("<I", self.part))
                if not hmac.compare_digest(_exactly(made, len(key)), key):
                    raise PeerLostError(f"who listens at {addresses[number]} is no part of this search")
            while len(self._peers) < len(addresses) - 1:
                made, _ = self._listener.accept()
                made.settimeout(_CONNECT_S)
                if not self._greet(made, key):
                    made.close()
        except OSError as error:
            raise PeerLostError(f"parts of the search cannot connect with each other: {error}") from error
        self._listener.close()
        for number, peer in self._peers.items():
            peer.socket.setblocking(False)
            peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(peer.socket, selectors.EVENT_READ, number)

    def _greet(self, made: socket.socket, key: bytes) -> bool:
        """Take in who calls and knows the key; whoever does not is no part."""
        try:
            said = _exactly(made, len(key) + 4)
        except OSError:
            return False
        (number,) = struct.unpack("<I", said[len(key) :])
        if not hmac.compare_digest(said[: len(key)], key) or number in self._peers:
            return False
        made.sendall(key)
        self._add(number, made)
        return True

    def _add(self, number: int, made: socket.socket) -> None:
        self._peers[number] = _Peer(made)

    @property
    def others(self) -> Mapping[int, object]:
        return self._peers

    @property
    def full(self) -> bool:
        """Some peer has much to take yet."""
        return any(peer.waiting > FULL for peer in self._peers.values())

    @property
    def unsent(self) -> bool:
        return any(peer.out for peer in self._peers.values())

    def send(self, number: int, kind: int, content: bytes = b"") -> None:
        """Send a frame, larger content in several, as far as the peer takes it now, and the rest with :meth:`move`.

        Raises PeerLostError.
        """
        peer, view = self._peers[number], memoryview(content)
        for start in range(0, len(content) or 1, self._most):
            piece = view[start : start + self._most]
            self._queue(peer, HEADER.pack(kind, len(piece)), piece)
        self._send_now(number)

    def _queue(self, peer: _Peer, *pieces: bytes | memoryview) -> None:
        for piece in pieces:
            if len(piece):
                peer.out.append(memoryview(piece))
                peer.waiting += len(piece)

    def move(self, seconds: float, take: TakeFrame) -> bool:
        """Send and receive what can be without waiting, or when nothing can until something can, so many seconds at most.

        Returns whether anything arrived. Raises PeerLostError.
        """
        arrived = False
        for key, events in self._selector.select(seconds):
            try:
                if events & selectors.EVENT_WRITE:
                    self._send_now(key.data)
                if events & selectors.EVENT_READ:
                    arrived = True
                    self._read(key.data, take)
            except BlockingIOError:
                continue
            except OSError as error:
                raise _lost(key.data, error) from error
        return arrived

    def _send_now(self, number: int) -> None:
        """Send a peer what it takes now; have the selector tell when it takes more, if there is any."""
        peer = self._peers[number]
        try:
            self._write(peer)
        except BlockingIOError:
            pass
        except OSError as error:
            raise _lost(number, error) from error
        if peer.writes != bool(peer.out):
            peer.writes = not peer.writes
            events = selectors.EVENT_READ | (selectors.EVENT_WRITE if peer.writes else 0)
            self._selector.modify(peer.socket, events, number)

    def _write(self, peer: _Peer) -> None:
        while peer.out:
            sent = peer.socket.sendmsg(list(peer.out)[:16])
            peer.waiting -= sent
            while sent:
                if sent >= len(peer.out[0]):
                    sent -= len(peer.out.popleft())
                else:
                    peer.out[0] = peer.out[0][sent:]
                    sent = 0

    def _read(self, number: int, take: TakeFrame) -> None:
        peer = self._peers[number]
        with memoryview(self._room) as room:
            filled = len(peer.begun)
            room[:filled] = peer.begun
            got = peer.socket.recv_into(room[filled:])
            if not got:
                raise PeerLostError(f"part {number + 1} of the search is gone")
            filled += got
            start = 0
            while filled - start >= HEADER.size:
                kind, size = HEADER.unpack_from(room, start)
                end = start + HEADER.size + size
                if end > filled:
                    break
                take(number, kind, room[start + HEADER.size : end])
                start = end
            peer.begun = bytes(room[start:filled])

    def close(self) -> None:
        self._selector.close()
        self._listener.close()
        for peer in self._peers.values():
            peer.socket.close()


def _lost(number: int, error: OSError) -> PeerLostError:
    return PeerLostError(f"part {number + 1} of the search is gone: {error}")


def _exactly(made: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        piece = made.recv(size - len(found))
        if not piece:
            raise OSError("the connection ended")
        found += piece
    return found
