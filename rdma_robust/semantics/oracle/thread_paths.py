"""The paths of a loop-free thread, followed symbolically: which events they make, under which guards on the values read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import takewhile
from typing import Final

from rdma_robust.errors import SizeLimitError
from rdma_robust.expr import TRUE, VALUE, value_of
from rdma_robust.language.flow.cfg import (
    BarrierWait,
    Cell,
    Flush,
    Message,
    RecvPoll,
    Section,
    Step,
    Thread,
    named_lane,
    steps,
)
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.connections import ConnectionEnd, UnheardMessage, takes_buffer
from rdma_robust.semantics.event_table import Act, Agent, Case, cases_of, cells_read, remote_of, takes_completion
from rdma_robust.semantics.order_table import ippo_scope, oppo_scope
from rdma_robust.semantics.terms import Term, constant, read_at, satisfiable, term_of
from rdma_robust.semantics.trace import CPU_TYPES, READ_TYPES, EventType

STEPS_PER_PATH = 50

Immediates = Mapping[tuple[str, str, str], frozenset[int]]
"""What an RP of the second thread may read of a message from the first; 0 is all where nothing is said."""

NONE: Final[Immediates] = {}


class Extent(Enum):
    """The prefixes of paths that are wanted: those at the thread's exit, those that may be stuck for good, or all."""

    ENDED = auto()
    MAXIMAL = auto()
    ALL = auto()


@dataclass(frozen=True, slots=True)
class PathEvent:
    """`written` is the value that a write stores, None for one that stores just what its operation has read.

    `copied` is how many events before it that was, 0 for none. The operation completes with what is `completing`; a poll of
    the queue pair can take that if it `completes`. `peer` is the other thread of the connection, of messages, V and RP. The
    word of a message that carries `data` is known when it is matched; one without data has the immediate as `written`.
    `takes` is the number of the receive that a message takes, if it is not its own.
    """

    type: EventType
    cell: Cell | None
    remote: str | None
    step: Step
    written: Term | None = None
    copied: int = 0
    completes: bool = False
    completing: bool = False
    peer: str | None = None
    data: bool = False
    joined: bool = False
    members: tuple[str, ...] = ()
    takes: int | None = None


_Way = tuple[tuple[PathEvent, ...], tuple[Term, ...]]
"""The events that a step may make, and further conditions on the values read."""


@dataclass(frozen=True, slots=True)
class ThreadPath:
    """A prefix of a path: it is taken iff every guard, a term over the values read, is true.

    `allowed` gives for every event the values its read may have as far as that does not depend on other reads (empty
    for events that are no reads). `registers` are the thread's registers at the end, in declaration order.

    The thread may be stuck after the prefix, but only as long as there is no receive for its next message to any thread of
    `unheard`, and no further message from any thread of `unsent`. With `goes_on` it has left such messages waiting,
    forever, and what is behind them on their queue pairs; `passed` says that the hardware may let something pass them, which
    is not here. `torn` prefixes end between the naR and the naW of a read-modify-write.
    """

    events: tuple[PathEvent, ...]
    guards: tuple[Term, ...]
    registers: tuple[Term, ...]
    allowed: tuple[frozenset[int], ...]
    unheard: frozenset[UnheardMessage] = frozenset()
    unsent: frozenset[ConnectionEnd] = frozenset()
    torn: bool = False
    goes_on: bool = False
    passed: bool = False


@dataclass(frozen=True, slots=True)
class _Node:
    """A prefix under construction; `fresh` iff its last step made an event (or none was taken yet)."""

    point: int
    registers: Mapping[str, Term]
    events: tuple[PathEvent, ...]
    guards: tuple[Term, ...]
    fresh: bool = True
    half: bool = False
    unheard: frozenset[UnheardMessage] = frozenset()
    """The message before which a half operation ends, or those that wait forever."""
    torn: bool = False
    held: frozenset[str] = frozenset()
    """The queue pairs on which a message waits forever."""
    fenced: frozenset[str] = frozenset()
    """Those of them with a remote fence behind it."""
    passed: bool = False


