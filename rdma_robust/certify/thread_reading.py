"""The checker's reading of a thread: which events it can make next, from the flow graph that the front end gives.

One event is one step; steps without an event are taken just before the event that follows them, since no other thread can
tell. A value may be unknown (None): a register that an invariant leaves open, or a read of which nothing is assumed.
Where a condition is unknown, both cases are possible, so what is unknown only adds events.

Source: docs/model.md, "Events"; docs/language.md, "The language"; docs/deployed.md, "Events".

More than 400 lines: it is all that the checker trusts of what operations do, to be read in one go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from rdma_robust.certify.document import reject
from rdma_robust.certify.hardware import USUAL, EventKind, Platform
from rdma_robust.certify.remembered import Seen, Value, evaluated
from rdma_robust.certify.thread_events import (
    CellAccess,
    Completion,
    LocalState,
    OperationStage,
    ThreadEvent,
    ThreadMove,
    fetches_nothing,
)
from rdma_robust.expr import FALSE, VALUE, Binary, Const, Expr, names
from rdma_robust.language.flow import cfg


@dataclass(slots=True)
class Ahead:
    """A step that a thread can do next: one that it stands before, or is in the middle of, and its registers there.

    What happens may depend on the value of a cell that it `reads`, on what a message of the thread that it `hears` carries,
    on that lane of it, or on the values of the `words` of a locked section.
    """

    number: int
    local: LocalState
    reads: cfg.Cell | None
    hears: tuple[str, str] | None = None
    words: tuple[cfg.Cell, ...] = ()
    found: dict[Seen, tuple[ThreadMove, ...]] = field(default_factory=dict)


def readings_of(program: cfg.Program, platform: Platform) -> tuple[ThreadReading, ...]:
    """Return the reading of every thread of `program` on `platform`.

    A thread alone knows nothing of the others at its barriers: who asks puts their rounds together.
    """
    buffers: dict[str, dict[tuple[str, str], dict[cfg.Cell, None]]] = {}
    for thread in program.threads:
        posted = list(thread.posted)
        for _, _, step in cfg.steps(thread):
            posted += [(step.op.sender, step.op.cell, step.op.lane)] if isinstance(step.op, cfg.Recv) else []
        for sender, cell, lane in (each for each in posted if not each[1].void):
            buffers.setdefault(sender, {}).setdefault((thread.name, lane), {})[cell] = None
    return tuple(
        ThreadReading(thread, number, platform, {end: tuple(cells) for end, cells in buffers.get(thread.name, {}).items()})
        for number, thread in enumerate(program.threads)
    )


class ThreadReading:
    """A thread as what it can do next; `number` is its place in the program, `buffers` are those that each thread which it
    sends messages to may give to them, for each of its lanes."""

    def __init__(
        self,
        thread: cfg.Thread,
        number: int,
        platform: Platform = USUAL,
        buffers: Mapping[tuple[str, str], tuple[cfg.Cell, ...]] | None = None,
    ) -> None:
        self.number = number
        self.name = thread.name
        self.names = tuple(name for name, _ in thread.registers)
        self.steps = cfg.steps(thread)
        self.start = LocalState(thread.entry, tuple(value for _, value in thread.registers))
        self.buffers = buffers or {}
        self._platform = platform
        self._from: dict[int, list[int]] = {}
        for i, (source, _, _) in enumerate(self.steps):
            self._from.setdefault(source, []).append(i)
        self._ahead: dict[LocalState, tuple[Ahead, ...]] = {}
        self.writes_back: frozenset[int] = frozenset()

    @property
    def buffered(self) -> bool:
        """Whether stores wait in a buffer."""
        return self._platform.buffered

    def accesses(self) -> Iterator[CellAccess]:
        """Yield every cell that some event may access, and how."""
        for _, _, step in self.steps:
            yield from self.accesses_of(step.op)

    def accesses_of(self, op: cfg.Op) -> Iterator[CellAccess]:
        """Yield every cell that some event of an operation may access, and how."""
        match op:
            case cfg.Read(cell):
                yield CellAccess(cell, False)
            case cfg.Write(cell, _):
                yield CellAccess(cell, True)
            case cfg.Cas(cell, _, _) | cfg.Rmw(cell, _, _):
                yield from (CellAccess(cell, False), CellAccess(cell, True))
            case cfg.Section(cells, writes):
                yield from (CellAccess(cell, False) for cell in cells)
                yield from (CellAccess(cells[k], True) for k, _ in writes)
            case _:
                yield from self._accesses_of(request_of(op))

    def accesses_of_card(self) -> Iterator[CellAccess]:
        """Yield every cell that the card may access for the thread, and how."""
        for _, _, step in self.steps:
            yield from self._accesses_of(request_of(step.op))

    def _accesses_of(self, request: CardRequest | None) -> Iterator[CellAccess]:
        if request is not None and request.source is not None:
            yield from (CellAccess(cell, False) for cell in request.operands)
            yield CellAccess(request.source, False, request.reads is EventKind.ATOMIC_READS)
            yield from [CellAccess(request.source, True)] if request.swaps else []
        if request is not None:
            targets = self.buffers.get((request.to or "", request.lane), ()) if request.fills else (request.target,)
            yield from (CellAccess(cell, True) for cell in targets if cell is not None)

    def cells_of(self, event: ThreadEvent) -> tuple[cfg.Cell, ...]:
        """Return the cells that an event of the thread may access: one, or each buffer that a message may find."""
        if event.fills and event.cell is None:
            return self.buffers.get((event.peer or "", event.lane), ())
        return () if event.cell is None else (event.cell,)

    def ahead(self, local: LocalState) -> tuple[Ahead, ...]:
        """Return every step with an event that can come next, after any steps without one."""
        if local not in self._ahead:
            self._ahead[local] = tuple(self._find_ahead(local))
        return self._ahead[local]

    def stopped_at(self, local: LocalState) -> cfg.Cell | None:
        """The word of the remote atomic behind whose read the thread has ended, None if it has not."""
        if local.stage is not OperationStage.STOPPED or local.operation is None:
            return None
        request = request_of(self.steps[local.operation][2].op)
        return None if request is None else request.source

    def moves(self, ahead: Ahead, value: Seen) -> tuple[ThreadMove, ...]:
        """Return the events that a step makes where what it reads or hears is `value`: none if it is not enabled."""
        if value not in ahead.found:
            ahead.found[value] = tuple(self._find_moves(ahead, value))
        return ahead.found[value]

    def second_half(self, move: ThreadMove) -> ThreadMove:
        """Return the write of a remote atomic of which the move is the read."""
        (ahead,) = self.ahead(move.after)
        (second,) = self.moves(ahead, None)
        return second

    def _find_ahead(self, local: LocalState) -> Iterator[Ahead]:
        if local.operation is not None:
            if local.stage is not OperationStage.STOPPED:
                step = self.steps[local.operation][2]
                reads = local.stage in (OperationStage.FENCED, OperationStage.OPERANDS)
                yield Ahead(local.operation, local, _cell_read(step, len(local.operands)) if reads else None)
            return
        seen = {local}
        todo = [local]
        while todo:
            here = todo.pop()
            for number in self._from.get(here.point, ()):
                _, target, step = self.steps[number]
                if not self._is_silent(step):
                    hears = (step.op.sender, step.op.lane) if isinstance(step.op, cfg.RecvPoll) else None
                    yield Ahead(
                        number, here, _cell_read(step), hears, step.op.cells if isinstance(step.op, cfg.Section) else ()
                    )
                elif self._may(step, here, None):
                    after = LocalState(target, self._assigned(step, here, None))
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)

    def _is_silent(self, step: cfg.Step) -> bool:
        """Whether the step makes no event: a fence for a buffer that is not there makes none either."""
        return isinstance(step.op, cfg.Silent) or (isinstance(step.op, cfg.MFence) and not self._platform.buffered)

    def _find_moves(self, ahead: Ahead, seen: Seen) -> Iterator[ThreadMove]:
        here, line = ahead.local, self.steps[ahead.number][2].span.line
        _, target, step = self.steps[ahead.number]
        if isinstance(step.op, cfg.Section):
            yield from self._section(step, step.op, here, target, seen)
            return
        value = None if isinstance(seen, tuple) else seen
        if here.operation is not None:
            yield from self._continued(step, here, target, value, line)
            return
        if isinstance(step.op, cfg.Cas | cfg.Rmw) and self._platform.buffered:
            yield from self._fence(step, ahead)
        if not self._may(step, here, value):
            return
        after = LocalState(target, self._assigned(step, here, value))
        match step.op:
            case cfg.Read(cell):
                yield ThreadMove(ThreadEvent(self.number, EventKind.LOCAL_READ, cell), None, after, line)
            case cfg.Write(cell, expr):
                yield ThreadMove(
                    ThreadEvent(self.number, EventKind.LOCAL_WRITE, cell), evaluated(expr, self._values(here)), after, line
                )
            case cfg.Cas() | cfg.Rmw():
                yield from self._swaps(step, ahead, value, after)
            case cfg.Poll(node, lane):
                yield ThreadMove(ThreadEvent(self.number, EventKind.POLL, None, lane or node), None, after, line)
            case cfg.RFence(node, lane):
                yield ThreadMove(ThreadEvent(self.number, EventKind.FENCE, None, lane or node), None, after, line)
            case cfg.Flush(node, lane):
                yield ThreadMove(ThreadEvent(self.number, EventKind.FLUSH, None, lane or node), None, after, line)
            case cfg.OrderFence(node, lane):
                yield ThreadMove(ThreadEvent(self.number, EventKind.ORDER, None, lane or node), None, after, line)
            case cfg.MFence():
                yield ThreadMove(ThreadEvent(self.number, EventKind.MEMORY_FENCE), None, after, line)
            case cfg.Recv(cell, sender, lane):
                posts = ThreadEvent(self.number, EventKind.POSTS_BUFFER, peer=sender, buffer=cell, lane=lane)
                yield ThreadMove(posts, None, after, line)
            case cfg.RecvPoll(sender, lane):
                yield ThreadMove(ThreadEvent(self.number, EventKind.RECEIVES, peer=sender, lane=lane), None, after, line)
            case cfg.BarrierWait(threads):
                yield ThreadMove(ThreadEvent(self.number, EventKind.BARRIER, meets=threads), None, after, line)
            case cfg.RemoteRmw():
                yield from self._remote_atomic(step, step.op, ahead, value, after)
            case _:
                request = request_of(step.op)
                if request is None:
                    reject(f"line {line}: there are no rules here for `{step.text}`")
                yield from self._requests(request, step, ahead, value)

    def _section(self, step: cfg.Step, op: cfg.Section, here: LocalState, target: int, seen: Seen) -> Iterator[ThreadMove]:
        """Everything between `lock` and `unlock`, which has the effect on a store buffer that a swap has."""
        read = seen if isinstance(seen, tuple) else (None,) * len(op.cells)
        known = self._values(here) | {f"{VALUE.name}{k}": value for k, value in enumerate(read)}
        if evaluated(step.guard, known) != 0:
            written = dict(op.writes)
            words = tuple((cell, k in written) for k, cell in enumerate(op.cells))
            assigned = self._values(here) | {name: evaluated(expr, known) for name, expr in step.assigns}
            stores = tuple(evaluated(written[k], known) for k in sorted(written))
            after = LocalState(target, tuple(assigned[name] for name in self.names))
            yield ThreadMove(ThreadEvent(self.number, EventKind.SWAP, words=words), None, after, step.span.line, stores)

    def _middle(self, ahead: Ahead, carried: Value, stage: OperationStage = OperationStage.CARRIES) -> LocalState:
        kept = ahead.local.operands if stage is OperationStage.HALF else ()
        return LocalState(ahead.local.point, ahead.local.registers, ahead.number, carried, stage, kept)

    def _swaps(self, step: cfg.Step, ahead: Ahead, value: Value, after: LocalState) -> Iterator[ThreadMove]:
        cell, writes, new = self._swap(step, ahead.local, value)
        line = step.span.line
        if writes != 0:
            yield ThreadMove(ThreadEvent(self.number, EventKind.SWAP, cell), new, after, line)
        if writes != 1 and not self._platform.buffered:
            yield ThreadMove(ThreadEvent(self.number, EventKind.LOCAL_READ, cell), None, after, line)

    def _fence(self, step: cfg.Step, ahead: Ahead) -> Iterator[ThreadMove]:
        """A locked instruction drains the store buffer also when it does not write; only its read sees whether it does."""
        _, writes, _ = self._swap(step, ahead.local, None)
        if writes != 1 and self._may(step, ahead.local, None):
            fence = ThreadEvent(self.number, EventKind.MEMORY_FENCE)
            yield ThreadMove(fence, None, self._middle(ahead, None, OperationStage.FENCED), step.span.line)

    def _swap(self, step: cfg.Step, here: LocalState, value: Value) -> tuple[cfg.Cell, Value, Value]:
        """The cell of a local atomic, whether it writes, and what."""
        values = self._values(here)
        known = values | {VALUE.name: value}
        match step.op:
            case cfg.Cas(cell, expected, new):
                return cell, evaluated(Binary("==", VALUE, expected), known), evaluated(new, values)
            case cfg.Rmw(cell, new, when):
                writes = evaluated(when, known)
                return cell, writes if writes is None else int(writes != 0), evaluated(new, known)
            case _:
                raise AssertionError("no local atomic")

    def _remote_atomic(
        self, step: cfg.Step, op: cfg.RemoteRmw, ahead: Ahead, value: Value, after: LocalState
    ) -> Iterator[ThreadMove]:
        """The next event of a remote atomic up to the read of its word: that, or the read of an operand."""
        taken = ahead.local.operands
        if len(taken) == len(op.operands):
            yield from self._remote_swaps(step, op, ahead, value, after)
            return
        pair, operand = op.lane or op.source.card, op.operands[len(taken)]
        middle = replace(self._middle(ahead, None, OperationStage.OPERANDS), operands=(*taken, value))
        event = ThreadEvent(self.number, EventKind.PUT_READS, operand, pair, operand=True)
        yield ThreadMove(event, None, middle, step.span.line)

    def _remote_swaps(
        self, step: cfg.Step, op: cfg.RemoteRmw, ahead: Ahead, value: Value, after: LocalState
    ) -> Iterator[ThreadMove]:
        """The first event of a remote atomic; without an answer it may be the last one, with which that completes."""
        known, line = self._values(ahead.local) | _taken(ahead.local) | {VALUE.name: value}, step.span.line
        cell, writes, pair = op.source, evaluated(op.when, known), op.lane or op.source.card
        answers = after if op.target is None else self._middle(ahead, value)
        completion = _completion(step) if op.target is None else Completion.NONE
        takes, update = bool(op.operands), fetches_nothing(op)
        reads = ThreadEvent(self.number, EventKind.ATOMIC_READS, cell, pair, takes=takes, variant=update)
        if writes != 0 and self._platform.ranked:
            yield ThreadMove(replace(reads, swaps=True), None, self._middle(ahead, value, OperationStage.HALF), line)
        elif writes != 0:
            event = replace(reads, kind=EventKind.ATOMIC, completion=completion)
            yield ThreadMove(event, evaluated(op.new, known), answers, line)
        if writes is not None and writes != 0:
            return
        event = replace(reads, completion=completion)
        if ahead.number not in self.writes_back:
            yield ThreadMove(event, None, answers, line)
        elif self._platform.ranked:
            event = replace(event, swaps=True, at_once=True, completion=Completion.NONE)
            yield ThreadMove(event, None, self._middle(ahead, value, OperationStage.HALF), line)
        else:
            yield ThreadMove(replace(event, kind=EventKind.ATOMIC), value, answers, line)

    def _requests(self, request: CardRequest, step: cfg.Step, ahead: Ahead, value: Value) -> Iterator[ThreadMove]:
        """The first event of a request: a read by the CPU or the card, or what it writes if it reads nothing."""
        carried = evaluated(request.value, self._values(ahead.local) | {VALUE.name: value})
        middle = self._middle(ahead, carried)
        if request.source is None:
            yield from self._continued(step, middle, self.steps[ahead.number][1], None, step.span.line)
            return
        pair = None if request.reads is EventKind.LOCAL_READ else request.queue_pair
        event = ThreadEvent(self.number, request.reads, request.source, pair, variant=_is_send(step.op))
        yield ThreadMove(event, None, middle, step.span.line)

    def _continued(self, step: cfg.Step, here: LocalState, target: int, value: Value, line: int) -> Iterator[ThreadMove]:
        """The next event of an operation of which some are made."""
        over = LocalState(target, self._assigned(step, here, value if here.stage is OperationStage.FENCED else None))
        match here.stage:
            case OperationStage.CARRIES:
                event, last = self._carrying(step)
                message = LocalState(here.point, here.registers, here.operation, None, OperationStage.MESSAGE)
                yield ThreadMove(event, here.carried, over if last else message, line)
            case OperationStage.MESSAGE:
                assert isinstance(step.op, cfg.ImmPut)
                op, pair = step.op, step.op.lane or step.op.target.card
                event = ThreadEvent(self.number, EventKind.PUT_WRITES, None, pair, _completion(step), op.to, lane=op.lane)
                yield ThreadMove(event, evaluated(step.op.imm, self._values(here)), over, line)
            case OperationStage.FENCED:
                cell, writes, _ = self._swap(step, here, value)
                if writes != 1 and self._may(step, here, value):
                    yield ThreadMove(ThreadEvent(self.number, EventKind.LOCAL_READ, cell), None, over, line)
            case OperationStage.OPERANDS:
                assert isinstance(step.op, cfg.RemoteRmw) and here.operation is not None
                yield from self._remote_atomic(step, step.op, Ahead(here.operation, here, None), value, over)
            case OperationStage.HALF:
                assert isinstance(step.op, cfg.RemoteRmw)
                known = self._values(here) | _taken(here) | {VALUE.name: here.carried}
                fails = here.operation in self.writes_back and evaluated(step.op.when, known) == 0
                new = here.carried if fails else evaluated(step.op.new, known)
                last, pair = step.op.target is None, step.op.lane or step.op.source.card
                completion = _completion(step) if last else Completion.NONE
                update = fetches_nothing(step.op)
                event = ThreadEvent(self.number, EventKind.ATOMIC_WRITES, step.op.source, pair, completion, variant=update)
                answers = LocalState(here.point, here.registers, here.operation, here.carried, OperationStage.CARRIES)
                yield ThreadMove(event, new, over if last else answers, line)

    def _carrying(self, step: cfg.Step) -> tuple[ThreadEvent, bool]:
        """The event that writes what an operation has read, and whether it is the last one."""
        request = request_of(step.op)
        assert request is not None, "only a request carries something"
        if isinstance(step.op, cfg.ImmPut):
            return ThreadEvent(self.number, request.writes, request.target, request.queue_pair), False
        completion = _completion(step)
        return ThreadEvent(
            self.number,
            request.writes,
            request.target,
            request.queue_pair,
            completion,
            request.to,
            fills=request.fills,
            lane=request.lane if request.to is not None else "",
            asked=request.source if request.writes is EventKind.GET_WRITES else None,
            variant=_is_send(step.op),
        ), True

    def _values(self, here: LocalState) -> dict[str, Value]:
        return dict(zip(self.names, here.registers, strict=True))

    def _may(self, step: cfg.Step, here: LocalState, value: Value) -> bool:
        return evaluated(step.guard, self._values(here) | {VALUE.name: value}) != 0

    def _assigned(self, step: cfg.Step, here: LocalState, value: Value) -> tuple[Value, ...]:
        if not step.assigns:
            return here.registers
        values = self._values(here)
        known = values | {VALUE.name: value}
        return tuple((values | {name: evaluated(expr, known) for name, expr in step.assigns}).values())


@dataclass(frozen=True, slots=True)
class CardRequest:
    """A request that a thread posts towards `node`, on the `lane` if that has a name.

    Its first event `reads` the word `source`, if there is one, and a later one `writes` the `value` to `target`, or to a
    buffer of the thread `to`. The value is over registers and VALUE, which is what was read. One that `swaps` changes its
    source too. Without a target what it has read goes nowhere, or it `fills` a buffer.
    """

    node: str
    reads: EventKind
    source: cfg.Cell | None
    writes: EventKind
    target: cfg.Cell | None
    value: Expr = VALUE
    to: str | None = None
    swaps: bool = False
    operands: tuple[cfg.Cell, ...] = ()
    lane: str = ""
    fills: bool = False

    @property
    def queue_pair(self) -> str:
        """What the thread calls the queue pair: no lane has the name of a node."""
        return self.lane or self.node


def _is_send(op: cfg.Op) -> bool:
    """Return whether an operation is a send: the words behind a write with immediate are a part of that."""
    return isinstance(op, cfg.Send) and not op.put


def request_of(op: cfg.Op) -> CardRequest | None:
    """Return what the card is asked for by an operation, None for what asks it for nothing that touches words."""
    request = _nameless_request_of(op)
    return None if request is None else replace(request, lane=getattr(op, "lane", ""))


def _nameless_request_of(op: cfg.Op) -> CardRequest | None:
    match op:
        case cfg.Put(target, source):
            return CardRequest(target.card, EventKind.PUT_READS, source, EventKind.PUT_WRITES, target)
        case cfg.Get(target, source):
            return CardRequest(source.card, EventKind.GET_READS, source, EventKind.GET_WRITES, target)
        case cfg.RemoteRmw(target, source):
            reads, answers, swaps = EventKind.ATOMIC_READS, EventKind.GET_WRITES, op.when != FALSE
            return CardRequest(source.card, reads, source, answers, target, swaps=swaps, operands=op.operands)
        case cfg.InlinePut(target, data) | cfg.ImmPut(target, data):
            return CardRequest(target.card, _read_of(data), data.source, EventKind.PUT_WRITES, target, data.value)
        case cfg.Send(to, node, data):
            if data is None:
                return CardRequest(node, EventKind.PUT_READS, None, EventKind.PUT_WRITES, None, Const(0), to)
            return CardRequest(node, _read_of(data), data.source, EventKind.PUT_WRITES, None, data.value, to, fills=True)
        case (
            cfg.Silent()
            | cfg.Read()
            | cfg.Write()
            | cfg.Cas()
            | cfg.Rmw()
            | cfg.Section()
            | cfg.MFence()
            | cfg.Nondet()
            | cfg.BarrierWait()
        ):
            return None
        case cfg.Poll() | cfg.RFence() | cfg.Flush() | cfg.OrderFence() | cfg.Recv() | cfg.RecvPoll():
            return None
        case _:
            assert_never(op)


def _read_of(data: cfg.Payload) -> EventKind:
    return EventKind.LOCAL_READ if data.inline else EventKind.PUT_READS


def stages_of(step: cfg.Step) -> frozenset[OperationStage]:
    """Return where a thread can be in the middle of a step."""
    request = request_of(step.op)
    if isinstance(step.op, cfg.Cas | cfg.Rmw):
        return frozenset({OperationStage.FENCED})
    if request is None:
        return frozenset()
    carries = request.source is not None and (request.target is not None or request.to is not None)
    stages = {OperationStage.CARRIES} if carries else set()
    stages |= {OperationStage.MESSAGE} if isinstance(step.op, cfg.ImmPut) else set()
    stages |= {OperationStage.OPERANDS} if request.operands else set()
    return frozenset(stages | ({OperationStage.HALF, OperationStage.STOPPED} if request.swaps else set()))


def operands_taken(step: cfg.Step, stage: OperationStage) -> range:
    """Return how many operands in memory may have been taken where that comes next."""
    every = len(step.op.operands) if isinstance(step.op, cfg.RemoteRmw) else 0
    match stage:
        case OperationStage.OPERANDS:
            return range(1, every + 1)
        case OperationStage.HALF:
            return range(every, every + 1)
        case _:
            return range(1)


def _completion(step: cfg.Step) -> Completion:
    return Completion.SIGNALED if getattr(step.op, "signaled", True) else Completion.UNSIGNALED


def _taken(local: LocalState) -> dict[str, Value]:
    """What has been read of operands, by the names that expressions have for it."""
    return {f"{VALUE.name}{k}": value for k, value in enumerate(local.operands)}


def readings_for_search(program: cfg.Program, platform: Platform) -> tuple[ThreadReading, ...]:
    """Return the readings of a program with which the normal form proves that it is robust: a compare-and-swap that fails,
    and compares with an operand in memory that a card or another thread writes, writes what it has read at once."""
    readings = readings_of(program, platform)
    for reading in readings:
        each = (r.accesses_of_card() if r is reading else r.accesses() for r in readings)
        changed = {access.cell for accesses in each for access in accesses if access.writes}
        reading.writes_back = frozenset(i for i, (_, _, step) in enumerate(reading.steps) if _compares(step.op, changed))
    return readings


def _compares(op: cfg.Op, changed: Collection[cfg.Cell]) -> bool:
    """Whether a remote atomic compares with one of these words of the own node."""
    taken = op.operands if isinstance(op, cfg.RemoteRmw) else ()
    used = names(op.when) if isinstance(op, cfg.RemoteRmw) else ()
    return any(cell in changed and f"{VALUE.name}{k}" in used for k, cell in enumerate(taken))


def _cell_read(step: cfg.Step, taken: int = 0) -> cfg.Cell | None:
    """The cell whose value the first event of a step reads, or a later one of a compare-and-swap, or of a remote atomic of
    which so many operands are taken."""
    match step.op:
        case cfg.Read(cell) | cfg.Cas(cell, _, _) | cfg.Rmw(cell, _, _):
            return cell
        case op:
            request = request_of(op)
            return None if request is None else (*request.operands, request.source)[taken]
