"""An independent check that a trace really is one of a program (Definition 1 of the paper)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from rdma_robust.errors import InternalError
from rdma_robust.expr import VALUE, evaluate
from rdma_robust.language.flow.cfg import Program, Step, Thread, steps
from rdma_robust.semantics.event_table import Case, cases_of, remote_of
from rdma_robust.semantics.linearise import nfo_pairs, pf_of_positions, po_of_positions
from rdma_robust.semantics.relation import Relation
from rdma_robust.semantics.trace import READ_TYPES, WRITE_TYPES, Event, EventType, Trace

Local = tuple[int, tuple[int, ...]]
"""A program point and the values of the thread's registers."""


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
        for case in cases_of(step.op):
            if case.acts and not (rest and _may_start(step, case, rest[0])):
                continue
            read = rest[0].read if case.acts else None
            here = env if read is None else {**env, VALUE.name: read}
            # The expressions of a step may be undefined where its guard fails, so the guard comes first.
            if not evaluate(step.guard, here) or not evaluate(case.when, here):
                continue
            consumed = _consumed(step, case, env, rest)
            if consumed is not None:
                assigned = {name: evaluate(expr, here) for name, expr in step.assigns}
                yield consumed, (target, tuple(assigned.get(name, env[name]) for name in names))


def _may_start(step: Step, case: Case, e: Event) -> bool:
    first = case.acts[0]
    return e.step in (None, step) and e.type is first.type and bool(first.reads) == (e.read is not None)


def _consumed(step: Step, case: Case, env: Mapping[str, int], rest: Sequence[Event]) -> int | None:
    """Return how many events of `rest` the step accounts for if it goes as in `case`, or None if they do not fit.

    A prefix of the thread may end between two of them.
    """
    remote = remote_of(step.op)
    here = env
    for i, (act, e) in enumerate(zip(case.acts, rest, strict=False)):
        if i and e.step not in (None, step):
            return None
        read = e.read if act.reads else None
        here = here if read is None else {**here, VALUE.name: read}
        written = None if act.written is None else evaluate(act.written, here)
        if (e.type, e.cell, e.remote) != (act.type, act.cell, remote) or (e.read, e.written) != (read, written):
            return None
        if bool(act.reads) != (e.read is not None) or e.completes != act.completes:
            return None
    return min(len(case.acts), len(rest))
