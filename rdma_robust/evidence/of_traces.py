"""Evidence for NOT ROBUST: a violating trace, event by event."""

from __future__ import annotations

from rdma_robust.certify.document import JsonObject
from rdma_robust.certify.hardware import EventKind
from rdma_robust.certify.thread_events import Completion
from rdma_robust.certify.violations import INITIAL, JOINED, KIND, LANE, MEETS, TAKES, usual_completion
from rdma_robust.language.flow.cfg import Program, Recv
from rdma_robust.semantics.trace import CPU_TYPES, WRITE_TYPES, Event, EventType, Trace


def trace_evidence(program: Program, trace: Trace) -> JsonObject:
    """Return the evidence for a violating trace; its events after the initial writes must be in RDMA order."""
    first = len(program.cells)
    source = {b: a for a, b in trace.rf}
    writes: dict[str, list[int]] = {}
    for e in sorted(trace.events[first:], key=lambda e: (-trace.mo.rows[e.index].bit_count(), e.index)):
        if e.type in WRITE_TYPES and e.cell is not None:
            writes.setdefault(str(e.cell), []).append(e.index - first)

    def reads_from(e: Event) -> object:
        if e.index not in source:
            return None
        return INITIAL if source[e.index] < first else source[e.index] - first

    return {
        "kind": KIND,
        "events": [
            {
                "thread": program.threads[e.thread].name,
                "position": e.position,
                "line": e.step.span.line if e.step is not None else 0,
                "type": e.type.value,
                "remote": None if e.type in CPU_TYPES - {EventType.P, EventType.FL} else e.remote,
                "cell": None if e.cell is None or e.type is EventType.V else str(e.cell),
                "read": (e.read or 0) if e.type is EventType.RP else e.read,
                "written": e.written,
                "reads_from": reads_from(e),
                **_later_members(e),
            }
            for e in trace.events[first:]
        ],
        "mo": writes,
    }


def _later_members(event: Event) -> JsonObject:
    """What only some events have: the other thread of a connection, the buffer that is posted, another completion."""
    if event.joined:
        return {JOINED: True}
    if event.members:
        return {MEETS: list(event.members)}
    completion = Completion.NONE
    if event.completing:
        completion = Completion.UNSIGNALED if event.unsignaled else Completion.SIGNALED
    if event.peer is None and completion is usual_completion(EventKind(event.type.value)):
        return {}
    posts = event.step.op.cell if event.step is not None and isinstance(event.step.op, Recv) else None
    found: JsonObject = {"peer": event.peer, "buffer": None if posts is None else str(posts), "completion": completion.value}
    found.update({LANE: event.lane} if event.lane and event.peer is not None else {})
    return found if event.takes is None else {**found, TAKES: event.takes}
