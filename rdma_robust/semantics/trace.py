"""Events and traces (docs/model.md, "Events")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any

from rdma_robust.language.flow.cfg import NAMELESS, Cell, Step, named_lane, on_lane
from rdma_robust.notebook_view import NotebookView


@dataclass(frozen=True, slots=True)
class Relation:
    """`rows[a]` has bit b set iff (a, b) is in the relation. Relations combined must have the same number of rows."""

    rows: tuple[int, ...]

    @staticmethod
    def of(n: int, pairs: Iterable[tuple[int, int]]) -> Relation:
        rows = [0] * n
        for a, b in pairs:
            rows[a] |= 1 << b
        return Relation(tuple(rows))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for a, row in enumerate(self.rows):
            while row:
                low = row & -row
                yield a, low.bit_length() - 1
                row ^= low

    def __contains__(self, pair: tuple[int, int]) -> bool:
        return bool(self.rows[pair[0]] >> pair[1] & 1)

    def __or__(self, other: Relation) -> Relation:
        return Relation(tuple(a | b for a, b in zip(self.rows, other.rows, strict=True)))

    def __and__(self, other: Relation) -> Relation:
        return Relation(tuple(a & b for a, b in zip(self.rows, other.rows, strict=True)))

    def minus(self, other: Relation) -> Relation:
        return Relation(tuple(a & ~b for a, b in zip(self.rows, other.rows, strict=True)))

    def then(self, other: Relation) -> Relation:
        """Return the composition self ; other."""
        rows = []
        for row in self.rows:
            out = 0
            while row:
                low = row & -row
                out |= other.rows[low.bit_length() - 1]
                row ^= low
            rows.append(out)
        return Relation(tuple(rows))

    def inverse(self) -> Relation:
        return Relation.of(len(self.rows), ((b, a) for a, b in self))

    def restrict(self, domain: int) -> Relation:
        """Return [S] ; self, where bit a of `domain` is set iff event a is in S."""
        return Relation(tuple(row if domain >> a & 1 else 0 for a, row in enumerate(self.rows)))

    def without_identity(self) -> Relation:
        return Relation(tuple(row & ~(1 << a) for a, row in enumerate(self.rows)))

    def closure(self) -> Relation:
        """Return the transitive closure (Warshall's algorithm on bit rows)."""
        rows = list(self.rows)
        for k in range(len(rows)):
            through = rows[k]
            for a in range(len(rows)):
                if rows[a] >> k & 1:
                    rows[a] |= through
        return Relation(tuple(rows))

    def is_irreflexive(self) -> bool:
        return not any(row >> a & 1 for a, row in enumerate(self.rows))


class EventType(Enum):
    """The label types of the model; INIT is the initial write of a variable."""

    INIT = "init"
    LR = "lR"
    LW = "lW"
    CAS = "CAS"
    P = "P"
    NLR = "nlR"
    NRW = "nrW"
    NRR = "nrR"
    NLW = "nlW"
    NF = "nF"
    F = "F"
    NAR = "naR"
    NAW = "naW"
    NA = "nA"
    V = "V"
    RP = "RP"
    BAR = "BAR"
    FL = "FL"
    NO = "nO"


CPU_TYPES = frozenset({EventType(name) for name in ("lR", "lW", "CAS", "P", "F", "V", "RP", "FL", "BAR")})
STORE_TYPES = frozenset({EventType.LW, EventType.V})
"""The CPU events that pass through a store buffer where there is one."""

NIC_WRITE_TYPES = frozenset({EventType.NRW, EventType.NLW, EventType.NAW, EventType.NO})
"""What a card issues first, and takes effect later. An nO writes nothing: it waits among the writes that it keeps apart."""

FENCE_TYPES = frozenset({EventType.NF, EventType.NO})
"""The events of a card that touch no word and only keep others in order."""

COMPLETING_TYPES = frozenset({EventType.NRW, EventType.NLW})
READ_TYPES = frozenset({EventType.LR, EventType.CAS, EventType.NLR, EventType.NRR, EventType.NAR, EventType.NA})
WRITE_TYPES = frozenset(
    {EventType.INIT, EventType.LW, EventType.CAS, EventType.NRW, EventType.NLW, EventType.NAW, EventType.NA}
)
"""A message of a write with immediate is an nrW that touches no word."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `index` is its place in the trace's `events`.

    `thread` is the thread's index in the program (-1 for initial writes), `position` its place in the thread's program
    order. `remote` is what the thread calls the queue pair, a lane or the node at the other end (None for CPU accesses), so
    (thread, remote) is the queue pair.
    `read` and `written` are the values read and written, None where the event does not read or write; an RP reads the
    immediate that its message, a write without a word, has written (None for that of a send, which is 0).

    An operation completes with the event that is `completing`, and no poll can take that if it is `unsignaled`. Where it is
    not said, nrW and nlW are completing; the put of a write with immediate is not, as a later event completes that, and
    the last event of an atomic without an answer is. `peer` is the other thread of the connection, for messages (its
    receiver), V and RP (the sender). An event that is `joined` is one vertex with the event before it in its thread: both
    are of a locked section, which happens at one moment. A BAR is one of the threads `members`: the k-th ones of all are one
    vertex. A message that `takes` a receive of its connection takes the one of this number, others that of their turn.
    """

    index: int
    type: EventType
    thread: int = -1
    position: int = -1
    remote: str | None = None
    cell: Cell | None = None
    read: int | None = None
    written: int | None = None
    step: Step | None = None
    unsignaled: bool = False
    completing: bool | None = None
    peer: str | None = None
    joined: bool = False
    members: tuple[str, ...] = ()
    takes: int | None = None

    @property
    def lane(self) -> str:
        """The lane of the connection, of messages, V and RP; NAMELESS for the one without a name."""
        return NAMELESS if self.step is None else named_lane(self.step.op)

    def __post_init__(self) -> None:
        if self.completing is None:
            object.__setattr__(self, "completing", self.type in COMPLETING_TYPES)

    @property
    def completes(self) -> bool:
        """Whether a poll of the queue pair can take the event."""
        return bool(self.completing) and not self.unsignaled

    def __str__(self) -> str:
        values = [str(v) for v in (self.read, self.written) if v is not None]
        name: str = self.type.value
        match self.type:
            case EventType.P | EventType.NF | EventType.FL | EventType.NO:
                return f"{name}({self.remote})"
            case EventType.F:
                return name
            case EventType.BAR:
                return f"{name}({', '.join(self.members)})"
            case EventType.V | EventType.RP:
                return f"{name}({', '.join([f'{self.peer}{on_lane(self.lane)}', *values])})"
            case _ if self.cell is None:
                return f"{name}({', '.join([f'to {self.peer}{on_lane(self.lane)}', *values])})"
            case _:
                return f"{name}({', '.join([str(self.cell), *values])})"


@dataclass(frozen=True, slots=True)
class Trace(NotebookView):
    """(E, po, pf, rf, mo, nfo, rao, sm, rpf): relations are over event indices.

    `pf` are the polled completions themselves; that a poll also tells of every earlier operation of its queue pair is part
    of the axioms. rao, sm and rpf are None where there is nothing that they could order. Where messages take receives that
    are not of their turn, `turns` is what sequential consistency has instead of sm: the receive of the turn comes before
    each, and what fills another buffer than that comes before itself.
    """

    events: tuple[Event, ...]
    po: Relation
    pf: Relation
    rf: Relation
    mo: Relation
    nfo: Relation
    rao: Relation | None = None
    sm: Relation | None = None
    rpf: Relation | None = None
    turns: Relation | None = None

    def over(self, events: Sequence[Event], number: Mapping[int, int], **changed: Relation | None) -> Trace:
        """Return the trace of `events`, whose relations are those of this one between the events that `number` maps to
        their new places, but for those that are `changed`.

        The one way from a trace to another: no relation is left out, whichever there are.
        """
        made: dict[str, Any] = {"events": tuple(events), **changed}
        for name in (each.name for each in fields(self) if each.name not in ("events", *changed)):
            old: Relation | None = getattr(self, name)
            pairs = ((number[a], number[b]) for a, b in old or () if a in number and b in number)
            made[name] = None if old is None else Relation.of(len(events), pairs)
        return replace(self, **made)


@dataclass(frozen=True, slots=True)
class CycleEdge:
    """One edge of a cycle: `relation` names the base relation, as in `rf` or `[Inst];ib`.

    `via` expands an edge of a composite relation (`[Inst];ib`) to the path of base edges that makes it.
    """

    source: Event
    relation: str
    target: Event
    via: tuple[CycleEdge, ...] = ()

    def __str__(self) -> str:
        return f"{self.source} -{self.relation}-> {self.target}"


@dataclass(frozen=True, slots=True)
class Cycle:
    """A cycle as its edges in order; the target of the last is the source of the first."""

    edges: tuple[CycleEdge, ...]

    def __str__(self) -> str:
        return " ".join([str(self.edges[0].source), *(f"-{e.relation}-> {e.target}" for e in self.edges)])
