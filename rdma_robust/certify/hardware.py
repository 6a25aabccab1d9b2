"""The events of the model and the program order that RDMA hardware keeps, as the checker knows them.

Written from docs/model.md ("Events", "Preserved order"), docs/deployed.md ("Events", "Consistency") and
docs/weaker-orders.md alone: the rest of the tool has tables of its own, on purpose. A mistake in one of them shows when
certificates are checked.

More than 400 lines: tables and how they are read, side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple

from rdma_robust.certify.own_tables import (
    AS_CLAIMED,
    Kept,
    OwnTable,
    TableReading,
    UnreadableTable,
    is_own_table,
    name_told,
    own_table,
    put_cell,
)


class EventKind(StrEnum):
    """The kinds of events, initial writes apart. A message is a PUT_WRITES; with an immediate it writes no cell."""

    LOCAL_READ = "lR"
    LOCAL_WRITE = "lW"
    SWAP = "CAS"
    POLL = "P"
    PUT_READS = "nlR"
    PUT_WRITES = "nrW"
    GET_READS = "nrR"
    GET_WRITES = "nlW"
    FENCE = "nF"
    MEMORY_FENCE = "F"
    ATOMIC_READS = "naR"
    ATOMIC_WRITES = "naW"
    ATOMIC = "nA"
    POSTS_BUFFER = "V"
    RECEIVES = "RP"
    FLUSH = "FL"
    ORDER = "nO"
    BARRIER = "BAR"
    ANSWERS_RELAXED = "nlW relaxed"
    """Among what beta has: a GET_WRITES to a word of a relaxed region, which no later read pushes out."""
    SENT_READS = "nmR"
    SENT_WRITES = "nmW"
    """As the earlier of two events: the PUT_READS and the PUT_WRITES of a send, of which a table may say something else."""
    UPDATE_READS = "nuR"
    UPDATE_WRITES = "nuW"
    UPDATE = "nuA"
    """As the earlier of two events: those of an atomic that fetches nothing, of which a table may say something else."""


_K = EventKind
CPU: Final = frozenset(
    {_K.LOCAL_READ, _K.LOCAL_WRITE, _K.SWAP, _K.POLL, _K.MEMORY_FENCE, _K.POSTS_BUFFER, _K.RECEIVES, _K.FLUSH, _K.BARRIER}
)
READS: Final = frozenset(
    {
        _K.LOCAL_READ,
        _K.SWAP,
        _K.PUT_READS,
        _K.SENT_READS,
        _K.GET_READS,
        _K.ATOMIC_READS,
        _K.ATOMIC,
        _K.UPDATE_READS,
        _K.UPDATE,
    }
)
WRITES: Final = frozenset({_K.LOCAL_WRITE, _K.SWAP, _K.PUT_WRITES, _K.GET_WRITES, _K.ATOMIC_WRITES, _K.ATOMIC})
NIC_WRITES: Final = frozenset(
    {_K.PUT_WRITES, _K.SENT_WRITES, _K.GET_WRITES, _K.ANSWERS_RELAXED, _K.ATOMIC_WRITES, _K.UPDATE_WRITES, _K.ORDER}
)
"""They may sit in a buffer, where an ORDER, which writes nothing, keeps others apart. All but these, and the stores of a CPU
with a store buffer, is instantaneous."""

REMOTE_WRITES: Final = frozenset({_K.PUT_WRITES, _K.SENT_WRITES, _K.ATOMIC_WRITES, _K.UPDATE_WRITES})
"""They may sit in a buffer when a completion tells of their operation."""
CARD_READS: Final = READS - CPU
MESSAGES: Final = frozenset({_K.PUT_WRITES, _K.SENT_WRITES})

STORES: Final = frozenset({_K.LOCAL_WRITE, _K.POSTS_BUFFER})
"""What goes through the store buffer of a CPU that has one; loads and looks at completions overtake it there."""

_OVERTAKING: Final = frozenset({_K.LOCAL_READ, _K.POLL, _K.RECEIVES, _K.FLUSH})

_RECEIVED: Final = REMOTE_WRITES | {_K.ATOMIC_READS, _K.ATOMIC, _K.UPDATE_READS, _K.UPDATE}
"""What a receive completion tells of besides its message."""

_ATOMICS: Final = frozenset({_K.ATOMIC_READS, _K.ATOMIC_WRITES, _K.ATOMIC, _K.UPDATE_READS, _K.UPDATE_WRITES, _K.UPDATE})
_ALL_NIC: Final = frozenset(EventKind) - CPU - {_K.ORDER}

_KEPT_APART: Final = frozenset({_K.PUT_WRITES, _K.SENT_WRITES, _K.ORDER}) | _ATOMICS
"""What an ORDER comes after and before. It says nothing of anything else, and waits where writes do."""

_OBSERVED: Final[Mapping[EventKind, frozenset[EventKind]]] = {
    **dict.fromkeys((_K.PUT_READS, _K.SENT_READS), _ALL_NIC),
    **dict.fromkeys((_K.PUT_WRITES, _K.SENT_WRITES), frozenset({_K.PUT_WRITES, _K.GET_READS, _K.GET_WRITES}) | _ATOMICS),
    _K.GET_READS: frozenset({_K.GET_WRITES, _K.FENCE}),
    _K.GET_WRITES: frozenset({_K.GET_WRITES}),
    _K.ANSWERS_RELAXED: frozenset({_K.GET_WRITES}),
    _K.FENCE: _ALL_NIC,
    **dict.fromkeys((_K.ATOMIC_READS, _K.ATOMIC, _K.UPDATE_READS, _K.UPDATE), _ALL_NIC - {_K.PUT_READS}),
    **dict.fromkeys((_K.ATOMIC_WRITES, _K.UPDATE_WRITES), frozenset({_K.PUT_WRITES, _K.GET_READS}) | _ATOMICS),
}
"""For each NIC event the later ones of its queue pair that cannot be observed before it (oppo), by default."""

_ONLY_ISSUED: Final = frozenset(
    {
        (_K.PUT_WRITES, _K.FENCE),
        (_K.SENT_WRITES, _K.FENCE),
        (_K.GET_WRITES, _K.FENCE),
        (_K.ANSWERS_RELAXED, _K.FENCE),
        (_K.ATOMIC_WRITES, _K.FENCE),
        (_K.ATOMIC_WRITES, _K.GET_WRITES),
        (_K.UPDATE_WRITES, _K.FENCE),
        (_K.UPDATE_WRITES, _K.GET_WRITES),
    }
)
"""What is kept in issue order (ippo) besides."""

_RELAXED: Final = frozenset(
    {(a, b) for a in (_K.PUT_WRITES, _K.SENT_WRITES, *_ATOMICS) for b in (_K.PUT_WRITES, _K.GET_READS, *_ATOMICS)}
    | {(earlier, _K.GET_WRITES) for earlier in (_K.PUT_WRITES, _K.SENT_WRITES, _K.GET_WRITES, _K.ANSWERS_RELAXED)}
)
"""What weaker networks do not keep; and none does where the later event accesses a word of a relaxed region."""

_MULTIPATH: Final = frozenset((a, b) for a, b in _RELAXED if b not in _ATOMICS)

_UNPROMISED: Final = frozenset((a, b) for a in _ALL_NIC for b in _ALL_NIC if _K.FENCE not in (a, b)) - {
    (_K.GET_READS, _K.GET_READS)
}
"""What standards of one-sided libraries do not promise: any order between two requests, but for a fence, and where it is
said that reads are ordered."""

_LOST: Final[Mapping[str, frozenset[tuple[EventKind, EventKind]]]] = {
    "default": frozenset(),
    "multipath": _MULTIPATH,
    "relaxed": _RELAXED,
    "none": _UNPROMISED,
    "accumulate": _UNPROMISED,
}

_OF_WORD: Final[Mapping[str, frozenset[EventKind]]] = {"accumulate": _ATOMICS}
"""What a network keeps in order all the same, on one queue pair, where it is about one word."""

CPUS: Final = ("sc", "tso")
ATOMICITIES: Final = ("hca", "glob")
ORDERS: Final = tuple(_LOST)


@dataclass(frozen=True, slots=True)
class Platform:
    """The hardware of a claim: whether CPUs have store buffers (tso), whether atomics of NICs exclude every access
    (glob) or only each other (hca), the order of the network, and whether remote reads of a queue pair are ordered."""

    cpu: str = "sc"
    atomics: str = "hca"
    order: str = "default"
    ordered_reads: bool = False
    how: TableReading = AS_CLAIMED
    """How a table that a certificate brings along is read, where it leaves something open."""

    @property
    def buffered(self) -> bool:
        return self.cpu == "tso"

    @property
    def own(self) -> OwnTable | None:
        """The table that a certificate brings along, None for an order that the checker knows by its name."""
        return own_table(self.order, _base, self.how) if is_own_table(self.order) else None

    @property
    def weaker(self) -> bool:
        """Whether writes of a queue pair may overtake each other; then nothing flushes them either (nfo is empty)."""
        return self.order != "default"

    def flushes(self, read: EventKind, write: EventKind) -> bool:
        """Return whether a read of a card pushes a write of its side out of its buffer (nfo)."""
        own = self.own
        pair = f"{_name_of(read)} {_name_of(write)}"
        return pair in _ALL_PUSHES and (not self.weaker if own is None else pair in own.pushes)

    @property
    def reads_land(self) -> bool:
        """Whether some read of a card pushes a write out of its buffer."""
        return any(self.flushes(read, write) for read in CARD_READS for write in NIC_WRITES)

    @property
    def answers_pushed(self) -> bool:
        """Whether the read of a put pushes the answers of earlier gets out, and a fence between them tells the two apart: it
        is issued behind the answers, and the reads are observed behind it (R3)."""
        answer, fence, read = EventKind.GET_WRITES, EventKind.FENCE, EventKind.PUT_READS
        if not self.flushes(read, answer) or not issued_in_order(answer, fence, True, self):
            return False
        return all(observed_in_order(fence, read, True, self, STRICT._replace(variant=each)) for each in (False, True))

    @property
    def completions_order(self) -> bool:
        """Whether what is posted behind a poll is observed after the remote writes that it tells of, as it is by default."""
        return self.order == "multipath" if self.own is None else self.own.completions_order

    def visible_when_polled(self, kind: EventKind) -> bool:
        """Return whether a poll tells that an event has taken effect, not only that it was issued."""
        placed = self.own is not None and self.own.placed
        return kind is EventKind.GET_WRITES or (placed and kind in REMOTE_WRITES)

    @property
    def promised(self) -> bool:
        """Whether anything is promised between two requests of a queue pair without a fence."""
        return not self.own.receives_of_own if self.own is not None else _LOST[self.order] != _UNPROMISED

    @property
    def request_may_tear(self) -> bool:
        """Whether the order does not say itself that a request reads before it writes, and that a message is there before
        its receive completion: the events of one request, ordered in any case, are looked at one by one then."""
        if self.own is None:
            return not self.promised
        return not self.promised or any(_kept_by(self.own, a, b, self) != "qp" for a, b in _OF_ONE_REQUEST)

    @property
    def variants_apart(self) -> bool:
        """Whether a table says something else of the events of sends, or of atomics that fetch nothing, than of others."""
        return self.own is not None and any(kept != self.own.cells[put_cell(cell)] for cell, kept in self.own.cells.items())

    @property
    def behind_polls(self) -> Platform:
        """The hardware whose order is kept where completions give order."""
        return replace(self, order="default" if self.own is None else self.own.base)

    @property
    def looks_at_words(self) -> frozenset[EventKind]:
        """The events of which it matters whether they are about one word."""
        if self.own is not None:
            return _ATOMICS if self.own.by_word else frozenset()
        return _OF_WORD.get(self.order, frozenset())

    @property
    def ranked(self) -> bool:
        """Whether the atomics on a word are in an order of their own (rao)."""
        return self.atomics == "hca"

    def instantaneous(self, kind: EventKind) -> bool:
        return kind not in NIC_WRITES and not (self.buffered and kind is EventKind.LOCAL_WRITE)

    @property
    def order_name(self) -> str:
        """What the order is called."""
        return self.order if self.own is None else name_told(self.own, _base, self.how)

    def __str__(self) -> str:
        """What is not usual of it, '' if all is."""
        said = [
            f"{what} {word}"
            for what, word, usual in (
                ("cpu", self.cpu, "sc"),
                ("atomics", self.atomics, "hca"),
                ("order", self.order_name, "default"),
            )
            if word != usual
        ]
        return ", ".join([*said, *(["reads ordered"] if self.ordered_reads else [])])


USUAL: Final = Platform()

_ALL_PUSHES: Final = frozenset({"nlR nlW", "nrR nrW", "nrR naW", "naR nrW", "naR naW"})


VARIANT_KINDS: Final = {
    EventKind.PUT_READS: EventKind.SENT_READS,
    EventKind.PUT_WRITES: EventKind.SENT_WRITES,
    EventKind.ATOMIC_READS: EventKind.UPDATE_READS,
    EventKind.ATOMIC_WRITES: EventKind.UPDATE_WRITES,
    EventKind.ATOMIC: EventKind.UPDATE,
}
"""The kinds of events that a send, and an atomic that fetches nothing, have as the earlier of two."""


def of_variant(kind: EventKind, variant: bool) -> EventKind:
    """Return what an event is as the earlier of two: that of a send, or of an atomic that fetches nothing, has a row of its
    own."""
    return VARIANT_KINDS.get(kind, kind) if variant else kind


def _name_of(kind: EventKind, variant: bool = False) -> str:
    """Return the name of the row and column of an event of a card in tables."""
    names = {EventKind.ATOMIC: "naR", EventKind.UPDATE: "nuR", EventKind.ANSWERS_RELAXED: "nlW"}
    found = of_variant(kind, variant)
    return names.get(found, found.value)


_OF_ONE_REQUEST: Final = (
    (EventKind.PUT_READS, EventKind.PUT_WRITES),
    (EventKind.GET_READS, EventKind.GET_WRITES),
    (EventKind.ATOMIC_READS, EventKind.ATOMIC_WRITES),
    (EventKind.ATOMIC_READS, EventKind.GET_WRITES),
    (EventKind.SENT_READS, EventKind.SENT_WRITES),
    (EventKind.UPDATE_READS, EventKind.UPDATE_WRITES),
)


@cache
def _base(order: str) -> tuple[Kept, frozenset[str], bool, bool, bool] | None:
    """What an order of the checker says, as tables that are based on it have it."""
    if order not in _LOST:
        return None
    platform = Platform(order=order)

    def kept(earlier: str, later: str) -> str:
        one, two = EventKind(earlier), EventKind(later)
        if one is two is EventKind.GET_READS:
            return "(-)"
        if observed_in_order(one, two, True, platform):
            return "qp"
        return "i" if issued_in_order(one, two, True, platform) else "-"

    pushes = frozenset() if platform.weaker else _ALL_PUSHES
    return kept, pushes, not platform.promised, platform.completions_order, bool(platform.looks_at_words)


def _kept_by(own: OwnTable, earlier: EventKind, later: EventKind, platform: Platform, variant: bool = False) -> str:
    """What a table of its own says of two events of cards on one queue pair, the later one a `variant` or not."""
    found = own.cells[_name_of(earlier), _name_of(later, variant)]
    return found if found != "(-)" else "qp" if platform.ordered_reads else "-"


def kept_between(platform: Platform, earlier: str, later: str) -> str:
    """Return what an order keeps of two events of cards on one queue pair, by their names: `qp`, `i`, `word` or `-`."""
    own = platform.own
    base = _base(platform.order)
    if base is not None:
        kept = base[0](*put_cell((earlier, later)))
    elif own is not None:
        kept = own.cells[earlier, later]
    else:
        raise UnreadableTable(f"no order is called {platform.order!r}")
    if kept == "(-)":
        return "qp" if platform.ordered_reads else "-"
    of_word = kept == "-" and {EventKind(earlier), EventKind(later)} <= platform.looks_at_words
    return "word" if of_word else kept


class EventWords(NamedTuple):
    """The words of an event behind another one, as far as they matter: whether its `own` is in a relaxed region, and, for
    an answer, the one that its request has read at the other side; in which `memory` behind a card they are, if in any; and
    whether the earlier one accesses the `same`. Also whether it is a `variant`, of a send or of an atomic that fetches
    nothing."""

    own: bool = False
    asked: bool = False
    memory: str = ""
    asked_memory: str = ""
    same: bool = False
    variant: bool = False


STRICT: Final = EventWords()


@cache
def observed_in_order(
    earlier: EventKind, later: EventKind, same_queue: bool, platform: Platform, regions: EventWords = STRICT
) -> bool:
    """Return whether oppo keeps a program-order edge between events of these kinds, of one queue pair or not; `regions`
    says what matters of the words.

    That a read is before the writes of its request is kept besides, whatever the network.
    """
    if earlier in CPU:
        return not (platform.buffered and earlier in STORES and later in _OVERTAKING)
    of_word = regions.same and {earlier, later} <= platform.looks_at_words
    own = platform.own
    if not same_queue or (own is None and (earlier, later) in _LOST[platform.order] and not of_word):
        return False
    if (earlier, later) in _RELAXED and _may_pass(earlier, later, regions):
        return False
    if later is EventKind.FLUSH:
        return True
    if EventKind.ORDER in (earlier, later):
        return {earlier, later} <= _KEPT_APART or earlier is EventKind.FENCE
    if own is not None and later not in CPU:
        kept = _kept_by(own, earlier, later, platform, regions.variant)
        return kept == "qp" or (of_word and kept == "-")
    both_gets = earlier is EventKind.GET_READS and later is EventKind.GET_READS
    return later in _OBSERVED[earlier] or (platform.ordered_reads and both_gets)


def observed_behind_poll(earlier: EventKind, later: EventKind, platform: Platform, regions: EventWords = STRICT) -> bool:
    """Return whether oppo keeps two events of cards on one queue pair where a poll between them tells of the earlier one."""
    return platform.completions_order and observed_in_order(earlier, later, True, platform.behind_polls, regions)


def _may_pass(earlier: EventKind, later: EventKind, regions: EventWords) -> bool:
    """Whether the later event is relaxed: an answer is as its request behind all but other answers, which it passes by its
    own word."""
    answers = (EventKind.GET_WRITES, EventKind.ANSWERS_RELAXED)
    return regions.asked if later is EventKind.GET_WRITES and earlier not in answers else regions.own


_FAR: Final = _RECEIVED | {_K.GET_READS}
_NEAR: Final = frozenset({_K.PUT_READS, _K.SENT_READS, _K.GET_WRITES, _K.ANSWERS_RELAXED})
"""What a card does at the other side of a queue pair, and at its thread's."""


