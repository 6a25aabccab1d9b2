"""The program that a recorded run is: straight threads, each of which does what a thread of the run did.

Its executions are executions of the program that was recorded: what a thread does depends on what it reads, and every read
must see what it saw. So a program that is not robust shows that the recorded one is not; one that is robust speaks of this
way through the program only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rdma_robust.c.evaluate.spelling import Names
from rdma_robust.record.card_events import CardEvents, LoggedQueuePair
from rdma_robust.record.code_places import CodePlaces
from rdma_robust.record.memory_words import MemoryWord, MemoryWords
from rdma_robust.record.recorded_log import LoggedAccess, LoggedEvent, LoggedRun, ThreadKey
from rdma_robust.record.recorded_order import RecordedOrder
from rdma_robust.record.replayed_run import ReplayedRun

GOT: Final = "got"
_NONE: Final = "empty"
MOST_DIGITS: Final = 10**18


@dataclass(frozen=True, slots=True)
class RecordedLine:
    """A statement, and the event that it comes from."""

    text: str
    event: LoggedEvent | None = None


@dataclass(slots=True)
class RecordedThread:
    """A thread of the program: its name, its node, declarations, statements."""

    name: str
    node: str
    process: int
    lanes: dict[str, str] = field(default_factory=dict)
    lines: list[RecordedLine] = field(default_factory=list)
    uses_register: bool = False


@dataclass
class RecordedProgram:
    """The program of a run, as it is written; `drops_failed` leaves out what a thread read in vain while it waited."""

    run: LoggedRun
    accesses: dict[int, LoggedAccess]
    card: CardEvents
    order: RecordedOrder
    words: MemoryWords
    replay: ReplayedRun
    places: CodePlaces
    drops_failed: bool = False
    nodes: dict[int, str] = field(default_factory=dict)
    threads: dict[ThreadKey, RecordedThread] = field(default_factory=dict)
    declared: dict[int, dict[str, int]] = field(default_factory=dict)
    synchronising: set[tuple[int, str]] = field(default_factory=set)
    names: dict[int, Names] = field(default_factory=dict)
    lanes: dict[int, str] = field(default_factory=dict)
    values: dict[int, int] = field(default_factory=dict)
    loops: bool = False

    def __post_init__(self) -> None:
        processes = list(dict.fromkeys(event.thread[0] for event in self.run.events))
        self.nodes = {process: f"P{index}" for index, process in enumerate(processes)}
        self.names = {process: Names(self.nodes.values()) for process in processes}
        self.declared = {process: {} for process in processes}
        self._name_threads(processes)
        self._name_lanes()

    def _name_threads(self, processes: list[int]) -> None:
        begun = {event.thread: event for event in self.run.events if event.kind == "b"}
        named = Names((*self.nodes.values(), GOT, _NONE))
        for key in self.run.threads():
            wanted, began = "main", begun.get(key)
            if key[0] != key[1]:
                found = None if began is None else self.places.symbol(key[0], int(began.words[1]))
                wanted = "thread" if found is None else found[0].partition("(")[0]
            name = named.name(key, f"{wanted}{processes.index(key[0])}")
            self.threads[key] = RecordedThread(name, self.nodes[key[0]], key[0])
        for names in self.names.values():
            names.taken.update(each.name for each in self.threads.values())
            names.taken.update((GOT, _NONE))

    def _name_lanes(self) -> None:
        """The first queue pair of a thread to a node has no name, if it is the only one; others are lanes."""
        used: dict[tuple[ThreadKey, int], list[LoggedQueuePair]] = {}
        for qp in self.card.queue_pairs.values():
            if qp.posts is not None and qp.peer in self.card.queue_pairs:
                there = self.card.queue_pairs[qp.peer].process
                used.setdefault((qp.posts, there), []).append(qp)
                self.loops |= there == qp.process
        for (thread, there), found in used.items():
            for index, qp in enumerate(found if len(found) > 1 else []):
                self.lanes[qp.number] = self.lane(thread, there, f"qp{index}")

    def lane(self, thread: ThreadKey, there: int, wanted: str) -> str:
        name = self.names[thread[0]].name(("lane", thread, there, wanted), f"{wanted}_{self.nodes[there]}")
        self.threads[thread].lanes[name] = self.nodes[there]
        return name

    def value(self, value: int) -> int:
        """Return a number that stands for a value: itself, if it has few enough digits, or as a negative number has."""
        if value not in self.values:
            signed = value - (1 << 64)
            near = next((each for each in (value, signed) if abs(each) < MOST_DIGITS), None)
            self.values[value] = 1 - MOST_DIGITS + len(self.values) if near is None else near
        return self.values[value]

    def word(self, word: MemoryWord) -> str:
        """Return the name of a word, which is declared with it."""
        named = self.names[word.process].name(word, self._wanted(word))
        self.declared[word.process][named] = self.value(self.replay.initial.get(word, 0))
        if self.replay.synchronises(word):
            self.synchronising.add((word.process, named))
        return named

    def _wanted(self, word: MemoryWord) -> str:
        symbol = self.places.symbol(word.process, word.address)
        if symbol is not None:
            return f"{symbol[0]}_{symbol[1]}" if symbol[1] else symbol[0]
        for region in self.run.regions:
            if region.process == word.process and 0 <= word.address - region.address < region.length:
                return f"region{region.index}_{word.address - region.address}"
        return "word"

    def add(self, event: LoggedEvent, text: str, thread: ThreadKey | None = None) -> None:
        """Add a statement to the thread of an event."""
        self.threads[thread or event.thread].lines.append(RecordedLine(text, event))

    def got(self, event: LoggedEvent, operation: str, value: int) -> None:
        """Add an operation whose result was seen."""
        self.threads[event.thread].uses_register = True
        self.add(event, f"{GOT} = {operation}")
        self.add(event, f"assume {GOT} == {value}")

    def target(self, qp: LoggedQueuePair) -> str:
        """Return what polls and fences of a queue pair name: its lane, or the other node."""
        return self.lanes.get(qp.number) or self.nodes[self.card.queue_pairs[qp.peer].process]

    def on_lane(self, number: int) -> str:
        """Return the words that say which lane a request is on."""
        return f" on {self.lanes[number]}" if number in self.lanes else ""

    def peer(self, number: int) -> LoggedQueuePair:
        """Return the other end of a queue pair."""
        return self.card.queue_pairs[self.card.queue_pairs[number].peer]

    def empty(self, process: int) -> str:
        """Return a word of a process that nobody looks at."""
        self.declared[process][_NONE] = 0
        return _NONE
