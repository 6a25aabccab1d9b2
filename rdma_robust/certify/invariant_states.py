"""The evidence for ROBUST as data: states in the words of the design, read without trust.

A state says where each thread is, what the cells hold, which completions are not polled, and what is remembered since the
first event of beta. Threads' states and marks are listed once and named by their number.

More than 400 lines: it is all of the reading of such evidence, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from rdma_robust.certify.card_memories import ISSUED, READ, CardMemoryRules
from rdma_robust.certify.document import integer, json_array, json_members, json_truth, json_word, reject, string
from rdma_robust.certify.hardware import CPU, EventKind, Platform
from rdma_robust.certify.mailboxes import Connection
from rdma_robust.certify.remembered import (
    EMPTY_TRAIL,
    Buffer,
    Letter,
    Mail,
    Mailbox,
    Marks,
    PivotAccesses,
    QueuePair,
    Tag,
    Trail,
    TrailName,
    Value,
    WriteGroup,
)
from rdma_robust.certify.thread_events import LocalState, OperationStage
from rdma_robust.certify.thread_reading import ThreadReading, operands_taken, stages_of
from rdma_robust.language.flow.cfg import Cell, Program

Limit = tuple[int | None, ...]
"""For each counted queue pair how many completions are not polled at most, how many of them are early, and, where
completions give order, for each group of writes how many come before the first one of beta; then two for each memory behind
a card that a card reads, as `TraceParts` has them. None is any number."""

Place = tuple[tuple[int, ...], tuple[int, ...], int | None, int]
"""The number of each thread's state, the value of each cell, the number of the marks, None before the first of beta, and
that of the messages."""

Entry = TypeVar("Entry")
Remembered = TypeVar("Remembered")
"""What the marks of a state are: those of the normal form, or those of races."""

KIND: Final = "pivot-invariant"

_MARKS: Final = (
    "pivot",
    "beta",
    "cpu_in_beta",
    "forced_polls",
    "overtaken",
    "read_in_beta",
    "written_in_beta",
    "poisoned",
    "poison_carried",
    "tainted",
    "closed",
    "alpha_value",
)
_LATER: Final = ("stores_in_beta", "forwarding", "atomics_in_beta", "awaited", "half", "split")
"""Members that marks have only where one of them is not empty, or false."""
_REQUESTS: Final = ("under_way",)
_SETTLED: Final = ("settled",)
_ON_WORDS: Final = ("on_words",)
_TAKEN: Final = ("poison_taken",)
_BEHIND: Final = ("behind_cards", "trails")
"""Members that marks have where they are not empty."""

_NIC: Final = tuple(kind.value for kind in EventKind if kind not in CPU)


@dataclass(frozen=True, slots=True)
class StateSet(Generic[Remembered]):
    """A set of states: for each place the largest limits, each of which stands for all smaller ones too.

    Values of cells that are not in `cells` are the initial ones; registers may be None, any value.
    """

    locals: tuple[tuple[LocalState, ...], ...]
    cells: tuple[Cell, ...]
    counted: tuple[QueuePair, ...]
    watched: frozenset[QueuePair]
    marks: tuple[Remembered, ...]
    connections: tuple[Connection, ...] | None
    mail: tuple[Mail, ...]
    limits: Mapping[Place, list[Limit]]
    rows: int


@dataclass(frozen=True, slots=True)
class EvidenceNames:
    """The meaning of names in the evidence; `some_thread` is what stands for a thread that has none."""

    threads: Mapping[str, int]
    cells: Mapping[str, Cell]
    nodes: Mapping[str, str]
    some_thread: int | None = None
    lanes: frozenset[QueuePair] = frozenset()

    def thread(self, value: object, where: str) -> int:
        return self._known(self.threads, value, where)

    def cell(self, value: object, where: str) -> Cell:
        return self._known(self.cells, value, where)

    def queue_pair(self, value: object, where: str) -> QueuePair:
        found = json_members(value, where, ("thread", "remote"))
        return self.pair_of(self.thread(found["thread"], f"{where}.thread"), found["remote"], f"{where}.remote")

    def pair_of(self, thread: int, value: object, where: str) -> QueuePair:
        """Return the queue pair that a thread calls so: a lane, or else the one to a node."""
        lane = (thread, string(value, where))
        return lane if lane in self.lanes else (thread, self.node(value, where))

    def events_behind(self, value: object, where: str) -> list[tuple[QueuePair, EventKind, str]]:
        """Return events of cards, each with the memory that it is in, '' beside the card."""

        def event(item: object, at: str) -> tuple[QueuePair, EventKind, str]:
            found = json_members(item, at, ("thread", "remote", "event", "memory"))
            pair = self.pair_of(self.thread(found["thread"], f"{at}.thread"), found["remote"], f"{at}.remote")
            memory = string(found["memory"], f"{at}.memory")
            kind = EventKind(json_word(found["event"], f"{at}.event", _NIC))
            return pair, kind, self.node(memory, f"{at}.memory") if memory else ""

        return json_array(value, where, event)

    def settled(self, value: object, where: str) -> tuple[QueuePair, WriteGroup]:
        """Return a queue pair, and the writes of which a poll has told: those beside the card unless it says otherwise."""
        found = json_members(value, where, ("thread", "remote"), ("memory",), ("answers",))
        pair = self.pair_of(self.thread(found["thread"], f"{where}.thread"), found["remote"], f"{where}.remote")
        memory = self.node(found["memory"], f"{where}.memory") if "memory" in found else ""
        return pair, WriteGroup(memory, json_truth(found.get("answers", False), f"{where}.answers"))

    def node(self, value: object, where: str) -> str:
        name = string(value, where)
        return self.nodes[name] if name in self.nodes else reject(f"{where}: the program has no node {name!r:.60}")

    def threads_of(self, value: object, where: str) -> frozenset[int]:
        return frozenset(json_array(value, where, self.thread))

    def cells_of(self, value: object, where: str) -> frozenset[Cell]:
        return frozenset(json_array(value, where, self.cell))

    def queue_pairs_of(self, value: object, where: str) -> frozenset[QueuePair]:
        return frozenset(json_array(value, where, self.queue_pair))

    @staticmethod
    def _known(table: Mapping[str, Entry], value: object, where: str) -> Entry:
        name = string(value, where)
        return table[name] if name in table else reject(f"{where}: the program has no {name!r:.60}")


def read_states(
    program: Program, readings: tuple[ThreadReading, ...], platform: Platform, evidence: object
) -> StateSet[Marks]:
    """Return the states in `evidence`. Raises InvalidCertificate where they do not fit the program."""
    found = json_members(evidence, "`evidence`", (*STATE_MEMBERS, "watched"), CONNECTED)
    counters = CardMemoryRules.of(program, platform).counters
    states = states_of(program, readings, found, read_marks, counters)
    for i, each in enumerate(states.marks):
        if each.pivot.cell not in states.cells:
            reject(f"`evidence.marks[{i}]` has a pivot on a cell that is not among `evidence.cells`")
    return states


STATE_MEMBERS: Final = ("kind", "threads", "cells", "counted", "marks", "states")
CONNECTED: Final = ("connections", "mail")
"""The members of evidence that is a set of states, and those that it has besides where threads send messages."""


def states_of(
    program: Program,
    readings: tuple[ThreadReading, ...],
    found: Mapping[str, object],
    remembered: Callable[[object, str, EvidenceNames], Remembered],
    counters: int,
) -> StateSet[Remembered]:
    """Return the states among the members of evidence, whose marks are as `remembered` reads them, with so many counts of
    completions for each queue pair. Raises InvalidCertificate where they do not fit the program."""
    names = EvidenceNames(
        {thread.name: i for i, thread in enumerate(program.threads)},
        {str(cell): cell for cell in program.cells},
        {node: node for node in program.nodes},
        lanes=frozenset((i, lane) for i, thread in enumerate(program.threads) for lane, _ in thread.lanes),
    )
    locals_ = _threads(found["threads"], readings)
    cells = tuple(json_array(found["cells"], "`evidence.cells`", names.cell))
    counted = tuple(json_array(found["counted"], "`evidence.counted`", names.queue_pair))
    for listed, where in ((cells, "cells"), (counted, "counted")):
        if len(set(listed)) < len(listed):
            reject(f"`evidence.{where}` names something twice")
    watched = names.queue_pairs_of(found.get("watched", []), "`evidence.watched`")
    marks = tuple(json_array(found["marks"], "`evidence.marks`", lambda item, at: remembered(item, at, names)))
    connections, mail = read_connections(found, names)
    limits: dict[Place, list[Limit]] = {}
    rows = found["states"]
    if not isinstance(rows, list):
        reject("`evidence.states` is not an array")
    shape = _Shape(
        tuple(map(len, locals_)),
        len(cells),
        len(marks),
        counters * len(counted),
        None if connections is None else len(mail),
    )
    for i, row in enumerate(rows):
        place, limit = shape.state(row, i)
        limits.setdefault(place, []).append(limit)
    return StateSet(locals_, cells, counted, watched, marks, connections, mail, limits, len(rows))


def read_connections(
    found: Mapping[str, object], names: EvidenceNames
) -> tuple[tuple[Connection, ...] | None, tuple[Mail, ...]]:
    """Return the connections that the evidence tells of, and what is under way on them in its states."""
    if "connections" not in found:
        return None, ((),)

    def connection(item: object, at: str) -> Connection:
        named = isinstance(item, dict) and "lane" in item
        each = json_members(item, at, ("sender", "receiver", *(("lane",) if named else ())))
        sender, lane = names.thread(each["sender"], f"{at}.sender"), ""
        if "lane" in each:
            _, lane = names.pair_of(sender, each["lane"], f"{at}.lane")
        return sender, names.thread(each["receiver"], f"{at}.receiver"), lane

    def tagged(item: object, at: str) -> tuple[object, Tag]:
        if not isinstance(item, list) or len(item) not in (3, 4):
            reject(f"{at} is not what is in flight, whether in beta, whether tainted, and of which memories it tells")
        memories = frozenset(json_array(item[3], f"{at}[3]", names.node)) if len(item) == 4 else frozenset[str]()
        return item[0], Tag(json_truth(item[1], f"{at}[1]"), json_truth(item[2], f"{at}[2]"), memories)

    def buffer(item: object, at: str) -> Buffer:
        cell, tag = tagged(item, at)
        return Buffer(names.cell(cell, f"{at}[0]"), tag)

    def letter(item: object, at: str) -> Letter:
        carries, tag = tagged(item, at)
        return Letter(integer(carries, f"{at}[0]"), tag)

    def channel(item: object, at: str) -> Mailbox:
        each = json_members(item, at, ("posted", "arrived"))
        posted = json_array(each["posted"], f"{at}.posted", buffer)
        return Mailbox(tuple(posted), tuple(json_array(each["arrived"], f"{at}.arrived", letter)))

    connections = tuple(json_array(found["connections"], "`evidence.connections`", connection))
    mail = tuple(json_array(found["mail"], "`evidence.mail`", lambda item, at: tuple(json_array(item, at, channel))))
    if any(len(each) != len(connections) for each in mail):
        reject("`evidence.mail` does not tell of every connection")
    return connections, mail


def _threads(value: object, readings: tuple[ThreadReading, ...]) -> tuple[tuple[LocalState, ...], ...]:
    threads = json_array(
        value, "`evidence.threads`", lambda item, at: json_members(item, at, ("thread", "registers", "states"))
    )
    if [thread["thread"] for thread in threads] != [reading.name for reading in readings]:
        reject("`evidence.threads` is not about the threads of the program, in their order")
    return tuple(
        read_locals(reading, thread, f"`evidence.threads[{reading.number}]`")
        for reading, thread in zip(readings, threads, strict=True)
    )


def read_locals(reading: ThreadReading, thread: Mapping[str, object], where: str) -> tuple[LocalState, ...]:
    """Return the states of a thread that evidence lists. Raises InvalidCertificate."""
    names = json_array(thread["registers"], f"{where}.registers", string)
    if len(set(names)) < len(names) or not set(names) <= set(reading.names):
        reject(f"{where}.registers does not name registers of {reading.name}, each at most once")
    order = [names.index(name) if name in names else -1 for name in reading.names]

    def read(value: object, at: str) -> LocalState:
        if not isinstance(value, list) or len(value) != 3 + len(names):
            reject(f"{at} is not a program point, an operation, a carried value, and {len(names)} registers")
        operation, stage, operands = _operation(reading, value[0], value[1], at)
        point, carried, *registers = (_value(each, f"{at}[{i}]") for i, each in enumerate(value) if i != 1)
        if point is None:
            reject(f"{at} has no program point")
        return LocalState(
            point, tuple([registers[i] if i >= 0 else None for i in order]), operation, carried, stage, operands
        )

    return tuple(json_array(thread["states"], f"{where}.states", read))


def _operation(
    reading: ThreadReading, point: object, value: object, where: str
) -> tuple[int | None, OperationStage | None, tuple[Value, ...]]:
    """Read the step in the middle of which a thread is: its number, or a list with that, what comes next, and what has been
    taken of operands."""
    if value is None:
        return None, None, ()
    listed = value if isinstance(value, list) and len(value) >= 2 else [value, OperationStage.CARRIES.value]
    number, word, *taken = listed
    operation = integer(number, f"{where}[1]")
    stage = OperationStage(json_word(word, f"{where}[1]", tuple(each.value for each in OperationStage)))
    if not (
        0 <= operation < len(reading.steps)
        and stage in stages_of(reading.steps[operation][2])
        and reading.steps[operation][0] == point
    ):
        reject(f"{where}: step {operation} of {reading.name}, which starts at point {point}, has no such middle")
    most = operands_taken(reading.steps[operation][2], stage)
    if len(taken) not in most:
        reject(f"{where}: step {operation} of {reading.name} has not taken {len(taken)} operands there")
    return operation, stage, tuple(_value(each, f"{where}[1]") for each in taken)


def _is_row(value: object, length: int) -> bool:
    return isinstance(value, list) and len(value) == length


def _value(value: object, where: str) -> int | None:
    return None if value is None else integer(value, where)


def read_marks(value: object, where: str, names: EvidenceNames) -> Marks:
    """Return marks as they are written in evidence. Raises InvalidCertificate."""
    optional = ((each,) for each in (*_REQUESTS, *_SETTLED, *_ON_WORDS, *_TAKEN, *_BEHIND))
    found = json_members(value, where, _MARKS, _LATER, *optional)
    pivot = json_members(found["pivot"], f"{where}.pivot", ("thread", "cell", "access"))
    access = json_word(pivot["access"], f"{where}.pivot.access", ("read", "write", "atomic"))
    alpha_value = _value(found["alpha_value"], f"{where}.alpha_value")
    return Marks(
        PivotAccesses(
            names.thread(pivot["thread"], f"{where}.pivot.thread"),
            names.cell(pivot["cell"], f"{where}.pivot.cell"),
            access == "write",
            access == "atomic",
        ),
        closed=json_truth(found["closed"], f"{where}.closed"),
        alpha_value=alpha_value,
        half=json_truth(found.get("half", False), f"{where}.half"),
        split=json_truth(found.get("split", False), f"{where}.split"),
        **read_sets(found, where, names),
    )


def read_trails(value: object, where: str, names: EvidenceNames) -> frozenset[tuple[TrailName, Trail]]:
    """Return the trails of marks, none of which is empty. Raises InvalidCertificate."""

    def trail(item: object, at: str) -> tuple[TrailName, Trail]:
        each = json_members(item, at, ("from", "memory", "threads", "events", "read", "written", "tells", "writes"))
        name = json_word(each["from"], f"{at}.from", (ISSUED, READ)), names.node(each["memory"], f"{at}.memory")
        return name, Trail(
            names.threads_of(each["threads"], f"{at}.threads"),
            frozenset(names.events_behind(each["events"], f"{at}.events")),
            names.cells_of(each["read"], f"{at}.read"),
            names.cells_of(each["written"], f"{at}.written"),
            names.queue_pairs_of(each["tells"], f"{at}.tells"),
            frozenset((pair, kind) for pair, kind, _ in names.events_behind(each["writes"], f"{at}.writes")),
        )

    found = json_array(value, where, trail)
    if len({name for name, _ in found}) < len(found) or any(each == EMPTY_TRAIL for _, each in found):
        reject(f"{where} has two trails of one name, or an empty one")
    return frozenset(found)


def read_sets(found: Mapping[str, object], where: str, names: EvidenceNames) -> dict[str, frozenset[Any]]:
    """Return the sets of threads, queue pairs and cells that marks hold, by field. Raises InvalidCertificate."""
    tainted = json_members(found["tainted"], f"{where}.tainted", ("threads", "read", "written"))

    def queue(item: object, at: str) -> list[tuple[QueuePair, EventKind]]:
        each = json_members(item, at, ("thread", "remote", "events"))
        pair = names.pair_of(names.thread(each["thread"], f"{at}.thread"), each["remote"], f"{at}.remote")
        kinds = json_array(each["events"], f"{at}.events", lambda kind, place: EventKind(json_word(kind, place, _NIC)))
        return [(pair, kind) for kind in kinds]

    def words(item: object, at: str) -> list[tuple[QueuePair, Cell]]:
        each = json_members(item, at, ("thread", "remote", "cells"))
        pair = names.pair_of(names.thread(each["thread"], f"{at}.thread"), each["remote"], f"{at}.remote")
        return [(pair, cell) for cell in json_array(each["cells"], f"{at}.cells", names.cell)]

    def forwarding(item: object, at: str) -> tuple[Cell, int]:
        each = json_members(item, at, ("cell", "thread"))
        cell = names.cell(each["cell"], f"{at}.cell")
        if each["thread"] is None and names.some_thread is not None:
            return cell, names.some_thread
        return cell, names.thread(each["thread"], f"{at}.thread")

    def read(reader: Callable[[object, str], frozenset[Any]], member: str) -> frozenset[Any]:
        return reader(found.get(member, []), f"{where}.{member}")

    return {
        **{
            name: frozenset(pair for each in json_array(found.get(name, []), f"{where}.{name}", queue) for pair in each)
            for name in ("beta", *_REQUESTS)
        },
        "cpu": read(names.threads_of, "cpu_in_beta"),
        "forced": read(names.queue_pairs_of, "forced_polls"),
        "overtaken": read(names.queue_pairs_of, "overtaken"),
        "read": read(names.cells_of, "read_in_beta"),
        "written": read(names.cells_of, "written_in_beta"),
        "poisoned": read(names.cells_of, "poisoned"),
        "poison_carried": read(names.threads_of, "poison_carried"),
        "poison_taken": read(names.threads_of, "poison_taken"),
        "tainted_threads": names.threads_of(tainted["threads"], f"{where}.tainted.threads"),
        "tainted_reads": names.cells_of(tainted["read"], f"{where}.tainted.read"),
        "tainted_writes": names.cells_of(tainted["written"], f"{where}.tainted.written"),
        "stores": read(names.threads_of, "stores_in_beta"),
        "forwarding": frozenset(json_array(found.get("forwarding", []), f"{where}.forwarding", forwarding)),
        "atomics": read(names.cells_of, "atomics_in_beta"),
        "awaited": read(names.queue_pairs_of, "awaited"),
        "settled": frozenset(json_array(found.get("settled", []), f"{where}.settled", names.settled)),
        "behind": frozenset(names.events_behind(found.get("behind_cards", []), f"{where}.behind_cards")),
        "trails": read_trails(found.get("trails", []), f"{where}.trails", names),
        "on_words": frozenset(e for each in json_array(found.get("on_words", []), f"{where}.on_words", words) for e in each),
    }


@dataclass(frozen=True, slots=True)
class _Shape:
    """How many states each thread has, how many cells, marks, and counters there are."""

    locals: tuple[int, ...]
    cells: int
    marks: int
    counters: int
    mail: int | None

    def state(self, row: object, number: int) -> tuple[Place, Limit]:
        """Read numbers of threads' states, values of cells, the number of the marks, limits of completions, and the number
        of the messages if there are any."""
        entries = 4 if self.mail is None else 5
        if not _is_row(row, entries) or not isinstance(row, list):
            reject(f"`evidence.states[{number}]` is not an array of {'four' if entries == 4 else 'five'} entries")
        at, values, mark, limit, mail = row if entries == 5 else (*row, 0)
        if not (
            _integers(at, len(self.locals))
            and _integers(values, self.cells)
            and all(0 <= i < size for i, size in zip(at, self.locals, strict=True))
            and (mark is None or (type(mark) is int and 0 <= mark < self.marks))
            and _is_row(limit, self.counters)
            and all(most is None or (type(most) is int and most >= 0) for most in limit)
            and (type(mail) is int and 0 <= mail < (self.mail or 1))
        ):
            expected = f"{len(self.locals)} threads, {self.cells} cells and {self.counters} counters"
            reject(f"`evidence.states[{number}]` is no state of {expected}")
        return (tuple(at), tuple(values), mark, mail), tuple(limit)


def _integers(value: object, length: int) -> bool:
    return isinstance(value, list) and len(value) == length and all(type(each) is int for each in value)
