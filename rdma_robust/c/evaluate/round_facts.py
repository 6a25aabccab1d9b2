"""Facts that threads of a program have to know of each other: those of the last round, and those found in this one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from rdma_robust.c.automaton import Remark
from rdma_robust.c.code import CType, Function, Leaf, Variable
from rdma_robust.c.evaluate.byte_ranges import (
    EVERYTHING,
    Ranges,
    Touch,
    bounds_of,
    conflicting_bytes,
    has_all,
    has_some,
    merged_ranges,
)
from rdma_robust.c.evaluate.c_values import NOT_FOLLOWED, Object, Scalar, UnknownValue, Value, is_unset, known_scalar, rank
from rdma_robust.c.evaluate.loop_code import LoopFunction
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.operations import Chain, Word
from rdma_robust.c.evaluate.refused_code import Refusal, RunEnds
from rdma_robust.c.evaluate.state import ConnectedPair, Receive, State
from rdma_robust.c.evaluate.units import Units

ENDED_IN_SET_UP = "a process ends in set-up"
_REACHED = ("global", "local", "heap")
"""Kinds of objects that several threads, or cards, may reach."""
WIDEST = 8
"""Bytes of the largest scalar."""
_MOST_PIECES = 8
"""Words that a transfer of a block is cut into, where nothing else cuts it."""


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Limits of evaluation: places of a thread, values of a word, completions and receives that wait, rounds, steps that
    nobody sees. Whether it is asked what the standard of a library promises, not what one queue pair for each two processes
    does; and whether it is asked for races. Those need not know the order of requests, as of two atomics of one kind on one
    word the later one reads what the earlier one has written; and an access may be one for each word that others touch."""

    places: int = 6000
    values: int = 48
    waiting: int = 24
    rounds: int = 80
    silent_steps: int = 2_000_000
    with_errors: bool = False
    is_of_standard: bool = False
    is_about_races: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """A thread at one end of a connection. Where messages that it sends are counted, being of several lengths or kinds,
    one with a number stands for that message."""

    connection: str
    process: str
    number: int | None = None


@dataclass(frozen=True, slots=True)
class SpawnedThread:
    """A thread that another one creates: the function that it runs, its argument, and the memory that it finds."""

    process: str
    name: str
    creator: str
    function: str
    argument: Value
    state: State


@dataclass(slots=True)
class RoundFacts:
    """The facts that one round has found; of those that are `said` all that any round has."""

    shared: dict[Object, Ranges] = field(default_factory=dict)
    written_elsewhere: dict[Object, Ranges] = field(default_factory=dict)
    ignored: set[Object] = field(default_factory=set)
    cuts: dict[Object, set[int]] = field(default_factory=lambda: defaultdict(set))
    values: dict[Word, set[Scalar]] = field(default_factory=lambda: defaultdict(set))
    flows: set[tuple[Word, Word]] = field(default_factory=set)
    initial: dict[Word, Scalar] = field(default_factory=dict)
    exports: dict[str, Scalar] = field(default_factory=dict)
    connected: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))
    posters: dict[End, set[str]] = field(default_factory=lambda: defaultdict(set))
    receivers: dict[End, set[str]] = field(default_factory=lambda: defaultdict(set))
    sends: dict[End, int] = field(default_factory=dict)
    kinds: dict[End, set[str]] = field(default_factory=lambda: defaultdict(set))
    immediates: dict[End, set[Scalar]] = field(default_factory=lambda: defaultdict(set))
    message_words: dict[End, set[tuple[int, Word]]] = field(default_factory=lambda: defaultdict(set))
    message_values: dict[End, set[tuple[int, Scalar]]] = field(default_factory=lambda: defaultdict(set))
    message_cuts: dict[End, set[int]] = field(default_factory=lambda: defaultdict(set))
    by_processor: dict[Object, set[Word]] = field(default_factory=lambda: defaultdict(set))
    lengths: dict[End, set[int]] = field(default_factory=lambda: defaultdict(set))
    written: dict[End, set[int]] = field(default_factory=lambda: defaultdict(set))
    early: dict[End, tuple[Receive, ...]] = field(default_factory=dict)
    barriers: dict[Word, set[str]] = field(default_factory=lambda: defaultdict(set))
    counts: dict[Word, int] = field(default_factory=dict)
    relaxed: set[Object] = field(default_factory=set)
    orders: set[str] = field(default_factory=set)
    limits: tuple[int, int] | None = None
    spawned: dict[tuple[str, str], SpawnedThread] = field(default_factory=dict)
    returned: dict[tuple[str, str], set[Scalar]] = field(default_factory=lambda: defaultdict(set))
    touched: dict[Object, set[Touch]] = field(default_factory=lambda: defaultdict(set))
    plain: set[Word] = field(default_factory=set)
    watched: set[Word] = field(default_factory=set)
    said: set[Hashable] = field(default_factory=set)
    regions: dict[Hashable, Hashable] = field(default_factory=dict)


