"""From a point of a run to what people see of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rdma_robust.expr import evaluate
from rdma_robust.language.flow.cfg import Fault, Program, on_lane
from rdma_robust.semantics.event_table import remote_of
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_words import entry_shown, in_buffers, in_pipe
from rdma_robust.semantics.machines.machine import Action, Move, Verb, act_of, valuation
from rdma_robust.semantics.machines.queues import PostedRequest, Queue, completion_count
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.machines.threadcode import ThreadCode
from rdma_robust.semantics.order_table import VISIBLE_WHEN_POLLED
from rdma_robust.semantics.trace import CPU_TYPES, FENCE_TYPES, STORE_TYPES, Event, EventType
from rdma_robust.semantics.wording import Words, deed
from rdma_robust.teaching.explorer.address import Side
from rdma_robust.teaching.explorer.follow import Link
from rdma_robust.teaching.explorer.run_tree import LONGEST, RunPoint, Runs
from rdma_robust.teaching.explorer.view import (
    ClaimView,
    Ending,
    MoveView,
    NodeView,
    OperationView,
    QueueView,
    SideView,
    Status,
    ThreadView,
    ValueView,
)
from rdma_robust.text import one_line, printable


@dataclass(frozen=True, slots=True)
class Phrases:
    """The wording for one program and one machine: under SC a NIC write takes effect at once, and where CPUs have store
    `buffers` a store does not."""

    program: Program
    sc: bool
    buffers: bool = False

    def label(self, action: Action, operation: int | None) -> str:
        """Return what a move does, without who does it."""
        label, act = deed(self.program, action, sc=self.sc), act_of(action)
        if self._waits(action) and action.step is not None:
            return f"puts {one_line(action.step.text)} into the store buffer"
        if act is None or action.step is None:
            return label
        if act.type is EventType.P and operation is not None and not self.sc:
            return f"{one_line(action.step.text)}: takes the completion of #{operation}"
        return f"{label}: {one_line(action.step.text)}" if act.type in (EventType.LR, EventType.CAS) else label

    def takes_effect(self, action: Action) -> bool:
        """Return whether an event takes effect with a move."""
        if action.verb is Verb.DRAIN:
            return action.cell is not None
        return action.verb is not Verb.NIC_WRITE and act_of(action) is not None and not self._waits(action)

    def _waits(self, action: Action) -> bool:
        """Whether a store or a receive goes into a store buffer."""
        act = act_of(action)
        return self.buffers and act is not None and act.type in STORE_TYPES and action.verb is not Verb.DRAIN

    def hint(self, action: Action) -> str:
        """Return what a move means for who does not know the machine."""
        if action.step is None or self.sc:
            return ""
        act = act_of(action)
        late = act is not None and act.type in VISIBLE_WHEN_POLLED
        match action.verb:
            case Verb.DRAIN:
                return "from the store buffer"
            case Verb.ISSUE if self.buffers:
                return "into the store buffer, and from there to the NIC"
            case Verb.ISSUE:
                return "the CPU hands it to the NIC and goes on"
            case Verb.NIC_WRITE if act is not None and act.type in FENCE_TYPES:
                return "into the write buffer: later writes wait there behind it"
            case Verb.NIC_WRITE if late:
                return "into the write buffer: neither in memory nor complete"
            case Verb.NIC_WRITE:
                return "into the write buffer: complete for a poll, not yet in memory"
            case Verb.FLUSH if late:
                return "from the write buffer: now complete for a poll"
            case Verb.FLUSH:
                return "from the write buffer"
            case Verb.NIC_READ, _:
                return "takes the value out of memory"
        return ""

    def link(self, link: Link) -> str:
        """Return one reason of a cycle as a sentence without a full stop."""
        words = Words(self.program)
        if link.relation == "waits":
            return f"{self._deed(link.source)} still waits for a buffer, and what comes after it has happened"
        if link.relation != "later":
            return words.edge(link.source, link.relation, link.target)
        return f"{self._deed(link.source)} has happened before {self._deed(link.target)}, which was still to come"

    def _deed(self, event: Event) -> str:
        """Return an event as a noun, also one whose value is not known yet."""
        noun = Words(self.program).noun(event)
        thread = self.program.threads[event.thread].name
        return f"{thread}'s {noun}" if event.type in CPU_TYPES else f"{noun} by {thread}"


CPU_VERBS = (Verb.ACCESS, Verb.ISSUE, Verb.POLL, Verb.RECV, Verb.RPOLL)

LISTED: Final = 256
"""Moves that are listed at most: of the ways to start there may be more than can be shown, or counted."""

STUCK = {
    "sc": "Stuck: no thread can go on, and not all have ended.",
    "rdma": "Stuck: neither a thread nor a NIC can go on, and not all threads have ended.",
}


def _not_listed(number: int) -> str:
    """Return what to say of so many moves, of which not all are listed; nothing if all are."""
    return f"The first {LISTED} of {number:,} ways to start are listed." if number > LISTED else ""


class SideViews:
    """Views of one machine's states for people."""

    def __init__(self, program: Program, runs: Runs, side: Side) -> None:
        self.program = program
        self.runs = runs
        self.side = side
        self.codes: Sequence[ThreadCode] = runs.machine.codes
        self.phrases = Phrases(program, side == "sc", isinstance(runs.machine, DeployedMachine) and runs.machine.buffers)

    def view(self, steps: Sequence[RunPoint], at: int, ending_text: str = "") -> SideView:
        """Return the side after the first `at` of `steps`, the points of a whole run."""
        point = steps[at - 1] if at else self.runs.point(())
        moves = self.runs.moves(point)[:LISTED]
        ending = self.ending(point)
        begun = [p.move for p in (self.runs.point(()), *steps[:at]) if p.move is not None]
        faults = dict.fromkeys(fault for move in begun for fault in move.faults)
        return SideView(
            side=self.side,
            at=at,
            steps=tuple(self.taken(p) for p in steps),
            moves=tuple(self._possible(point, i, move) for i, move in enumerate(moves)),
            threads=self.threads(point),
            nodes=self._nodes(point),
            queues=self._queues(point),
            ending=ending,
            ending_text=STUCK[self.side] if ending == "stuck" else ending_text or _not_listed(self.runs.number(point)),
            claims=self._claims(point) if ending == "final" else (),
            faults=tuple(_fault(fault) for fault in faults),
        )

    def ending(self, point: RunPoint) -> Ending:
        if point.state is None or self.runs.moves(point):
            return ""
        return "final" if self.runs.machine.is_final(point.state) else "stuck"

    def taken(self, point: RunPoint) -> MoveView:
        """Return the move that led to a point, which must not be the root of the runs."""
        assert point.move is not None and point.parent is not None
        return self._move(point.move, point.choice, point.operation, "")

    def _possible(self, point: RunPoint, choice: int, move: Move) -> MoveView:
        after = self.runs.after(point, choice) if point.depth < LONGEST else None
        operation = None if after is None else after.operation
        return self._move(move, choice, operation, self._then(move))

    def _move(self, move: Move, choice: int, operation: int | None, then: str) -> MoveView:
        action = move.action
        step = action.step
        cpu = action.verb in CPU_VERBS or action.verb is Verb.DRAIN
        started = action.verb is Verb.START
        write = self.side == "sc" and action.verb is Verb.NIC_WRITE
        return MoveView(
            choice=choice,
            agent="start" if started else "cpu" if cpu else "nic",
            thread="" if started else self.program.threads[action.thread].name,
            remote=None if cpu or step is None else remote_of(step.op),
            line=None if step is None else step.span.line,
            operation=operation,
            label=self.phrases.label(action, operation),
            hint=self.phrases.hint(action),
            then=then,
            faults=tuple(_fault(fault) for fault in move.faults),
            effect=write or self.phrases.takes_effect(action),
        )

    def _then(self, move: Move) -> str:
        """Return where the threads go on, where that is a matter of choice."""
        if not move.action.silent and move.action.verb is not Verb.START:
            return ""
        threads = range(len(self.codes)) if move.action.verb is Verb.START else (move.action.thread,)
        parts = []
        for t in threads:
            point = move.state.threads[t].point
            lines = self._lines(t, point, move.state.threads[t].registers)
            where = (
                f"line {' or '.join(map(str, lines))}" if lines else "its end" if self._is_exit(t, point) else "a dead end"
            )
            name = f"{self.program.threads[t].name} " if move.action.verb is Verb.START else ""
            parts.append(f"{name}goes on at {where}")
        return ", ".join(parts)

    def _is_exit(self, thread: int, point: int) -> bool:
        return point == self.codes[thread].thread.exit

    def _lines(self, thread: int, point: int, registers: tuple[int, ...]) -> tuple[int, ...]:
        commands = (c for c in self.codes[thread].visible.get(point, ()) if c.may_run(registers))
        return tuple(sorted({line for c in commands for line in (c.step.span.line, *c.step.span.expanded_from)}))

    def threads(self, point: RunPoint) -> tuple[ThreadView, ...]:
        if point.state is None:
            return ()
        moves = self.runs.moves(point)
        state = _state(point)
        before = _state(point.parent) if point.parent is not None and point.parent.state is not None else state
        able = {m.action.thread for m in moves if m.action.verb in CPU_VERBS or self.side == "sc"}
        return tuple(self._thread(t, state, before, t in able) for t in range(len(self.codes)))

    def _thread(self, number: int, state: Any, before: Any, able: bool) -> ThreadView:
        thread = self.codes[number].thread
        point, registers = state.threads[number].point, state.threads[number].registers
        status = self._status(number, point, registers, able)
        values = zip(thread.registers, registers, before.threads[number].registers, strict=True)
        return ThreadView(
            name=thread.name,
            node=thread.node,
            status=status,
            lines=self._lines(number, point, registers),
            text=self._where(number, point, registers, status),
            registers=tuple(ValueView(name, value, value != old) for (name, _), value, old in values),
            carries=under_way(self.runs.machine, state, number),
        )

    def _status(self, thread: int, point: int, registers: tuple[int, ...], able: bool) -> Status:
        if able:
            return "ready"
        if self._is_exit(thread, point):
            return "ended"
        return "waiting" if self._lines(thread, point, registers) else "stopped"

    def _where(self, thread: int, point: int, registers: tuple[int, ...], status: Status) -> str:
        if status == "ended":
            return "has ended"
        if status == "stopped":
            return "can never go on"
        commands = [c for c in self.codes[thread].visible[point] if c.may_run(registers)]
        texts = " or ".join(dict.fromkeys(f"{one_line(c.step.text)}" for c in commands))
        if status == "ready":
            return texts
        missing = ""
        if any(c.polls for c in commands):
            missing = " (no completion yet)"
        elif any(c.takes >= 0 for c in commands):
            missing = " (no message yet)"
        elif any(c.receives >= 0 for c in commands):
            missing = " (no room for another receive)"
        return f"waits: {texts}{missing}"

    def _nodes(self, point: RunPoint) -> tuple[NodeView, ...]:
        cells = self.program.cells
        memory = tuple(c.init for c in cells) if point.state is None else _state(point).memory
        before = memory
        if point.parent is not None and point.parent.state is not None:
            before = _state(point.parent).memory
        shown = [
            (cell, ValueView(cell.name, value, value != old))
            for cell, value, old in zip(cells, memory, before, strict=True)
            if not cell.hidden
        ]
        return tuple(NodeView(node, tuple(v for c, v in shown if c.node == node)) for node in self.program.nodes)

    def _queues(self, point: RunPoint) -> tuple[QueueView, ...]:
        if point.state is None:
            return ()
        machine, state = self.runs.machine, _state(point)
        views = []
        for t, code in enumerate(self.codes):
            for qp, remote in enumerate(code.remotes):
                if isinstance(machine, DeployedMachine):
                    views.append(queue_view(machine, t, remote, point.posted[t], state.threads[t].queues[qp]))
                else:
                    views.append(QueueView(code.thread.name, remote, (), (), (), (), state.threads[t].unpolled[qp]))
        return tuple(views)

    def _claims(self, point: RunPoint) -> tuple[ClaimView, ...]:
        values = valuation(self.program, self.runs.machine.final(point.state))
        return tuple(
            ClaimView(line.span.line, one_line(line.text, 200), bool(evaluate(line.condition, values)))
            for line in self.program.outcomes
        )


