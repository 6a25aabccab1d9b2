"""Events and traces (semantics.md, "Events" and "Trace")."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rdma_robust.language.flow.cfg import Cell, Step
from rdma_robust.semantics.relation import Relation


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


CPU_TYPES = frozenset({EventType.LR, EventType.LW, EventType.CAS, EventType.P})
NIC_WRITE_TYPES = frozenset({EventType.NRW, EventType.NLW})
READ_TYPES = frozenset({EventType.LR, EventType.CAS, EventType.NLR, EventType.NRR})
WRITE_TYPES = frozenset({EventType.INIT, EventType.LW, EventType.CAS, EventType.NRW, EventType.NLW})


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `index` is its place in the trace's `events`.

    `thread` is the thread's index in the program (-1 for initial writes), `position` its place in the thread's program
    order. `remote` is the other node of the queue pair (None for CPU accesses), so (thread, remote) is the queue pair.
    `read` and `written` are the values read and written, None where the event does not read or write. A NIC
    write that is `unsignaled` is no completion.
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

    @property
    def completes(self) -> bool:
        """Whether a poll of the queue pair can take the event."""
        return self.type in NIC_WRITE_TYPES and not self.unsignaled

    def __str__(self) -> str:
        values = [str(v) for v in (self.read, self.written) if v is not None]
        match self.type:
            case EventType.P | EventType.NF:
                return f"{self.type.value}({self.remote})"
            case _:
                return f"{self.type.value}({', '.join([str(self.cell), *values])})"


@dataclass(frozen=True, slots=True)
class Trace:
    """(E, po, pf, rf, mo, nfo): relations are over event indices."""

    events: tuple[Event, ...]
    po: Relation
    pf: Relation
    rf: Relation
    mo: Relation
    nfo: Relation


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
