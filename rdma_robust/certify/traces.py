"""NOT ROBUST certificates: a trace of the program that RDMA allows and sequential consistency does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rdma_robust.certify.document import Setting, array, integer, mapping, members, natural, one_of, reject, string
from rdma_robust.errors import InternalError
from rdma_robust.expr import VALUE, evaluate
from rdma_robust.language.flow.cfg import (
    Cas,
    Cell,
    Get,
    Poll,
    Program,
    Put,
    Read,
    RFence,
    Silent,
    Step,
    Thread,
    Write,
    steps,
)
from rdma_robust.model import rdma
from rdma_robust.semantics.axioms import rdma_violation, sc_violation
from rdma_robust.semantics.relation import Relation
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, READ_TYPES, WRITE_TYPES, Event, EventType, Trace
from rdma_robust.semantics.wellformed import check_well_formed

JsonObject = dict[str, object]
Local = tuple[int, tuple[int, ...], int]
"""A program point, the values of the registers, and how many events of the thread are accounted for."""

INITIAL = "initial"
"""What a read from an initial write reads from."""

TYPES = tuple(t.value for t in EventType if t is not EventType.INIT)
_NFO = (frozenset({EventType.NLR, EventType.NLW}), frozenset({EventType.NRR, EventType.NRW}))


def trace_evidence(program: Program, trace: Trace) -> JsonObject:
    """Return the evidence for a violating trace; its events after the initial writes must be in RDMA order."""
    first = len(program.cells)
    source = {b: a for a, b in trace.rf}
    writes: dict[str, list[int]] = {}
    for e in sorted(trace.events[first:], key=lambda e: (-trace.mo.rows[e.index].bit_count(), e.index)):
        if e.type in WRITE_TYPES:
            writes.setdefault(str(e.cell), []).append(e.index - first)

    def reads_from(e: Event) -> object:
        if e.index not in source:
            return None
        return INITIAL if source[e.index] < first else source[e.index] - first

    return {
        "events": [
            {
                "thread": program.threads[e.thread].name,
                "position": e.position,
                "line": e.step.span.line if e.step is not None else 0,
                "type": e.type.value,
                "remote": e.remote,
                "cell": None if e.cell is None else str(e.cell),
                "read": e.read,
                "written": e.written,
                "reads_from": reads_from(e),
            }
            for e in trace.events[first:]
        ],
        "mo": writes,
    }


def check_not_robust(program: Program, setting: Setting, evidence: object) -> str:
    """Check that the trace proves `program` not robust and return what it is, in a few words.

    The threads are walked anew along the events; then the trace must be well-formed (Definition 1), RDMA-consistent and
    not SC-consistent (Definition 3). Raises InvalidCertificate.
    """
    trace = _rebuilt(program, evidence)
    try:
        check_well_formed(program, trace)
    except InternalError as error:
        reject(str(error))
    if (cycle := rdma_violation(trace, rdma(setting.ordered_reads))) is not None:
        reject(f"RDMA does not allow the trace: {cycle}")
    if sc_violation(trace) is None:
        reject("sequential consistency allows the trace, so it proves nothing")
    return f"a trace of {len(trace.events) - len(program.cells)} events"


@dataclass(frozen=True, slots=True)
class _Claimed:
    """An event as the certificate has it; `source` is the index of the write it reads from, -1 for the initial one."""

    event: Event
    line: int
    source: int | None


def _rebuilt(program: Program, evidence: object) -> Trace:
    found = members(evidence, "`evidence`", ("events", "mo"))
    threads = {thread.name: number for number, thread in enumerate(program.threads)}
    cells = {str(cell): cell for cell in program.cells}
    claimed = array(found["events"], "`evidence.events`", lambda item, where: _event(item, where, threads, cells))
    initial = [Event(i, EventType.INIT, cell=c, written=c.init) for i, c in enumerate(program.cells)]
    first = len(initial)
    walked: dict[int, Event] = {}
    for number, thread in enumerate(program.threads):
        mine = sorted(
            (i for i, c in enumerate(claimed) if c.event.thread == number), key=lambda i: claimed[i].event.position
        )
        for i, event in zip(mine, _walk(thread, [claimed[i] for i in mine]), strict=True):
            walked[i] = replace(event, index=first + i)
    events = (*initial, *(walked[i] for i in range(len(claimed))))
    n = len(events)
    return Trace(
        events,
        po=Relation.of(
            n, ((a.index, b.index) for a in events for b in events if a.thread == b.thread >= 0 and a.position < b.position)
        ),
        pf=Relation.of(n, _polls_from(events)),
        rf=Relation.of(n, _reads_from(claimed, events, first)),
        mo=Relation.of(n, _modification_order(found["mo"], events, first)),
        nfo=Relation.of(
            n,
            (
                (a.index, b.index)
                for b in events
                for a in events[: b.index]
                if _same_queue(a, b) and {a.type, b.type} in _NFO
            ),
        ),
    )


def _event(value: object, where: str, threads: Mapping[str, int], cells: Mapping[str, Cell]) -> _Claimed:
    item = members(value, where, ("thread", "position", "line", "type", "remote", "cell", "read", "written", "reads_from"))

    def optional(name: str) -> int | None:
        return None if item[name] is None else integer(item[name], f"{where}.{name}")

    cell = None if item["cell"] is None else string(item["cell"], f"{where}.cell")
    if cell is not None and cell not in cells:
        reject(f"{where}.cell: the program has no {cell!r}")
    thread = string(item["thread"], f"{where}.thread")
    if thread not in threads:
        reject(f"{where}.thread: the program has no {thread!r}")
    event = Event(
        -1,
        EventType(one_of(item["type"], f"{where}.type", TYPES)),
        threads[thread],
        natural(item["position"], f"{where}.position"),
        None if item["remote"] is None else string(item["remote"], f"{where}.remote"),
        None if cell is None else cells[cell],
        optional("read"),
        optional("written"),
    )
    source = -1 if item["reads_from"] == INITIAL else optional("reads_from")
    if source is not None and source < -1:
        reject(f"{where}.reads_from is negative")
    return _Claimed(event, natural(item["line"], f"{where}.line"), source)


def _walk(thread: Thread, claimed: Sequence[_Claimed]) -> list[Event]:
    """Follow the thread's graph along its events and return them as the graph makes them, with their steps.

    Of the claimed events only the values read are believed; everything else must come out as claimed.
    """
    if [c.event.position for c in claimed] != list(range(len(claimed))):
        reject(f"the events of thread {thread.name} have not the positions 0 to {len(claimed) - 1}")
    out: dict[int, list[tuple[int, Step]]] = {}
    for source, target, step in steps(thread):
        out.setdefault(source, []).append((target, step))
    start: Local = (thread.entry, tuple(value for _, value in thread.registers), 0)
    came: dict[Local, tuple[Local, list[Event]] | None] = {start: None}
    todo = [start]
    while todo:
        here = todo.pop()
        if here[2] == len(claimed):
            return _collected(came, here)
        for target, step in out.get(here[0], ()):
            for registers, events in _take(thread, step, here, claimed):
                after: Local = (target, registers, here[2] + len(events))
                if after not in came:
                    came[after] = (here, events)
                    todo.append(after)
    furthest = max(done for _, _, done in came)
    return reject(f"thread {thread.name} cannot make event {furthest} of the trace: {claimed[furthest].event}")


def _collected(came: Mapping[Local, tuple[Local, list[Event]] | None], here: Local) -> list[Event]:
    events: list[Event] = []
    while (step := came[here]) is not None:
        here, made = step
        events += reversed(made)
    return events[::-1]


def _take(
    thread: Thread, step: Step, here: Local, claimed: Sequence[_Claimed]
) -> Iterator[tuple[tuple[int, ...], list[Event]]]:
    """Yield the registers and the events after `step`, if it is enabled and its events are those that come next."""
    _, values, done = here
    env = {name: value for (name, _), value in zip(thread.registers, values, strict=True)}
    if isinstance(step.op, Read | Cas):
        read = claimed[done].event.read if done < len(claimed) else None
        if read is None:
            return
        env[VALUE.name] = read
    if not evaluate(step.guard, env):
        return
    following = claimed[done : done + 2]
    made = _made(step, env, following[0].event.read if following else None)
    if made and not following:
        return
    events = []
    for event, claim in zip(made, following, strict=False):
        placed = replace(event, thread=claim.event.thread, position=claim.event.position)
        if placed != claim.event or claim.line != step.span.line:
            return
        events.append(replace(placed, step=step))
    assigned = {name: evaluate(expr, env) for name, expr in step.assigns}
    yield tuple(assigned.get(name, env[name]) for name, _ in thread.registers), events


def _made(step: Step, env: Mapping[str, int], read: int | None) -> list[Event]:
    """Return the events that a step makes, without thread and position; `read` is what a NIC reads."""
    match step.op:
        case Silent():
            return []
        case Read(cell):
            return [Event(-1, EventType.LR, cell=cell, read=env[VALUE.name])]
        case Write(cell, value):
            return [Event(-1, EventType.LW, cell=cell, written=evaluate(value, env))]
        case Cas(cell, expected, new):
            old = env[VALUE.name]
            if old == evaluate(expected, env):
                return [Event(-1, EventType.CAS, cell=cell, read=old, written=evaluate(new, env))]
            return [Event(-1, EventType.LR, cell=cell, read=old)]
        case Put(target, source):
            first = Event(-1, EventType.NLR, remote=target.node, cell=source, read=read)
            return [first, Event(-1, EventType.NRW, remote=target.node, cell=target, written=read)]
        case Get(target, source):
            first = Event(-1, EventType.NRR, remote=source.node, cell=source, read=read)
            return [first, Event(-1, EventType.NLW, remote=source.node, cell=target, written=read)]
        case Poll(node):
            return [Event(-1, EventType.P, remote=node)]
        case RFence(node):
            return [Event(-1, EventType.NF, remote=node)]


def _same_queue(a: Event, b: Event) -> bool:
    return a.thread == b.thread >= 0 and a.remote is not None and a.remote == b.remote


def _polls_from(events: Sequence[Event]) -> Iterator[tuple[int, int]]:
    """The k-th poll of a queue pair polls its k-th NIC write, both counted in program order."""
    ordered = sorted(events, key=lambda e: (e.thread, e.position))
    for poll in (e for e in ordered if e.type is EventType.P):
        before = sum(e.type is EventType.P and _same_queue(e, poll) and e.position < poll.position for e in ordered)
        completed = [e for e in ordered if e.type in NIC_WRITE_TYPES and _same_queue(e, poll)]
        if before < len(completed):
            yield completed[before].index, poll.index


def _reads_from(claimed: Sequence[_Claimed], events: Sequence[Event], first: int) -> Iterator[tuple[int, int]]:
    for i, c in enumerate(claimed):
        if (c.source is not None) != (c.event.type in READ_TYPES):
            reject(f"event {i} of the trace, {c.event}, {'reads' if c.source is None else 'does not read'}")
        if c.source is not None and c.source >= len(claimed):
            reject(f"event {i} of the trace reads from event {c.source}, which does not exist")
        if c.source == -1:
            yield next(e.index for e in events[:first] if e.cell == c.event.cell), first + i
        elif c.source is not None:
            yield first + c.source, first + i


def _modification_order(value: object, events: Sequence[Event], first: int) -> Iterator[tuple[int, int]]:
    orders = mapping(value, "`evidence.mo`")
    written = {str(e.cell) for e in events[first:] if e.type in WRITE_TYPES}
    if orders.keys() != written:
        reject(f"`evidence.mo` is about {sorted(orders)}, and the trace writes {sorted(written)}")
    for cell, order in orders.items():
        indices = [first + i for i in array(order, f"`evidence.mo`[{cell!r}]", natural)]
        mine = [e.index for e in events[first:] if e.type in WRITE_TYPES and str(e.cell) == cell]
        if sorted(indices) != mine:
            reject(f"`evidence.mo` does not list every write to {cell} once")
        for later, b in enumerate(indices):
            yield from ((a, b) for a in indices[:later])
    for initial in events[:first]:
        yield from ((initial.index, e.index) for e in events[first:] if e.type in WRITE_TYPES and e.cell == initial.cell)