def goes_another_way(earlier: EventKind, before: EventWords, later: EventKind, behind: EventWords) -> bool:
    """Return whether two events of a queue pair are on words of two memories that one card reaches: then oppo keeps no order
    between them that issue order has. An answer is where its request has read."""
    if earlier in _FAR and later in (EventKind.GET_WRITES, EventKind.ANSWERS_RELAXED):
        return before.memory != behind.asked_memory
    one_side = {earlier, later} <= _FAR or {earlier, later} <= _NEAR
    return one_side and before.memory != behind.memory


@cache
def issued_in_order(
    earlier: EventKind, later: EventKind, same_queue: bool, platform: Platform, regions: EventWords = STRICT
) -> bool:
    """Return whether ippo keeps a program-order edge between events of these kinds, of one queue pair or not.

    A store is issued when it enters the store buffer, and observed when it leaves; the one point of posting a buffer for
    messages is when that leaves.
    """
    if earlier is EventKind.LOCAL_WRITE:
        return True
    if earlier is EventKind.POSTS_BUFFER and later is EventKind.LOCAL_WRITE and platform.buffered:
        return False
    own = platform.own
    if own is None:
        only_issued = same_queue and (earlier, later) in _ONLY_ISSUED - _LOST[platform.order]
    else:
        of_cards = not {earlier, later} & (CPU | {EventKind.ORDER})
        lost = (earlier, later) in _RELAXED and _may_pass(earlier, later, regions)
        only_issued = (
            same_queue and of_cards and not lost and _kept_by(own, earlier, later, platform, regions.variant) == "i"
        )
    return only_issued or observed_in_order(earlier, later, same_queue, platform, regions)


def landed_in_order(earlier: EventKind, memory: str, later: EventKind, platform: Platform, words: EventWords) -> bool:
    """Return whether ob keeps two events of a queue pair in order, the earlier one in this memory behind a card, or beside
    one. Between two memories that takes an earlier event which takes effect when it is issued."""
    at_once = platform.instantaneous(earlier)
    if not at_once and goes_another_way(earlier, EventWords(memory=memory), later, words):
        return False
    return observed_in_order(earlier, later, True, platform, words)


def told_by_receive(kind: EventKind, platform: Platform) -> bool:
    """Return whether a receive completion comes after earlier events of the kind on its queue pair, also where its message
    may pass them."""
    return platform.promised and kind in _RECEIVED