@dataclass(frozen=True, slots=True)
class _StepCases:
    """A step with what the event table says of it: its cases, its queue pair, what the CPU reads, whether it is a poll,
    of whose messages if it is an RP, whether it waits for other threads, and whether it may be cut where a message finds no
    receive."""

    step: Step
    cases: tuple[Case, ...]
    remote: str | None
    reads: frozenset[Cell]
    polls: bool
    receives: ConnectionEnd | None
    waits: bool
    cut: bool

    @staticmethod
    def of(step: Step, model: Model) -> _StepCases:
        op = step.op
        cases = cases_of(op, model)
        receives = (op.sender, op.lane) if isinstance(op, RecvPoll) else None
        waits = isinstance(op, RecvPoll | BarrierWait)
        cut = isinstance(op, Message)
        return _StepCases(step, cases, remote_of(op), cells_read(op, Agent.CPU), takes_completion(op), receives, waits, cut)


def thread_paths(
    thread: Thread,
    values: Mapping[Cell, frozenset[int]],
    extent: Extent,
    limit: int,
    *,
    model: Model = RDMA,
    immediates: Immediates = NONE,
    waiting: bool = False,
) -> tuple[ThreadPath, ...]:
    """Return the wanted prefixes of the thread's paths, in a fixed order.

    `values` are the possible values of every cell, `immediates` what an RP may read; prefixes that no read values allow are
    left out where that is seen cheaply. If messages may be `waiting` there are also the prefixes, of those that may be stuck
    for good, behind messages that wait forever. Raises SizeLimitError beyond `limit` prefixes. The thread's graph must have
    no cycle.
    """
    found = {cell: tuple(sorted(held)) for cell, held in values.items()}
    return _Walker(thread, found, immediates, extent, model, waiting).run(limit)


