"""An independent check that a trace really is one of a program (Definition 1 of the paper)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

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
from rdma_robust.semantics.linearise import nfo_pairs, pf_of_positions, po_of_positions
from rdma_robust.semantics.relation import Relation
from rdma_robust.semantics.trace import READ_TYPES, WRITE_TYPES, Event, EventType, Trace

Local = tuple[int, tuple[int, ...]]
"""A program point and the values of the thread's registers."""

Kind = tuple[EventType, Cell | None]


def check_well_formed(program: Program, trace: Trace) -> None:
    """Check that `trace` is a trace of `program`, consistent or not (Definition 1).

    The events of every thread are a prefix of a path of its graph with these values (replayed non-deterministically),
    there is one initial write per cell, and po, pf, rf, mo, nfo have the required form.
    Raises InternalError naming the first thing that is wrong.
    """
    for i, e in enumerate(trace.events):
        if e.index != i:
            _wrong(f"event {e} at place {i} has index {e.index}")
    _check_initial_writes(program, trace)
    _check_program_order(program, trace)
    _check_polls(trace)
    _check_reads_from(trace)
    _check_modification_order(trace)
    _check_nfo(trace)
    for number, thread in enumerate(program.threads):
        _check_thread(thread, sorted((e for e in trace.events if e.thread == number), key=lambda e: e.position))


def _wrong(what: str) -> NoReturn:
    raise InternalError(f"not a trace of the program: {what}")


def _difference(trace: Trace, name: str, got: Relation, wanted: Relation) -> None:
    for a, b in got:
        if (a, b) not in wanted:
            _wrong(f"{name} has the edge {trace.events[a]} -> {trace.events[b]}")
    for a, b in wanted:
        if (a, b) not in got:
            _wrong(f"{name} lacks the edge {trace.events[a]} -> {trace.events[b]}")


def _check_initial_writes(program: Program, trace: Trace) -> None:
    initial = [e for e in trace.events if e.type is EventType.INIT]
    for e in initial:
        if e.thread != -1 or e.cell is None or e.written != e.cell.init:
            _wrong(f"initial write {e} does not write the initial value")
    for cell in program.cells:
        if sum(e.cell == cell for e in initial) != 1:
            _wrong(f"{cell} does not have exactly one initial write")
    if len(initial) != len(program.cells):
        _wrong("there is an initial write of a cell that the program does not have")


def _check_program_order(program: Program, trace: Trace) -> None:
    seen = set()
    for e in trace.events:
        if e.type is not EventType.INIT and not 0 <= e.thread < len(program.threads):
            _wrong(f"event {e} belongs to no thread")
        if e.type is not EventType.INIT and (e.thread, e.position) in seen:
            _wrong(f"two events at position {e.position} of thread {program.threads[e.thread].name}")
        seen.add((e.thread, e.position))
    _difference(trace, "po", trace.po, po_of_positions(trace.events))


def _check_polls(trace: Trace) -> None:
    wanted = pf_of_positions(trace.events)
    polled = {b for _, b in wanted}
    for e in trace.events:
        if e.type is EventType.P and e.index not in polled:
            _wrong(f"{e} of thread {e.thread} has nothing to poll")
    for a, b in wanted:
        if (a, b) not in trace.po:
            _wrong(f"{trace.events[b]} polls {trace.events[a]}, which is not earlier in program order")
    _difference(trace, "pf", trace.pf, wanted)


def _check_reads_from(trace: Trace) -> None:
    sources: dict[int, list[int]] = {e.index: [] for e in trace.events if e.type in READ_TYPES}
    for a, b in trace.rf:
        if b not in sources:
            _wrong(f"rf leads into {trace.events[b]}, which is no read")
        sources[b].append(a)
    for r, writes in sources.items():
        read = trace.events[r]
        if len(writes) != 1:
            _wrong(f"{read} reads from {len(writes)} writes")
        write = trace.events[writes[0]]
        if write.type not in WRITE_TYPES or write.cell != read.cell or write.written != read.read:
            _wrong(f"{read} cannot read from {write}")
        if write.index == r:
            _wrong(f"{read} reads from itself")


def _check_modification_order(trace: Trace) -> None:
    writes: dict[str, list[Event]] = {}
    for e in trace.events:
        if e.type in WRITE_TYPES:
            writes.setdefault(str(e.cell), []).append(e)
    wanted = []
    for name, members in writes.items():
        chain = sorted(members, key=lambda e: -trace.mo.rows[e.index].bit_count())
        if chain[0].type is not EventType.INIT:
            _wrong(f"the initial write of {name} is not first in mo")
        wanted += [(a.index, b.index) for i, a in enumerate(chain) for b in chain[i + 1 :]]
    _difference(trace, "mo", trace.mo, Relation.of(len(trace.events), wanted))


