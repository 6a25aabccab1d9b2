"""Queue pairs, store buffers, receives and locks of a state, as people see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_sc import DeployedScMachine
from rdma_robust.semantics.machines.deployed_words import entry_shown, in_buffers, in_pipe
from rdma_robust.semantics.machines.queues import Posted, Queue, completions
from rdma_robust.semantics.trace import EventType
from rdma_robust.teaching.explorer.view import OperationView, QueueView
from rdma_robust.text import one_line


def queue_view(machine: DeployedMachine, t: int, remote: str, numbers: Sequence[int], queue: Queue) -> QueueView:
    """Return a queue pair of thread `t`; `numbers` are those of all the operations that the thread has posted."""
    pipe: list[OperationView] = []
    right: list[OperationView] = []
    left: list[OperationView] = []
    unpolled: list[OperationView] = []

    def shown(posted: Posted, value: str) -> OperationView:
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
        completions(machine.requests[t], queue),
    )


def under_way(machine: DeployedMachine | DeployedScMachine, state: Any, t: int) -> str:
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
    for (sender, receiver), inbox in zip(machine.connections, state.inboxes, strict=True):
        if receiver != t:
            continue
        name = machine.program.threads[sender].name
        posted = ", ".join(machine.program.cells[cell].name for cell in inbox.posted)
        parts += [f"posted for {name}: {posted}"] if posted else []
        parts += [f"arrived from {name}: {len(inbox.arrived)}"] if inbox.arrived else []
    return "; ".join(parts)
