"""The event table: which events every operation makes, what each reads and writes, by which agent, and what it completes.

Everything that asks what an operation does derives from the rows of :data:`TABLE`: event graphs and with them the
instrumentations, the machines, the paths of the oracle, the replay of traces, the wording. The tables of kept orders,
by types of events, are in `order_table.py`. Source: docs/model.md, "Events".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final

from rdma_robust.errors import InternalError
from rdma_robust.expr import FALSE, TRUE, VALUE, Binary, Const, Expr, conj, equals, negate, value_of
from rdma_robust.language.flow.cfg import (
    BarrierWait,
    Cas,
    Cell,
    Fault,
    Flush,
    Get,
    ImmPut,
    InlinePut,
    MFence,
    OrderFence,
    Payload,
    Poll,
    Put,
    Read,
    Recv,
    RecvPoll,
    RemoteRmw,
    RFence,
    Rmw,
    Section,
    Send,
    Silent,
    Write,
    peer_of,
)
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.trace import CPU_TYPES, EventType


class Agent(Enum):
    """Who makes an event: the CPU of the thread's node, or its NIC on behalf of a queue pair."""

    CPU = "CPU"
    NIC = "NIC"


@dataclass(frozen=True, slots=True)
class MessageContent:
    """The content of a message: `data` for the buffer that it is matched with (None: it leaves that as it is), and an
    immediate, 0 without one. Both are over the thread's registers and VALUE, as `writes` of an act are."""

    data: Expr | None
    imm: Expr


