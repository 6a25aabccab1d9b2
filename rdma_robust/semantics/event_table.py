"""The event table: which events every operation makes, what each reads and writes, by which agent, and what it completes.

Everything that asks what an operation does derives from the rows of :data:`TABLE`: event graphs and with them the
instrumentations, the machines, the paths of the oracle, the replay of traces, the wording. The tables of kept orders, by
types of events, are in `order_table.py`. Source: semantics.md, "Events".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from rdma_robust.errors import InternalError
from rdma_robust.expr import TRUE, VALUE, Binary, Expr, equals, negate
from rdma_robust.language.flow.cfg import Cas, Cell, Get, MFence, Poll, Put, Read, RFence, Rmw, Silent, Write
from rdma_robust.semantics.trace import CPU_TYPES, EventType


class Agent(Enum):
    """Who makes an event: the CPU of the thread's node, or its network card on behalf of a queue pair."""

    CPU = "CPU"
    NIC = "NIC"


@dataclass(frozen=True, slots=True)
class Link:
    """An edge of the relation called `relation` to the event that it is matched with, of this type and of another thread."""

    relation: str
    thread: str
    type: EventType


@dataclass(frozen=True, slots=True)
class Act:
    """One event of an operation.

    `writes` gives for every word the value, over the thread's registers and VALUE: what this event has read, or, if it
    reads nothing, what the last event of the operation that does has read. `completes` iff a poll of the queue pair can
    take it. What is all empty touches no word.
    """

    type: EventType
    reads: tuple[Cell, ...] = ()
    writes: tuple[tuple[Cell, Expr], ...] = ()
    completes: bool = False
    links: tuple[Link, ...] = ()

    @property
    def agent(self) -> Agent:
        return Agent.CPU if self.type in CPU_TYPES else Agent.NIC

    @property
    def cell(self) -> Cell | None:
        """The only word that the event touches, None if it touches none. Raises InternalError if there are several."""
        cells = self.reads if not self.writes else (*self.reads, *(cell for cell, _ in self.writes))
        if self.links or any(cell != cells[0] for cell in cells[1:]):
            raise InternalError(f"an event of several words, or with edges to other threads, is not supported here: {self}")
        return cells[0] if cells else None

    @property
    def copies(self) -> bool:
        """Whether the event stores just what an earlier one of the operation has read."""
        return not self.reads and self.written == VALUE

    @property
    def written(self) -> Expr | None:
        return self.writes[0][1] if self.writes else None


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which an operation can go: its events in program order, if `when` (over registers and VALUE) holds.

    VALUE is what the first event reads; without `when` the operation always goes so. No two cases hold together.
    """

    acts: tuple[Act, ...] = ()
    when: Expr = TRUE


def nowhere(_op: object) -> None:
    """The queue pair of what a CPU does alone."""


@dataclass(frozen=True, slots=True)
class Row:
    """What the table says of one kind of operation: its name, its cases, and the other node of its queue pair, if any."""

    name: str
    cases: Callable[[Any], tuple[Case, ...]]
    remote: Callable[[Any], str | None] = nowhere


T = EventType


def _cas(op: Cas) -> tuple[Case, ...]:
    same = equals(VALUE, op.expected)
    return (
        Case((Act(T.CAS, (op.cell,), ((op.cell, op.new),)),), same),
        Case((Act(T.LR, (op.cell,)),), negate(same)),
    )


def _rmw(op: Rmw) -> tuple[Case, ...]:
    written = Case((Act(T.CAS, (op.cell,), ((op.cell, op.new),)),), op.when)
    return (written,) if op.when == TRUE else (written, Case((Act(T.LR, (op.cell,)),), negate(op.when)))


def _copy(op: Put | Get, read: EventType, write: EventType) -> tuple[Case, ...]:
    return (Case((Act(read, (op.source,)), Act(write, (), ((op.target, VALUE),), completes=True))),)


TABLE: Final[dict[type, Row]] = {
    Silent: Row("silent", lambda _: (Case(),)),
    Read: Row("read", lambda op: (Case((Act(T.LR, (op.cell,)),)),)),
    Write: Row("write", lambda op: (Case((Act(T.LW, (), ((op.cell, op.value),)),)),)),
    Cas: Row("cas", _cas),
    Put: Row("put", lambda op: _copy(op, T.NLR, T.NRW), lambda op: op.target.node),
    Get: Row("get", lambda op: _copy(op, T.NRR, T.NLW), lambda op: op.source.node),
    Poll: Row("poll", lambda _: (Case((Act(T.P),)),), lambda op: op.node),
    Rmw: Row("rmw", _rmw),
    MFence: Row("mfence", lambda _: (Case(),)),
    RFence: Row("rfence", lambda _: (Case((Act(T.NF),)),), lambda op: op.node),
}
"""The rows, by the class of the operation."""


def row_of(op: object) -> Row:
    """Return the row of an operation. Raises InternalError if the table has none."""
    found = TABLE.get(type(op))
    if found is None:
        raise InternalError(f"the event table has no row for {type(op).__name__}")
    return found


def cases_of(op: object) -> tuple[Case, ...]:
    """Return the ways in which an operation can go."""
    return row_of(op).cases(op)


def remote_of(op: object) -> str | None:
    """Return the other node of the queue pair that an operation is about, None for what the CPU does alone."""
    return row_of(op).remote(op)


def acts_of(op: object) -> tuple[Act, ...]:
    """Return every event that an operation may make, case by case."""
    cases = cases_of(op)
    return cases[0].acts if len(cases) == 1 else tuple(act for case in cases for act in case.acts)


def cells_read(op: object, agent: Agent | None = None) -> frozenset[Cell]:
    """Return the words that an operation may read (by this agent)."""
    return frozenset(cell for act in _by(op, agent) for cell in act.reads)


def cells_written(op: object, agent: Agent | None = None) -> frozenset[Cell]:
    """Return the words that an operation may write (by this agent)."""
    return frozenset(cell for act in _by(op, agent) for cell, _ in act.writes)


def expressions_of(op: object) -> tuple[Expr, ...]:
    """Return the expressions of an operation: its conditions, and the values that it writes."""
    cases = cases_of(op)
    conditions = (case.when for case in cases)
    values = (value for case in cases for act in case.acts for _, value in act.writes)
    return tuple(dict.fromkeys((*conditions, *values)))


def expected_value(when: Expr) -> Expr | None:
    """Return e if the condition of a case is VALUE == e, None for any other."""
    match when:
        case Binary("==", left, right) if left == VALUE:
            return right
    return None


def takes_completion(op: object) -> bool:
    """Return whether an operation is a poll."""
    return any(act.type is T.P for act in acts_of(op))


def polls_of(op: object) -> str | None:
    """Return the other node of the queue pair of which an operation takes a completion, None if it is no poll."""
    return remote_of(op) if takes_completion(op) else None


def completes_on(op: object) -> str | None:
    """Return the other node of the queue pair on which an operation completes, None if no poll can take it."""
    return remote_of(op) if any(act.completes for act in acts_of(op)) else None


def is_remote(op: object) -> bool:
    """Return whether an operation is handed to the network card."""
    return any(act.agent is Agent.NIC for act in acts_of(op))


def _by(op: object, agent: Agent | None) -> Iterable[Act]:
    return (act for act in acts_of(op) if agent is None or act.agent is agent)