@dataclass
class _Walker:
    thread: Thread
    values: Mapping[Cell, tuple[int, ...]]
    immediates: Immediates
    extent: Extent
    model: Model
    waiting: bool = False

    def __post_init__(self) -> None:
        self.out: dict[int, list[tuple[int, _StepCases]]] = {}
        for source, target, step in steps(self.thread):
            self.out.setdefault(source, []).append((target, _StepCases.of(step, self.model)))

    def run(self, limit: int) -> tuple[ThreadPath, ...]:
        found = []
        visited = 0
        todo = [_Node(self.thread.entry, {name: constant(v) for name, v in self.thread.registers}, (), ())]
        while todo:
            node = todo.pop()
            visited += 1
            if self.wanted(node):
                found.append(self.path(node))
            # Dead ends count as well, though less: a program may have many branches and no path to its end.
            if len(found) > limit or visited > STEPS_PER_PATH * limit:
                raise SizeLimitError(f"thread {self.thread.name} has more than {limit} paths, too many for the oracle")
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
                return self.may_block(node) if not node.half else bool(node.unheard)
            case Extent.ALL:
                return node.half or node.fresh

    def take(self, node: _Node, target: int, known: _StepCases) -> Iterator[_Node]:
        """Yield the prefixes that follow by this step; a put or get also gives the one that ends between its events."""
        position, step = len(node.events), known.step
        node, ways = self.behind(node, known, tuple(self.events(node, known)))
        for events, condition in ways:
            env = node.registers
            if known.reads or known.receives is not None:
                read = next((i for i, e in enumerate(events) if e.type in READ_TYPES or e.type is EventType.RP), 0)
                env = {**env, VALUE.name: read_at(position + read), **_of_section(step, (e.type for e in events), position)}
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
            registers = {**node.registers, **assigned}
            after = replace(node, point=target, registers=registers, guards=guards)
            after = replace(after, events=node.events + events, fresh=bool(events))
            whole = isinstance(step.op, Section)
            for kept in range(len(events) if known.cut or (self.extent is Extent.ALL and not whole) else 0):
                unheard = (
                    {UnheardMessage(events[kept].peer or "", named_lane(step.op), events[kept].data)}
                    if takes_buffer(events[kept])
                    else set()
                )
                if (kept and self.extent is Extent.ALL) or (unheard and self.extent is Extent.MAXIMAL):
                    known_by_then = tuple(g for g in guards if not g.support >> position + kept)
                    torn = events[kept].type is EventType.NAW
                    half = replace(node, point=target, fresh=True, unheard=node.unheard | unheard)
                    half = replace(half, events=node.events + events[:kept], guards=known_by_then)
                    if not node.held:
                        yield replace(half, half=True, torn=torn)
                    if self.waiting and self.extent is Extent.MAXIMAL and known.remote is not None:
                        yield replace(half, held=node.held | {known.remote})
            yield after

    def behind(self, node: _Node, known: _StepCases, ways: Sequence[_Way]) -> tuple[_Node, Sequence[_Way]]:
        """Return a prefix, and what a step makes, on a queue pair on which a message waits forever: the CPU does its part,
        and the card may read what a put sends. A flush waits, too."""
        if known.remote not in node.held or not ways:
            return node, ways
        if isinstance(known.step.op, Flush):
            return node, ()
        events, _ = ways[0]
        fenced = node.fenced | {e.remote for e in events if e.type is EventType.NF and e.remote is not None}
        done = CPU_TYPES | ({EventType.NLR} if known.remote not in fenced else set())
        made = tuple(takewhile(lambda e: e.type in done, events))
        passed = node.passed or not all(map(self.waits_behind, events[len(made) :]))
        return replace(node, fenced=fenced, passed=passed), ((made, ()),)

    def waits_behind(self, event: PathEvent) -> bool:
        """Whether an event of a queue pair waits for a message before it, whatever words they are about."""
        kinds = EventType.NRW, event.type
        plain = event.cell is None or event.cell.plain
        ordered = "qp" in (ippo_scope(*kinds, self.model), oppo_scope(*kinds, self.model))
        return plain and (ordered or event.type in (EventType.NLR, EventType.NF, EventType.NO))

    def events(self, node: _Node, known: _StepCases) -> Iterator[_Way]:
        """Yield the events the step may make, each with a further condition on the values read."""
        step, remote, position = known.step, known.remote, len(node.events)
        env = {**node.registers, VALUE.name: read_at(position)}
        if not isinstance(step.op, Section) and term_of(step.guard, env).const == 0:
            return
        for case in known.cases:
            made: list[PathEvent] = []
            read = position
            for place, act in enumerate(case.acts, position):
                if act.type is EventType.P and not _pollable((*node.events, *made), remote):
                    return
                read = place if act.reads else read
                env = {
                    **node.registers,
                    VALUE.name: read_at(read),
                    **_of_section(step, (a.type for a in case.acts), position),
                    **_of_operands(case.acts, position),
                }
                made.append(_event(act, known, place - read, env))
            condition: tuple[Term, ...] = ()
            if case.when != TRUE:
                known_now = {VALUE.name: read_at(read), **_of_operands(case.acts, position)}
                condition = (term_of(case.when, {**node.registers, **known_now}),)
            yield tuple(made), condition

    def domains(self, node: _Node, more: tuple[PathEvent, ...] = ()) -> dict[int, tuple[int, ...]]:
        """Return the possible values read at each position; events that read nothing get a dummy."""
        return {i: self.held(e) for i, e in enumerate((*node.events, *more))}

    def held(self, event: PathEvent) -> tuple[int, ...]:
        """Return the possible values of what an event reads, (0,) if that is nothing."""
        if event.type is EventType.RP and event.peer is not None:
            return tuple(sorted(self.immediates.get((event.peer, self.thread.name, named_lane(event.step.op)), (0,))))
        return self.values[event.cell] if event.cell else (0,)

    def may_block(self, node: _Node) -> bool:
        """Return False only if some step is enabled whatever has been read and whatever the memory holds.

        The values of the cells read next stand at positions beyond the path's.
        """
        domains = self.domains(node)
        places: dict[Cell, int] = {}
        guards = []
        for _, known in self.out.get(node.point, []):
            flushes = known.remote in node.held and isinstance(known.step.op, Flush)
            if known.waits or flushes or (known.polls and not _pollable(node.events, known.remote)):
                continue
            env = node.registers
            for cell in known.reads:
                place = places.setdefault(cell, len(node.events) + len(places))
                domains[place] = self.values[cell]
                env = {**env, VALUE.name: read_at(place)}
            if isinstance(known.step.op, Section):
                env = {**env, **{value_of(k).name: read_at(places[cell]) for k, cell in enumerate(known.step.op.cells)}}
            guards.append(term_of(known.step.guard, env))
        if any(guard.const for guard in guards):
            return False
        return satisfiable(guards, domains, False)

    def path(self, node: _Node) -> ThreadPath:
        allowed = []
        for position, event in enumerate(node.events):
            own = [guard for guard in node.guards if guard.support == 1 << position]
            held = self.held(event) if event.type in READ_TYPES or event.type is EventType.RP else ()
            fits = [v for v in held if all(g.of((0,) * position + (v,), 0) for g in own)]
            allowed.append(frozenset(fits))
        registers = tuple(node.registers[name] for name, _ in self.thread.registers)
        if self.extent is not Extent.MAXIMAL:
            return ThreadPath(node.events, node.guards, registers, tuple(allowed), torn=node.torn)
        path = ThreadPath(node.events, node.guards, registers, tuple(allowed), node.unheard, self.unsent(node))
        return replace(path, goes_on=bool(node.held), passed=node.passed)

    def unsent(self, node: _Node) -> frozenset[ConnectionEnd]:
        """Return the threads, and their lanes, of which a further message would let the thread go on, whatever its registers
        are."""
        if node.half:
            return frozenset()
        nexts = (known for _, known in self.out.get(node.point, []) if known.receives is not None)
        return frozenset(k.receives for k in nexts if k.receives and k.step.guard == TRUE)


