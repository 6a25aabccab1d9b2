"""Parts of a search in processes of this machine, which end with the one that asks.

In: how many. Each process reads requests from a socket and answers there; it ends when that is closed, whoever closed it.
They are children of one process, which ends after the last of them.
"""

from __future__ import annotations

import errno
import gc
import os
import pickle
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, NoReturn

from rdma_robust.counters.kernel.search_plan import SearchPlan
from rdma_robust.counters.parts.all_parts import Hosts
from rdma_robust.counters.parts.links import PeerLostError
from rdma_robust.counters.parts.lost_parts import HostsLostError, PartsLostError
from rdma_robust.counters.parts.search_part import SearchPart
from rdma_robust.foreign import own_code
from rdma_robust.limits import executor_of, processors, resident_mebibytes

_CODE: Final = "from rdma_robust.counters.parts.local import start_parts; start_parts(*map(int, sys.argv[1:]))"
_SIZE: Final = struct.Struct("<Q")
_ENDED: Final = struct.Struct("<ii")
_HOST: Final = "127.0.0.1"
_END_S: Final = 2.0
"""How long a process may take to end before it is killed."""
_ROUND_S: Final = 1.0
"""How long a round is at most: limits are looked at between two."""
ANSWER_S = 90.0
"""How long an answer may take, if nothing is said of that: longer than parts wait for each other."""


class LocalHosts:
    """So many processes of this machine."""

    seconds = 0.1
    """How long a round is where each process has a processor."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._parts: list[socket.socket] = []
        self._started: StartedParts | None = None

    def begin(self, plan: SearchPlan, parts: int) -> None:
        self.close()
        # Each process is to have as much of a round as it would have of a processor of its own.
        self.seconds = min(_ROUND_S, type(self).seconds * max(1.0, parts / processors()))
        pairs: list[tuple[socket.socket, socket.socket]] = []
        try:
            pairs.extend(socket.socketpair() for _ in range(parts))
            self._parts = [ours for ours, _ in pairs]
            self._started = StartedParts([theirs for _, theirs in pairs])
        except OSError as error:
            self.close()
            why = f"no process can be started for a part of the search: {error.strerror or error}"
            few = error.errno in (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
            raise HostsLostError(f"{why}; try fewer, --executor local:N" if few else why) from error
        finally:
            for _, theirs in pairs:
                theirs.close()
        for part in range(parts):
            self._send(part, ("begin", plan, part, parts, _HOST))
        self._answers(range(parts), ANSWER_S)

    def call(self, method: str, *arguments: Any, each: Sequence[tuple[Any, ...]] = (), more_s: float = 0.0) -> list[Any]:
        parts = range(len(self._parts))
        for part in parts:
            self._send(part, (method, *arguments, *(each[part] if each else ())))
        return self._answers(parts, ANSWER_S + more_s)

    def ask(self, part: int, method: str, *arguments: Any) -> Any:
        self._send(part, (method, *arguments))
        return self._answers([part], ANSWER_S)[0]

    def memory(self, limit: int | None) -> int | None:
        """Return an equal share of what this process leaves: all of them are on one machine."""
        return None if limit is None else max(1, (limit - resident_mebibytes()) // len(self._parts))

    def close(self) -> None:
        for ours in self._parts:
            ours.close()
        if self._started is not None:
            self._started.end()
        self._parts, self._started = [], None

    def _send(self, part: int, request: tuple[Any, ...]) -> None:
        with suppress(OSError):  # of a process that is gone, or does not read, there is no answer
            self._parts[part].settimeout(ANSWER_S)
            _write(self._parts[part], request)

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
        try:
            self._parts[part].settimeout(max(0.1, end - time.monotonic()))
            return _read(self._parts[part])
        except (OSError, EOFError):
            pass
        code = None if self._started is None else self._started.code(part)
        if code is None:
            return PartsLostError(f"the process of part {part + 1} of the search does not answer")
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        return PartsLostError(f"the process of part {part + 1} of the search {how}")


def hosts_of(executor: str) -> Hosts:
    """Return the processes that an executor means, as limits.py says. Raises UsageError for a cluster that is not there."""
    kind, where = executor_of(executor)
    if kind == "local":
        return LocalHosts(int(where))
    from rdma_robust.counters.parts.dask_hosts import DaskHosts  # noqa: PLC0415 - an extra, and slow

    return DaskHosts(where)


class StartedParts:
    """Processes that are parts, each at a socket; one loads the modules once and forks them. Raises OSError."""

    def __init__(self, sockets: Sequence[socket.socket]) -> None:
        told, tells = socket.socketpair()
        with tells:
            descriptors = [each.fileno() for each in (tells, *sockets)]
            self._told, self._codes = told, dict[int, int]()
            try:
                self._parent = subprocess.Popen(
                    own_code(_CODE, list(map(str, descriptors))),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=descriptors,
                    process_group=0,
                )
            except OSError:
                told.close()
                raise
        self._count = len(sockets)

    def code(self, part: int) -> int | None:
        """Return how a process has ended, as of :class:`subprocess.Popen`; None if it does not in the time it may take."""
        self._hear(lambda: part in self._codes)
        if part not in self._codes:
            with suppress(subprocess.TimeoutExpired):  # whether it could not even start any
                return self._parent.wait(_END_S)
        return self._codes.get(part)

    def end(self) -> None:
        """Wait until all have ended, whose sockets are closed; kill those that take too long."""
        self._hear(lambda: len(self._codes) == self._count)
        if len(self._codes) < self._count:
            with suppress(ProcessLookupError):
                os.killpg(self._parent.pid, signal.SIGKILL)
        self._told.close()
        self._parent.wait()

    def _hear(self, enough: Callable[[], bool]) -> None:
        """Take in which processes have ended, and how, until that is enough."""
        end = time.monotonic() + _END_S
        with suppress(OSError, EOFError):
            while not enough():
                self._told.settimeout(max(0.001, end - time.monotonic()))
                part, status = _ENDED.unpack(_exactly(self._told, _ENDED.size))
                self._codes[part] = os.waitstatus_to_exitcode(status)


def start_parts(tells: int, *descriptors: int) -> None:
    """Fork a process for each socket, which is that part; then tell which have ended, and how."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    part_of: dict[int, int] = {}
    for part, descriptor in enumerate(descriptors):
        pid = os.fork()
        if not pid:
            for other in (tells, *descriptors[part + 1 :]):
                os.close(other)
            _answer_requests(socket.socket(fileno=descriptor))
        part_of[pid] = part
        os.close(descriptor)
    with socket.socket(fileno=tells) as asks:
        while part_of:
            pid, status = os.wait()
            with suppress(OSError):
                asks.sendall(_ENDED.pack(part_of.pop(pid), status))
    os._exit(0)


def _answer_requests(asked: socket.socket) -> NoReturn:
    """Be a part: answer requests until nobody asks any more."""
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
    except BaseException:
        os._exit(1)


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
