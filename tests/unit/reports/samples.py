"""Programs and witnesses to report on."""

from __future__ import annotations

from rdma_robust.errors import Span
from rdma_robust.language.flow.cfg import Cell, Program, Read, Step
from rdma_robust.language.load import load_program
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome
from rdma_robust.pipeline import check_text
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, READ_TYPES, WRITE_TYPES, Event, EventType

TEXT = """program sb
node A { x }
node B { y }
thread T1 on A { reg r; put B.y = 1; r = x }
thread T2 on B { reg r; put A.x = 1; r = y }
expect not robust
"""

LOCAL = Cell("A", "x")
REMOTE = Cell("B", "y")
REMOTE_TYPES = frozenset({EventType.NRW, EventType.NRR})


def program(text: str = TEXT) -> Program:
    return load_program(text, "sb.rdma")


def outcome(text: str = TEXT) -> Outcome:
    return check_text(text, "sb.rdma", CheckOptions())


def event(kind: EventType, index: int, line: int, remote: str | None = "B", statement: str = "stmt") -> Event:
    """Return an event of the first thread of `program()`, with the values its type needs."""
    cpu_access = kind in (EventType.LR, EventType.LW, EventType.CAS)
    cell = REMOTE if kind in REMOTE_TYPES else LOCAL
    return Event(
        index=index,
        type=kind,
        thread=-1 if kind is EventType.INIT else 0,
        position=index,
        remote=None if cpu_access else remote,
        cell=None if kind in (EventType.P, EventType.NF) else cell,
        read=1 if kind in READ_TYPES else None,
        written=2 if kind in WRITE_TYPES or kind in NIC_WRITE_TYPES else None,
        peer="T2" if kind in (EventType.V, EventType.RP) else None,
        step=None if kind is EventType.INIT else Step(Read(cell), span=Span(line, 3, line, 9, 0, 6), text=statement),
    )
