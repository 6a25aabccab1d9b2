"""The effect of choices between messages on how a run ends, by all states of the normal form."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import networkx as nx

from rdma_robust.digraph import by_key
from rdma_robust.errors import LimitReached, Span
from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.language.message_terms import Value
from rdma_robust.messages.machine.courses import Course
from rdma_robust.messages.machine.local_runs import LocalTrail
from rdma_robust.messages.machine.local_table import Hop, LocalTable, State
from rdma_robust.messages.machine.process_rules import ProcessRules
from rdma_robust.messages.machine.state_search import results
from rdma_robust.messages.message_answers import MatchedPair, OperationId, Schedule
from rdma_robust.messages.races.race_outcomes import Ending, Outcome, RememberingProgram, process_ending, remembering

Effect = Literal["none", "values", "failure"]
"""What a choice changes: nothing; final values only; which assertions are false, or who waits forever or stops."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two runs that are the same up to a choice of `receive`, and what of their ends differs, in words: `ends` say how it is
    after either, in words or as a value."""

    receive: OperationId
    sends: tuple[OperationId, OperationId]
    runs: tuple[Schedule, Schedule]
    differs: tuple[str, ...]
    ends: tuple[tuple[str | Value, str | Value], ...]


@dataclass(frozen=True, slots=True)
class RaceEffect:
    """The effect of a race: what the receives at one place of the text can change by taking one of several messages.

    `changing` are those whose choice changes something.
    """

    span: Span
    receives: tuple[OperationId, ...]
    changing: tuple[OperationId, ...]
    effect: Effect
    contrast: Contrast | None = None


@dataclass(frozen=True, slots=True)
class RaceEffects:
    """Of all places with a choice; not all if there is a `reason`, and then `none` is not proven for those listed either."""

    buffer: Buffer
    effects: tuple[RaceEffect, ...]
    outcomes: int
    reason: str = ""


Edge = tuple[Hop, tuple[LocalTrail, ...], State]


def race_effects(program: MessageProgram, buffer: Buffer, limits: Limits, loop_bound: int = 8) -> RaceEffects:
    """Say for each place with a choice between messages whether the choice changes how runs end, and show it.

    A choice is a state of the normal form in which a receive can take either of two sends. It changes nothing if the sets
    of outcomes of the runs after either are equal, at every such state. `any` has the runs of `infinite` here.
    """
    if program.looks:
        return RaceEffects(buffer, (), 0, "what a choice changes is not known where processes see what others have issued")
    if program.checks_matches:
        return RaceEffects(buffer, (), 0, "what a choice changes is not known where types and sizes have to agree")
    if program.completes:
        return RaceEffects(buffer, (), 0, "what a choice changes is not known where requests complete one by one")
    if buffer == "any":
        buffer = "infinite"
    graph = _Graph(remembering(program), buffer, limits, loop_bound)
    try:
        graph.explore()
        reason = graph.open_reason()
    except LimitReached as reached:
        reason = f"reached {reached.said}"
    if reason:
        return RaceEffects(buffer, (), 0, reason)
    graph.settle()
    return RaceEffects(buffer, tuple(_effects(graph)), len(graph.outcomes))


@dataclass(slots=True)
class _Graph:
    """All states; `after[state]` is the set of the numbers of the outcomes of runs from there, as bits."""

    remembered: RememberingProgram
    buffer: Buffer
    limits: Limits
    ahead: int
    table: LocalTable = field(init=False)
    starts: dict[State, tuple[LocalTrail, ...]] = field(default_factory=dict)
    before: dict[State, tuple[State, Edge] | None] = field(default_factory=dict)
    edges: dict[State, list[Edge]] = field(default_factory=dict)
    outcomes: dict[Outcome, int] = field(default_factory=dict)
    after: dict[State, int] = field(default_factory=dict)
    failing: dict[int, frozenset[Outcome]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.table = LocalTable(self.remembered.program, self.buffer, self.limits, self.ahead, results=True)

    def explore(self) -> None:
        """Find all states and edges. Raises LimitReached."""
        watch = self.limits.watch(256)
        for state, trails in self.table.combined(self.table.starts()):
            self.starts.setdefault(state, trails)
        self.before = dict.fromkeys(self.starts)
        todo = deque(self.starts)
        while todo:
            state = todo.popleft()
            hops = self.table.hops(state)
            found = [(hop, trails, new) for hop in hops for new, trails in results(state, hop)]
            self.edges[state] = found
            for edge in found:
                if edge[2] not in self.before:
                    self.before[edge[2]] = (state, edge)
                    todo.append(edge[2])
            limit = watch() or ("states" if self.limits.states is not None and len(self.before) > self.limits.states else "")
            if limit:
                raise LimitReached(limit, self.limits.said(limit), "finding what races change")

    def open_reason(self) -> str:
        """Return why the states are not all, or have no end."""
        if self.table.cuts:
            return "a process goes on for longer than is followed"
        endless = any(local.status == "endless" for known in self.table.locals for local in known)
        return "a process computes forever" if endless else ""

    def settle(self) -> None:
        """Compute the outcomes after each state; those of states on one circle are the same."""
        whole = nx.DiGraph((state, new) for state, found in self.edges.items() for _, _, new in found)
        whole.add_nodes_from(self.edges)
        for group in nx.strongly_connected_components(whole):  # Tarjan's: those behind come first
            ends = 0
            for state in group:
                if not self.edges[state]:
                    ends |= 1 << self.outcomes.setdefault(self.outcome(state), len(self.outcomes))
                for _, _, new in self.edges[state]:
                    ends |= self.after.get(new, 0)
            self.after.update(dict.fromkeys(group, ends))

    def outcome(self, state: State) -> Outcome:
        table, processes = self.table, self.remembered.program.processes
        return tuple(
            process_ending(process, flat, known[number])
            for process, flat, known, number in zip(processes, table.processes, table.locals, state, strict=True)
        )

    def failures(self, ends: int) -> frozenset[Outcome]:
        """Return what goes wrong in these outcomes."""
        if ends not in self.failing:
            self.failing[ends] = frozenset(map(_failure, self.of(ends)))
        return self.failing[ends]

    def of(self, ends: int) -> Iterator[Outcome]:
        return (outcome for outcome, number in self.outcomes.items() if ends >> number & 1)

    def only(self, ends: int, others: int) -> int:
        """Return the outcomes of `ends` that tell it from `others`: by what goes wrong if that differs, else by values."""
        known = self.failures(others)
        if self.failures(ends) == known:
            return ends & ~others
        failing = (number for outcome, number in self.outcomes.items() if _failure(outcome) not in known)
        return ends & sum(1 << number for number in failing)

    def ends(self, state: State) -> dict[MatchedPair, int]:
        """Return the outcomes after each match of this state."""
        ends: dict[MatchedPair, int] = {}
        for hop, _, new in self.edges[state]:
            ends[hop.pair] = ends.get(hop.pair, 0) | self.after[new]
        return ends

    def choices(self, state: State) -> Iterator[tuple[MatchedPair, int, MatchedPair, int]]:
        """Yield any two sends that a receive can take in this state, with the outcomes after either."""
        ends = self.ends(state)
        by_receive = by_key((pair.receive, pair) for pair in ends)
        for first, *others in by_receive.values():
            for other in others:
                yield first, ends[first], other, ends[other]


def _failure(outcome: Outcome) -> Outcome:
    return tuple(each.failure for each in outcome)


_RANK: dict[Effect, int] = {"none": 0, "values": 1, "failure": 2}


def _effects(graph: _Graph) -> Iterator[RaceEffect]:
    """Yield the effects by places of the text, in their order."""
    receives: dict[Span, set[OperationId]] = {}
    changing: dict[Span, set[OperationId]] = {}
    worst: dict[Span, tuple[Effect, State | None, MatchedPair | None, MatchedPair | None]] = {}
    spans = _Spans(graph)
    for state in graph.edges:
        for one, ends, other, others in graph.choices(state):
            span = spans.of(state, one.receive)
            receives.setdefault(span, set()).add(one.receive)
            effect: Effect = "none"
            if ends != others:
                changing.setdefault(span, set()).add(one.receive)
                effect = "values" if graph.failures(ends) == graph.failures(others) else "failure"
            if span not in worst or _RANK[effect] > _RANK[worst[span][0]]:
                worst[span] = (effect, state, one, other)
    for span in sorted(receives, key=lambda each: (each.start, each.end)):
        effect, at, one_, other_ = worst[span]
        contrast = None
        if effect != "none" and at is not None and one_ is not None and other_ is not None:
            contrast = _contrast(graph, at, one_, other_)
        yield RaceEffect(span, tuple(sorted(receives[span])), tuple(sorted(changing.get(span, ()))), effect, contrast)


class _Noting(Course):
    """A run that notes where each receive was issued."""

    def __init__(self, program: MessageProgram, buffer: Buffer) -> None:
        super().__init__(program, buffer)
        self.places: dict[OperationId, Span] = {}

    def step(self, process: int, choice: int | None = None) -> str:
        frame = self.frames[process]
        at, received = frame.pc, frame.received
        violation = super().step(process, choice)
        if frame.received > received:
            self.places[OperationId(process, received)] = self.rules[process].span(at)
        return violation


class _Spans:
    """Where the receives of a run stand in the text; local states are the same wherever their receives were issued."""

    def __init__(self, graph: _Graph) -> None:
        self.graph = graph
        self.known: dict[tuple[int, OperationId], Span] = {}

    def of(self, state: State, receive: OperationId) -> Span:
        key = (state[receive.process], receive)
        if key not in self.known:
            course = _Noting(self.graph.remembered.program, self.graph.buffer)
            self.known[key] = _run(self.graph, course, _back(state, self.graph.before)).places[receive]
        return self.known[key]


Way = list[tuple[State, Edge | None]]
"""States of a run, each but the first with the edge to it."""

Before = Mapping[State, tuple[State, Edge] | None]


def _back(state: State, before: Before) -> Way:
    way: Way = []
    at: State | None = state
    while at is not None:
        came = before[at]
        way.append((at, None if came is None else came[1]))
        at = None if came is None else came[0]
    return way[::-1]


def _to_outcome(graph: _Graph, first: State, goal: int) -> Way:
    """Return a shortest way from a state to one that ends in an outcome of these bits; there is one."""
    before: dict[State, tuple[State, Edge] | None] = {first: None}
    todo = deque([first])
    while True:
        state = todo.popleft()
        if not graph.edges[state] and graph.after[state] & goal:
            return _back(state, before)
        for edge in graph.edges[state]:
            if edge[2] not in before and graph.after[edge[2]] & goal:
                before[edge[2]] = (state, edge)
                todo.append(edge[2])


def _contrast(graph: _Graph, state: State, one: MatchedPair, other: MatchedPair) -> Contrast:
    """Return two runs through `state` that end differently, one as no run can with the other choice."""
    ends = graph.ends(state)
    if not graph.only(ends[one], ends[other]):
        one, other = other, one
    wanted = _worst(graph, graph.only(ends[one], ends[other]))
    to_here = _back(state, graph.before)
    runs, last = [], []
    for pair, goal in ((one, wanted), (other, ends[other])):
        step = next(edge for edge in graph.edges[state] if edge[0].pair == pair and graph.after[edge[2]] & goal)
        onward = _to_outcome(graph, step[2], goal)
        course = Course(graph.remembered.program, graph.buffer)
        runs.append(tuple(_run(graph, course, [*to_here, (step[2], step), *onward[1:]]).moves))
        last.append(graph.outcome(onward[-1][0]))
    found = list(_differences(graph, last[0], last[1]))
    differs, ways = tuple(what for what, _ in found), tuple(way for _, way in found)
    return Contrast(one.receive, (one.send, other.send), (runs[0], runs[1]), differs, ways)


def _worst(graph: _Graph, ends: int) -> int:
    """Return one of some outcomes, as a bit: one in which something goes wrong, if there is."""
    numbers = [number for number in range(ends.bit_length()) if ends >> number & 1]
    listed = list(graph.outcomes)
    wrong = [number for number in numbers if any(each.false or each.status != "ended" for each in listed[number])]
    return 1 << (wrong or numbers)[0]


Run = TypeVar("Run", bound=Course)


def _run(graph: _Graph, course: Run, way: Way) -> Run:
    """Return `course` after a way from a start."""
    for process, trail in enumerate(graph.starts[way[0][0]]):
        course.follow(process, trail)
    for _, edge in way[1:]:
        assert edge is not None
        hop, trails, _ = edge
        course.match(hop.receiver, hop.sender, hop.meeting)
        for process, trail in zip((hop.receiver, hop.sender), trails, strict=True):
            course.follow(process, trail)
    return course


def _differences(graph: _Graph, one: Outcome, other: Outcome) -> Iterator[tuple[str, tuple[str | Value, str | Value]]]:
    """Yield what differs between two outcomes, in words, and how it is in either."""
    for number, (ours, theirs) in enumerate(zip(one, other, strict=True)):
        name = graph.remembered.program.processes[number].name
        for register in dict.fromkeys((*ours.false, *theirs.false)):
            if (register in ours.false) != (register in theirs.false):
                place = graph.remembered.places[number, register].where
                ways = ("is false", "is not false") if register in ours.false else ("is not false", "is false")
                yield f"the assertion of {name} on line {place}", ways
        if (ours.status, ours.at) != (theirs.status, theirs.at):
            here, there = _where(graph, number, ours), _where(graph, number, theirs)
            alike = here == there
            yield (
                f"where {name} ends",
                (f"{here} for one request" if alike else here, f"{there} for another" if alike else there),
            )
        known = dict(theirs.values)
        for register, value in ours.values:
            if known.get(register, value) != value:
                yield f"{name}.{register}", (value, known[register])


def _where(graph: _Graph, process: int, ended: Ending) -> str:
    if ended.status == "ended":
        return "is its end"
    span = ProcessRules(graph.table.processes[process], process, len(graph.table.processes), graph.buffer).span(ended.at)
    own = ("", graph.remembered.program.file)
    line = next((each for each in (span, *span.chain()) if each.file in own), span).line
    return f"is line {line}, where it {'stops' if ended.status == 'stopped' else 'waits'}"
