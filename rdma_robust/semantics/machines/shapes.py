"""What the machines need to know of an operation, by its row of the event table; and which operations they can run."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.errors import UsageError
from rdma_robust.expr import TRUE, VALUE, Expr
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.semantics.event_table import Act, Agent, Case, row_of
from rdma_robust.semantics.trace import EventType


@dataclass(frozen=True, slots=True)
class Shape:
    """An operation as the machines run it: at once by the CPU, or by the card, which moves one word or none.

    The CPU reads `source`, and writes `value` to `target` if `succeeds` holds (None: always). The card makes the events
    `nic`, of the queue pair towards `remote`: two that copy `source` to `target`, or one that touches no word.
    """

    source: Cell | None = None
    target: Cell | None = None
    value: Expr | None = None
    succeeds: Expr | None = None
    remote: str | None = None
    nic: tuple[EventType, ...] = ()
    completes: bool = False
    polls: bool = False


def shape_of(op: object) -> Shape:
    """Return the shape of an operation. Raises UsageError for one that the machines do not know how to run."""
    row = row_of(op)
    cases, remote = row.cases(op), row.remote(op)
    found = None
    if len(cases) == 1 and not cases[0].acts:
        found = Shape()
    elif all(len(case.acts) == 1 and case.acts[0].agent is Agent.CPU for case in cases):
        found = _of_cpu(cases, remote)
    elif len(cases) == 1 and cases[0].when == TRUE:
        found = _of_card(cases[0].acts, remote)
    if found is None:
        raise UsageError(f"the machines cannot run operations like {row.name}: the axioms and the searches can")
    return found


def _of_cpu(cases: tuple[Case, ...], remote: str | None) -> Shape | None:
    """An access of at most one word that every case reads or none, and of which at most one case writes."""
    if len(cases) == 1:
        (act,) = cases[0].acts
        source = act.cell if act.reads else None
        return Shape(source, act.cell if act.writes else None, act.written, None, remote, polls=act.type is EventType.P)
    reading = {act.cell for case in cases for act in case.acts if act.reads}
    writing = [(case, act) for case in cases for act in case.acts if act.writes]
    if len(writing) != 1 or len(reading) != 1 or not all(act.reads for case in cases for act in case.acts):
        return None
    ((case, act),) = writing
    return Shape(next(iter(reading)), act.cell, act.written, case.when, remote)


def _of_card(acts: tuple[Act, ...], remote: str | None) -> Shape | None:
    types = tuple(act.type for act in acts)
    match acts:
        case [only] if only.cell is None and not only.completes:
            return Shape(remote=remote, nic=types)
        case [first, second] if first.reads and not first.writes and second.written == VALUE and second.copies:
            return Shape(first.cell, second.cell, remote=remote, nic=types, completes=second.completes)
    return None
