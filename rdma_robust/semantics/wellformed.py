"""An independent check that a trace really is one of a program (Definition 1 of the paper)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from rdma_robust.digraph import by_key
from rdma_robust.errors import InternalError
from rdma_robust.expr import VALUE, evaluate, value_of
from rdma_robust.language.flow.cfg import Program, Section, Step, Thread, steps
from rdma_robust.model import RDMA, Model
from rdma_robust.orders.known_orders import order_table
from rdma_robust.semantics.connections import connect
from rdma_robust.semantics.event_table import Act, Case, cases_of, remote_of
from rdma_robust.semantics.linearise import (
    Threads,
    in_threads,
    nfo_pairs,
    pf_of_positions,
    po_of_positions,
    rao_of_order,
    relations_of_messages,
)
from rdma_robust.semantics.trace import READ_TYPES, WRITE_TYPES, Event, EventType, Relation, Trace
from rdma_robust.semantics.vertices import rounds_of

Local = tuple[int, tuple[int, ...]]
"""A program point and the values of the thread's registers."""


def check_well_formed(program: Program, trace: Trace, model: Model = RDMA) -> None:
    """Check that `trace` is a trace of `program` on such hardware, consistent or not (Definition 1).

    The events of every thread are a prefix of a path of its graph with these values (replayed non-deterministically),
    there is one initial write per cell, and po, pf, rf, mo, nfo, rao, sm, rpf have the required form. Every message has a
    receive, posted or by an event of the trace, whose buffer it fills, and every RP a message. In every round of a barrier
    are all of its threads.
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
    _check_nfo(trace, model)
    threads = in_threads(program, trace.events)
    _check_messages(program, trace, threads)
    _check_takes(threads, model)
    _check_rounds(threads)
    overtaken = _check_rao(trace, threads, model)
    for thread, events in zip(program.threads, threads, strict=True):
        _Replay(thread, model, overtaken).check(events)


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
        if e.type in WRITE_TYPES and e.cell is not None:
            writes.setdefault(str(e.cell), []).append(e)
    wanted = []
    for name, members in writes.items():
        chain = sorted(members, key=lambda e: -trace.mo.rows[e.index].bit_count())
        if chain[0].type is not EventType.INIT:
            _wrong(f"the initial write of {name} is not first in mo")
        wanted += [(a.index, b.index) for i, a in enumerate(chain) for b in chain[i + 1 :]]
    _difference(trace, "mo", trace.mo, Relation.of(len(trace.events), wanted))


def _check_nfo(trace: Trace, model: Model) -> None:
    pairs = Relation.of(len(trace.events), nfo_pairs(trace.events, model))
    for a, b in trace.nfo:
        if (a, b) not in pairs:
            _wrong(f"nfo has the edge {trace.events[a]} -> {trace.events[b]}")
    for a, b in pairs:
        if ((a, b) in trace.nfo) == ((b, a) in trace.nfo):
            _wrong(f"nfo does not order {trace.events[a]} and {trace.events[b]} exactly one way")


def _check_messages(program: Program, trace: Trace, threads: Threads) -> None:
    found = connect(program, threads)
    for t, position in found.idle:
        _wrong(f"{threads[t][position]} of thread {program.threads[t].name} has no message to poll")
    for match in found.matched:
        message = threads[match.message[0]][match.message[1]]
        if match.buffer is None:
            _wrong(f"message {message} of thread {program.threads[match.message[0]].name} finds no receive")
        if message.cell not in (None, match.buffer):
            _wrong(f"message {message} does not fill {match.buffer}, the buffer that it is matched with")
        if match.poll is not None:
            poll = threads[match.poll[0]][match.poll[1]]
            if poll.read != (message.written if message.cell is None else None):
                _wrong(f"{poll} does not have the immediate of {message}")
    for name, wanted in relations_of_messages(program, trace.events, threads).items():
        _difference(trace, name, _of(trace, getattr(trace, name)), _of(trace, wanted))


def _check_takes(threads: Threads, model: Model) -> None:
    """Check that no two messages take one receive, and that only where one may take any they do not take them in order."""
    taken = set()
    for mine in threads:
        counts: dict[tuple[str, str], int] = {}
        for e in mine:
            if e.peer is None or e.type is not EventType.NRW:
                continue
            counts[e.peer, e.lane] = counts.get((e.peer, e.lane), 0) + 1
            takes = counts[e.peer, e.lane] - 1 if e.takes is None else e.takes
            if e.takes is not None and order_table(model.order).matching != "any":
                _wrong(f"message {e} takes a receive that is not of its turn")
            if (e.thread, e.peer, e.lane, takes) in taken:
                _wrong(f"message {e} takes a receive that another one takes")
            taken.add((e.thread, e.peer, e.lane, takes))


def _check_rounds(threads: Threads) -> None:
    for each in rounds_of(threads):
        if not each.complete:
            t, position = each.places[0]
            _wrong(f"{threads[t][position]} of thread {t} comes without those of the other threads of its round")


def _of(trace: Trace, relation: Relation | None) -> Relation:
    return Relation.of(len(trace.events), ()) if relation is None else relation


def _check_rao(trace: Trace, threads: Threads, model: Model) -> frozenset[int]:
    """Check rao; return the naR after which it has another: if they write, their naW must be there."""
    got = _of(trace, trace.rao)
    reads = [e for e in trace.events if e.type is EventType.NAR]
    chain = sorted(reads, key=lambda e: (-got.rows[e.index].bit_count(), e.index))
    _difference(trace, "rao", got, _of(trace, rao_of_order(chain, threads, model, len(trace.events))))
    return frozenset(e.index for e in reads if got.rows[e.index])


class _Replay:
    """The replay of a thread's graph over its events. `overtaken` are the naR before whose writes no prefix may end."""

    def __init__(self, thread: Thread, model: Model, overtaken: frozenset[int]) -> None:
        self.thread = thread
        self.model = model
        self.overtaken = overtaken

    def check(self, events: Sequence[Event]) -> None:
        """`reached[i]` holds the local states in which the first i events are consumed."""
        thread, out = self.thread, _edges(self.thread)
        reached: list[dict[Local, None]] = [{} for _ in range(len(events) + 1)]
        reached[0][thread.entry, tuple(value for _, value in thread.registers)] = None
        for i in range(len(events) + 1):
            todo = list(reached[i])
            while todo:
                local = todo.pop()
                for consumed, following in moves(thread, out, local, events[i:], model=self.model, overtaken=self.overtaken):
                    if following not in reached[i + consumed]:
                        reached[i + consumed][following] = None
                        if consumed == 0:
                            todo.append(following)
        if not reached[-1]:
            last = max(i for i, locals_ in enumerate(reached) if locals_)
            _wrong(f"thread {thread.name} has no path whose event {last} is {events[last]}")


