"""The paths of a loop-free thread, followed symbolically: which events they make, under which guards on the values read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

from rdma_robust.errors import SizeLimitError
from rdma_robust.expr import VALUE
from rdma_robust.language.flow.cfg import Cas, Cell, Get, Poll, Put, Read, RFence, Silent, Step, Thread, Write, steps
from rdma_robust.semantics.terms import Term, constant, read_at, satisfiable, term_of
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, READ_TYPES, EventType

STEPS_PER_PATH = 50


class Extent(Enum):
    """Which prefixes of paths are wanted: those at the thread's exit, those that may be stuck for good, or all."""

    ENDED = auto()
    MAXIMAL = auto()
    ALL = auto()


@dataclass(frozen=True, slots=True)
class PathEvent:
    """`written` is the value of a CPU write; a NIC write writes what the event before it has read."""

    type: EventType
    cell: Cell | None
    remote: str | None
    step: Step
    written: Term | None = None


@dataclass(frozen=True, slots=True)
class Path:
    """A prefix of a path: it is taken iff every guard, a term over the values read, is true.

    `allowed` gives for every event the values its read may have as far as that does not depend on other reads (empty
    for events that are no reads). `registers` are the thread's registers at the end, in declaration order.
    """

    events: tuple[PathEvent, ...]
    guards: tuple[Term, ...]
    registers: tuple[Term, ...]
    allowed: tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class _Node:
    """A prefix under construction; `fresh` iff its last step made an event (or none was taken yet)."""

    point: int
    registers: Mapping[str, Term]
    events: tuple[PathEvent, ...]
    guards: tuple[Term, ...]
    fresh: bool = True
    half: bool = False


def thread_paths(thread: Thread, values: Mapping[Cell, frozenset[int]], extent: Extent, limit: int) -> tuple[Path, ...]:
    """Return the wanted prefixes of the thread's paths, in a fixed order.

    `values` are the possible values of every cell; prefixes that no read values allow are left out where that is seen
    cheaply. Raises SizeLimitError beyond `limit` prefixes. The thread's graph must have no cycle.
    """
    return _Walker(thread, values, extent, limit).run()


