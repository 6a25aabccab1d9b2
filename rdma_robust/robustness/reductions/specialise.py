"""Specialisation: registers of few values become part of the program point, and guards are decided where they can be.

A thread's new points are its old ones together with the values of its registers there. A step that keeps what it reads
is split by the values its cell can hold. Those are found along the way: from the initial ones every value that some
specialised step writes is added until nothing changes, an over-approximation of what the cell holds in any sequentially
consistent execution (constant propagation with sets of constants). That is enough for the normal form alpha.m.beta: all
events but the pivot m are those of a sequentially consistent execution, m itself reads a value that its cell holds in
it, and nothing that is followed depends on m (docs/theory.md, "The pivot refinement").

Source: Wegman and Zadeck 1991 (conditional constants); Jones, Gomard and Sestoft 1993 (polyvariant specialisation).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from rdma_robust.digraph import by_key
from rdma_robust.expr import (
    FALSE,
    TRUE,
    VALUE,
    Const,
    Expr,
    Name,
    conj,
    disj,
    equals,
    evaluate,
    is_value,
    names,
    negate,
    substitute,
    value_of,
)
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.limits import NEVER, Poll
from rdma_robust.robustness.event_edge import EdgeTouch, EventEdge, with_touches
from rdma_robust.robustness.event_graph import EventGraph
from rdma_robust.robustness.messages import immediate, takes_buffer
from rdma_robust.semantics.connections import Connection
from rdma_robust.semantics.trace import EventType

_MOST_VALUES = 16
"""Values of a cell beyond which it is taken to hold any."""

_MOST_READ = 64
"""Combinations of values that a section can read, beyond which it is not split."""

_MOST_POINTS = 62
"""Points that specialisation may give a thread: sets of points are then numbers of one machine word."""

Values = frozenset[int] | None
"""The values a cell can hold, or the immediates of a connection; None for any."""

Source = Cell | Connection
"""What an event can read from."""


def specialise(graphs: Sequence[EventGraph], cells: Iterable[Cell], poll: Poll = NEVER) -> tuple[EventGraph, ...]:
    """Return event graphs with the same runs under sequential consistency, those of which nothing is known unchanged.

    `cells` are all cells that the graphs mention. Calls `poll` now and then.
    """
    if not any(g.registers or any(e.guard != TRUE for e in g.edges) for g in graphs):
        return tuple(graphs)
    values: dict[Source, Values] = {c: frozenset({c.init}) for c in cells}
    values |= {e.connection: frozenset() for g in graphs for e in g.edges if e.connection is not None}
    read = [frozenset(source for e in g.edges for source in _sources(e)) for g in graphs]
    found: list[EventGraph] = list(graphs)
    due = set(range(len(graphs)))
    while due:
        changed: set[Source] = set()
        for t in sorted(due):
            found[t] = _Specialisation(graphs[t], values, poll).graph() or graphs[t]
            for cell, new in _written(found[t], values):
                if (joined := _join(values[cell], new)) != values[cell]:
                    values[cell] = joined
                    changed.add(cell)
        due = {t for t, mine in enumerate(read) if mine & changed}
    return tuple(found)


def with_known_values(frame_graphs: Sequence[EventGraph], constant: Iterable[Cell]) -> tuple[EventGraph, ...]:
    """Return the graphs with what a put of a constant stores written into its last event: nothing is carried then.

    `constant` are cells that no event writes.
    """
    held = {cell: cell.init for cell in constant}
    return tuple(_with_known_values(g, held) for g in frame_graphs)


def _with_known_values(graph: EventGraph, held: Mapping[Cell, int]) -> EventGraph:
    carried: dict[int, set[int | None]] = {}
    for e in graph.edges:
        if e.carries:
            carried.setdefault(e.target, set()).add(held.get(e.cell) if e.cell is not None and e.reads else None)
    known = {at: value for at, values in carried.items() if len(values) == 1 and (value := next(iter(values))) is not None}
    for e in graph.edges:
        if e.source in known and not _stores(e):
            del known[e.source]

    def folded(e: EventEdge) -> EventEdge:
        if e.carries and e.target in known:
            return replace(e, carries=False)
        return replace(e, written=Const(known[e.source])) if e.source in known else e

    return replace(graph, edges=tuple(map(folded, graph.edges))) if known else graph


def _stores(edge: EventEdge) -> bool:
    """Whether the event does nothing with what is carried but to store it."""
    return edge.writes and not edge.reads and edge.written is None and not edge.carries and edge.guard == TRUE


def _sources(edge: EventEdge) -> Iterator[Source]:
    """Where the event reads from: its cells, for an RP its connection."""
    if edge.type is EventType.RP:
        yield from () if edge.connection is None else (edge.connection,)
    else:
        yield from (cell for cell, reading, _ in edge.accesses if reading)


def _written(graph: EventGraph, values: Mapping[Source, Values]) -> Iterator[tuple[Source, Values]]:
    """Yield for every write of the graph its cell and the values it can store, for every message its connection and its
    immediate."""
    carried: dict[int, Values] = {}
    for e in graph.edges:
        if e.carries:
            held = values[e.cell] if e.cell is not None and e.reads else carried.get(e.source, frozenset())
            carried[e.target] = _join(carried.get(e.target, frozenset()), held)
    for e in graph.edges:
        if takes_buffer(e) and e.connection is not None:
            yield e.connection, _one(immediate(e))
        for touch in e.section:
            if touch.cell is not None and touch.written is not None:
                yield touch.cell, _one(touch.written)
        if not e.writes or e.cell is None:
            continue
        if e.written is None:
            yield e.cell, carried[e.source]
        else:
            yield e.cell, _one(e.written)


def _one(expr: Expr) -> Values:
    return frozenset({expr.value}) if isinstance(expr, Const) else None


def _join(one: Values, other: Values) -> Values:
    if one is None or other is None or len(one | other) > _MOST_VALUES:
        return None
    return one | other


Registers = tuple[tuple[str, int], ...]


@dataclass
class _Specialisation:
    """One thread; `number` has its new points in the order in which they are found."""

    old: EventGraph
    values: Mapping[Source, Values]
    poll: Poll

    def graph(self) -> EventGraph | None:
        """Return the specialised graph; None if it would have too many points, or a register any value."""
        out = by_key((edge.source, edge) for edge in self.old.edges)
        start = self.old.entry, self.old.registers
        number: dict[tuple[int, Registers], int] = {start: 0}
        todo = [start]
        edges: list[EventEdge] = []
        most = max(_MOST_POINTS, len(self.old.points))
        for point, registers in todo:
            for edge in self.poll.each(out.get(point, ())):
                steps = self._steps(edge, dict(registers))
                if steps is None:
                    return None
                for after, step in steps:
                    place = edge.target, after
                    if place not in number:
                        number[place] = len(number)
                        todo.append(place)
                    edges.append(replace(step, source=number[point, registers], target=number[place], assigns=()))
            if len(number) > most:
                return None
        return replace(self.old, entry=0, edges=tuple(edges), registers=(), points=frozenset(range(len(number))))

    def _steps(self, edge: EventEdge, registers: dict[str, int]) -> list[tuple[Registers, EventEdge]] | None:
        """What the edge can do where the registers have these values: the values afterwards and the new edge."""
        if edge.section:
            return self._of_section(edge, registers)
        if edge.guard == TRUE and not edge.assigns and (edge.written is None or isinstance(edge.written, Const)):
            return [(tuple(registers.items()), edge)]
        by: dict[str, Expr] = {name: Const(value) for name, value in registers.items()}
        guard = substitute(edge.guard, by)
        if guard == FALSE:
            return []
        assigns = [(name, substitute(value, by)) for name, value in edge.assigns]
        kept = any(VALUE.name in names(value) for _, value in assigns)
        written = None if edge.written is None else substitute(edge.written, by)
        rmw = None if edge.rmw is None else (substitute(edge.rmw[0], by), substitute(edge.rmw[1], by))
        new = replace(edge, guard=guard, unsplit=guard, written=written, rmw=rmw)
        source = edge.connection if edge.type is EventType.RP else edge.cell
        possible = self.values[source] if source is not None else frozenset({0})
        if any(is_value(name) and name != VALUE.name for name in names(guard)):
            possible = None
        if possible is None:
            return None if kept else [(_after(registers, assigns, 0), new)]
        found: dict[Registers, list[int]] = {}
        for value in self.poll.each(sorted(possible)):
            if evaluate(guard, {VALUE.name: value}):
                found.setdefault(_after(registers, assigns, value), []).append(value)
        allowed = [v for values in found.values() for v in values]
        unsplit = _among(allowed, possible)
        return [(after, replace(new, guard=_among(values, possible), unsplit=unsplit)) for after, values in found.items()]

    def _of_section(self, edge: EventEdge, registers: dict[str, int]) -> list[tuple[Registers, EventEdge]] | None:
        """The same for a section: one edge for all values read that lead to the same, with what it writes as numbers."""
        by: dict[str, Expr] = {name: Const(value) for name, value in registers.items()}
        guard = substitute(edge.guard, by)
        assigns = [(name, substitute(value, by)) for name, value in edge.assigns]
        new = replace(edge, guard=guard, section=with_touches(edge, by))
        used = {
            n for e in (guard, *(e for _, e in assigns), *(t.written for t in new.section if t.written)) for n in names(e)
        }
        read = [(value_of(t.number).name, t.cell) for t in new.section if t.cell and value_of(t.number).name in used]
        held = [(name, self.values[cell]) for name, cell in read]
        choices = [values for _, values in held if values is not None]
        if len(choices) < len(held) or prod(map(len, choices)) > _MOST_READ:
            return None if any(is_value(n) for _, e in assigns for n in names(e)) else [(_after(registers, assigns, 0), new)]
        found: dict[tuple[Registers, tuple[int | None, ...]], list[Expr]] = {}
        for values in self.poll.each(product(*map(sorted, choices))):
            env = dict(zip((name for name, _ in held), values, strict=True))
            if evaluate(guard, env):
                after = tuple({**registers, **{name: evaluate(e, env) for name, e in assigns}}.items())
                stored = tuple(None if t.written is None else evaluate(t.written, env) for t in new.section)
                these = conj(*(equals(Name(name), Const(value)) for name, value in env.items()))
                found.setdefault((after, stored), []).append(these)
        return [
            (after, replace(new, guard=guard if len(found) == 1 else disj(*these), section=_with_values(new, stored)))
            for (after, stored), these in found.items()
        ]


def _with_values(edge: EventEdge, stored: Sequence[int | None]) -> tuple[EdgeTouch, ...]:
    pairs = zip(edge.section, stored, strict=True)
    return tuple(t if value is None else replace(t, written=Const(value)) for t, value in pairs)


def _after(registers: dict[str, int], assigns: Sequence[tuple[str, Expr]], value: int) -> Registers:
    env = {VALUE.name: value}
    return tuple({**registers, **{name: evaluate(e, env) for name, e in assigns}}.items())


def _among(values: Sequence[int], possible: frozenset[int]) -> Expr:
    """The value read is one of `values`, known to be in `possible`."""
    others = possible - set(values)
    if not others:
        return TRUE
    if len(others) < len(values):
        return negate(disj(*(equals(VALUE, Const(v)) for v in sorted(others))))
    return disj(*(equals(VALUE, Const(v)) for v in sorted(values)))
