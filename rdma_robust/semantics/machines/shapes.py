"""Operations as the machines run them, by the rows of the event table; and which of them they can run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rdma_robust.errors import UsageError
from rdma_robust.expr import TRUE, VALUE, Expr
from rdma_robust.language.flow.cfg import Cell, Recv, Section
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.event_table import Act, Agent, Case, cases_of, row_of
from rdma_robust.semantics.trace import EventType


@dataclass(frozen=True, slots=True)
class OperationShape:
    """An operation as the machines run it: at once by the CPU, or by the card, which moves one word or none.

    The CPU, or for a request first of all the card, reads `source`; the CPU writes `value` to `target` if `succeeds` holds
    (None: always). The card makes the events `nic`, of the queue pair towards `remote`: two that copy `source` to
    `target`, or one that touches no word. Where it `flushes` that queue pair, the CPU waits until all that it was handed
    has taken effect.

    `deployed` is what only the machines of RDMA as deployed run. Such a request makes the events `nic` if it does all that
    it can, and its CPU reads `source` when it posts it if it is `inline`. `receives` is the thread for whose messages the
    CPU posts the word `buffer`, `takes` the one of which it takes a receive completion. `fences`: the CPU waits until its
    store buffer is empty. Of a locked `section` the CPU reads all words and then writes some. At a barrier it waits for the
    threads `members`, of which it is one.
    """

    source: Cell | None = None
    target: Cell | None = None
    value: Expr | None = None
    succeeds: Expr | None = None
    remote: str | None = None
    nic: tuple[EventType, ...] = ()
    completes: bool = False
    polls: bool = False
    flushes: bool = False
    deployed: bool = False
    inline: bool = False
    receives: str | None = None
    buffer: Cell | None = None
    takes: str | None = None
    fences: bool = False
    section: Section | None = None
    members: tuple[str, ...] = ()


def shape_of(op: object, model: Model = RDMA) -> OperationShape:
    """Return the shape of an operation. Raises UsageError for one that the machines do not know how to run."""
    shape = _shape(op, model)
    if model.cpu != "tso":
        return shape
    types = {act.type for case in cases_of(op, model) for act in case.acts}
    return replace(shape, fences=True) if types & {EventType.CAS, EventType.F, EventType.BAR} else shape


def _shape(op: object, model: Model) -> OperationShape:
    if isinstance(op, Section):
        return OperationShape(section=op)
    row = row_of(op)
    cases, remote = row.cases(op), row.remote(op)
    kinds = [act.type for case in cases for act in case.acts]
    if kinds == [EventType.V]:
        return OperationShape(
            deployed=True, receives=cases[0].acts[0].peer, buffer=op.cell if isinstance(op, Recv) else None
        )
    if kinds == [EventType.RP]:
        return OperationShape(deployed=True, takes=cases[0].acts[0].peer)
    if kinds == [EventType.BAR]:
        return OperationShape(deployed=True, members=cases[0].acts[0].members)
    found = None
    if len(cases) == 1 and not cases[0].acts:
        found = OperationShape()
    elif all(len(case.acts) == 1 and case.acts[0].agent is Agent.CPU for case in cases):
        found = _of_cpu(cases, remote)
    elif len(cases) == 1 and cases[0].when == TRUE:
        found = _of_card(cases[0].acts, remote)
    if found is None:
        found = _deployed(cases_of(op, model), remote)
    if found is None:
        raise UsageError(f"the machines cannot run operations like {row.name}: the axioms and the searches can")
    return found


def _of_cpu(cases: tuple[Case, ...], remote: str | None) -> OperationShape | None:
    """An access of at most one word that every case reads or none, and of which at most one case writes."""
    if len(cases) == 1:
        (act,) = cases[0].acts
        source = act.cell if act.reads else None
        return OperationShape(
            source,
            act.cell if act.writes else None,
            act.written,
            None,
            remote,
            polls=act.type is EventType.P,
            flushes=act.type is EventType.FL,
        )
    reading = {act.cell for case in cases for act in case.acts if act.reads}
    writing = [(case, act) for case in cases for act in case.acts if act.writes]
    if len(writing) != 1 or len(reading) != 1 or not all(act.reads for case in cases for act in case.acts):
        return None
    ((case, act),) = writing
    return OperationShape(next(iter(reading)), act.cell, act.written, case.when, remote)


def _of_card(acts: tuple[Act, ...], remote: str | None) -> OperationShape | None:
    types = tuple(act.type for act in acts)
    match acts:
        case [only] if only.type is EventType.NF:
            return OperationShape(remote=remote, nic=types)
        case [first, second] if (
            first.agent is Agent.NIC
            and first.reads
            and not first.writes
            and second.written == VALUE
            and second.copies
            and second.completes
        ):
            return OperationShape(first.cell, second.cell, remote=remote, nic=types, completes=second.completes)
    return None


def _deployed(cases: tuple[Case, ...], remote: str | None) -> OperationShape | None:
    """A request of any number of events, of one word that is read first, by the CPU or the card, or of none; before it the
    card may read operands."""
    inline = cases[0].acts[0].agent is Agent.CPU
    requests = [case.acts[inline:] for case in cases]
    reads = {act.cell for case in cases for act in case.acts if act.reads and not act.operand}
    before = sum(act.operand for act in cases[0].acts)
    if (
        remote is None
        or len(reads) > 1
        or not all(acts and all(act.agent is Agent.NIC for act in acts) for acts in requests)
        or (inline and not all(case.acts[0].type is EventType.LR for case in cases))
        or (len(cases) > 1 and not all(case.acts[0].reads for case in cases))
        or any(act.reads for acts in requests for act in acts[before + (not inline) :])
    ):
        return None
    longest = max(requests, key=len)
    written = [act for act in longest if act.writes]
    return OperationShape(
        cases[0].acts[0].cell if before else next(iter(reads), None),
        written[-1].cell if written else None,
        remote=remote,
        nic=tuple(act.type for act in longest),
        completes=any(act.completes for act in longest),
        deployed=True,
        inline=inline,
    )