@dataclass(frozen=True, slots=True)
class Act:
    """One event of an operation.

    `writes` gives for every word the value, over the thread's registers and VALUE: what this event has read, or, if it
    reads nothing, what the last event of the operation that does has read. The operation completes with the event that is
    `completing`, and a poll of the queue pair can take that if it `completes`. What is all empty touches no word.

    An `operand` is read, by the own card, for a later event of its operation, which reads the word that this is about.

    An event that is `joined` happens at the same moment as the one before it, for everybody: see :class:`Section`.

    `peer` is the other thread of the connection, of messages (the receiver), V and RP (the sender). `message` is what a
    message carries; which word it writes is only known where it is matched with a receive: see :func:`placed`. `members` are
    the threads of a barrier.
    """

    type: EventType
    reads: tuple[Cell, ...] = ()
    writes: tuple[tuple[Cell, Expr], ...] = ()
    completes: bool = False
    completing: bool = False
    peer: str | None = None
    message: MessageContent | None = None
    joined: bool = False
    members: tuple[str, ...] = ()
    operand: bool = False

    def __post_init__(self) -> None:
        if self.completes and not self.completing:
            object.__setattr__(self, "completing", True)

    @property
    def agent(self) -> Agent:
        return Agent.CPU if self.type in CPU_TYPES else Agent.NIC

    @property
    def cell(self) -> Cell | None:
        """The only word that the event touches, None if it touches none. Raises InternalError if there are several, or if it
        is a message that is not placed."""
        cells = self.reads if not self.writes else (*self.reads, *(cell for cell, _ in self.writes))
        if any(cell != cells[0] for cell in cells[1:]):
            raise InternalError(f"an event of several locations is not supported here: {self}")
        if self.fills and not self.writes:
            raise InternalError(f"a message whose buffer is not known is not supported here: {self}")
        return cells[0] if cells else None

    @property
    def values(self) -> tuple[Expr, ...]:
        """What the event writes, or carries."""
        carried = () if self.message is None else (self.message.data, self.message.imm)
        return (*(value for _, value in self.writes), *(value for value in carried if value is not None))

    @property
    def fills(self) -> bool:
        """Whether the event is a message with data."""
        return self.message is not None and self.message.data is not None

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

    VALUE is what the first event that reads does, of a section `value_of(k)` what the k-th does; the k-th operand of an
    operation is `value_of(k)` too, and VALUE what is read behind all of them. Without `when` the operation always goes so.
    No two cases hold together. With a `fault` that is reported, and the operation goes on.
    """

    acts: tuple[Act, ...] = ()
    when: Expr = TRUE
    fault: Fault | None = None


def nowhere(_op: object) -> None:
    """The queue pair of what a CPU does alone."""


def everywhere(_op: object, _model: Model) -> None:
    """No hardware has cases of its own."""
    return


@dataclass(frozen=True, slots=True)
class OperationRow:
    """The row of the table for one kind of operation: its name, what of it the paper's programs do not have (empty: they
    have it), its cases, and its queue pair, if any; and its cases under hardware where these are others, None under such
    where they are not."""

    name: str
    beyond: str
    cases: Callable[[Any], tuple[Case, ...]]
    remote: Callable[[Any], str | None] = nowhere
    under: Callable[[Any, Model], tuple[Case, ...] | None] = everywhere


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


def _section(op: Section) -> tuple[Case, ...]:
    written = dict(op.writes)
    acts = (
        Act(T.CAS, (cell,), ((cell, written[k]),), joined=k > 0) if k in written else Act(T.LR, (cell,), joined=k > 0)
        for k, cell in enumerate(op.cells)
    )
    return (Case(tuple(acts)),)


def _fenced_section(op: Section, model: Model) -> tuple[Case, ...] | None:
    """Where stores are buffered, the fence of a section that writes nothing belongs to it."""
    if model.cpu != "tso" or op.writes:
        return None
    return tuple(Case((Act(T.F), *(replace(act, joined=True) for act in case.acts))) for case in _section(op))


def _locked(cases: Callable[[Any], tuple[Case, ...]]) -> Callable[[Any, Model], tuple[Case, ...] | None]:
    """Where stores are buffered, a locked instruction empties the buffer also when it does not write."""

    def under(op: Cas | Rmw, model: Model) -> tuple[Case, ...] | None:
        if model.cpu != "tso":
            return None
        return tuple(
            case if case.acts[0].type is T.CAS else replace(case, acts=(Act(T.F), *case.acts)) for case in cases(op)
        )

    return under


def _copy(op: Put | Get, read: EventType, write: EventType) -> tuple[Case, ...]:
    return (Case((Act(read, (op.source,)), Act(write, (), ((op.target, VALUE),), op.signaled, completing=True))),)


def _payload(data: Payload) -> tuple[Act, ...]:
    """The read of what a request carries: by the CPU when it posts, or later by the card."""
    if data.source is None:
        return ()
    return (Act(T.LR if data.inline else T.NLR, (data.source,)),)


def _inline_put(op: InlinePut) -> tuple[Case, ...]:
    written = Act(T.NRW, (), ((op.target, op.data.value),), op.signaled, completing=True)
    return (Case((*_payload(op.data), written)),)


def _send(op: Send) -> tuple[Case, ...]:
    content = MessageContent(None if op.data is None else op.data.value, Const(0))
    message = Act(T.NRW, (), (), op.signaled, True, op.to, content)
    return (Case((*(() if op.data is None else _payload(op.data)), message)),)


def _imm_put(op: ImmPut) -> tuple[Case, ...]:
    written = Act(T.NRW, (), ((op.target, op.data.value),))
    message = Act(T.NRW, (), (), op.signaled, True, op.to, MessageContent(None, op.imm))
    return (Case((*_payload(op.data), written, message)),)


def _remote_rmw(op: RemoteRmw, written: tuple[Act, ...]) -> tuple[Case, ...]:
    """The answer, if there is one, carries the old value; where the operation writes, its own events are `written`. It
    completes with the last of them."""
    operands = [Act(T.NLR, (cell,), operand=True) for cell in op.operands]
    answer = [] if op.target is None else [Act(T.NLW, (), ((op.target, VALUE),))]

    def answered(acts: tuple[Act, ...], when: Expr, fault: Fault | None = None) -> Case:
        *first, last = (*operands, *acts, *answer)
        return Case((*first, replace(last, completes=op.signaled, completing=True)), when, fault)

    cases = [] if op.when == FALSE else [answered(written, op.when)]
    if op.wraps is not None:
        wraps, fault = op.wraps
        cases = [
            answered(written, conj(op.when, negate(wraps))),
            answered(written, conj(op.when, wraps), fault),
        ]
    if op.when != TRUE:
        cases.append(answered((Act(T.NAR, (op.source,)),), negate(op.when)))
    return tuple(cases)


def _by_cards(op: RemoteRmw) -> tuple[Case, ...]:
    return _remote_rmw(op, (Act(T.NAR, (op.source,)), Act(T.NAW, (), ((op.source, op.new),))))


def _by_all(op: RemoteRmw, model: Model) -> tuple[Case, ...] | None:
    """Where it excludes every access, the read and the write are one event."""
    return _remote_rmw(op, (Act(T.NA, (op.source,), ((op.source, op.new),)),)) if model.atomics == "glob" else None


def _mfence(_op: MFence, model: Model) -> tuple[Case, ...] | None:
    return (Case((Act(T.F),)),) if model.cpu == "tso" else None


TABLE: Final[dict[type, OperationRow]] = {
    Silent: OperationRow("silent", "", lambda _: (Case(),)),
    Read: OperationRow("read", "", lambda op: (Case((Act(T.LR, (op.cell,)),)),)),
    Write: OperationRow("write", "", lambda op: (Case((Act(T.LW, (), ((op.cell, op.value),)),)),)),
    Cas: OperationRow("cas", "", _cas, under=_locked(_cas)),
    Put: OperationRow("put", "", lambda op: _copy(op, T.NLR, T.NRW), peer_of),
    Get: OperationRow("get", "", lambda op: _copy(op, T.NRR, T.NLW), peer_of),
    Poll: OperationRow("poll", "", lambda _: (Case((Act(T.P),)),), peer_of),
    Rmw: OperationRow("rmw", "", _rmw, under=_locked(_rmw)),
    Section: OperationRow("section", "", _section, under=_fenced_section),
    MFence: OperationRow("mfence", "", lambda _: (Case(),), under=_mfence),
    RFence: OperationRow("rfence", "", lambda _: (Case((Act(T.NF),)),), peer_of),
    Flush: OperationRow("flush", "", lambda _: (Case((Act(T.FL),)),), peer_of),
    OrderFence: OperationRow("order", "", lambda _: (Case((Act(T.NO),)),), peer_of),
    InlinePut: OperationRow("inline put", "inline requests", _inline_put, peer_of),
    RemoteRmw: OperationRow("remote rmw", "remote atomics", _by_cards, peer_of, _by_all),
    Send: OperationRow("send", "messages", _send, peer_of),
    ImmPut: OperationRow("put with immediate", "messages", _imm_put, peer_of),
    Recv: OperationRow("recv", "messages", lambda op: (Case((Act(T.V, peer=op.sender),)),)),
    RecvPoll: OperationRow("rpoll", "messages", lambda op: (Case((Act(T.RP, peer=op.sender),)),)),
    BarrierWait: OperationRow("barrier", "barriers", lambda op: (Case((Act(T.BAR, members=op.threads),)),)),
}
"""The rows, by the class of the operation."""


def row_of(op: object) -> OperationRow:
    """Return the row of an operation. Raises InternalError if the table has none."""
    found = TABLE.get(type(op))
    if found is None:
        raise InternalError(f"the event table has no row for {type(op).__name__}")
    return found


def cases_of(op: object, model: Model = RDMA) -> tuple[Case, ...]:
    """Return the ways in which an operation can go."""
    row = row_of(op)
    return row.under(op, model) or row.cases(op)


def placed(act: Act, buffer: Cell | None) -> Act:
    """Return a message where it is known which word, if any, the receive that it is matched with has given it."""
    if act.message is None or act.message.data is None or buffer is None:
        return act
    return replace(act, writes=((buffer, act.message.data),))


def remote_of(op: object) -> str | None:
    """Return the queue pair that an operation is about, as its thread names it: by a lane, or by the node at the other end;
    None for what the CPU does alone."""
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


def operands_read(op: object) -> dict[str, Cell]:
    """Return the operands in memory of an operation, by the names that its expressions have for what is read of them."""
    return {value_of(k).name: act.reads[0] for k, act in enumerate(a for a in cases_of(op)[0].acts if a.operand)}


def expressions_of(op: object) -> tuple[Expr, ...]:
    """Return the expressions of an operation: its conditions, and the values that it writes or sends."""
    cases = cases_of(op)
    conditions = (case.when for case in cases)
    values = (value for case in cases for act in case.acts for value in act.values)
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
    """Return the queue pair of which an operation takes a completion, None if it is no poll."""
    return remote_of(op) if takes_completion(op) else None


def completes_on(op: object) -> str | None:
    """Return the queue pair on which an operation completes, None if no poll can take it.

    That is no question about order: an unsignaled request is one of its queue pair too (:func:`requests_to`)."""
    return remote_of(op) if any(act.completes for act in acts_of(op)) else None


def requests_to(op: object) -> str | None:
    """Return the queue pair on which an operation posts a request, signaled or not; None for polls and
    fences, and for what the CPU does alone."""
    return remote_of(op) if any(act.completing for act in acts_of(op)) else None


def is_remote(op: object) -> bool:
    """Return whether an operation is handed to the NIC."""
    return any(act.agent is Agent.NIC for act in acts_of(op))


def _by(op: object, agent: Agent | None) -> Iterable[Act]:
    return (act for act in acts_of(op) if agent is None or act.agent is agent)
