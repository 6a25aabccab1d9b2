"""The runs of a program under sequential consistency, with one access chosen and marks of what happens after it, as a vector
addition system: a race is a control state.

Where no completions can gather without bound it has no counters, and every number is a part of the control. Else the
completions of a queue pair that wait for a poll are two counters, of those before one that tells of the chosen access and
of those behind it. That one may be taken too early: then more is marked than happens after, by a run that is one all the
same, so no race is found that is none; and in a run in which it is taken in its turn the marks are right. So nothing is
tested for zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

from rdma_robust.analyses.races.race_marks import (
    EVERYTHING,
    NEVER,
    AccessKey,
    MarkRules,
    QueuePair,
    Queues,
    RaceMarks,
    access_key,
)
from rdma_robust.analyses.races.run_events import events_of_move
from rdma_robust.counters.permutations import Arranger
from rdma_robust.counters.vass import Control, CounterEffect
from rdma_robust.digraph import components, reachable
from rdma_robust.language.flow.cfg import Cell, Program, Recv, Thread, steps
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.connections import buffers_for, connection_numbers
from rdma_robust.semantics.event_table import acts_of, completes_on, polls_of
from rdma_robust.semantics.happens_before import Synchronising
from rdma_robust.semantics.machines.machine import Action, Move
from rdma_robust.semantics.machines.meeting import NO_MEETING
from rdma_robust.semantics.machines.sc import ScMachine, ScState
from rdma_robust.semantics.machines.threadcode import ThreadCode, usage_of
from rdma_robust.semantics.trace import Event, EventType

RacePair = tuple[AccessKey, AccessKey]
"""Two accesses that race, the chosen one first."""


class RaceNode(NamedTuple):
    """A control state: of the machine, without counted completions, None before the start; and the marks, None as long as no
    access is chosen. One with a `race` is reached by its second access."""

    state: ScState | None = None
    marks: RaceMarks | None = None
    race: RacePair | None = None


class RaceStep(NamedTuple):
    """A transition: what the machine does, and its state after it, without counted completions."""

    action: Action
    state: ScState


class MoveEvents(NamedTuple):
    """A move from a state, with its events and what waits before each of them."""

    state: ScState
    move: Move
    events: tuple[Event, ...]
    queues: Sequence[Queues]


CounterChanges = tuple[tuple[int, int], ...]
"""What a transition adds to counters, by number."""

BEFORE_START: Final = RaceNode()
_CHECK_EVERY: Final = 64


def gathering_pairs(program: Program) -> frozenset[QueuePair]:
    """Return the queue pairs that are polled and on which completions may gather without bound."""
    found: set[QueuePair] = set()
    for t, thread in enumerate(program.threads):
        polled = {polls_of(step.op) for _, _, step in steps(thread)} - {None}
        component = {p: i for i, ps in enumerate(components(thread.following)) for p in ps}
        found |= {
            (t, completes_on(step.op))
            for source, target, step in steps(thread)
            if component[source] == component[target] and completes_on(step.op) in polled
        }
    return frozenset(found)


def words_that_may_race(program: Program, synchronising: Synchronising) -> frozenset[Cell]:
    """Return the words that somebody writes and that not only one CPU accesses, but for those that always synchronise."""
    usage = usage_of(program)
    shared = (cell for cell, owner in usage.owner.items() if owner is None and cell in usage.written)
    return frozenset(shared) - synchronising.words


def _accesses_ahead(program: Program, thread: Thread, word: Cell) -> frozenset[int]:
    """Return the points of a thread from which it may still come to an access of a word, by itself or by its card."""
    buffers = {
        (receiver.name, lane)
        for receiver in program.threads
        for lane in _lanes_to(receiver, thread.name)
        if word in buffers_for(receiver, thread.name, lane)
    }
    before: dict[int, list[int]] = {point: [] for point in thread.points}
    goals = set()
    for source, target, step in steps(thread):
        before[target].append(source)
        acts = acts_of(step.op)
        named = any(word in act.reads or any(word == cell for cell, _ in act.writes) for act in acts)
        if named or any(act.fills and (act.peer, getattr(step.op, "lane", "")) in buffers for act in acts):
            goals.add(source)
    return frozenset(reachable(goals, before))


def _lanes_to(receiver: Thread, sender: str) -> frozenset[str]:
    received = (step.op for _, _, step in steps(receiver) if isinstance(step.op, Recv))
    lanes = {op.lane for op in received if op.sender == sender}
    return frozenset(lanes | {lane for name, _, lane in receiver.posted if name == sender})


@dataclass
class RaceSystem:
    """A program with looks as a :class:`~rdma_robust.counters.vass.Vass` whose targets are races.

    Its states take longer than those of other systems, so it looks at its `limits` itself: once one is reached, which `cut`
    names, no state has successors.
    """

    program: Program
    rules: MarkRules
    recv_depth: int = RECV_DEPTH
    counted: bool = False
    limits: Limits = NO_LIMITS
    cut: str = ""
    nodes: list[RaceNode] = field(default_factory=lambda: [BEFORE_START])
    effects: list[CounterEffect] = field(default_factory=list)
    labels: list[RaceStep] = field(default_factory=list)
    pairs: list[RacePair] = field(default_factory=list)
    arranger: Arranger | None = None
    max_rank: int = 0
    initial: Control = (0,)

    def __post_init__(self) -> None:
        self.machine = ScMachine(self.program, recv_depth=self.recv_depth, model=self.rules.model)
        self._numbers = {BEFORE_START: 0}
        self._expanded = 0
        self._label_numbers: dict[RaceStep, int] = {}
        self._effect_numbers: dict[CounterChanges, int] = {}
        self._ahead: dict[Cell, list[frozenset[int]]] = {}
        self._connections = connection_numbers(self.program)
        self._thread_numbers = {thread.name: t for t, thread in enumerate(self.program.threads)}
        self.racy = words_that_may_race(self.program, self.rules.synchronising)

    @cached_property
    def counter_of(self) -> dict[QueuePair, int]:
        """The first of the two counters of each queue pair that is polled, where completions are counted."""
        threads = enumerate(self.program.threads if self.counted else ())
        polled = dict.fromkeys((t, polls_of(step.op)) for t, thread in threads for _, _, step in steps(thread))
        return {pair: 2 * i for i, pair in enumerate(pair for pair in polled if pair[1] is not None)}

    @property
    def dimension(self) -> int:
        return 2 * len(self.counter_of)

    def target(self, control: Control) -> int:
        race = self.nodes[control[0]].race
        return -1 if race is None else self._race_number(race)

    def _race_number(self, race: RacePair) -> int:
        if race not in self.pairs:
            self.pairs.append(race)
        return self.pairs.index(race)

    def hopeless(self, _control: Control) -> bool:
        return False

    def rank(self, _control: Control) -> int:
        return 0

    def advances(self, _before: Control, _after: Control) -> bool:
        return True

    def expansions(self, control: Control) -> Iterable[list[tuple[int, Control, int]]]:
        yield self.successors(control)

    def successors(self, control: Control) -> list[tuple[int, Control, int]]:
        node = self.nodes[control[0]]
        self._expanded += 1
        if not self.cut and self._expanded % _CHECK_EVERY == 0:
            self.cut = self.limits.exceeded()
        if node.race is not None or self.cut:
            return []
        return list(dict.fromkeys(self._steps(node)))

    def _steps(self, node: RaceNode) -> Iterator[tuple[int, Control, int]]:
        if node.state is None:
            for move in self.machine.initial():
                yield self._step(move, None, (), None)
            return
        state = self.with_polls(node.state)
        moves = self.machine.successors(state) if self.counted else self.machine.reduced(state)
        for move in moves:
            for marks, changes, race in self._marked(state, move, node.marks):
                if race is not None:
                    yield self._step(move, None, changes, race)
                elif marks is None or self._may_go_on(marks, move.state):
                    yield self._step(move, marks, changes, None)

    def _step(
        self, move: Move, marks: RaceMarks | None, changes: CounterChanges, race: RacePair | None
    ) -> tuple[int, Control, int]:
        state = self.without_counts(move.state)
        label = RaceStep(move.action, state)
        number = self._label_numbers.setdefault(label, len(self.labels))
        if number == len(self.labels):
            self.labels.append(label)
        node = RaceNode(None, None, race) if race is not None else RaceNode(state, marks)
        at = self._numbers.setdefault(node, len(self.nodes))
        if at == len(self.nodes):
            self.nodes.append(node)
        return number, (at,), self._effect(changes)

    def _effect(self, changes: CounterChanges) -> int:
        number = self._effect_numbers.setdefault(changes, len(self.effects))
        if number == len(self.effects):
            guard, delta = [0] * self.dimension, [0] * self.dimension
            for counter, change in changes:
                delta[counter] += change
                guard[counter] = max(0, -change)
            self.effects.append(CounterEffect(tuple(guard), tuple(delta)))
        return number

    def with_polls(self, state: ScState) -> ScState:
        """Return a state in which every poll finds a completion, where these are counted."""
        if not self.counted:
            return state
        threads = (
            thread._replace(unpolled=tuple(int(each) for each in code.polls_ahead[thread.point]))
            for code, thread in zip(self.machine.codes, state.threads, strict=True)
        )
        return state._replace(threads=tuple(threads))

    def without_counts(self, state: ScState) -> ScState:
        """Return a state without the completions that are counted."""
        if not self.counted:
            return state
        threads = (thread._replace(unpolled=(0,) * len(thread.unpolled)) for thread in state.threads)
        return state._replace(threads=tuple(threads))

    def _may_go_on(self, marks: RaceMarks, state: ScState) -> bool:
        """Whether something not marked may still access the word of the chosen access."""
        word = marks.chosen.word
        if word not in self._ahead:
            self._ahead[word] = [_accesses_ahead(self.program, thread, word) for thread in self.program.threads]
        return any(
            thread.point in ahead and mine != EVERYTHING
            for thread, ahead, mine in zip(state.threads, self._ahead[word], marks.threads, strict=True)
        )

    def _marked(
        self, state: ScState, move: Move, marks: RaceMarks | None
    ) -> Iterator[tuple[RaceMarks | None, CounterChanges, RacePair | None]]:
        """Yield what marks may be after a move, with what it does to counters, and the races that it makes."""
        events = events_of_move(move.action, self.rules.model)
        queues = [self._queues(state, event) for event in events]
        if marks is not None:
            for told, changes in self._polled(events, marks):
                yield from self._followed(MoveEvents(state, move, events, queues), marks, told, changes)
            return
        joined = any(event.joined for event in events)
        for changes in self._polls(events):
            yield None, (*changes, *self._completions(events, None, None)), None
            for i, event in enumerate(events):
                if event.cell in self.racy:
                    begun = self.rules.begin(access_key(event), event, queues[i])
                    for later, each in zip(events[i + 1 :], queues[i + 1 :], strict=True) if not joined else ():
                        begun, _ = self.rules.after(begun, later, each)
                    yield self._kept(begun, move.state), (*changes, *self._completions(events, None, begun)), None

    def _followed(
        self, happened: MoveEvents, marks: RaceMarks, told: bool, changes: CounterChanges
    ) -> Iterator[tuple[RaceMarks | None, CounterChanges, RacePair | None]]:
        state, move, events, queues = happened
        before, levels = marks, list[int]()
        if told:
            marks = self._poll_told(marks, events[0])
        if any(event.members for event in events) and state.meeting == NO_MEETING:
            marks = self._opened(marks, events[0], queues[0])
        if any(event.joined for event in events):
            marks, level = self.rules.together(marks, events, queues)
            levels = [level] * len(events)
        else:
            for event, each in zip(events, queues, strict=True):
                marks, level = self.rules.after(marks, event, each)
                levels.append(level)
        changes = (*changes, *self._completions(events, before, marks))
        changes = (*changes, *self._counted_again(before, marks, events[0] if told else None))
        for event, level in zip(events, levels, strict=True):
            if not level and event.cell == marks.chosen.word:
                key = access_key(event)
                if marks.chosen.conflicts(key) and not self.rules.synchronise(marks.chosen, key):
                    yield None, changes, (marks.chosen, key)
        if any(event.members for event in events) and move.state.meeting == NO_MEETING:
            marks = marks._replace(round=False)
        yield self._kept(marks, move.state), changes, None

    def _counted_again(self, before: RaceMarks, after: RaceMarks, poll: Event | None) -> CounterChanges:
        """What completions add to counters that told, and need not any more, but for that which the `poll` has taken."""
        taken = None if poll is None else (poll.thread, poll.remote)
        kept = {pair for pair, _ in after.told} | {taken}
        again = (pair for pair, _ in before.told if pair not in kept and pair in self.counter_of)
        return tuple((self.counter_of[pair], 1) for pair in sorted(again, key=str))

    def _opened(self, marks: RaceMarks, event: Event, queues: Queues) -> RaceMarks:
        """The marks where a round of a barrier begins: what is before one of its events is before all."""
        members = (self._thread_numbers[name] for name in event.members)
        level = max(self.rules.level(marks._replace(round=False), replace(event, thread=t), queues) for t in members)
        return marks._replace(round=level > 0)

    def _poll_told(self, marks: RaceMarks, event: Event) -> RaceMarks:
        """The marks where the next poll takes a completion that tells, wherever it is among those that wait."""
        pair = (event.thread, event.remote)
        return marks._replace(told=frozenset((p, 1 if p == pair else ahead) for p, ahead in marks.told))

    def _kept(self, marks: RaceMarks, state: ScState) -> RaceMarks:
        """The marks without those of completions that no poll can take any more."""
        if not (marks.told or marks.quiet):
            return marks
        told = frozenset(each for each in marks.told if self._poll_ahead(each[0], state))
        return marks._replace(told=told, quiet=frozenset(pair for pair in marks.quiet if self._poll_ahead(pair, state)))

    def _poll_ahead(self, pair: QueuePair, state: ScState) -> bool:
        code = self.machine.codes[pair[0]]
        return code.polls_ahead[state.threads[pair[0]].point][_place(code, pair)]

    def _polled(self, events: Sequence[Event], marks: RaceMarks) -> Iterator[tuple[bool, CounterChanges]]:
        """Yield whether a poll takes the completion that tells, where these are counted, with what that does to counters."""
        pairs = {pair for pair, _ in marks.told}
        for event in events:
            pair = (event.thread, event.remote)
            if event.type is EventType.P and pair in self.counter_of and pair in pairs:
                yield False, ((self.counter_of[pair], -1),)
                yield True, ()
                return
        for changes in self._polls(events):
            yield False, changes

    def _polls(self, events: Sequence[Event]) -> Iterator[CounterChanges]:
        """Yield what a poll does to counters; nothing, once, for events without one."""
        for event in events:
            pair = (event.thread, event.remote)
            if event.type is EventType.P and pair in self.counter_of:
                yield ((self.counter_of[pair], -1),)
                yield ((self.counter_of[pair] + 1, -1),)
                return
        yield ()

    def _completions(self, events: Sequence[Event], before: RaceMarks | None, after: RaceMarks | None) -> CounterChanges:
        """What completions add to counters: one that tells, as no earlier one does, is in the marks and is not counted."""
        found = []
        for event in events:
            pair = (event.thread, event.remote)
            if event.completes and pair in self.counter_of:
                told, tells = (marks is not None and any(p == pair for p, _ in marks.told) for marks in (before, after))
                if told or not tells:
                    found.append((self.counter_of[pair] + told, 1))
        return tuple(found)

    def _queues(self, state: ScState, event: Event) -> Queues:
        found = Queues()
        if event.remote is not None and event.type is not EventType.FL:
            code = self.machine.codes[event.thread]
            place = _place(code, (event.thread, event.remote))
            thread = state.threads[event.thread]
            count = NEVER if self.counted else thread.unpolled[place]
            found = found._replace(unpolled=count, polled=code.polls_ahead[thread.point][place])
        if event.peer is not None:
            other = self._thread_numbers[event.peer]
            ends = (event.thread, other) if event.type is EventType.NRW else (other, event.thread)
            connection = self._connections[(*ends, event.lane)]
            inbox = state.inboxes[connection]
            found = found._replace(connection=connection, posted=len(inbox.posted), arrived=len(inbox.arrived))
        return found


def _place(code: ThreadCode, pair: QueuePair) -> int:
    return code.remotes.index(pair[1] or "")
