"""The steps of a run that matter: those that are asked for, and those on whose effects they depend.

Step `a` depends on step `b` if

- `a` reads the value that `b` has written to memory, takes the receive completion of the message `b`, or is a message in the
  buffer that `b` has posted;
- both belong to one remote operation, and `b` comes before `a`; a poll belongs to the one whose completion it takes;
- `a` uses a register (in what it writes, in its condition, in the index of an array) whose value was computed from what `b`
  has read.

The steps that matter are the least set that has those asked for and, with a step, those on which it depends. Conditions
that a thread has passed before are not among them: they say that it came to the step, not what the step does. Between two
accesses a thread calculates in ways of which a trace says nothing; what it may have calculated from counts, so the set may
have more steps than need be, and never lacks one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.digraph import reachable
from rdma_robust.expr import is_value, names
from rdma_robust.language.flow.cfg import Cell, Message, Program, Recv, RecvPoll, Silent, Step, Thread, steps
from rdma_robust.semantics.connections import Connection
from rdma_robust.semantics.event_table import Act, acts_of, cases_of, expressions_of, remote_of
from rdma_robust.semantics.machines.effects import events_of_section
from rdma_robust.semantics.machines.machine import Action, Verb, act_of
from rdma_robust.semantics.trace import CPU_TYPES, NIC_WRITE_TYPES, Cycle, Event, EventType, Trace
from rdma_robust.semantics.vertices import sections

Nothing: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class RunDependence:
    """A step of a run: its thread, the statement whose registers it uses (None if it uses none), and the steps on which it
    depends by memory or by its remote operation."""

    thread: int
    step: Step | None
    sources: frozenset[int] = Nothing


def matter(
    program: Program, deeds: Mapping[int, RunDependence], wanted: Iterable[int], registers: Iterable[tuple[int, str]] = ()
) -> set[int]:
    """Return the steps that matter if those `wanted` are asked for, and the last values of these registers of threads.

    `deeds` has each thread's steps in program order, by the numbers that the result has.
    """
    flows = [_Flow(thread) for thread in program.threads]
    depends = {number: deed.sources | flows[deed.thread].after(number, deed) for number, deed in deeds.items()}
    todo = [*wanted, *(source for thread, name in registers for source in flows[thread].of((name,)))]
    found: set[int] = set()
    while todo:
        number = todo.pop()
        if number in depends and number not in found:
            found.add(number)
            todo += depends[number]
    return found


@dataclass
class _Flow:
    """The steps of a thread from whose reads the values of its registers may have been computed, so far."""

    thread: Thread
    computed: dict[str, frozenset[int]] = field(default_factory=dict)
    silently: dict[str, set[str]] = field(init=False)
    """The registers from which a register may be computed where no step of a run shows it."""

    def __post_init__(self) -> None:
        self.silently = {}
        for _, _, step in steps(self.thread):
            for name, value in step.assigns if isinstance(step.op, Silent) else ():
                self.silently.setdefault(name, set()).update(names(value))

    def of(self, registers: Iterable[str]) -> frozenset[int]:
        return frozenset(source for name in reachable(registers, self.silently) for source in self.computed.get(name, ()))

    def after(self, number: int, deed: RunDependence) -> frozenset[int]:
        """Return the steps on which step `number` depends by registers, and note what it computes."""
        if deed.step is None:
            return Nothing
        used = self.of(_uses(deed.step))
        copied = {name for sources in self.silently.values() for name in sources}
        for name, value in deed.step.assigns:
            new = self.of(names(value)) | ({number} if any(map(is_value, names(value))) else Nothing)
            self.computed[name] = new | (self.computed.get(name, Nothing) if name in copied else Nothing)
        return used


def _uses(step: Step) -> set[str]:
    expressions = [step.guard, *(case.when for case in cases_of(step.op))]
    expressions += [value for act in acts_of(step.op) for value in act.values]
    return {name for expression in expressions for name in names(expression)}


def of_trace(program: Program, trace: Trace, wanted: Iterable[int]) -> set[int]:
    """Return the events of a trace that matter if those `wanted` are asked for, by their indices."""
    sources: dict[int, set[int]] = {}
    for source, target in (*trace.rf, *trace.pf, *(trace.sm or ()), *(trace.rpf or ())):
        sources.setdefault(target, set()).add(source)
    for index, first in sections(trace).items():
        sources.setdefault(index, set()).add(first)
        sources.setdefault(first, set()).add(index)
    deeds = {}
    before: Event | None = None
    for event in sorted(trace.events, key=lambda e: (e.thread, e.position)):
        if event.thread < 0:
            continue
        on = sources.get(event.index, set())
        if event.type in NIC_WRITE_TYPES and before is not None and _of_one_operation(before, event):
            on = on | {before.index}
        before = event
        deeds[event.index] = RunDependence(event.thread, event.step if _by_registers(event) else None, frozenset(on))
    return matter(program, deeds, wanted)


def _of_one_operation(earlier: Event, later: Event) -> bool:
    return earlier.thread == later.thread and (None in (earlier.step, later.step) or earlier.step == later.step)


def _by_registers(event: Event) -> bool:
    """Whether an event depends on registers: what a CPU does, and what a request was given when it was posted."""
    given = event.step is not None and any(not is_value(name) for e in expressions_of(event.step.op) for name in names(e))
    return event.type in CPU_TYPES or given


def of_counterexample(
    program: Program, trace: Trace, cycle: Cycle, relaxed: Iterable[tuple[Event, Event]], pivot: Event | None
) -> set[int]:
    """Return the events that matter for a cycle: those on it, the pivot, what is reordered, and what those depend on."""
    asked = {event.index for edge in cycle.edges for event in (edge.source, edge.target)}
    asked |= {event.index for pair in relaxed for event in pair}
    return of_trace(program, trace, asked if pivot is None else asked | {pivot.index})


_BY_CARD: Final = frozenset({Verb.NIC_READ, Verb.NIC_WRITE, Verb.FLUSH, Verb.FENCE})


@dataclass
class _Operation:
    """A remote operation of a run of a machine: its statement, and its moves so far."""

    step: Step
    moves: list[int]
    verbs: set[tuple[Verb, Act | None]]
    polled: bool = False


class MachineRun:
    """The moves of a run of a machine, and what each depends on."""

    def __init__(self, program: Program, actions: Sequence[Action], *, sc: bool) -> None:
        self.program = program
        self.written: dict[Cell, int] = {}
        self.last: dict[int, int] = {}
        self.deeds: dict[int, RunDependence] = {}
        self._landing = Verb.NIC_WRITE if sc else Verb.FLUSH
        self._buffered = any(action.verb is Verb.DRAIN for action in actions)
        self._stores: dict[int, list[tuple[Cell, int]]] = {}
        self._operations: dict[tuple[int, str | None], list[_Operation]] = {}
        self._numbers = {thread.name: number for number, thread in enumerate(program.threads)}
        self._sent: dict[Connection, list[_Operation]] = {}
        self._posted: dict[Connection, list[int]] = {}
        self._polled: dict[Connection, int] = {}
        for number, action in enumerate(actions):
            if action.step is not None:
                self._add(number, action, action.step)

    def matter(self, wanted: Iterable[int], registers: Iterable[tuple[int, str]] = ()) -> set[int]:
        """Return the moves that matter if those `wanted` are asked for, and the last values of these registers."""
        return matter(self.program, self.deeds, wanted, registers)

    def _add(self, number: int, action: Action, step: Step) -> None:
        sources: set[int] = set()
        act = act_of(action)
        if action.verb is Verb.DRAIN:
            self._drains(number, action)
            return
        by_nic = action.verb in _BY_CARD
        if by_nic or action.verb is Verb.ISSUE:
            operation = self._operation(action, step)
            sources.update(operation.moves)
            sources.update(self._received(action, operation))
            operation.moves.append(number)
            operation.verbs.add((action.verb, action.act))
        if action.verb is Verb.POLL:
            mine = self._operations.get((action.thread, remote_of(step.op)), [])
            taken = next((o for o in mine if not o.polled), None)
            if taken is not None:
                taken.polled = True
                sources.update(taken.moves)
        if isinstance(step.op, Recv):
            connection = self._numbers[step.op.sender], action.thread, step.op.lane
            self._posted.setdefault(connection, []).append(number)
        if isinstance(step.op, RecvPoll):
            sources.update(self._told((self._numbers[step.op.sender], action.thread, step.op.lane)))
        if action.words:
            sources.update(self.written[e.cell] for e in events_of_section(action) if e.cell in self.written)
        elif act is not None and action.read is not None:
            own = dict(self._stores.get(action.thread, ()))
            seen = {**self.written, **own} if not by_nic else self.written
            sources.update(seen[cell] for cell in act.reads if cell in seen)
        self.deeds[number] = RunDependence(action.thread, None if by_nic else step, frozenset(sources))
        self.last[action.thread] = number
        if self._buffered and act is not None and act.type is EventType.LW:
            self._stores.setdefault(action.thread, []).extend((cell, number) for cell, _ in act.writes)
        elif action.words:
            stored = (e.cell for e in events_of_section(action) if e.written is not None)
            self.written.update((cell, number) for cell in stored if cell is not None)
        elif act is not None and action.written is not None and action.verb in (Verb.ACCESS, Verb.NIC_READ, self._landing):
            self.written.update((cell, number) for cell, _ in act.writes)

    def _received(self, action: Action, operation: _Operation) -> Sequence[int]:
        """The move that has posted the buffer of a message, if one has."""
        if not isinstance(operation.step.op, Message):
            return ()
        receiver, lane = self._numbers[operation.step.op.to], operation.step.op.lane
        connection = action.thread, receiver, lane
        here = self.program.threads[action.thread].name, lane
        before = sum((name, on) == here for name, _, on in self.program.threads[receiver].posted)
        number = next(i for i, o in enumerate(self._sent[connection]) if o is operation) - before
        posted = self._posted.get(connection, [])
        return posted[number : number + 1] if number >= 0 else ()

    def _told(self, connection: Connection) -> Sequence[int]:
        """The moves of the message that the next RP takes."""
        number = self._polled[connection] = self._polled.get(connection, -1) + 1
        sent = self._sent.get(connection, [])
        return sent[number].moves if number < len(sent) else ()

    def _drains(self, number: int, action: Action) -> None:
        """Note that the oldest entry of a store buffer leaves it: a store is then in memory."""
        if action.written is None or action.cell is None:
            return
        cell, stored = self._stores[action.thread].pop(0)
        self.deeds[number] = RunDependence(action.thread, None, frozenset({stored}))
        self.written[cell] = number

    def _operation(self, action: Action, step: Step) -> _Operation:
        """Return the operation that a move is about: the oldest of its statement that has not made such a move yet."""
        mine = self._operations.setdefault((action.thread, remote_of(step.op)), [])
        found = next((o for o in mine if o.step == step and (action.verb, action.act) not in o.verbs), None)
        if found is None or action.verb is Verb.ISSUE:
            found = _Operation(step, [], set())
            mine.append(found)
            if isinstance(step.op, Message):
                self._sent.setdefault((action.thread, self._numbers[step.op.to], step.op.lane), []).append(found)
        return found