def _state(point: RunPoint) -> Any:
    assert point.state is not None
    return point.state


def _fault(fault: Fault) -> str:
    return f"line {fault.span.line}: {printable(fault.message)}"


# ---- queue pairs, store buffers, receives and locks


def queue_view(machine: DeployedMachine, t: int, remote: str, numbers: Sequence[int], queue: Queue) -> QueueView:
    """Return a queue pair of thread `t`; `numbers` are those of all the operations that the thread has posted."""
    pipe: list[OperationView] = []
    right: list[OperationView] = []
    left: list[OperationView] = []
    unpolled: list[OperationView] = []

    def shown(posted: PostedRequest, value: str) -> OperationView:
        step = machine.request(t, posted.command).step
        return OperationView(numbers[posted.number - 1], step.span.line, one_line(step.text), value)

    for posted in queue:
        request = machine.request(t, posted.command)
        values = []
        if text := in_pipe(request, posted):
            values.append(text.removeprefix(request.step.text).strip(" ()"))
            pipe.append(shown(posted, values[0]))
        for part, written in in_buffers(machine.program, request, posted):
            values.append(written)
            (left if part.type is EventType.NLW else right).append(shown(posted, written))
        if not posted.polled:
            unpolled.append(shown(posted, ", ".join(filter(None, values))))
    return QueueView(
        machine.codes[t].thread.name,
        remote,
        tuple(pipe),
        tuple(right),
        tuple(left),
        tuple(unpolled),
        completion_count(machine.requests[t], queue),
    )


