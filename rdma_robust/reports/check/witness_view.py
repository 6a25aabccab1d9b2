"""A witness as plain data with words: events with their source places, relations, cycle and reorderings."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.language.flow.cfg import Program
from rdma_robust.outcome import Witness
from rdma_robust.semantics.trace import CPU_TYPES, Event, EventType, Trace
from rdma_robust.semantics.wording import Words

Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class EventView:
    """One event. `id` is its index in the trace, `part` is `init`, `alpha`, `pivot` or `beta`.

    `agent` is `init`, `cpu` or `nic`; `thread` and `node` are None for initial writes, `remote` is the other node of the
    queue pair. `label` is short and leaves out who acts, `text` is a clause that stands alone.
    """

    id: int
    type: str
    part: str
    agent: str
    thread: str | None
    node: str | None
    remote: str | None
    cell: str | None
    read: int | None
    written: int | None
    line: int | None
    column: int | None
    expanded_from: tuple[int, ...]
    places: tuple[str, ...]
    statement: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class RelationsView:
    """The relations of the trace as pairs of event ids; the last three are None where it has nothing that they order."""

    po: Pairs
    pf: Pairs
    rf: Pairs
    mo: Pairs
    nfo: Pairs
    rao: Pairs | None = None
    sm: Pairs | None = None
    rpf: Pairs | None = None


@dataclass(frozen=True, slots=True)
class EdgeView:
    source: int
    relation: str
    target: int
    text: str


@dataclass(frozen=True, slots=True)
class RelaxedView:
    """Two events of one thread that take effect in the opposite of the program order."""

    earlier: int
    later: int
    text: str


@dataclass(frozen=True, slots=True)
class WitnessView:
    """`order` is alpha, then the pivot (if any), then beta: the order in which the events take effect.

    `matter` are the events of the cycle and of the reorderings, and those on which they depend (:mod:`what_matters`).
    """

    events: tuple[EventView, ...]
    order: tuple[int, ...]
    alpha: tuple[int, ...]
    pivot: int | None
    beta: tuple[int, ...]
    run: tuple[int, ...]
    relations: RelationsView
    cycle: tuple[EdgeView, ...]
    relaxed: tuple[RelaxedView, ...]
    matter: tuple[int, ...]


def view(program: Program, witness: Witness, order: str) -> WitnessView:
    """Return `witness`, a witness for `program` under an order of that name, as plain data."""
    from rdma_robust.semantics.what_matters import of_counterexample  # noqa: PLC0415 - slow; few read verdicts have one

    words = Words(program, order)
    alpha = tuple(e.index for e in witness.order[: witness.before])
    pivot = None if witness.pivot is None else witness.pivot.index
    beta = tuple(e.index for e in witness.order[witness.before :] if e.index != pivot)
    part = dict.fromkeys(alpha, "alpha") | dict.fromkeys(beta, "beta") | ({} if pivot is None else {pivot: "pivot"})
    trace = witness.trace
    return WitnessView(
        events=tuple(_event(program, words, e, part.get(e.index, "init")) for e in trace.events),
        order=tuple(e.index for e in witness.order),
        alpha=alpha,
        pivot=pivot,
        beta=beta,
        run=tuple(e.index for e in witness.run),
        relations=_relations(trace),
        cycle=tuple(
            EdgeView(c.source.index, c.relation, c.target.index, words.edge(c.source, c.relation, c.target))
            for c in witness.cycle.edges
        ),
        relaxed=tuple(RelaxedView(a.index, b.index, words.reordering(a, b)) for a, b in witness.relaxed),
        matter=tuple(sorted(of_counterexample(program, trace, witness.cycle, witness.relaxed, witness.pivot))),
    )


def _event(program: Program, words: Words, event: Event, part: str) -> EventView:
    thread = program.threads[event.thread] if event.thread >= 0 else None
    agent = "init" if event.type is EventType.INIT else "cpu" if event.type in CPU_TYPES else "nic"
    return EventView(
        id=event.index,
        type=event.type.value,
        part=part,
        agent=agent,
        thread=thread.name if thread else None,
        node=thread.node if thread else None,
        remote=event.remote,
        cell=None if event.cell is None else str(event.cell),
        read=event.read,
        written=event.written,
        line=event.step.span.line if event.step else None,
        column=event.step.span.column if event.step else None,
        expanded_from=event.step.span.expanded_from if event.step else (),
        places=event.step.span.places if event.step else (),
        statement=words.statement(event),
        label=words.label(event),
        text=words.clause(event),
    )


def _relations(trace: Trace) -> RelationsView:
    return RelationsView(
        *(tuple(each) for each in (trace.po, trace.pf, trace.rf, trace.mo, trace.nfo)),
        *(None if each is None else tuple(each) for each in (trace.rao, trace.sm, trace.rpf)),
    )
