"""One event of one thread as an edge of its graph: what all instrumentations look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rdma_robust.expr import Expr, substitute
from rdma_robust.language.flow.cfg import BarrierWait, Cell, Fault, Recv, RecvPoll, Step, on_lane
from rdma_robust.semantics.connections import Connection
from rdma_robust.semantics.trace import READ_TYPES, WRITE_TYPES, EventType


@dataclass(frozen=True, slots=True)
class EdgeTouch:
    """One event of a locked section: of its first, a fence, there is no cell. What it `reads` is `value_of` its number."""

    type: EventType
    cell: Cell | None
    number: int = 0
    written: Expr | None = None


@dataclass(frozen=True, slots=True)
class EventEdge:
    """One event of one thread. `type` None is a silent step.

    `guard`, `assigns` and `written` are over the thread's registers (qualified `Thread.register`) and VALUE: the value in
    the cell before the event, or, for a write that reads nothing, what its operation has read and carries along, up to
    the event that `carries` no more. `written` is None where just that is stored. `remote` is what the thread calls the
    queue pair, a lane or the other node, and `peer` the other thread of the connection; the operation completes with the
    event that is `completing`, and a poll can take it if it `completes`. `unsplit` is the guard of all edges together into
    which :mod:`specialise` has split one. `wraps` is what the case of the operation reports, beside the fault of the step.

    `connection` is that of a message, V or RP (see :mod:`messages`). A message happens only if the receive that it takes
    has posted `cell`; one without a cell takes any, and `written` is its immediate. An RP has that as VALUE. One that
    `fills` has data, also if it is the fault of one.

    The naR and the naW of a remote read-modify-write are one edge, of the type of the first; `also` is that of the
    second. `rmw` has its condition and the value it writes, whatever the outcome that the edge is for. One that is
    `back` is for the outcome that nothing is written, and taken as one that writes what it has read
    (:mod:`frame`). An edge that `stops` is the naR alone, behind which the thread does not go on
    (:mod:`remote_atomics`). The card has read its `operands` before: each by an nlR with its number as `operand`, and
    what it was is `value_of` that number here.

    A BAR is one vertex with those of the other threads of the barrier, `members`.

    A locked section of several locations is one edge too, of the type of a compare-and-swap and without a `cell`: `section`
    has all of its events.
    """

    thread: int
    source: int
    target: int
    type: EventType | None
    guard: Expr
    assigns: tuple[tuple[str, Expr], ...]
    step: Step
    cell: Cell | None = None
    remote: str | None = None
    written: Expr | None = None
    unsplit: Expr | None = None
    carries: bool = False
    completes: bool = False
    completing: bool = False
    peer: str | None = None
    wraps: Fault | None = None
    connection: Connection | None = None
    also: EventType | None = None
    rmw: tuple[Expr, Expr] | None = None
    stops: bool = False
    back: bool = False
    operand: int | None = None
    operands: tuple[Cell, ...] = ()
    section: tuple[EdgeTouch, ...] = ()
    members: tuple[int, ...] = ()
    fills: bool = False

    @property
    def threads(self) -> tuple[int, ...]:
        """The threads that the event is one of: of a barrier all that meet there."""
        return self.members or (self.thread,)

    @property
    def reads(self) -> bool:
        return self.type in READ_TYPES

    @property
    def may_tear(self) -> bool:
        """Whether the naR can be in alpha and the naW in beta, or not there."""
        return self.also is not None and not self.back

    @property
    def writes(self) -> bool:
        if self.section:
            return any(touch.written is not None for touch in self.section)
        return self.also is not None or (self.type in WRITE_TYPES and self.cell is not None)

    @property
    def accesses(self) -> tuple[tuple[Cell, bool, bool], ...]:
        """The words that the event touches, each with whether it is read, and whether it is written."""
        if self.section:
            return tuple((t.cell, True, t.written is not None) for t in self.section if t.cell is not None)
        return () if self.cell is None else ((self.cell, self.reads, self.writes),)

    @property
    def fault(self) -> Fault | None:
        """What is reported when the edge is taken."""
        return self.wraps or self.step.fault

    @property
    def possible(self) -> Expr:
        """When the event can happen, whatever comes after it."""
        return self.guard if self.unsplit is None else self.unsplit

    def __str__(self) -> str:
        if self.section:
            return f"section({', '.join(str(cell) for cell, _, _ in self.accesses)})"
        place: object = self.remote if self.cell is None else self.cell
        if isinstance(self.step.op, BarrierWait):
            place = ", ".join(self.step.op.threads)
        if isinstance(self.step.op, Recv | RecvPoll) and place is None:
            place = f"{self.step.op.sender}{on_lane(self.step.op.lane)}"
        return "silent" if self.type is None else f"{self.type.value}({place})"


def section_stores(edge: EventEdge) -> tuple[Expr, ...]:
    """What a section writes."""
    return tuple(touch.written for touch in edge.section if touch.written is not None)


def with_touches(edge: EventEdge, by: Mapping[str, Expr]) -> tuple[EdgeTouch, ...]:
    """Return the events of a section with names replaced in what they write."""
    return tuple(t if t.written is None else replace(t, written=substitute(t.written, by)) for t in edge.section)
