"""When two states of the RDMA machine have the same future: a key for searches that look for where threads end."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from rdma_robust.expr import names
from rdma_robust.language.flow.cfg import Step, Thread, steps
from rdma_robust.semantics.event_table import expressions_of
from rdma_robust.semantics.machines.rdma import Queue, RdmaMachine, RdmaState
from rdma_robust.semantics.machines.threadcode import ThreadCode
from rdma_robust.semantics.trace import EventType


def alike(machine: RdmaMachine) -> Callable[[RdmaState], Hashable]:
    """Return a function from states to keys: states with the same key are bisimilar.

    The key leaves out what no later step depends on:

    - the value of a register that is written before it is read, whatever the thread does next;
    - the value of a cell that nobody reads;
    - which statement has posted a put from a cell that nobody writes: what the machine does with it depends only on its
      target and on that value.

    So equal states but for these have moves of the same threads to states that are again equal but for these. In particular
    the same threads can come to the same points.
    """
    read = _read_cells(machine)
    posted = [_posted(machine, code) for code in machine.codes]
    live = [_live(code.thread) for code in machine.codes]

    def queue_key(t: int, queue: Queue) -> Hashable:
        return tuple([(posted[t][e.command], e.stage, e.value, e.polled) for e in queue])

    def key(state: RdmaState) -> Hashable:
        threads = []
        for t, (point, registers, queues) in enumerate(state.threads):
            kept = tuple([registers[slot] for slot in live[t][point]])
            threads.append((point, kept, tuple([queue_key(t, queue) for queue in queues])))
        return tuple(threads), tuple([state.memory[cell] for cell in read])

    return key


def _read_cells(machine: RdmaMachine) -> tuple[int, ...]:
    """Return the numbers of the cells that anyone reads."""
    found = {command.source for code in machine.codes for command in code.commands if command.source >= 0}
    return tuple(sorted(found))


def _posted(machine: RdmaMachine, code: ThreadCode) -> dict[int, Hashable]:
    """Return for each command by which name an operation that it has posted is known."""
    found: dict[int, Hashable] = {}
    for command in code.commands:
        if command.nic[-1:] == (EventType.NRW,) and command.constant:
            found[command.number] = (command.target, machine.program.cells[command.source].init)
        else:
            found[command.number] = command.number
    return found


def _live(thread: Thread) -> dict[int, tuple[int, ...]]:
    """Return for each point the places of the registers that may be read from there before they are written."""
    edges = [(u, v, _used(step), {name for name, _ in step.assigns}) for u, v, step in steps(thread)]
    live: dict[int, set[str]] = {point: set() for point in thread.points}
    changed = True
    while changed:
        changed = False
        for u, v, used, assigned in edges:
            more = (used | (live[v] - assigned)) - live[u]
            live[u] |= more
            changed = changed or bool(more)
    return {p: tuple(k for k, (name, _) in enumerate(thread.registers) if name in found) for p, found in live.items()}


def _used(step: Step) -> set[str]:
    exprs = (step.guard, *(expr for _, expr in step.assigns), *expressions_of(step.op))
    return {name for expr in exprs for name in names(expr)}