class _Walker:
    def __init__(self, thread: Thread, values: Mapping[Cell, frozenset[int]], extent: Extent, limit: int) -> None:
        self.thread = thread
        self.values = {cell: tuple(sorted(held)) for cell, held in values.items()}
        self.extent = extent
        self.limit = limit
        self.out: dict[int, list[tuple[int, Step]]] = {}
        for source, target, step in steps(thread):
            self.out.setdefault(source, []).append((target, step))

    def run(self) -> tuple[Path, ...]:
        found = []
        visited = 0
        todo = [_Node(self.thread.entry, {name: constant(v) for name, v in self.thread.registers}, (), ())]
        while todo:
            node = todo.pop()
            visited += 1
            if self.wanted(node):
                found.append(self.path(node))
            # Dead ends count as well, though less: a program may have many branches and no path to its end.
            if len(found) > self.limit or visited > STEPS_PER_PATH * self.limit:
                raise SizeLimitError(f"thread {self.thread.name} has more than {self.limit} paths, too many for the oracle")
            if not node.half:
                todo += reversed([n for target, step in self.out.get(node.point, []) for n in self.take(node, target, step)])
        return tuple(found)

    def wanted(self, node: _Node) -> bool:
        match self.extent:
            case Extent.ENDED:
                return not node.half and node.point == self.thread.exit
            case Extent.MAXIMAL:
                return not node.half and self.may_block(node)
            case Extent.ALL:
                return node.half or node.fresh

    def take(self, node: _Node, target: int, step: Step) -> Iterator[_Node]:
        """Yield the prefixes that follow by this step; a put or get also gives the one that ends between its events."""
        position = len(node.events)
        env = {**node.registers, VALUE.name: read_at(position)} if isinstance(step.op, Read | Cas) else node.registers
        for events, condition in self.events(node, step, env):
            guards = node.guards
            last = events[-1].type if events else None
            domains = self.domains(node, events)
            feasible = True
            for guard in (term_of(step.guard, env), *condition):
                if guard.const is None:
                    guards = (*guards, guard)
                    related = [g for g in guards if not g.support & ~guard.support]
                    feasible = satisfiable(related, domains, True)
                else:
                    feasible = bool(guard.const)
                if not feasible:
                    break
            if not feasible:
                continue
            assigned = {name: term_of(expr, env) for name, expr in step.assigns}
            after = _Node(target, {**node.registers, **assigned}, node.events + events, guards, bool(events))
            if last in NIC_WRITE_TYPES and self.extent is Extent.ALL:
                yield replace(after, events=after.events[:-1], registers=node.registers, half=True)
            yield after

    def events(
        self, node: _Node, step: Step, env: Mapping[str, Term]
    ) -> Iterator[tuple[tuple[PathEvent, ...], tuple[Term, ...]]]:
        """Yield the events the step may make, each with a further condition on the values read."""
        match step.op:
            case Silent():
                yield (), ()
            case Read(cell):
                yield (PathEvent(EventType.LR, cell, None, step),), ()
            case Write(cell, value):
                if term_of(step.guard, env).const != 0:
                    yield (PathEvent(EventType.LW, cell, None, step, term_of(value, env)),), ()
            case Cas(cell, expected, new):
                if term_of(step.guard, env).const != 0:
                    yield from self.cas(cell, step, (term_of(expected, env), term_of(new, env)), len(node.events))
            case Put(to, source):
                first = PathEvent(EventType.NLR, source, to.node, step)
                yield (first, PathEvent(EventType.NRW, to, to.node, step)), ()
            case Get(to, source):
                first = PathEvent(EventType.NRR, source, source.node, step)
                yield (first, PathEvent(EventType.NLW, to, source.node, step)), ()
            case Poll(remote):
                if _pollable(node, remote):
                    yield (PathEvent(EventType.P, None, remote, step),), ()
            case RFence(remote):
                yield (PathEvent(EventType.NF, None, remote, step),), ()

    def cas(
        self, cell: Cell, step: Step, terms: tuple[Term, Term], position: int
    ) -> Iterator[tuple[tuple[PathEvent, ...], tuple[Term, ...]]]:
        expected, new = terms
        met = expected.of
        support = expected.support | 1 << position
        size = expected.size + 2
        success = Term(support, None, lambda v, o: int(v[o + position] == met(v, o)), size)
        failure = Term(support, None, lambda v, o: int(v[o + position] != met(v, o)), size)
        yield (PathEvent(EventType.CAS, cell, None, step, new),), (success,)
        yield (PathEvent(EventType.LR, cell, None, step),), (failure,)

    def domains(self, node: _Node, more: tuple[PathEvent, ...] = ()) -> dict[int, tuple[int, ...]]:
        """Return the possible values read at each position; events without a cell get a dummy."""
        return {i: self.values[e.cell] if e.cell else (0,) for i, e in enumerate((*node.events, *more))}

    def may_block(self, node: _Node) -> bool:
        """Return False only if some step is enabled whatever has been read and whatever the memory holds.

        The values of the cells read next stand at positions beyond the path's.
        """
        domains = self.domains(node)
        places: dict[Cell, int] = {}
        guards = []
        for _, step in self.out.get(node.point, []):
            if isinstance(step.op, Poll) and not _pollable(node, step.op.node):
                continue
            env = node.registers
            if isinstance(step.op, Read | Cas):
                place = places.setdefault(step.op.cell, len(node.events) + len(places))
                domains[place] = self.values[step.op.cell]
                env = {**env, VALUE.name: read_at(place)}
            guards.append(term_of(step.guard, env))
        if any(guard.const for guard in guards):
            return False
        return satisfiable(guards, domains, False)

    def path(self, node: _Node) -> Path:
        allowed = []
        for position, event in enumerate(node.events):
            own = [guard for guard in node.guards if guard.support == 1 << position]
            held = self.values[event.cell] if event.cell and event.type in READ_TYPES else ()
            fits = [v for v in held if all(g.of((0,) * position + (v,), 0) for g in own)]
            allowed.append(frozenset(fits))
        registers = tuple(node.registers[name] for name, _ in self.thread.registers)
        return Path(node.events, node.guards, registers, tuple(allowed))


def _pollable(node: _Node, remote: str) -> bool:
    mine = [e.type for e in node.events if e.remote == remote]
    return sum(t in NIC_WRITE_TYPES for t in mine) > sum(t is EventType.P for t in mine)