def _check_nfo(trace: Trace) -> None:
    pairs = Relation.of(len(trace.events), nfo_pairs(trace.events))
    for a, b in trace.nfo:
        if (a, b) not in pairs:
            _wrong(f"nfo has the edge {trace.events[a]} -> {trace.events[b]}")
    for a, b in pairs:
        if ((a, b) in trace.nfo) == ((b, a) in trace.nfo):
            _wrong(f"nfo does not order {trace.events[a]} and {trace.events[b]} exactly one way")


def _check_thread(thread: Thread, events: Sequence[Event]) -> None:
    """Replay the graph over the events; `reached[i]` holds the local states in which the first i events are consumed."""
    out = _edges(thread)
    reached: list[dict[Local, None]] = [{} for _ in range(len(events) + 1)]
    reached[0][thread.entry, tuple(value for _, value in thread.registers)] = None
    for i in range(len(events) + 1):
        todo = list(reached[i])
        while todo:
            local = todo.pop()
            for consumed, following in moves(thread, out, local, events[i:]):
                if following not in reached[i + consumed]:
                    reached[i + consumed][following] = None
                    if consumed == 0:
                        todo.append(following)
    if not reached[-1]:
        last = max(i for i, locals_ in enumerate(reached) if locals_)
        _wrong(f"thread {thread.name} has no path whose event {last} is {events[last]}")


def _edges(thread: Thread) -> Mapping[int, list[tuple[int, Step]]]:
    out: dict[int, list[tuple[int, Step]]] = {}
    for source, target, step in steps(thread):
        out.setdefault(source, []).append((target, step))
    return out


def moves(
    thread: Thread, out: Mapping[int, list[tuple[int, Step]]], local: Local, rest: Sequence[Event]
) -> Iterator[tuple[int, Local]]:
    """Yield (number of events consumed, local state after) for every step that the next events allow.

    An event with a `step` fits only that step; one without fits every step with its type, cell, queue pair and values.
    """
    point, values = local
    names = [name for name, _ in thread.registers]
    env = dict(zip(names, values, strict=True))
    for target, step in out.get(point, []):
        if rest and rest[0].step is not None and not isinstance(step.op, Silent) and rest[0].step != step:
            continue
        consumed = _consumed(step, env, rest)
        if consumed is None:
            continue
        here = env if consumed == 0 or rest[0].read is None else {**env, VALUE.name: rest[0].read}
        if evaluate(step.guard, here):
            assigned = {name: evaluate(expr, here) for name, expr in step.assigns}
            yield consumed, (target, tuple(assigned.get(name, env[name]) for name in names))


def _consumed(step: Step, env: Mapping[str, int], rest: Sequence[Event]) -> int | None:
    """Return how many events of `rest` the step accounts for, or None if they do not fit it (its guard aside)."""
    if isinstance(step.op, Silent):
        return 0
    if not rest:
        return None
    e = rest[0]
    match step.op:
        case Read(cell):
            fits = _is(e, (EventType.LR, cell), e.read, None)
        case Write(cell, value):
            return 1 if _guarded(step, env) and _is(e, (EventType.LW, cell), None, evaluate(value, env)) else None
        case Cas(cell, expected, new):
            if not _guarded(step, {**env, VALUE.name: e.read if e.read is not None else 0}):
                return None
            if e.read == evaluate(expected, env):
                fits = _is(e, (EventType.CAS, cell), e.read, evaluate(new, env))
            else:
                fits = _is(e, (EventType.LR, cell), e.read, None)
        case Put(target, source):
            return _pair(rest, (EventType.NLR, source), (EventType.NRW, target), target.node)
        case Get(target, source):
            return _pair(rest, (EventType.NRR, source), (EventType.NLW, target), source.node)
        case Poll(node):
            fits = _is(e, (EventType.P, None), None, None, node)
        case RFence(node):
            fits = _is(e, (EventType.NF, None), None, None, node)
    return 1 if fits else None


def _guarded(step: Step, env: Mapping[str, int]) -> bool:
    """The expressions of a step may be undefined where its guard fails, so the guard comes first."""
    return bool(evaluate(step.guard, env))


def _is(e: Event, kind: Kind, read: int | None, written: int | None, remote: str | None = None) -> bool:
    values = (e.read, e.written, e.remote)
    return (e.type, e.cell) == kind and values == (read, written, remote) and (read is not None) == (e.type in READ_TYPES)


def _pair(rest: Sequence[Event], first: Kind, second: Kind, remote: str) -> int | None:
    """A put or get: the NIC read, and the NIC write of the same value unless the prefix ends between them."""
    value = rest[0].read
    if not _is(rest[0], first, value, None, remote):
        return None
    if len(rest) == 1:
        return 1
    return 2 if rest[1].step in (None, rest[0].step) and _is(rest[1], second, None, value, remote) else None