def _edges(thread: Thread) -> Mapping[int, list[tuple[int, Step]]]:
    return by_key((source, (target, step)) for source, target, step in steps(thread))


def moves(
    thread: Thread,
    out: Mapping[int, list[tuple[int, Step]]],
    local: Local,
    rest: Sequence[Event],
    *,
    model: Model = RDMA,
    overtaken: frozenset[int] = frozenset(),
) -> Iterator[tuple[int, Local]]:
    """Yield (number of events consumed, local state after) for every step that the next events allow.

    An event with a `step` fits only that step; one without fits every step with its type, cell, queue pair and values. The
    events may end between two of a step, but not between an naR of `overtaken` and its naW.
    """
    point, values = local
    names = [name for name, _ in thread.registers]
    env = dict(zip(names, values, strict=True))
    for target, step in out.get(point, []):
        for case in cases_of(step.op, model):
            if case.acts and not (rest and _may_start(step, case, rest[0])):
                continue
            first = next((i for i, act in enumerate(case.acts) if _gives_value(act)), 0)
            if isinstance(step.op, Section):
                first = 0
            if first >= len(rest) and first:
                # The events end before the step reads: nothing is known of its guard.
                if _consumed(step, case, env, rest) is not None:
                    yield len(rest), local
                continue
            read = _value(case.acts[first], rest[first]) if case.acts else None
            here = env if read is None else {**env, VALUE.name: read, **_operands_in(case, rest)}
            if isinstance(step.op, Section):
                if len(rest) < len(case.acts):
                    continue
                here = {**env, **_read_by_section(rest[: len(case.acts)])}
            # The expressions of a step may be undefined where its guard fails, so the guard comes first.
            if not evaluate(step.guard, here) or not evaluate(case.when, here):
                continue
            consumed = _consumed(step, case, env, rest)
            if consumed is None or _torn(case, rest, overtaken):
                continue
            assigned = {name: evaluate(expr, here) for name, expr in step.assigns}
            yield consumed, (target, tuple(assigned.get(name, env[name]) for name in names))


