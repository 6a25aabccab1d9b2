"""The logs that a recorded run has written: the events of each thread, in one order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rdma_robust.errors import UsageError

ThreadKey = tuple[int, int]
"""A thread by its process and its own number."""

_REPEATED: Final = "S"


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event: its place in the order of all, its kind (see runtime/log.h), what it says, and its places in the code,
    addresses behind calls, the innermost first."""

    number: int
    thread: ThreadKey
    kind: str
    words: tuple[str, ...]
    chain: tuple[int, ...] = ()

    def hexadecimal(self, index: int) -> int:
        """Return a word that is a hexadecimal number."""
        return int(self.words[index], 16)


@dataclass(frozen=True, slots=True)
class LoggedRegion:
    """Registered memory of a process: where it begins, how long it is, what it held, and from which event on."""

    index: int
    process: int
    address: int
    length: int
    before: bytes
    number: int


@dataclass(slots=True)
class LoggedRun:
    """A run: the events in their order, the regions, and the modules of each process, `maps` as the kernel writes them.
    `turns` are the numbers of the events from which on another one of several threads goes on that are taken for one, and
    `written` then has the events in the order in which statements are written."""

    events: list[LoggedEvent] = field(default_factory=list)
    regions: list[LoggedRegion] = field(default_factory=list)
    maps: dict[int, str] = field(default_factory=dict)
    turns: frozenset[int] = frozenset()
    written: list[LoggedEvent] = field(default_factory=list)

    def threads(self) -> list[ThreadKey]:
        """Return the threads in the order of their first events."""
        return list(dict.fromkeys(event.thread for event in self.events))


def read_run(folder: Path) -> LoggedRun:
    """Return the run that is recorded in a folder. Raises UsageError if nothing is."""
    run = LoggedRun()
    for path in folder.glob("log.*.*"):
        run.events += _events(path)
    run.events.sort(key=lambda event: event.number)
    for path in folder.glob("maps.*"):
        run.maps[int(path.suffix[1:])] = path.read_text(errors="replace")
    for event in run.events:
        if event.kind == "M":
            index = int(event.words[0])
            before = (folder / f"region.{index}").read_bytes()
            run.regions.append(
                LoggedRegion(index, event.thread[0], event.hexadecimal(1), event.hexadecimal(2), before, event.number)
            )
    if not any(event.kind == "P" for event in run.events):
        raise UsageError(
            "the run has no request of a NIC: no thread called ibv_post_send. Was every file compiled with "
            "`rdma-robust record cc`, and does the program end before it posts?"
        )
    return run


def _events(path: Path) -> Iterator[LoggedEvent]:
    _, process, thread = path.name.split(".")
    key = (int(process), int(thread))
    for line in path.read_text().splitlines():
        said, _, chain = line.partition(" @")
        number, kind, *words = said.split()
        yield LoggedEvent(int(number), key, kind, tuple(words), tuple(int(each, 16) for each in chain.split()))


@dataclass(frozen=True, slots=True)
class LoggedAccess:
    """A read or a write of memory by a thread: `old` is what was read, `new` what was written (None for neither).

    `kind` is `p` for plain, `v` for volatile, `a` for atomic, `s` for a sequentially consistent store, `m` for a copy of
    memory, which is no single access. `repeats` says that the same place of the code has read the same word just before.
    `wanted` is what a compare-and-swap that failed compared with and would have written.
    """

    event: LoggedEvent
    kind: str
    address: int
    size: int
    old: bytes | None
    new: bytes | None
    repeats: bool = False
    wanted: tuple[int, int] | None = None


def access_of(event: LoggedEvent) -> LoggedAccess | None:
    """Return the access that an event is, None if it is none."""
    if event.kind not in ("R", "S", "W", "A", "X"):
        return None
    kind, address, size = event.words[0], event.hexadecimal(1), int(event.words[2])
    values = [int(each, 16) & (1 << 8 * size) - 1 for each in event.words[3:]]
    data = [each.to_bytes(size, "little") for each in values]
    if event.kind == "W":
        return LoggedAccess(event, kind, address, size, None, data[0])
    if event.kind == "A":
        return LoggedAccess(event, kind, address, size, data[0], data[1])
    if event.kind == "X":
        return LoggedAccess(event, kind, address, size, data[2], None, wanted=(values[0], values[1]))
    return LoggedAccess(event, kind, address, size, data[0], None, event.kind == _REPEATED)


