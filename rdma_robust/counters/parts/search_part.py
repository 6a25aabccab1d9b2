"""One part of a search, in the process that has its states: it searches in rounds, and between two rounds nothing moves.

In: a plan, code, then rounds. Out: how each ended, and how much there is. In a round a part unfolds states of its own, keeps
the successors that belong here and sends the others where they belong. It ends for all together: when one has to stop, when
the time of the round is over, or when nobody has anything to do. Then each sends the others an end and takes in what they
sent before theirs. So between two rounds each state that was found is in the part it belongs to.
"""

from __future__ import annotations

import os
import struct
import time
from array import array
from collections import deque
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakSet

from rdma_robust.counters.kernel._code import Status
from rdma_robust.counters.kernel._partition import Partition
from rdma_robust.counters.kernel.search_plan import SearchPlan
from rdma_robust.counters.parts.checkpoint import damaged, new_digest, not_written
from rdma_robust.counters.parts.links import END, IDLE, RECORDS, Links
from rdma_robust.counters.parts.storage import storage
from rdma_robust.limits import MOST_NUMBERS, resident_mebibytes

if TYPE_CHECKING:
    from rdma_robust.counters.kernel.workers import KernelText

_BUDGET: Final = 4096
"""States that a part unfolds before it looks at what others have sent: some 4 ms."""
_LEAST: Final = 1 << 16
"""Bytes for another part that are worth a frame, as long as there is something to do here."""
_QUIET_S: Final = 0.001
"""So long nothing may arrive before a part that has nothing to do says so."""
_LOST_S: Final = 60.0
"""How long a part waits for others at the end of a round."""


@dataclass(frozen=True, slots=True)
class RoundReport:
    """How a round ended for a part, and what it has after it. `work` says that there is something to do for it."""

    status: int
    work: bool
    states: int
    done: int
    transitions: int
    bytes: int
    sent: int
    need_process: int
    need_location: int
    wide_field: int
    wide_value: int
    found: int
    found_state: int


_HERE: Final[WeakSet[SearchPart]] = WeakSet()
"""The parts in this process: what they may have of its memory they have together."""
_COUNT: Final = struct.Struct("<q")