def _is_local_of(thread: str, name: Object) -> bool:
    return name.kind == "local" and name.key[0] == thread


class World:
    """The program as its threads see it in a round. `known` is what the last round has found, `found` grows in this one."""

    def __init__(self, units: Units, options: EvaluationOptions, initialise: Callable[[Object], ObjectBytes]) -> None:
        self.units, self.options = units, options
        self.known, self.found = RoundFacts(), RoundFacts()
        self.round = 0
        self.sizes: dict[Object, int] = {}
        self.types: dict[Object, str] = {}
        self.globals: dict[Hashable, Variable] = {each.unique: each for each in units.globals()}
        self.remarks: dict[str, Remark] = {}
        self.rnr_waits: set[bool] = set()
        self.locks: set[Word] = set()
        self._initialise = initialise
        self._contents: dict[Object, ObjectBytes] = {}
        self._fields: dict[str, dict[str, Leaf]] = {}
        self._globals: dict[tuple[str, str], Object] = {}
        self.allowed: dict[Word, set[Scalar]] | None = None
        self.translated: dict[tuple[str, int], tuple[Function, list[Callable[..., int]], frozenset[int]]] = {}
        self.loops: dict[int, tuple[Function, dict[int, int | LoopFunction]]] = {}

    # objects

    def declare(self, name: Object, kind: CType, size: int | None = None) -> None:
        """Say the size and the type of an object."""
        self.sizes.setdefault(name, kind.size if size is None else size)
        if kind.name:
            self.types.setdefault(name, kind.name)

    def leaves(self, name: Object) -> tuple[Leaf, ...]:
        """Return the scalars in an object, if its type is known."""
        kind = self.types.get(name)
        return self.units.leaves(kind) if kind else ()

    def global_of(self, process: str, variable: Variable) -> Object:
        """Return the object of a global in a process."""
        found = self._globals.get((process, variable.unique))
        if found is None:
            found = self._globals[process, variable.unique] = Object("global", process, variable.name, (variable.unique,))
            self.declare(found, variable.type)
        return found

    def contents_of(self, name: Object) -> ObjectBytes:
        """Return what a global holds as its declaration says."""
        if name not in self._contents:
            self._contents[name] = ObjectBytes(zero=True)
            self._contents[name] = self._initialise(name)
        return self._contents[name]

    def share(self, name: Object, offset: int = 0, size: int = EVERYTHING[1]) -> None:
        """Say that others than one thread reach bytes of an object, or all of it."""
        if name.kind in _REACHED:
            ranges = self.found.shared.get(name, ())
            end = offset + size
            if size != EVERYTHING[1] and self.sizes.get(name):
                end = min(end, self.sizes[name])  # A number that grows as an index leads outside, in every round further.
            if offset < end and not has_all(ranges, offset, end):
                self.found.shared[name] = merged_ranges((*ranges, (offset, end)))

    def is_shared(self, name: Object, offset: int = 0, size: int = EVERYTHING[1]) -> bool:
        """Whether others than one thread reach some bytes of a range of an object; all of it is shared from then on."""
        ranges = self.known.shared.get(name, ())
        found = bool(ranges) and has_some(ranges, offset, offset + size)
        if found and size != EVERYTHING[1]:
            self.share(name, offset, size)
        return found

    def is_all_shared(self, name: Object) -> bool:
        """Whether others reach every byte of an object."""
        return has_all(self.known.shared.get(name, ()), 0, self.sizes.get(name) or EVERYTHING[1])

    def touch(self, name: Object, touch: Touch) -> None:
        """Say that a thread has accessed an object while there were several threads."""
        if name.kind in _REACHED:
            self.found.touched[name].add(touch)

    def conflicting_bytes(self, name: Object) -> list[tuple[int, int]]:
        """Return the bytes of an object that several threads access and one of them writes."""
        spawned = {**self.known.spawned, **self.found.spawned}
        creators = {thread: each.creator for (process, thread), each in spawned.items() if process == name.process}
        return conflicting_bytes(self.found.touched[name], creators)

    def fields(self, kind: str) -> dict[str, Leaf]:
        """Return the scalars of a record of a library by their paths."""
        if kind not in self._fields:
            self._fields[kind] = {leaf.path: leaf for leaf in self.units.leaves(kind)}
        return self._fields[kind]

    def size_of(self, kind: str) -> int:
        """Return the size of a record of a library."""
        leaves = self.fields(kind).values()
        align = max((leaf.size for leaf in leaves), default=1)
        return -(-max((leaf.offset + leaf.size for leaf in leaves), default=0) // align) * align

    def end_set_up(self, process: str, state: State) -> None:
        """End set-up on a way of a process: what its shared objects hold is what they hold at the start."""
        if state.is_set_up:
            return
        state.is_set_up = True
        for name in [each for each in state.memory if each in self.known.shared and each.process == process]:
            shared = self.known.shared[name]
            for low, high in pairwise(sorted(self.known.cuts.get(name, ()))):
                if not has_some(shared, low, high):
                    continue
                word = Word(name, low, high - low)
                value = known_scalar(state.memory[name].read(low, high - low, name.name))
                if self.found.initial.setdefault(word, value) != value:
                    raise Refusal(
                        "RR844", f"`{name.name}` starts with different values on different ways", "RR_START ends set-up"
                    )
            if name.kind == "global" and self.is_all_shared(name):
                state.drop(name)
            else:
                lost = self.known.written_elsewhere.get(name, ()) if name.kind == "local" else shared
                state.place(name, state.memory[name].without(lost))
        self._post_early(process, state)

    def _post_early(self, process: str, state: State) -> None:
        """What set-up has posted is there before anything runs."""
        for pair in state.queue_pairs.values():
            if pair.connection and pair.receives:
                self.posted_early(End(pair.connection, process), pair.receives)

    def posted_late(self, process: str, connection: str, pair: ConnectedPair) -> None:
        """Say which receives a queue pair has that is connected late: they are posted at the start too."""
        if pair.receives:
            self.posted_early(End(connection, process), pair.receives)

    def posted_early(self, end: End, receives: tuple[Receive, ...]) -> None:
        """Say which receives are posted at the start. Raises RR844 where that differs between ways."""
        if self.found.early.setdefault(end, receives) != receives:
            raise Refusal("RR844", f"different receives are posted on connection `{end.connection}` on different ways")

    # words

    def words(self, name: Object, offset: int, size: int, cuts: Iterable[int] = ()) -> list[Word]:
        """Return the words that a range of an object is cut into, at `cuts` too; its ends are cuts from now on.

        Raises RR813 for a range that is not inside of the object.
        """
        total = self.sizes.get(name, 0)
        if offset < 0 or (total and offset + size > total):
            raise Refusal(
                "RR813",
                f"bytes {offset} to {offset + size} are outside of `{name.name}`, which has {total}",
                "look at the address and the length that are given here",
            )
        found = {offset, offset + size, *(cut for cut in cuts if offset < cut < offset + size)}
        self.found.cuts[name] |= found
        inside = sorted(found | {cut for cut in self.known.cuts.get(name, ()) if offset < cut < offset + size})
        return [Word(name, low, high - low) for low, high in pairwise(inside)]

    def field_cuts(self, name: Object, offset: int, size: int) -> set[int]:
        """Return where a copy of a range by a processor is cut: at fields, and nothing is longer than eight bytes."""
        found = {offset, offset + size}
        found |= {cut for cut in bounds_of(self.leaves(name)) if offset < cut < offset + size}
        for low, high in pairwise(sorted(found)):
            found |= set(range(low // WIDEST * WIDEST + WIDEST, high, WIDEST))
        return found

    def block_cuts(self, name: Object, offset: int, size: int) -> set[int]:
        """Return where a transfer of a range that no processor looks at is cut: as copies are, into at most so many words.

        They all behave alike, and more of them are a larger program, not another one.
        """
        found = self.field_cuts(name, offset, size)
        if len(found) <= _MOST_PIECES + 1:
            return found
        step = -(-size // _MOST_PIECES // WIDEST) * WIDEST
        self.remark("RR846", f"a block of {size} bytes of `{name.name}` is cut into words of {step} bytes")
        return {offset + at for at in range(0, size, step)} | {offset + size}

    def values_of(self, word: Word) -> list[Scalar]:
        """Return what a word may hold."""
        known = self.known.values if self.allowed is None else self.allowed
        return sorted({*known.get(word, ()), self.initial_of(word)}, key=rank)

    def is_known_to(self, thread: str, word: Word) -> bool:
        """Whether a word is of a local of a thread that nobody else writes, so that it reads there what it wrote."""
        written = self.known.written_elsewhere.get(word.object, ())
        return _is_local_of(thread, word.object) and not has_some(written, word.offset, word.offset + word.size)

    def write_elsewhere(self, word: Word) -> None:
        """Say that others write a word than the processor of the thread that it belongs to."""
        if word.object.kind == "local":
            found, end = self.found.written_elsewhere, word.offset + word.size
            found[word.object] = merged_ranges((*found.get(word.object, ()), (word.offset, end)))

    def add_values(self, word: Word, values: Iterable[Scalar], thread: str = "") -> None:
        """Say what is written into a word, by the processor of a thread if it says so. Raises RR820 if the values become too
        many."""
        if not _is_local_of(thread, word.object):
            self.write_elsewhere(word)
        found = self.found.values[word]
        found.update(values)
        for each in found:
            if isinstance(each, UnknownValue):
                self.remark("RR846", f"the values of `{word.object.name}` are not followed: one is {each.reason}")
        before = self.known.values.get(word, set()) if self.allowed is None else set()
        if len(found | before) > self.options.values:
            raise Refusal(
                "RR820",
                f"the values of `{word.object.name}` that are written here do not stay finite",
                "RR_VALUES(lo, hi) keeps them in a range",
            )

    def computed(self, word: Word, values: Iterable[Scalar], thread: str = "") -> None:
        """Say what is written into a word that was not moved there. Raises RunEnds where RR_VALUES leaves one out."""
        found = tuple(values)
        if not all(map(self.is_within, found)):
            raise RunEnds
        self.add_values(word, found, thread)

    def leave(self, word: Word, reason: str, chain: Chain) -> None:
        """Say that the values of a word are not followed: what decides on them is refused, and nothing else is."""
        self.remark("RR846", f"the values of `{word.object.name}` are not followed, as {reason}", chain)
        self.found.values[word].add(UnknownValue(f"`{word.object.name}`{NOT_FOLLOWED}"))
        self.write_elsewhere(word)

    def unfollowed(self, word: Word) -> UnknownValue | None:
        """Return why the values of a word are not known, None if they are followed."""
        return next((each for each in self.values_of(word) if isinstance(each, UnknownValue)), None)

    def followed(self, word: Word, what: str) -> None:
        """Raises RR819 if what decides on the values of a word cannot, as they are not followed."""
        found = self.unfollowed(word)
        if found is not None:
            raise Refusal("RR819", f"{what} depends on {found.reason}", "values of operations that `.rdma` has too")

    def is_within(self, value: Scalar) -> bool:
        """Whether RR_VALUES lets a word have a value."""
        limits = self.known.limits
        return limits is None or not isinstance(value, int) or limits[0] <= value <= limits[1]

    def flow(self, source: Word, target: Word) -> None:
        """Say that a word takes the values of another one. Where those are too many, that is said where they are made."""
        self.found.flows.add((source, target))
        self.write_elsewhere(target)
        moved = self.values_of(source)
        if len(moved) < self.options.values:
            self.add_values(target, moved)

    def initial_of(self, word: Word) -> Scalar:
        """Return what a word holds at the start: what set-up has left in it, else what its declaration says, else 0."""
        found: Value = 0
        if word in self.known.initial:
            found = self.known.initial[word]
        elif word.object.kind == "global":
            found = self.contents_of(word.object).read(word.offset, word.size, word.object.name)
        if is_unset(found):
            self.remark("RR846", f"`{word.object.name}` holds 0 at the start, where nothing was written to it")
            return 0
        if isinstance(found, UnknownValue):
            raise Refusal(
                "RR819", f"what `{word.object.name}` holds at the start depends on {found.reason}, which is not known here"
            )
        return known_scalar(found)

    # connections

    def counts_messages(self, sender: End) -> bool:
        """Whether messages of an end are told apart by their numbers."""
        return ("counted", sender.connection, sender.process) in self.known.said

    def count_messages(self, sender: End) -> None:
        """Tell messages of an end apart by their numbers from the next round on."""
        self.found.said.add(("counted", sender.connection, sender.process))

    def peer(self, connection: str, process: str) -> str | None:
        """Return the process at the other end, if it is known yet."""
        if ("loopback", connection) in self.known.said:
            return process
        return next((other for other in self.known.connected.get(connection, ()) if other != process), None)

    def remark(self, code: str, message: str, chain: Chain = (), hint: str = "") -> None:
        """Say something about the whole, once."""
        self.remarks.setdefault(message, Remark(code, message, chain[0] if chain else None, hint))
