"""A replayed run as lanes, to be drawn like a run of the RDMA machine: CPUs, store buffers, queue pairs of NICs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from rdma_robust.analyses.explain.explanation import (
    Operation,
    OperationKind,
    StepKind,
    Timeline,
    TimelineStep,
    lanes_named,
)
from rdma_robust.analyses.prove.reorderings import BUFFERED, Reordering, landing
from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.language.flow.cfg import Cell, Get, Program, Put, RemoteOp, Step, Write
from rdma_robust.reports.share.run_lines import deed_of, is_quiet, lane_of
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.text import one_line

_KINDS: Final[dict[Verb, StepKind]] = {
    Verb.ACCESS: "access",
    Verb.ISSUE: "post",
    Verb.NIC_READ: "read",
    Verb.NIC_WRITE: "write",
    Verb.FLUSH: "write",
    Verb.FENCE: "fence",
    Verb.POLL: "poll",
}


def run_timeline(program: Program, run: SafetyRun, reordered: Reordering | None = None) -> Timeline:
    """Return a run as a timeline without steps that only look at registers; the two accesses that are `reordered` are marked
    like a cycle."""
    moves = [(n, move) for n, move in enumerate(run.moves) if move.action.verb is not Verb.START and not is_quiet(move)]
    building = _Building(program, run, reordered)
    for number, (moment, move) in enumerate(moves, 1):
        building.add(number, moment, move)
    used = [*(step.lane for step in building.steps), *(each.lane for each in building.operations)]
    return Timeline(lanes_named(used, program), tuple(building.steps), tuple(building.operations))


@dataclass
class _Building:
    program: Program
    run: SafetyRun
    reordered: Reordering | None
    steps: list[TimelineStep] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    owners: dict[tuple[int, Step | Cell], list[int]] = field(default_factory=dict)
    """The operations under way, oldest first, by their thread and their statement, or for a store its word."""

    def add(self, number: int, moment: int, move: Move) -> None:
        action = move.action
        operation = self._operation(number, action)
        line = None if action.step is None else action.step.span.line
        if line is None and operation is not None:
            line = self.operations[operation].line
        told = "; ".join(fault.message for fault in move.faults) or deed_of(self.program, action, self.run.model)
        sends = action.verb is Verb.NIC_WRITE and landing(self.run.model) is not Verb.NIC_WRITE
        kind: StepKind = "post" if self._buffers(action) else "send" if sends else _KINDS[action.verb]
        self.steps.append(
            TimelineStep(
                number=number,
                lane=lane_of(self.program, action),
                kind=kind,
                sent=False,
                event=None,
                operation=operation,
                line=line,
                label=told,
                text=f"{lane_of(self.program, action)}: {told}",
                on_cycle=self._marked(moment),
                pivot=False,
                name="",
                matters=True,
            )
        )

    def _marked(self, moment: int) -> bool:
        pair = self.reordered
        return pair is not None and moment in (pair.earlier.moment, pair.later.moment)

    def _buffers(self, action: Action) -> bool:
        return self.run.model in BUFFERED and action.step is not None and isinstance(action.step.op, Write)

    def _operation(self, number: int, action: Action) -> int | None:
        """Return the operation or store that a move is about, and note when it came so far."""
        step = action.step
        if action.cell is not None:
            return self._landed(number, (action.thread, action.cell))
        if step is None:
            return None
        if self._buffers(action):
            assert isinstance(step.op, Write)
            return self._post(number, action, step, "store", step.op.cell)
        if not isinstance(step.op, RemoteOp):
            return None
        key = (action.thread, step)
        if action.verb is Verb.ISSUE or (action.verb is Verb.NIC_READ and not self._waiting(key)):
            found = self._post(number, action, step, _kind(step.op), step)
            if action.verb is Verb.NIC_READ:
                self.operations[found] = replace(self.operations[found], read=number)
            return found
        if action.verb is Verb.NIC_READ:
            found = self._waiting(key)[0]
            self.operations[found] = replace(self.operations[found], read=number)
            return found
        if action.verb is not landing(self.run.model):
            found = next(
                n for n in self.owners[key] if self.operations[n].read is not None and self.operations[n].sent is None
            )
            self.operations[found] = replace(self.operations[found], sent=number)
            return found
        return self._landed(number, key)

    def _waiting(self, key: tuple[int, Step | Cell]) -> list[int]:
        return [each for each in self.owners.get(key, ()) if self.operations[each].read is None]

    def _landed(self, number: int, key: tuple[int, Step | Cell]) -> int | None:
        mine = self.owners.get(key, [])
        ready = [n for n in mine if self.operations[n].kind == "store" or self.operations[n].read is not None] or mine
        if not ready:
            return None
        found = ready[0]
        mine.remove(found)
        self.operations[found] = replace(self.operations[found], written=number)
        return found

    def _post(self, number: int, action: Action, step: Step, kind: OperationKind, by: Step | Cell) -> int:
        found = len(self.operations)
        name = self.program.threads[action.thread].name
        peer = step.op.target.node if isinstance(step.op, Put) else getattr(getattr(step.op, "source", None), "node", None)
        lane = f"{name} buffer" if kind == "store" else f"{name} NIC to {peer}"
        self.operations.append(
            Operation(found, kind, lane, step.span.line, one_line(step.text), number, None, None, None, None)
        )
        self.owners.setdefault((action.thread, by), []).append(found)
        return found


def _kind(op: RemoteOp) -> OperationKind:
    return "put" if isinstance(op, Put) else "get" if isinstance(op, Get) else "atomic"