def _read_by_section(events: Sequence[Event]) -> dict[str, int]:
    read = (e.read for e in events if e.read is not None)
    return {value_of(k).name: value for k, value in enumerate(read)}


def _operands_in(case: Case, events: Sequence[Event]) -> dict[str, int]:
    """What the events of a step have read of its operands in memory."""
    read = (e.read for act, e in zip(case.acts, events, strict=False) if act.operand and e.read is not None)
    return {value_of(k).name: value for k, value in enumerate(read)}


def _gives_value(act: Act) -> bool:
    return (bool(act.reads) and not act.operand) or act.type is EventType.RP


def _value(act: Act, e: Event) -> int | None:
    return (e.read or 0) if act.type is EventType.RP else e.read


def _torn(case: Case, rest: Sequence[Event], overtaken: frozenset[int]) -> bool:
    """Whether the events end between an naR of `overtaken` and its naW."""
    missing = case.acts[len(rest) : len(rest) + 1]
    return bool(missing) and missing[0].type is EventType.NAW and rest[-1].index in overtaken


def _may_start(step: Step, case: Case, e: Event) -> bool:
    first = case.acts[0]
    reads = bool(first.reads) == (e.read is not None) or first.type is EventType.RP
    return e.step in (None, step) and e.type is first.type and reads


def _consumed(step: Step, case: Case, env: Mapping[str, int], rest: Sequence[Event]) -> int | None:
    """Return how many events of `rest` the step accounts for if it goes as in `case`, or None if they do not fit.

    A prefix of the thread may end between two of them.
    """
    remote = remote_of(step.op)
    here = {**env, **_operands_in(case, rest)}
    if isinstance(step.op, Section):
        here = {**env, **_read_by_section(rest[: len(case.acts)])}
    for i, (act, e) in enumerate(zip(case.acts, rest, strict=False)):
        if i and e.step not in (None, step):
            return None
        read = _value(act, e) if _gives_value(act) else None
        here = here if read is None else {**here, VALUE.name: read}
        if not _fits(act, e, remote, here):
            return None
    return min(len(case.acts), len(rest))


def _fits(act: Act, e: Event, remote: str | None, env: Mapping[str, int]) -> bool:
    """Whether the event is what the act says; what a message takes and what an RP reads is checked where they meet."""
    inline = act.type is EventType.LR and e.remote is None
    same = (e.type, e.peer, e.joined, e.members) == (act.type, act.peer, act.joined, act.members)
    if not same or (e.remote != remote and not inline):
        return False
    if (e.completes, e.completing) != (act.completes, act.completing):
        return False
    value = act.written
    if act.message is not None:
        value = act.message.imm if act.message.data is None else act.message.data
        if (e.cell is None) != (act.message.data is None):
            return False
    elif e.cell != act.cell:
        return False
    written = None if value is None else evaluate(value, env)
    return e.written == written and (act.type is EventType.RP or bool(act.reads) == (e.read is not None))
