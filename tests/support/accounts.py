"""What the axioms of the tool, and a reading of operations and values of its own, say of what the judge is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rdma_robust.certify.hardware import READS, WRITES, EventKind
from rdma_robust.certify.judge_account import Account, EventAccount, Source, place_word
from rdma_robust.certify.judge_question import Place
from rdma_robust.certify.thread_events import Completion
from rdma_robust.language.flow.cfg import Cell, Program, Recv, Silent, Step, Thread
from rdma_robust.model import Model
from rdma_robust.semantics.axioms import is_violating, ob, sc
from rdma_robust.semantics.linearise import (
    in_threads,
    nfo_pairs,
    pf_of_positions,
    po_of_positions,
    rao_of_order,
    relations_of_messages,
)
from rdma_robust.semantics.trace import WRITE_TYPES, Event, EventType, Relation, Trace

_WITH_QUEUE = frozenset(EventKind) - {
    *(
        EventKind.LOCAL_READ,
        EventKind.LOCAL_WRITE,
        EventKind.SWAP,
        EventKind.MEMORY_FENCE,
        EventKind.POSTS_BUFFER,
        EventKind.RECEIVES,
    )
}


@dataclass(frozen=True)
class Orders:
    """Orders of all events for mo, nfo and rao that need not be one."""

    mo: Sequence[Place]
    nfo: Sequence[Place]
    rao: Sequence[Place]


def model_of(account: Account) -> Model:
    on = account.platform
    return Model(order=on.order, cpu=on.cpu, atomics=on.atomics, ordered_reads=on.ordered_reads)


def trace_document(account: Account, orders: Orders) -> str:
    """The text by which the judge decides the axioms."""
    kept = [line for line in account.text().split("\n")[1:] if not line.startswith(("events", "mo", "end"))]
    lines = [" ".join([name, *map(place_word, getattr(orders, name))]) for name in ("mo", "nfo", "rao")]
    return "\n".join(["trace 2", *filter(None, kept), *lines, "end", ""])


def program_of(account: Account) -> Program:
    """Threads that do nothing, with the cells of the account and the buffers that they have posted."""
    cells = tuple(Cell("N", f"c{n}", value) for n, value in enumerate(account.cells))
    threads = tuple(
        Thread(
            f"T{u}",
            "N",
            (),
            (0,),
            (),
            0,
            0,
            posted=tuple((f"T{t}", cells[x], "") for v, t, buffers in account.posted if v == u for x in buffers),
        )
        for u in range(len(account.threads))
    )
    return Program("account", "account", "", ("N",), cells, threads)


def trace_of(account: Account, orders: Orders | None = None) -> Trace:
    """The trace that an account is of, whatever it is worth. Its events are those of `account.order`, all of them."""
    orders = orders or Orders(account.modified, account.order, account.order)
    program, model = program_of(account), model_of(account)
    first = len(account.cells)
    events = [Event(n, EventType.INIT, cell=cell, written=cell.init) for n, cell in enumerate(program.cells)]
    steps = [list(_steps(deeds)) for deeds in account.threads]
    events += [
        _event(program, (t, k), account.threads[t][k], first + n, steps[t][k]) for n, (t, k) in enumerate(account.order)
    ]
    number: dict[Source, int] = {place: first + n for n, place in enumerate(account.order)} | {n: n for n in range(first)}
    rank = {number[place]: n for n, place in enumerate(orders.mo)}
    flushed = {number[place]: n for n, place in enumerate(orders.nfo)}
    writes = [e for e in events if e.type in WRITE_TYPES and e.cell is not None]
    threads = in_threads(program, events)
    size = len(events)
    return Trace(
        tuple(events),
        po=po_of_positions(events),
        pf=pf_of_positions(events),
        rf=Relation.of(size, {(number[a], number[b]) for a, b in account.sources}),
        mo=Relation.of(
            size,
            [(a.index, b.index) for a in writes for b in writes if a.cell == b.cell and _rank(rank, a) < _rank(rank, b)],
        ),
        nfo=Relation.of(size, [(a, b) for a, b in nfo_pairs(events, model) if flushed[a] < flushed[b]]),
        rao=rao_of_order([events[number[place]] for place in orders.rao], threads, model, size),
        **relations_of_messages(program, events, threads),
    )


def _rank(rank: Mapping[int, int], event: Event) -> int:
    return -1 if event.type is EventType.INIT else rank[event.index]


def _steps(deeds: Sequence[EventAccount]) -> Iterator[Step]:
    """Yield for each event of a thread a step that is that of its operation."""
    number = 0
    for deed in deeds:
        number += deed.word not in ("nrW", "nlW", "naW", "put", "send", "imm")
        yield Step(Silent(), text=str(number))


def _event(program: Program, place: Place, deed: EventAccount, index: int, step: Step) -> Event:
    posts = deed.kind is EventKind.POSTS_BUFFER
    peer = None if deed.peer < 0 else f"T{deed.peer}"
    return Event(
        index,
        EventType(deed.kind.value),
        *place,
        f"q{deed.queue}" if deed.kind in _WITH_QUEUE else None,
        program.cells[deed.cell] if deed.cell >= 0 and not posts else None,
        step=Step(Recv(program.cells[deed.cell], peer)) if posts and peer is not None else step,
        unsignaled=deed.completion is Completion.UNSIGNALED,
        completing=deed.kind in (EventKind.PUT_WRITES, EventKind.GET_WRITES) and deed.completion is not Completion.NONE,
        peer=peer,
        joined=deed.joined,
    )


def decided(account: Account, orders: Orders) -> str:
    """What the axioms of the tool say, in the words of the judge."""
    trace, model = trace_of(account, orders), model_of(account)
    words = ["yes" if one else "no" for one in (ob(trace, model).is_irreflexive(), sc(trace).closure().is_irreflexive())]
    return f"rdma {words[0]}, sc {words[1]}"


def is_counterexample(account: Account) -> bool:
    """Whether threads can make these events with these values, and the trace is violating, by the axioms of the tool."""
    places = sorted((t, n) for t, deeds in enumerate(account.threads) for n in range(len(deeds)))
    if sorted(account.order) != places or not set(writes_of(account)) <= {*account.modified}:
        return False
    reading = Reading(account)
    return (
        reading.possible() and reading.connected() and reading.fits() and is_violating(trace_of(account), model_of(account))
    )


def writes_of(account: Account) -> Iterator[Place]:
    for t, deeds in enumerate(account.threads):
        yield from ((t, n) for n, deed in enumerate(deeds) if deed.kind in WRITES and deed.cell >= 0)


@dataclass
class Reading:
    """An account read operation by operation, and its values followed along the sources."""

    account: Account
    known: dict[Source, int | None] = field(default_factory=dict)

    def possible(self) -> bool:
        on, cells = self.account.platform, len(self.account.cells)
        kinds = {deed.kind for deeds in self.account.threads for deed in deeds}
        return (
            (EventKind.ATOMIC if on.ranked else EventKind.ATOMIC_WRITES) not in kinds
            and all(
                deed.cell < cells or deed.kind is EventKind.POSTS_BUFFER for deeds in self.account.threads for deed in deeds
            )
            and all(_shaped(deeds) and _polled(deeds) for deeds in self.account.threads)
        )

    def connected(self) -> bool:
        """Whether every message has a buffer, and every RP a message with that immediate."""
        for t, deeds in enumerate(self.account.threads):
            for u in range(max([len(self.account.threads), *(d.peer + 1 for each in self.account.threads for d in each)])):
                sent = [d for d in deeds if d.kind is EventKind.PUT_WRITES and d.peer == u]
                theirs = self.account.threads[u] if u < len(self.account.threads) else ()
                buffers = [x for v, s, posted in self.account.posted if (v, s) == (u, t) for x in posted]
                buffers += [d.cell for d in theirs if d.kind is EventKind.POSTS_BUFFER and d.peer == t]
                heard = [d for d in theirs if d.kind is EventKind.RECEIVES and d.peer == t]
                if len(sent) > len(buffers) or len(heard) > len(sent):
                    return False
                if any(d.cell not in (-1, x) for d, x in zip(sent, buffers, strict=False)):
                    return False
                if any(h.read != (0 if d.cell >= 0 else d.written) for d, h in zip(sent, heard, strict=False)):
                    return False
        return all(
            d.peer < len(self.account.threads) or d.kind is not EventKind.RECEIVES for e in self.account.threads for d in e
        )

    def fits(self) -> bool:
        """Whether sources are writes of the cells, CPUs read what they say, and atomics write what they have to."""
        reads = sorted(
            (t, n) for t, deeds in enumerate(self.account.threads) for n, d in enumerate(deeds) if d.kind in READS
        )
        if sorted({read for _, read in self.account.sources}) != reads:
            return False
        if len({*self.account.sources}) != len(reads):
            return False
        source = {read: write for write, read in self.account.sources}
        for read, write in source.items():
            cell = self.account.threads[read[0]][read[1]].cell
            if isinstance(write, int):
                if write != cell or write >= len(self.account.cells):
                    return False
            elif write not in {*writes_of(self.account)} or self.account.threads[write[0]][write[1]].cell != cell:
                return False
        return all(self._read_fits(place, source) for place in reads)

    def _read_fits(self, place: Place, source: Mapping[Place, Source]) -> bool:
        t, n = place
        deed = self.account.threads[t][n]
        value = self._written(source[place], source)
        if deed.kind in (EventKind.LOCAL_READ, EventKind.SWAP):
            return value is not None and value == deed.read
        if deed.kind not in (EventKind.ATOMIC_READS, EventKind.ATOMIC):
            return True
        if value is None:
            return False
        writes = operated(deed.operation, value) is not None
        if deed.kind is EventKind.ATOMIC:
            return writes
        rest = self.account.threads[t][n + 1 :]
        written = bool(rest) and rest[0].kind is EventKind.ATOMIC_WRITES
        if not self.account.platform.ranked or not writes:
            return not writes and not written
        return written or (not rest and not self._followed(place, deed.cell))

    def _followed(self, place: Place, cell: int) -> bool:
        later = self.account.order[self.account.order.index(place) + 1 :]
        mine = (self.account.threads[t][n] for t, n in later)
        return any(d.kind is EventKind.ATOMIC_READS and d.cell == cell for d in mine)

    def _written(self, write: Source, source: Mapping[Place, Source]) -> int | None:
        if write not in self.known:
            self.known[write] = None
            self.known[write] = self._follow(write, source)
        return self.known[write]

    def _follow(self, write: Source, source: Mapping[Place, Source]) -> int | None:
        if isinstance(write, int):
            return self.account.cells[write]
        t, n = write
        deed = self.account.threads[t][n]
        if deed.written is not None:
            return deed.written
        read = n if deed.kind is EventKind.ATOMIC else n - 1
        if deed.kind is EventKind.GET_WRITES and self.account.threads[t][read].kind is EventKind.ATOMIC_WRITES:
            read -= 1
        value = self._written(source[t, read], source)
        atomic = deed.kind in (EventKind.ATOMIC, EventKind.ATOMIC_WRITES)
        return operated(self.account.threads[t][read].operation, value) if atomic and value is not None else value


def operated(operation: str, value: int) -> int | None:
    """What a remote atomic writes where it has read a value."""
    name, *operands = operation.split()
    numbers = list(map(int, operands))
    if name == "cas":
        return numbers[1] if value == numbers[0] else None
    if name == "swap":
        return numbers[0]
    if len(numbers) == 1:
        return value + numbers[0]
    amount, low, high = numbers
    return low + (value + amount - low) % (high - low + 1)


def _shaped(deeds: Sequence[EventAccount]) -> bool:
    """Whether a thread can make these events, one operation after the other; the last one may be cut."""
    rest = list(deeds)
    while rest:
        first = rest.pop(0)
        queue = first.queue

        def goes_on(*names: str, queue: int = queue) -> bool:
            return not rest or (rest[0].word in names and rest[0].queue == queue and not rest[0].joined)

        if first.joined:
            return False
        match first.word:
            case "lR" | "CAS" | "F":
                while rest and rest[0].joined:
                    if rest.pop(0).kind not in (EventKind.LOCAL_READ, EventKind.SWAP):
                        return False
            case "nlR":
                if not goes_on("nrW", "put", "send"):
                    return False
                if rest and rest.pop(0).word == "put":
                    if not goes_on("imm"):
                        return False
                    del rest[:1]
            case "put-inline":
                if not goes_on("imm"):
                    return False
                del rest[:1]
            case "naR":
                if rest and rest[0].word == "naW":
                    if (rest[0].queue, rest[0].cell) != (queue, first.cell):
                        return False
                    del rest[:1]
                if not goes_on("nlW"):
                    return False
                del rest[:1]
            case "nrR" | "nA":
                if not goes_on("nlW"):
                    return False
                del rest[:1]
            case "nrW" | "nlW" | "naW" | "put" | "send" | "imm":
                return False
    return True


def _polled(deeds: Sequence[EventAccount]) -> bool:
    ready: dict[int, int] = {}
    for deed in deeds:
        if deed.kind in (EventKind.PUT_WRITES, EventKind.GET_WRITES) and deed.completion is Completion.SIGNALED:
            ready[deed.queue] = ready.get(deed.queue, 0) + 1
        if deed.kind is EventKind.POLL:
            ready[deed.queue] = ready.get(deed.queue, 0) - 1
            if ready[deed.queue] < 0:
                return False
    return True
