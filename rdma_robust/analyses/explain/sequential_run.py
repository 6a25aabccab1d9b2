"""A run under sequential consistency as lanes: one for each CPU, and for each queue pair of a NIC."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rdma_robust.analyses.explain.explanation import (
    Operation,
    OperationKind,
    StepKind,
    Timeline,
    TimelineStep,
    lanes_named,
)
from rdma_robust.language.flow.cfg import Program
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.semantics.trace import CPU_TYPES, Event, EventType
from rdma_robust.semantics.wording import deed, lane
from rdma_robust.text import one_line, printable

_KINDS: Final[dict[Verb, StepKind]] = {
    Verb.NIC_READ: "read",
    Verb.NIC_WRITE: "write",
    Verb.FENCE: "fence",
    Verb.POLL: "poll",
}
_OPERATIONS: Final[dict[EventType, OperationKind]] = {
    EventType.NLR: "put",
    EventType.NRW: "put",
    EventType.NRR: "get",
    EventType.NLW: "get",
    EventType.NF: "rfence",
    EventType.NO: "order",
}


def sequential_timeline(
    program: Program, run: Iterable[tuple[Action, tuple[Event, ...]]], marked: Sequence[Event]
) -> Timeline:
    """Return a run, its moves with their events, as lanes; the steps of some events are `marked`."""
    building = _RunDrawing(program, marked)
    for action, events in run:
        if action.step is not None:
            building.add(action, events)
    return building.timeline()


class _RunDrawing:
    """The steps and remote operations of a run, as far as they are added."""

    def __init__(self, program: Program, marked: Sequence[Event]) -> None:
        self._program, self._marked = program, marked
        self._steps: list[TimelineStep] = []
        self._operations: list[Operation] = []
        self._under_way: dict[int, int] = {}
        self._unpolled: dict[tuple[int, str | None], list[int]] = {}

    def add(self, action: Action, events: Sequence[Event]) -> None:
        """Add the next move."""
        assert action.step is not None
        number, where = len(self._steps) + 1, lane(self._program, action)
        said = printable(deed(self._program, action, sc=True))
        operation = self._operation(number, where, action, events)
        place = f"line {' from '.join(action.step.span.places)}"
        self._steps.append(
            TimelineStep(
                number=number,
                lane=where,
                kind=_KINDS.get(action.verb, "access"),
                sent=False,
                event=None,
                operation=operation,
                line=action.step.span.line,
                label=said,
                text=f"{place}, {where}: {said}",
                on_cycle=any(event in events for event in self._marked),
                pivot=False,
                name=", ".join(map(str, events)),
                matters=True,
            )
        )

    def _operation(self, number: int, where: str, action: Action, events: Sequence[Event]) -> int | None:
        """The remote operation that a move is about, for a poll that whose completion it takes."""
        thread, step = action.thread, action.step
        assert step is not None
        if events and events[0].type is EventType.P:
            waiting = self._unpolled.get((thread, events[0].remote), [])
            found = waiting.pop(0) if waiting else None
            if found is not None:
                self._operations[found] = replace(self._operations[found], polled=number)
            return found
        by_card = [event for event in events if event.type not in CPU_TYPES]
        if not by_card:
            return None
        found = self._under_way.pop(thread, None)
        if found is None:
            found = len(self._operations)
            kind = _OPERATIONS.get(by_card[0].type, "atomic")
            text = one_line(step.text)
            self._operations.append(Operation(found, kind, where, step.span.line, text, number, None, None, None, None))
        for event in by_card:
            drawn = self._operations[found]
            read, written = event.read is not None, event.read is None or event.written is not None
            self._operations[found] = replace(
                drawn, read=number if read else drawn.read, written=number if written else drawn.written
            )
        if not by_card[-1].completing and by_card[-1].type not in (EventType.NF, EventType.NO):
            self._under_way[thread] = found
        elif by_card[-1].completes:
            self._unpolled.setdefault((thread, by_card[-1].remote), []).append(found)
        return found

    def timeline(self) -> Timeline:
        """Return what was added."""
        lanes = lanes_named((step.lane for step in self._steps), self._program)
        return Timeline(lanes, tuple(self._steps), tuple(self._operations))