def _of_section(step: Step, types: Iterable[EventType], first: int) -> dict[str, Term]:
    """Return what the words of a section had, of which the first event stands at this position; nothing for other steps."""
    if not isinstance(step.op, Section):
        return {}
    reading = [place for place, kind in enumerate(types, first) if kind in READ_TYPES]
    return {value_of(k).name: read_at(place) for k, place in enumerate(reading)}


def _of_operands(acts: Sequence[Act], first: int) -> dict[str, Term]:
    """Return what an operation has read of its operands in memory, whose first event stands at this position."""
    places = (place for place, act in enumerate(acts, first) if act.operand)
    return {value_of(k).name: read_at(place) for k, place in enumerate(places)}


def _event(act: Act, known: _StepCases, copied: int, env: Mapping[str, Term]) -> PathEvent:
    """Return the event of an act whose operation has last read so many events before it, over registers and values read."""
    value, cell, data = act.written, None, act.fills
    if act.message is None:
        cell = act.cell
    else:
        value = act.message.data if data else act.message.imm
    if value is None or value != VALUE or act.reads:
        copied = 0
    written = None if copied or value is None else term_of(value, env)
    step, remote = known.step, known.remote
    return PathEvent(
        act.type, cell, remote, step, written, copied, act.completes, act.completing, act.peer, data, act.joined, act.members
    )


def _pollable(events: Sequence[PathEvent], remote: str | None) -> bool:
    mine = [e for e in events if e.remote == remote]
    return sum(e.completes for e in mine) > sum(e.type is EventType.P for e in mine)