def accesses_of(events: list[LoggedEvent]) -> dict[int, LoggedAccess]:
    """Return the accesses among events, by the number of the event; the lines of one copy of memory are one access."""
    found: dict[int, LoggedAccess] = {}
    last: LoggedAccess | None = None
    for event in events:
        made = access_of(event)
        if made is not None and last is not None and _goes_on(last, made):
            joined = LoggedAccess(
                last.event, "m", last.address, last.size + made.size, _both(last.old, made.old), _both(last.new, made.new)
            )
            found[last.event.number] = last = joined
            continue
        if made is not None:
            found[event.number] = made
        last = made
    return found


def _goes_on(last: LoggedAccess, made: LoggedAccess) -> bool:
    alike = last.event.thread == made.event.thread and last.event.chain == made.event.chain
    same = (last.old is None) == (made.old is None) and (last.new is None) == (made.new is None)
    return alike and same and last.kind == made.kind == "m" and last.address + last.size == made.address


def _both(first: bytes | None, second: bytes | None) -> bytes | None:
    return None if first is None or second is None else first + second


@dataclass(frozen=True, slots=True)
class MemoryPiece:
    """Bytes of a process's memory."""

    process: int
    address: int
    length: int


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A work request: `remote` is the memory of the other side, `data` that of one with inline data. `receive` is the
    number of the event that posted the receive that it takes."""

    event: LoggedEvent
    qp: int
    opcode: int
    flags: int
    remote: int
    compare: int
    swap: int
    immediate: int
    pieces: tuple[MemoryPiece, ...]
    data: bytes | None

    @property
    def length(self) -> int:
        """How many bytes it carries."""
        return sum(piece.length for piece in self.pieces)


def logged_request(event: LoggedEvent) -> LoggedRequest:
    """Return the request that an event posts."""
    qp, opcode, flags = map(int, event.words[:3])
    remote, compare, swap, immediate = (int(each, 16) for each in event.words[3:7])
    rest = event.words[8:]
    pieces = tuple(MemoryPiece(event.thread[0], int(a, 16), int(n, 16)) for a, n in zip(rest[::3], rest[1::3], strict=True))
    inline = [each for each in rest[2::3] if each != "-"]
    data = bytes.fromhex("".join(inline)) if inline else None
    return LoggedRequest(event, qp, opcode, flags, remote, compare, swap, immediate, pieces, data)


def receive_of(event: LoggedEvent) -> tuple[int, tuple[MemoryPiece, ...]]:
    """Return the queue pair of a posted receive, and its memory."""
    rest = event.words[2:]
    pieces = (MemoryPiece(event.thread[0], int(a, 16), int(n, 16)) for a, n in zip(rest[::2], rest[1::2], strict=True))
    return int(event.words[0]), tuple(pieces)


_MAPPED: Final = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ *(.*)")
_FIXED: Final = 2
"""The type of an executable that lies where it says (ET_EXEC)."""


@dataclass(frozen=True, slots=True)
class MappedModule:
    """A file of code in the memory of a process, from `start` to `end`; addresses in it count from `base`."""

    start: int
    end: int
    base: int
    path: str


def modules_of(maps: str) -> list[MappedModule]:
    """Return the modules of a process, as the kernel lists its memory; zeroed data lies behind what comes of the file."""
    found, bases = list[MappedModule](), dict[str, int]()
    for line in maps.splitlines():
        match = _MAPPED.match(line)
        if match is None:
            continue
        start, end, offset, path = int(match[1], 16), int(match[2], 16), int(match[3], 16), match[4]
        if path.startswith("/"):
            if path not in bases:
                bases[path] = 0 if _is_fixed(path) else start - offset
            found.append(MappedModule(start, end, bases[path], path))
        elif not path and found and found[-1].end == start:
            found.append(MappedModule(start, end, found[-1].base, found[-1].path))
    return found


def _is_fixed(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            head = file.read(18)
    except OSError:
        return False
    return head[:4] == b"\x7fELF" and int.from_bytes(head[16:18], "little") == _FIXED
