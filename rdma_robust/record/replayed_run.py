"""The recorded run once more, word by word: every read must see what was written last, or something unrecorded wrote."""

from __future__ import annotations

from dataclasses import dataclass, field

from rdma_robust.errors import UsageError
from rdma_robust.record.card_events import ADD, ATOMIC, CardEvents
from rdma_robust.record.memory_words import EventPlaces, MemoryWord, MemoryWords, initial_of, pairs_of
from rdma_robust.record.recorded_log import LoggedAccess, LoggedEvent, LoggedRequest, LoggedRun, MemoryPiece, ThreadKey


@dataclass(slots=True)
class ReplayedRun:
    """The words of a run: what they held first, which are written, who uses each (threads, and None for cards), and how
    processors do."""

    initial: dict[MemoryWord, int] = field(default_factory=dict)
    written: set[MemoryWord] = field(default_factory=set)
    users: dict[MemoryWord, set[ThreadKey | None]] = field(default_factory=dict)
    kinds: dict[MemoryWord, set[str]] = field(default_factory=dict)

    def synchronises(self, word: MemoryWord) -> bool:
        """Return whether all accesses of processors to a word are volatile or atomic, and there are some."""
        return word in self.kinds and self.kinds[word] <= {"v", "a", "s"}

    def matters(self, word: MemoryWord) -> bool:
        """Return whether others can see what a thread does with a word: it is written, and there are others, or cards."""
        users = self.users.get(word, set())
        return word in self.written and (len(users) > 1 or None in users)


def replayed(
    run: LoggedRun, accesses: dict[int, LoggedAccess], card: CardEvents, words: MemoryWords, told: EventPlaces
) -> ReplayedRun:
    """Return what a run shows of its words. Raises UsageError where a read saw what nobody recorded wrote."""
    memory = _Memory(run, _first_reads(accesses, words), told)
    effects = {event.number: request for event, request in card.effects}
    for event in run.events:
        request, access = effects.get(event.number), accesses.get(event.number)
        if request is not None:
            _make(request, card, words, memory)
        if access is not None:
            for word, old, new in parts_of(access, words):
                memory.found.kinds.setdefault(word, set()).add(access.kind)
                memory.read(word, event.thread, event, old)
                if new is not None:
                    memory.write(word, new, event.thread, event)
    return memory.found


def parts_of(access: LoggedAccess, words: MemoryWords) -> list[tuple[MemoryWord, int | None, int | None]]:
    """Return the words of an access, with what was read and what was written of each."""
    made = list[tuple[MemoryWord, int | None, int | None]]()
    for word in words.all_of(MemoryPiece(access.event.thread[0], access.address, access.size)):
        at = word.address - access.address
        old, new = (
            None if data is None else int.from_bytes(data[at : at + word.size], "little")
            for data in (access.old, access.new)
        )
        made.append((word, old, new))
    return made


def _first_reads(accesses: dict[int, LoggedAccess], words: MemoryWords) -> dict[MemoryWord, int]:
    """Return what was read of words before a processor wrote them."""
    found, written = dict[MemoryWord, int](), set[MemoryWord]()
    for number in sorted(accesses):
        for word, old, new in parts_of(accesses[number], words):
            if old is not None and word not in written:
                found.setdefault(word, old)
            if new is not None:
                written.add(word)
    return found


@dataclass(slots=True)
class _Memory:
    """Memory during the run: what words hold, and who wrote them last."""

    run: LoggedRun
    first: dict[MemoryWord, int]
    told: EventPlaces
    found: ReplayedRun = field(default_factory=ReplayedRun)
    holds: dict[MemoryWord, int] = field(default_factory=dict)
    last: dict[MemoryWord, LoggedEvent] = field(default_factory=dict)

    def read(self, word: MemoryWord, user: ThreadKey | None, event: LoggedEvent, expected: int | None = None) -> int:
        self.found.users.setdefault(word, set()).add(user)
        if word not in self.holds:
            self.holds[word] = self.found.initial[word] = initial_of(word, self.run, self.first)
        if expected is not None and self.holds[word] != expected:
            before = f"written last at {self.told.of(self.last[word])}" if word in self.last else "not written before"
            raise UsageError(
                f"something unrecorded writes memory: at {self.told.of(event)} a read finds {expected}, where "
                f"{self.holds[word]} was to be expected, {before}. Compile all that writes registered memory with "
                "`rdma-robust record cc`; what libraries write there is not recorded"
            )
        return self.holds[word]

    def write(self, word: MemoryWord, new: int, user: ThreadKey | None, event: LoggedEvent) -> None:
        self.read(word, user, event)
        self.holds[word] = new
        self.last[word] = event
        self.found.written.add(word)


def _make(request: LoggedRequest, card: CardEvents, words: MemoryWords, memory: _Memory) -> None:
    """Make what a request did."""
    event, at = request.event, 0
    for transfer in card.transfers[event.number]:
        for source, target in pairs_of(words, transfer):
            if source is not None:
                value = memory.read(source, None, event)
            elif request.data is not None:
                start = at + target.address - transfer.target.address
                value = int.from_bytes(request.data[start : start + target.size], "little")
            if request.opcode in ATOMIC and source is not None:
                memory.write(source, _changed(request, value), None, event)
            memory.write(target, value, None, event)
        at += transfer.target.length


def _changed(request: LoggedRequest, old: int) -> int:
    """Return what an atomic makes of the word on the other side."""
    if request.opcode == ADD:
        return (old + request.compare) % (1 << 64)
    return request.swap if old == request.compare else old
