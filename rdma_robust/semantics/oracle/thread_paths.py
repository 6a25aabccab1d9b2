"""The paths of a loop-free thread, followed symbolically: which events they make, under which guards on the values read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from rdma_robust.errors import SizeLimitError
from rdma_robust.expr import TRUE, VALUE
from rdma_robust.language.flow.cfg import Cell, Step, Thread, steps
from rdma_robust.semantics.event_table import Agent, Case, cases_of, cells_read, remote_of, takes_completion
from rdma_robust.semantics.terms import Term, constant, read_at, satisfiable, term_of
from rdma_robust.semantics.trace import READ_TYPES, EventType

STEPS_PER_PATH = 50


class Extent(Enum):
    """Which prefixes of paths are wanted: those at the thread's exit, those that may be stuck for good, or all."""

    ENDED = auto()
    MAXIMAL = auto()
    ALL = auto()


@dataclass(frozen=True, slots=True)
class PathEvent:
    """`written` is the value that a write stores, None for one that stores just what its operation has read.

    `copied` is how many events before it that was, 0 for none. A poll of the queue pair can take what `completes`.
    """

    type: EventType
    cell: Cell | None
    remote: str | None
    step: Step
    written: Term | None = None
    copied: int = 0
    completes: bool = False


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


@dataclass(frozen=True, slots=True)
class _Known:
    """A step with what the event table says of it: its cases, its queue pair, what the CPU reads, whether it is a poll."""

    step: Step
    cases: tuple[Case, ...]
    remote: str | None
    reads: frozenset[Cell]
    polls: bool

    @staticmethod
    def of(step: Step) -> _Known:
        op = step.op
        return _Known(step, cases_of(op), remote_of(op), cells_read(op, Agent.CPU), takes_completion(op))


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
        self.out: dict[int, list[tuple[int, _Known]]] = {}
        for source, target, step in steps(thread):
            self.out.setdefault(source, []).append((target, _Known.of(step)))

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
                todo += reversed(
                    [n for target, known in self.out.get(node.point, []) for n in self.take(node, target, known)]
                )
        return tuple(found)

    def wanted(self, node: _Node) -> bool:
        match self.extent:
            case Extent.ENDED:
                return not node.half and node.point == self.thread.exit
            case Extent.MAXIMAL:
                return not node.half and self.may_block(node)
            case Extent.ALL:
                return node.half or node.fresh

    def take(self, node: _Node, target: int, known: _Known) -> Iterator[_Node]:
        """Yield the prefixes that follow by this step; a put or get also gives the one that ends between its events."""
        position, step = len(node.events), known.step
        env = {**node.registers, VALUE.name: read_at(position)} if known.reads else node.registers
        for events, condition in self.events(node, known, env):
            guards = node.guards
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
            if self.extent is Extent.ALL:
                for kept in range(1, len(events)):
                    yield replace(after, events=node.events + events[:kept], registers=node.registers, half=True)
            yield after

    def events(
        self, node: _Node, known: _Known, env: Mapping[str, Term]
    ) -> Iterator[tuple[tuple[PathEvent, ...], tuple[Term, ...]]]:
        """Yield the events the step may make, each with a further condition on the values read."""
        step, remote, position = known.step, known.remote, len(node.events)
        if term_of(step.guard, env).const == 0:
            return
        for case in known.cases:
            made: list[PathEvent] = []
            read = position
            for place, act in enumerate(case.acts, position):
                if act.type is EventType.P and not _pollable((*node.events, *made), remote):
                    return
                read = place if act.reads else read
                written = None if act.written is None else term_of(act.written, {**env, VALUE.name: read_at(read)})
                copied = place - read if act.copies else 0
                made.append(PathEvent(act.type, act.cell, remote, step, None if copied else written, copied, act.completes))
            condition = () if case.when == TRUE else (term_of(case.when, {**env, VALUE.name: read_at(position)}),)
            yield tuple(made), condition

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
        for _, known in self.out.get(node.point, []):
            if known.polls and not _pollable(node.events, known.remote):
                continue
            env = node.registers
            for cell in known.reads:
                place = places.setdefault(cell, len(node.events) + len(places))
                domains[place] = self.values[cell]
                env = {**env, VALUE.name: read_at(place)}
            guards.append(term_of(known.step.guard, env))
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


def _pollable(events: Sequence[PathEvent], remote: str | None) -> bool:
    mine = [e for e in events if e.remote == remote]
    return sum(e.completes for e in mine) > sum(e.type is EventType.P for e in mine)
