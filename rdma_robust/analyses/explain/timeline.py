"""The machine run of a witness as lanes: one for each processor's work and for each queue pair of the NIC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, cast

from rdma_robust.analyses.explain.explanation import (
    Edge,
    Graph,
    Lane,
    Node,
    Operation,
    OperationKind,
    Relation,
    StepKind,
    Timeline,
    TimelineStep,
)
from rdma_robust.analyses.explain.schedule import MachineRun, RemoteOperation, RunStep
from rdma_robust.language.flow.cfg import Program, queue_pairs_of
from rdma_robust.model import Model
from rdma_robust.outcome import Witness
from rdma_robust.semantics.axioms import oppo, rb
from rdma_robust.semantics.event_table import acts_of
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.semantics.order_table import VISIBLE_WHEN_POLLED
from rdma_robust.semantics.trace import CPU_TYPES, FENCE_TYPES, Event, EventType, Trace
from rdma_robust.semantics.trace import Relation as Pairs
from rdma_robust.semantics.what_matters import of_counterexample
from rdma_robust.semantics.wording import Words
from rdma_robust.text import one_line

KINDS: dict[Verb, StepKind] = {
    Verb.ACCESS: "access",
    Verb.ISSUE: "post",
    Verb.NIC_READ: "read",
    Verb.NIC_WRITE: "send",
    Verb.FLUSH: "write",
    Verb.FENCE: "fence",
    Verb.POLL: "poll",
    Verb.RECV: "access",
    Verb.RPOLL: "access",
    Verb.DRAIN: "write",
}
_DRAWN: Final[dict[EventType, OperationKind]] = {
    EventType.NAR: "atomic",
    EventType.NAW: "atomic",
    EventType.NA: "atomic",
    EventType.NF: "rfence",
    EventType.NO: "order",
    EventType.NRR: "get",
    EventType.NLW: "get",
    EventType.NRW: "put",
}
"""As what an operation of the card is drawn that makes an event of this type. Reads of the own node are of every kind."""

CPU_KINDS = ("access", "post", "poll")


def timeline(program: Program, witness: Witness, run: MachineRun) -> Timeline:
    """Return `run`, the machine run of `witness`, as lanes, steps and remote operations."""
    rows = _rows(run.steps)
    on_cycle = {e.index for edge in witness.cycle.edges for e in (edge.source, edge.target)}
    pivot = None if witness.pivot is None else witness.pivot.index
    words = Words(program)
    matter = of_counterexample(program, witness.trace, witness.cycle, witness.relaxed, witness.pivot)
    under_way = {o.number for o in run.operations if any(event.index in matter for event in o.events)}
    steps = tuple(
        replace(
            step,
            on_cycle=step.event in on_cycle,
            pivot=step.event is not None and step.event == pivot,
            matters=step.event in matter or (step.event is None and step.operation in under_way),
        )
        for step in (_step(words, run, row, number) for number, row in enumerate(rows, 1))
    )
    operations = tuple(_operation(words, operation, steps) for operation in run.operations)
    return Timeline(_lanes(program, steps), steps, operations)


def nic_lane(program: Program, thread: int, remote: str) -> str:
    return f"{program.threads[thread].name}>{remote}"


def cpu_lane(program: Program, thread: int) -> str:
    return program.threads[thread].name


def _rows(steps: Sequence[RunStep]) -> list[tuple[RunStep, bool]]:
    """Return the steps; a NIC write that goes to memory right after it entered the buffer is one row (and true)."""
    rows: list[tuple[RunStep, bool]] = []
    for step in steps:
        before = rows[-1][0] if rows else None
        if (
            step.action.verb is Verb.FLUSH
            and before is not None
            and before.action.verb is Verb.NIC_WRITE
            and before.operation == step.operation
            and before.write == step.event
        ):
            rows[-1] = (step, True)
        else:
            rows.append((step, False))
    return rows


def _step(words: Words, run: MachineRun, row: tuple[RunStep, bool], number: int) -> TimelineStep:
    step, sent = row
    program, thread = words.program, step.action.thread
    kind = "post" if _leaves(step) else KINDS[step.action.verb]
    operation = None if step.operation is None else run.operations[step.operation]
    cpu = kind in CPU_KINDS or operation is None
    label, text = _phrases(words, step, kind, operation)
    return TimelineStep(
        number=number,
        lane=cpu_lane(program, thread) if cpu or operation is None else nic_lane(program, thread, operation.remote),
        kind=kind,
        sent=sent,
        event=None if step.event is None else step.event.index,
        operation=step.operation,
        line=None if step.action.step is None else step.action.step.span.line,
        label=label,
        text=text,
        on_cycle=False,
        pivot=False,
        name="" if step.event is None else str(step.event),
        matters=False,
    )


def _phrases(words: Words, row: RunStep, kind: StepKind, operation: RemoteOperation | None) -> tuple[str, str]:
    """Return what a step does, without and with who does it."""
    if row.event is not None:
        return words.label(row.event), words.clause(row.event)
    if operation is None or _leaves(row):
        return _buffered(words, row)
    first = operation.events[0]
    name = words.program.threads[operation.thread].name
    statement = words.statement(first)
    if kind == "post":
        return f"posts {statement}", f"{name}'s CPU hands `{statement}` to the NIC and goes on"
    write = row.write
    assert write is not None and first.step is not None
    if write.type in FENCE_TYPES:
        return f"issues {statement}", f"{name}'s NIC issues `{statement}`: later writes wait in the buffer behind it"
    what = words.label(write).removeprefix("writes ").removeprefix("delivers ")
    if write.type not in VISIBLE_WHEN_POLLED:
        return f"sends {what}", f"{name}'s NIC sends {what}: the put is complete for a poll, but not yet in memory"
    return f"receives {what}", f"{name}'s NIC has {what} for `{statement}`, not yet stored in memory"


def _leaves(row: RunStep) -> bool:
    """Whether a request leaves the store buffer of its CPU."""
    return row.action.verb is Verb.DRAIN and row.event is None


def _buffered(words: Words, row: RunStep) -> tuple[str, str]:
    """Return what a step does that only moves something into the store buffer, or a request out of it."""
    statement = "" if row.action.step is None else one_line(row.action.step.text)
    name = words.program.threads[row.action.thread].name
    if _leaves(row):
        return f"{statement} leaves the store buffer", f"`{statement}` leaves {name}'s store buffer for the NIC"
    return f"buffers {statement}", f"{name}'s CPU puts `{statement}` into its store buffer and goes on"


def _operation(words: Words, operation: RemoteOperation, steps: Sequence[TimelineStep]) -> Operation:
    first = operation.events[0]
    assert first.step is not None
    mine = [s for s in steps if s.operation == operation.number]

    def number(*kinds: StepKind) -> int | None:
        return next((s.number for s in mine if s.kind in kinds), None)

    sent = next((s.number for s in mine if s.kind == "send" or s.sent), None)
    posted = number("post")
    assert posted is not None
    return Operation(
        number=operation.number,
        kind=_kind(first.step.op),
        lane=nic_lane(words.program, operation.thread, operation.remote),
        line=first.step.span.line,
        statement=words.statement(first),
        posted=posted,
        read=number("read"),
        sent=sent,
        written=number("write", "fence"),
        polled=number("poll"),
    )


def _kind(op: object) -> OperationKind:
    """Return as what an operation of the card is drawn, by the first of its events that says it."""
    drawn = (_DRAWN[act.type] for act in acts_of(op) if act.type in _DRAWN)
    return next(drawn)


def _lanes(program: Program, steps: Sequence[TimelineStep]) -> tuple[Lane, ...]:
    used = {s.lane for s in steps}
    lanes = []
    for t, thread in enumerate(program.threads):
        nics = [pair for pair in queue_pairs_of(program, thread) if nic_lane(program, t, pair) in used]
        if nics or cpu_lane(program, t) in used:
            lanes.append(Lane(cpu_lane(program, t), "cpu", thread.name, thread.node, None))
            lanes += [Lane(nic_lane(program, t, pair), "nic", thread.name, thread.node, pair) for pair in nics]
    return tuple(lanes)


ORDER: tuple[Relation, ...] = ("po", "oppo", "rf", "mo", "rb", "pf", "nfo")


def graph(program: Program, witness: Witness, model: Model) -> Graph:
    """Return the graph of the events of `witness` and of the initial writes that they read."""
    trace = witness.trace
    words = Words(program)
    relations = drawn_relations(trace, model)
    cycle = {(e.source.index, e.target.index): cast(Relation, e.relation) for e in witness.cycle.edges}
    texts = {(e.source.index, e.target.index): words.edge(e.source, e.relation, e.target) for e in witness.cycle.edges}
    on_cycle = {i for pair in cycle for i in pair}
    initial = {a for a, _ in relations["rf"] if trace.events[a].type is EventType.INIT} | on_cycle
    shown = [e for e in trace.events if e.type is not EventType.INIT or (e.index in initial and not _hidden(e))]
    ids = {e.index for e in shown}
    merged: dict[tuple[int, int], list[Relation]] = {}
    for name in ORDER:
        extra = {pair for pair, used in cycle.items() if used == name}
        for pair in sorted({*relations[name], *extra}):
            if ids.issuperset(pair):
                merged.setdefault(pair, []).append(name)
    kept = oppo(trace, model)
    for pair, names in merged.items():
        if "po" in names and "oppo" not in names and pair in kept:
            names.insert(1, "oppo")
    rows = {e.index: n for n, e in enumerate(witness.order, 1)}
    return Graph(
        tuple(_node(words, e, rows.get(e.index, 0), e.index in on_cycle, e == witness.pivot) for e in shown),
        tuple(
            Edge(a, b, tuple(names), cycle.get((a, b)), texts.get((a, b), "")) for (a, b), names in sorted(merged.items())
        ),
    )


def drawn_relations(trace: Trace, model: Model) -> dict[Relation, set[tuple[int, int]]]:
    """Return the relations of a trace without what follows from the rest: po, mo, nfo and oppo between neighbours, rb to the
    first later write, oppo only where po edges between neighbours do not imply it."""
    mo = _neighbours(trace.mo)
    stores = {(a, b) for a, b in mo if trace.events[a].type is not EventType.INIT}
    po = _program_order(trace)
    kept = oppo(trace, model)
    implied = Pairs.of(len(trace.events), [pair for pair in po if pair in kept]).closure()
    return {
        "po": po,
        "rf": set(trace.rf),
        "mo": stores,
        "rb": {(a, b) for a, b in rb(trace) if any((w, b) in mo for w, r in trace.rf if r == a)},
        "pf": set(trace.pf),
        "nfo": _neighbours(trace.nfo),
        "oppo": {pair for pair in _neighbours(kept) if pair not in implied},
    }


def _hidden(event: Event) -> bool:
    return event.cell is not None and event.cell.hidden


def _program_order(trace: Trace) -> set[tuple[int, int]]:
    threads: dict[int, list[Event]] = {}
    for event in trace.events:
        if event.thread >= 0:
            threads.setdefault(event.thread, []).append(event)
    ordered = [sorted(events, key=lambda e: e.position) for events in threads.values()]
    return {(a.index, b.index) for events in ordered for a, b in pairwise(events)}


def _neighbours(relation: Pairs) -> set[tuple[int, int]]:
    """Return the transitive reduction of an acyclic relation."""
    closed = relation.closure()
    between = closed.then(closed)
    return {pair for pair in relation if pair not in between}


def _node(words: Words, event: Event, row: int, on_cycle: bool, pivot: bool) -> Node:
    program = words.program
    lane = None
    if event.thread >= 0:
        nic = event.type not in CPU_TYPES and event.remote is not None
        lane = nic_lane(program, event.thread, event.remote or "") if nic else cpu_lane(program, event.thread)
    return Node(
        id=event.index,
        type=event.type.value,
        lane=lane,
        thread=program.threads[event.thread].name if event.thread >= 0 else None,
        row=row,
        position=event.position,
        line=event.step.span.line if event.step else None,
        label=words.label(event),
        text=words.clause(event),
        on_cycle=on_cycle,
        pivot=pivot,
    )