def under_way(machine: DeployedMachine | ScMachine, state: Any, t: int) -> str:
    """Return what a thread has under way beside its queue pairs: its store buffer or half a request, and its receives."""
    parts = []
    code = machine.codes[t]
    if isinstance(machine, DeployedMachine):
        entries = [
            one_line(entry_shown(machine.program, code, machine.requests[t], entry)) for entry in state.threads[t].buffer
        ]
        parts += [f"store buffer: {', '.join(entries)}"] if entries else []
        held = [machine.program.cells[cell] for cell in state.locked]
        mine = [str(cell) for cell in held if cell.node == code.thread.node]
        parts += [f"locked by an atomic: {', '.join(mine)}"] if mine else []
    elif state.threads[t].carried:
        begun = state.threads[t].carried[0]
        text = one_line(code.commands[begun.command].step.text)
        parts.append(f"{text} has read {begun.value}" if begun.event else f"{text} has begun")
    for (sender, receiver, lane), inbox in zip(machine.connections, state.inboxes, strict=True):
        if receiver != t:
            continue
        name = f"{machine.program.threads[sender].name}{on_lane(lane)}"
        posted = ", ".join(machine.program.cells[cell].name for cell in inbox.posted)
        parts += [f"posted for {name}: {posted}"] if posted else []
        parts += [f"arrived from {name}: {len(inbox.arrived)}"] if inbox.arrived else []
    return "; ".join(parts)
