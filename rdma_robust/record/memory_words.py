"""The words of a recorded run: memory cut where accesses and transfers begin and end.

A word is a piece of memory that no access and no transfer looks at in part. A transfer carries the cuts of one side to the
other. An access of a processor is never cut, for it is one step: one that would have to be is an error. What a single
transfer touches and nothing else is no word: nobody sees it.
"""

from __future__ import annotations

import bisect
import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rdma_robust.errors import UsageError
from rdma_robust.record.recorded_log import LoggedAccess, LoggedEvent, LoggedRun, MemoryPiece

_LONGEST = 8


@dataclass(frozen=True, slots=True)
class MemoryWord:
    """A piece of the memory of a process."""

    process: int
    address: int
    size: int


@dataclass(frozen=True, slots=True)
class CardTransfer:
    """Bytes that a card carries from one piece of memory to another, as long as it, for the request of an event; None is
    data that was in the request itself."""

    event: LoggedEvent
    source: MemoryPiece | None
    target: MemoryPiece


@dataclass(slots=True)
class MemoryWords:
    """The places where memory is cut, for each process, and which pieces are words."""

    cuts: dict[int, list[int]] = field(default_factory=dict)
    kept: set[MemoryWord] = field(default_factory=set)

    def of(self, piece: MemoryPiece) -> list[MemoryWord]:
        """Return the words that a piece of memory is made of, the kept ones only."""
        return [word for word in self.all_of(piece) if word in self.kept]

    def all_of(self, piece: MemoryPiece) -> list[MemoryWord]:
        """Return the pieces between cuts that a piece of memory is made of."""
        cuts = self.cuts.get(piece.process, [])
        first = bisect.bisect_left(cuts, piece.address)
        last = bisect.bisect_right(cuts, piece.address + piece.length)
        inside = cuts[first:last]
        return [MemoryWord(piece.process, a, b - a) for a, b in itertools.pairwise(inside)]


def cut_words(accesses: Iterable[LoggedAccess], transfers: list[CardTransfer], told: EventPlaces) -> MemoryWords:
    """Return the words of a run. Raises UsageError where an access of a processor would be cut; `told` says where it is."""
    cuts: dict[int, set[int]] = defaultdict(set)
    whole: dict[int, dict[int, LoggedAccess]] = defaultdict(dict)
    copied = list[LoggedAccess]()
    for access in accesses:
        process = access.event.thread[0]
        cuts[process].update((access.address, access.address + access.size))
        if access.kind == "m":
            copied.append(access)
        elif access.size > whole[process].get(access.address, access).size or access.address not in whole[process]:
            whole[process][access.address] = access
    for transfer in transfers:
        for piece in (transfer.source, transfer.target):
            if piece is not None:
                cuts[piece.process].update((piece.address, piece.address + piece.length))
    _carry(cuts, transfers)
    for access in copied:
        process, end = access.event.thread[0], access.address + access.size
        for at in range(-(-access.address // _LONGEST) * _LONGEST, end, _LONGEST):
            if not _within(whole[process], at):
                cuts[process].add(at)
    _carry(cuts, transfers)
    made = MemoryWords({process: sorted(found) for process, found in cuts.items()})
    _refuse_cut(made, whole, told)
    _keep(made, [*(each for found in whole.values() for each in found.values()), *copied], transfers)
    return made


class EventPlaces:
    """Places of events in the code, for messages."""

    def __init__(self, place: dict[int, str]) -> None:
        self._place = place

    def of(self, event: LoggedEvent) -> str:
        """Return the place of an event for a message."""
        return self._place.get(event.number, "a place without debug information")


def _carry(cuts: dict[int, set[int]], transfers: list[CardTransfer]) -> None:
    """Carry cuts from one side of each transfer to the other until nothing changes."""
    changed = True
    while changed:
        changed = False
        for transfer in transfers:
            if transfer.source is not None:
                for one, other in ((transfer.source, transfer.target), (transfer.target, transfer.source)):
                    found = {
                        at - one.address + other.address
                        for at in cuts[one.process]
                        if one.address < at < one.address + one.length
                    }
                    if not found <= cuts[other.process]:
                        cuts[other.process] |= found
                        changed = True


def _within(whole: dict[int, LoggedAccess], at: int) -> bool:
    return any(at - back in whole and whole[at - back].size > back for back in range(1, _LONGEST))


def _refuse_cut(words: MemoryWords, whole: dict[int, dict[int, LoggedAccess]], told: EventPlaces) -> None:
    for process, found in whole.items():
        cuts = words.cuts[process]
        for access in found.values():
            index = bisect.bisect_right(cuts, access.address)
            if cuts[index] < access.address + access.size:
                raise UsageError(
                    f"accesses of several sizes: {told.of(access.event)} accesses {access.size} bytes at once, of which "
                    f"another access or transfer, in process {process}, looks at {cuts[index] - access.address} alone. "
                    "Memory is accessed as a whole"
                )


def _keep(words: MemoryWords, accesses: list[LoggedAccess], transfers: list[CardTransfer]) -> None:
    """Keep what a processor accesses, or what two requests touch."""
    for access in accesses:
        words.kept.update(words.all_of(MemoryPiece(access.event.thread[0], access.address, access.size)))
    touched = Counter(
        word
        for transfer in transfers
        for piece in (transfer.source, transfer.target)
        if piece is not None
        for word in words.all_of(piece)
    )
    words.kept.update(word for word, times in touched.items() if times > 1)
    changed = True
    while changed:  # what is carried to a word that is kept, or from one, is one too
        changed = False
        for transfer in transfers:
            for source, target in pairs_of(words, transfer):
                if source is not None and (source in words.kept) != (target in words.kept):
                    words.kept.update((source, target))
                    changed = True
    for transfer in transfers:  # of each request something is left, which polls tell of
        found = words.all_of(transfer.target)
        if found and not any(word in words.kept for word in found):
            source, target = next(iter(pairs_of(words, transfer)))
            words.kept.update((target,) if source is None else (source, target))


def pairs_of(words: MemoryWords, transfer: CardTransfer) -> Iterator[tuple[MemoryWord | None, MemoryWord]]:
    """Yield the pieces between cuts of a transfer: from where, and where to."""
    targets = words.all_of(transfer.target)
    sources: list[MemoryWord] | list[None]
    sources = [None] * len(targets) if transfer.source is None else words.all_of(transfer.source)
    yield from zip(sources, targets, strict=True)


def initial_of(word: MemoryWord, run: LoggedRun, first: dict[MemoryWord, int]) -> int:
    """Return what a word holds at the beginning: what it held when its memory was registered; of other memory what was
    `first` read before it was written, and 0 else."""
    for region in run.regions:
        at = word.address - region.address
        if region.process == word.process and at >= 0 and at + word.size <= region.length:
            return int.from_bytes(region.before[at : at + word.size], "little")
    return first.get(word, 0)
