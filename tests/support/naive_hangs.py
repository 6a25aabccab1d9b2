"""Hangs by the definition, from whole graphs of states: bottom components in which nothing changes.

The SC graph is made by an interpreter of its own, step by step from the flow graphs; the RDMA graph from all moves of the
machine. Nothing is reduced, merged or looked at thread by thread, as `resting.py` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from rdma_robust.expr import VALUE, evaluate
from rdma_robust.language.flow.cfg import (
    Cas,
    Get,
    MFence,
    Poll,
    Program,
    Put,
    Read,
    RFence,
    Rmw,
    Silent,
    Step,
    Thread,
    Write,
)
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.threadcode import Observables

Signature = tuple[tuple[int, ...], tuple[tuple[int, str], ...]]
"""Memory, and the threads that hang: number, and `blocked` or `spin`."""


class TooLarge(Exception):
    """There are more states than are looked at."""


def sc_hangs(program: Program, most: int) -> set[Signature]:
    """Return the hangs under SC. Raises TooLarge."""
    threads = tuple((t.entry, tuple(v for _, v in t.registers), None, (0,) * len(program.nodes)) for t in program.threads)
    start = (threads, tuple(c.init for c in program.cells))
    graph = _graph([start], lambda state: _sc_moves(program, state), most)
    return _hangs(program, graph, lambda s: all(t[2] is None for t in s[0]), lambda s, t: s[0][t][:2], lambda s: s[1])


def rdma_hangs(program: Program, most: int, hardware: Model = RDMA) -> set[Signature]:
    """Return the hangs under RDMA. Raises TooLarge."""
    machine = RdmaMachine(program, hardware, Observables(frozenset(range(len(program.threads)))))

    def moves(state: Any) -> Iterator[tuple[int, bool, Any]]:
        for action, after, _ in machine.successors(state):
            changes = after.memory != state.memory
            changes |= action.verb is Verb.ACCESS and action.written is not None
            changes |= action.verb is Verb.ISSUE and isinstance(action.step.op, Put)
            yield action.thread, changes, after

    graph = _graph([m.state for m in machine.initial()], moves, most)
    place = lambda s, t: (s.threads[t].point, s.threads[t].registers)  # noqa: E731
    return _hangs(program, graph, machine.is_drained, place, lambda s: s.memory)


def _graph(first: list[Any], moves: Any, most: int) -> Any:
    graph: Any = nx.MultiDiGraph()
    graph.add_nodes_from(first)
    todo = list(first)
    while todo:
        state = todo.pop()
        for thread, changes, after in moves(state):
            if after not in graph:
                if len(graph) >= most:
                    raise TooLarge
                todo.append(after)
            graph.add_edge(state, after, thread=thread, changes=changes)
    return graph


def _sc_moves(program: Program, state: Any) -> Iterator[tuple[int, bool, Any]]:
    threads, memory = state
    cells = {cell: i for i, cell in enumerate(program.cells)}
    for t, (point, registers, half, completions) in enumerate(threads):
        thread = program.threads[t]

        def at(place: Any, memory: Any, t: int = t) -> Any:
            return (*threads[:t], place, *threads[t + 1 :]), memory

        if half is not None:
            to, after, target, remote, value = half
            now = (*memory[:target], value, *memory[target + 1 :])
            more = (*completions[:remote], completions[remote] + 1, *completions[remote + 1 :])
            yield t, now != memory, at((to, after, None, _still_counted(program, thread, to, more)), now)
            continue
        for source, to, step in thread.edges:
            if source != point:
                continue
            env = {name: value for (name, _), value in zip(thread.registers, registers, strict=True)}
            if isinstance(step.op, Read | Cas | Rmw):
                env[VALUE.name] = memory[cells[step.op.cell]]
            if not evaluate(step.guard, env):
                continue
            updates = {name: evaluate(expr, env) for name, expr in step.assigns}
            after = tuple(updates.get(name, env[name]) for name, _ in thread.registers)
            match step.op:
                case Put(target, source_cell) | Get(target, source_cell):
                    node = target.node if isinstance(step.op, Put) else source_cell.node
                    carried = (to, after, cells[target], program.nodes.index(node), memory[cells[source_cell]])
                    yield t, isinstance(step.op, Put), at((point, registers, carried, completions), memory)
                case Poll(node):
                    remote = program.nodes.index(node)
                    if completions[remote]:
                        less = (*completions[:remote], completions[remote] - 1, *completions[remote + 1 :])
                        yield t, False, at((to, after, None, _still_counted(program, thread, to, less)), memory)
                case Write(cell, value):
                    where = cells[cell]
                    now = (*memory[:where], evaluate(value, env), *memory[where + 1 :])
                    yield t, True, at((to, after, None, _still_counted(program, thread, to, completions)), now)
                case Cas(cell, expected, new):
                    swaps = env[VALUE.name] == evaluate(expected, env)
                    where = cells[cell]
                    now = (*memory[:where], evaluate(new, env), *memory[where + 1 :]) if swaps else memory
                    yield t, swaps, at((to, after, None, _still_counted(program, thread, to, completions)), now)
                case Rmw(cell, new):
                    where = cells[cell]
                    now = (*memory[:where], evaluate(new, env), *memory[where + 1 :])
                    yield t, True, at((to, after, None, _still_counted(program, thread, to, completions)), now)
                case Silent() | Read() | RFence() | MFence():
                    yield t, False, at((to, after, None, _still_counted(program, thread, to, completions)), memory)


def _still_counted(program: Program, thread: Thread, point: int, completions: tuple[int, ...]) -> tuple[int, ...]:
    """Completions that no poll can take any more are forgotten, or loops would have infinitely many states."""
    if not any(completions):
        return completions
    ahead = {point} | nx.descendants(thread.graph, point)
    polled = {step.op.node for source, _, step in thread.edges if source in ahead and isinstance(step.op, Poll)}
    return tuple(n if node in polled else 0 for node, n in zip(program.nodes, completions, strict=True))


def _hangs(program: Program, graph: Any, drained: Any, place: Any, memory: Any) -> set[Signature]:
    found = set()
    for component in nx.attracting_components(graph):
        inside = graph.subgraph(component)
        if any(changes for *_, changes in inside.edges(data="changes")) or not any(map(drained, component)):
            continue
        rests = [_rest(program.threads[t], inside, t, place) for t in range(len(program.threads))]
        hanging = tuple((t, rest) for t, rest in enumerate(rests) if rest in ("blocked", "spin"))
        if hanging and "over" not in rests:
            found.add((memory(next(iter(component))), hanging))
    return found


def _rest(thread: Thread, inside: Any, t: int, place: Any) -> str:
    points = {place(state, t)[0] for state in inside}
    if not any(mover == t for *_, mover in inside.edges(data="thread")):
        (point,) = points
        here = [step for source, _, step in thread.edges if source == point]
        waits = [step.op.cell.name for step in here if isinstance(step.op, Read) and step.op.cell.moment]
        if point == thread.exit or f"start of {thread.name}" in waits:
            return "ended"
        if not here:
            return "over" if any(to == point and _ends(step) for _, to, step in thread.edges) else "blocked"
        return "over" if all(step.aside for step in here if not _ends(step)) else "blocked"
    flow: Any = nx.DiGraph((source, to) for source, to, step in thread.edges if not _ends(step))
    (loop,) = (c for c in nx.strongly_connected_components(flow) if points <= c)
    if any(to not in loop for point in loop for to in flow.successors(point)):
        return "spin"
    heads = {p for p in loop if p == thread.entry or any(q not in loop for q in flow.predecessors(p))}
    inner = nx.strongly_connected_components(flow.subgraph(loop - heads))
    return "spin" if any(points <= c for c in inner) else "idle"


def _ends(step: Step) -> bool:
    return step.fault is not None and step.fault.kind != "assertion"
