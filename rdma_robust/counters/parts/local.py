"""Parts of a search in processes of this machine, which end with the one that asks.

In: how many. Each process reads requests from a socket and answers there; it ends when that is closed, whoever closed it.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from rdma_robust.counters.kernel.search_plan import SearchPlan
from rdma_robust.counters.parts.links import PeerLostError
from rdma_robust.counters.parts.lost_parts import HostsLostError, PartsLostError
from rdma_robust.counters.parts.search_part import SearchPart
from rdma_robust.foreign import own_code
from rdma_robust.limits import resident_mebibytes

_CODE: Final = "from rdma_robust.counters.parts.local import answer_requests; answer_requests(int(sys.argv[1]))"
_SIZE: Final = struct.Struct("<Q")
_HOST: Final = "127.0.0.1"
_END_S: Final = 2.0
"""How long a process may take to end before it is killed."""
ANSWER_S = 90.0
"""How long an answer may take, if nothing is said of that: longer than parts wait for each other."""


class LocalHosts:
    """So many processes of this machine."""

    seconds = 0.1

    def __init__(self, count: int) -> None:
        self.count = count
        self._started: list[tuple[subprocess.Popen[bytes], socket.socket]] = []

    def begin(self, plan: SearchPlan, parts: int) -> None:
        self.close()
        for part in range(parts):
            ours, theirs = socket.socketpair()
            with theirs:
                command = own_code(_CODE, (str(theirs.fileno()),))
                try:
                    process = subprocess.Popen(
                        command,
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        pass_fds=[theirs.fileno()],
                        process_group=0,
                    )
                except OSError as error:
                    ours.close()
                    raise HostsLostError(f"no process can be started for a part of the search: {error}") from error
            self._started.append((process, ours))
            self._send(part, ("begin", plan, part, parts, _HOST))
        self._answers(range(parts), ANSWER_S)

    def call(self, method: str, *arguments: Any, each: Sequence[tuple[Any, ...]] = (), more_s: float = 0.0) -> list[Any]:
        parts = range(len(self._started))
        for part in parts:
            self._send(part, (method, *arguments, *(each[part] if each else ())))
        return self._answers(parts, ANSWER_S + more_s)

    def ask(self, part: int, method: str, *arguments: Any) -> Any:
        self._send(part, (method, *arguments))
        return self._answers([part], ANSWER_S)[0]

    def memory(self, limit: int | None) -> int | None:
        """Return an equal share of what this process leaves: all of them are on one machine."""
        return None if limit is None else max(1, (limit - resident_mebibytes()) // len(self._started))

    def close(self) -> None:
        for _, ours in self._started:
            ours.close()
        for process, _ in self._started:
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._started.clear()

    def _send(self, part: int, request: tuple[Any, ...]) -> None:
        with suppress(OSError):  # of a process that is gone, or does not read, there is no answer
            self._started[part][1].settimeout(ANSWER_S)
            _write(self._started[part][1], request)

    def _answers(self, parts: Sequence[int], seconds: float) -> list[Any]:
        """Return the answers of these parts. Raises what one raises, but rather that one is gone, or gives no answer."""
        end = time.monotonic() + seconds
        found = [self._answer(part, end) for part in parts]
        errors = [each for each in found if isinstance(each, BaseException)]
        left_alone = (OSError, PeerLostError)  # by a part of which more is known
        for error in sorted(errors, key=lambda each: (isinstance(each, left_alone), not isinstance(each, PartsLostError))):
            if isinstance(error, left_alone):
                raise PartsLostError(str(error)) from error
            raise error
        return found

    def _answer(self, part: int, end: float) -> Any:
        process, ours = self._started[part]
        try:
            ours.settimeout(max(0.1, end - time.monotonic()))
            return _read(ours)
        except (OSError, EOFError):
            pass
        try:
            code = process.wait(_END_S)
        except subprocess.TimeoutExpired:
            return PartsLostError(f"the process of part {part + 1} of the search does not answer")
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        return PartsLostError(f"the process of part {part + 1} of the search {how}")


def answer_requests(descriptor: int) -> None:
    """Be a part: answer requests until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked = socket.socket(fileno=descriptor)
    part: SearchPart | None = None
    try:
        while True:
            method, *arguments = _read(asked)
            try:
                if part is None:
                    part, answer = SearchPart(*arguments), None
                else:
                    answer = getattr(part, method)(*arguments)
            except (Exception, MemoryError) as error:
                answer = error
            _write(asked, answer)
    except (OSError, EOFError):
        os._exit(0)  # nothing is to be kept, and giving memory back piece by piece takes long


def _write(to: socket.socket, message: Any) -> None:
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    to.sendall(_SIZE.pack(len(content)) + content)


def _read(source: socket.socket) -> Any:
    (size,) = _SIZE.unpack(_exactly(source, _SIZE.size))
    return pickle.loads(_exactly(source, size))


def _exactly(source: socket.socket, size: int) -> bytes:
    content = bytearray()
    while len(content) < size:
        piece = source.recv(min(1 << 20, size - len(content)))
        if not piece:
            raise EOFError
        content += piece
    return bytes(content)