class SearchPart:
    """The states of one part. Not to be moved to another process."""

    def __init__(self, plan: SearchPlan, part: int, parts: int, host: str) -> None:
        self.search = plan.search(0, accelerate=False, most=MOST_NUMBERS // parts)
        self.partition = Partition(plan.masks, plan.owners, parts, part)
        self.search.divide(self.partition)
        self.links = Links(part, host, 8 * (plan.words + 1))
        self._unread: deque[bytes] = deque()
        self._ended: set[int] = set()
        self._idle: set[int] = set()
        self._sent = 0
        self._status: int = Status.BUDGET
        _HERE.add(self)

    def __reduce__(self) -> Any:
        raise TypeError("a part of a search stays where it is")

    def address(self) -> tuple[str, int]:
        return self.links.address

    def process(self) -> int:
        """Return the number of the process that has this part."""
        return os.getpid()

    def connect(self, addresses: Sequence[tuple[str, int]], key: bytes) -> None:
        self.links.connect(addresses, key)

    def load(self, text: KernelText) -> None:
        """Take code, and what processes do where."""
        for place in text.places:
            self.search.places.set_place(*place)
        for target in text.targets:
            self.search.places.set_target(*target)
        self.search.load(*text.code)

    def start(self, values: list[int]) -> None:
        """Store the initial state if it belongs here."""
        self.search.start(values)

    def save(self, place: str, name: str) -> str:
        """Write what this part has to a new file, between two rounds; return its digest. Raises CheckpointError."""
        found = new_digest()
        try:
            with closing(storage(place).open(name, "wb")) as file:

                def write(content: bytes) -> None:
                    found.update(content)
                    file.write(content)

                self.search.save(write)
                write(_COUNT.pack(len(self._unread)))
                for content in self._unread:
                    write(_COUNT.pack(len(content)) + content)
        except Exception as error:
            raise not_written(place, error) from error
        return found.hexdigest()

    def restore(self, place: str, name: str) -> None:
        """Take what a part with the same plan and code, or less of it, has written. Raises MemoryError, UsageError."""
        try:
            with closing(storage(place).open(name, "rb")) as file:

                def read(size: int) -> bytes:
                    content = file.read(size) if size >= 0 else b""
                    if len(content) != size:
                        raise ValueError(f"{name} ends too early")
                    return content

                self.search.restore(read)
                (count,) = _COUNT.unpack(read(_COUNT.size))
                self._unread.extend(read(*_COUNT.unpack(read(_COUNT.size))) for _ in range(count))
        except (OSError, ValueError) as error:
            raise damaged(place, str(error)) from error

    def fired(self) -> array[int]:
        return array("q", self.search.fired())

    def link(self, number: int) -> tuple[list[int], int]:
        return self.search.link(number)

    def steps(self, parent: int, words: list[int]) -> list[int]:
        return self.search.steps(parent, words)

    def round(self, seconds: float, states: int, memory: int | None) -> RoundReport:
        """Search for so long, store so many more states at most, and stay within so many mebibytes of this process, with
        the other parts that are in it.

        Raises PeerLostError.
        """
        room = 1 << 62
        if memory is not None:
            room = self.search.bytes + max(0, ((memory - resident_mebibytes()) << 20) // len(_HERE))
        self.search.limit(self.search.states + states, room)
        self._ended.clear()
        self._idle.clear()
        self._status = Status.BUDGET
        for _ in range(len(self._unread)):
            self._take(self._unread.popleft())
        try:
            self._work(time.monotonic() + seconds)
            self._finish()
        except BaseException:
            self.links.close()  # so that others do not wait for this one
            raise
        search = self.search
        return RoundReport(
            self._status,
            bool(self._unread) or search.done < search.states,
            search.states,
            search.done,
            search.transitions,
            search.bytes + search.waiting_bytes,
            self._sent,
            search.need_process,
            search.need_location,
            search.wide_field,
            search.wide_value,
            search.found,
            search.found_state,
        )

    def _work(self, end: float) -> None:
        links, said = self.links, False
        while self._status == Status.BUDGET and not self._ended and (left := end - time.monotonic()) > 0:
            busy = False
            if self.search.done < self.search.states and not links.full:
                status = self.search.run(_BUDGET)
                busy = status == Status.BUDGET
                if status != Status.DONE:
                    self._status = status
                self._send(0 if self.search.done == self.search.states else _LEAST)
            quiet = not links.move(0.0 if busy else min(left, 0.05 if said else _QUIET_S), self._frame)
            if busy or not quiet:
                said = False
            elif not links.unsent and self.search.done == self.search.states:
                if not said:
                    said = True
                    for number in links.others:
                        links.send(number, IDLE)
                if len(self._idle) == len(links.others):
                    return

    def _send(self, least: int) -> None:
        """Have sent what others are to get, if it is so many bytes for one of them, or that one has nothing to do."""
        for number in self.links.others:
            records = self.partition.take(number, 0 if number in self._idle else least)
            if records:
                self._sent += len(records)
                self.links.send(number, RECORDS, records)

    def _finish(self) -> None:
        """Tell the others that the round is over, and take in what they have sent before they knew."""
        self._send(0)
        links = self.links
        for number in links.others:
            links.send(number, END)
        last = time.monotonic()
        while links.unsent or len(self._ended) < len(links.others):
            if links.move(1.0, self._frame):
                last = time.monotonic()
            elif time.monotonic() - last > _LOST_S:
                raise TimeoutError("another part of the search does not answer")

    def _frame(self, number: int, kind: int, content: memoryview) -> None:
        if kind == END:
            self._ended.add(number)
        elif kind == IDLE:
            self._idle.add(number)
        else:
            self._idle.discard(number)
            self._take(content)

    def _take(self, records: bytes | memoryview) -> None:
        """Store the states in these records; keep for the next round those for which there is no room in this one."""
        taken = 0
        if self._status in (Status.BUDGET, Status.CODE):
            taken = self.search.receive(memoryview(records))
            if self.search.status != Status.BUDGET:
                self._status = self.search.status
        if taken < len(records):
            self._unread.append(bytes(records[taken:]))

    def close(self) -> None:
        self.links.close()
