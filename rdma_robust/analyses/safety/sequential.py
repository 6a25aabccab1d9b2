"""The search under sequential consistency for goals and deadlocks, exact also where completions grow without bound.

It is coverability of the program's VASS (`robustness/plain.py`); what it finds is replayed on the SC machine, which knows
nothing of counter programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.analyses.safety.exploration import explore_machine
from rdma_robust.analyses.safety.goals import (
    FaultGoal,
    HangGoal,
    Met,
    StateGoal,
    event_detail,
    met_by,
    program_targets,
    watched_by_goals,
)
from rdma_robust.analyses.safety.on_hardware import Run
from rdma_robust.counters.lower import lower
from rdma_robust.counters.program import Target, pc
from rdma_robust.counters.search import explore, explore_lowered
from rdma_robust.errors import InternalError, LimitReached
from rdma_robust.expr import Const, Expr, Name, conj, disj, equals, negate, substitute
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import SC
from rdma_robust.options import RECV_DEPTH
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.event_graph import GraphDetail
from rdma_robust.robustness.frame import EventLabel, InstrumentationFrame
from rdma_robust.robustness.plain import PlainTarget, sequential
from rdma_robust.semantics.machines.chosen import sc_machine_of, uses_deployed
from rdma_robust.semantics.machines.effects import SC_VERBS
from rdma_robust.semantics.machines.machine import Move, MoveTrail, Verb
from rdma_robust.semantics.machines.sc import ScMachine, ScState
from rdma_robust.semantics.machines.starts import portions
from rdma_robust.semantics.machines.threadcode import NOTHING, Observables
from rdma_robust.semantics.machines.waiting_points import ends_execution, quiet_cycles
from rdma_robust.semantics.trace import EventType

STATES: Final = 100_000
"""States of a search of the SC machine for programs with loops that it runs by itself, unless there is another limit."""


@dataclass(frozen=True)
class Sequential:
    """`runs` has a run of the SC machine for each goal that was reached, by its place among the goals.

    `cut` names the limit that ended the search, empty if the other goals are unreachable under SC. `states` counts those
    of the largest search.
    """

    runs: Mapping[int, Run]
    cut: str
    states: int


def search_sequential(
    program: Program,
    goals: Sequence[StateGoal | FaultGoal],
    limits: Limits,
    progress: Progress = ignore,
    *,
    recv_depth: int = RECV_DEPTH,
) -> Sequential:
    """Look for every goal under sequential consistency. Raises InternalError if the SC machine cannot run what was found.

    Not for hangs: a poll that starves is a test for zero, which a search for coverability cannot make. A program with what
    the search does not know is run by the SC machine that does.
    """
    if uses_deployed(program):
        return _by_machine(program, goals, limits, progress, recv_depth)
    try:
        frame = InstrumentationFrame.of(program, SC, event_detail(program, goals), limits)
    except LimitReached as reached:
        return Sequential({}, reached.said, 0)
    look = watched_by_goals(program, goals)
    machine = ScMachine(program, look)
    left = {i: program_targets(frame, goal) for i, goal in enumerate(goals)}
    runs: dict[int, Run] = {}
    states = 0
    while True:
        owners = [i for i, targets in left.items() for _ in targets]
        targets = tuple(t for each in left.values() for t in each)
        if not targets:
            return Sequential(runs, "", states)
        found = explore(sequential(frame, targets), limits, progress)
        states = max(states, found.result.states)
        if found.result.target < 0:
            return Sequential(runs, limits.said(found.result.cut) if found.result.cut else "", states)
        number = owners[found.result.target]
        goal = goals[number]
        last = targets[found.result.target].label if isinstance(goal, FaultGoal) else None
        labels = found.run if last is None else [*found.run, last]
        run = runs[number] = replay_labels(machine, look, labels, met_by(goal, machine), ends=last is None)
        del left[number]
        for i in list(left):
            if (way := _on_the_way(machine, goals[i], run)) is not None:
                runs[i] = way
                del left[i]


def _by_machine(
    program: Program, goals: Sequence[StateGoal | FaultGoal], limits: Limits, progress: Progress, recv_depth: int
) -> Sequential:
    machine = sc_machine_of(program, watched_by_goals(program, goals), recv_depth)
    found = explore_machine(machine, goals, limits.by_default(STATES), progress)
    return Sequential(found.runs, found.cut, found.states)


def _on_the_way(machine: ScMachine, goal: StateGoal | FaultGoal, run: Run) -> Run | None:
    """Return the part of a run that leads to another goal, if it comes by there."""
    if isinstance(goal, FaultGoal) or goal.final:
        return None
    met = met_by(goal, machine)
    return next((run[: n + 1] for n, move in enumerate(run) if met(move)), None)


_STARTS: Final = 1_000
"""Ways to begin that are followed at a time."""


def replay_labels(machine: ScMachine, look: Observables, labels: Sequence[EventLabel], met: Met, *, ends: bool) -> Run:
    """Return a run of the machine with the events of `labels` that meets the goal: at its end if `ends`, else anywhere.

    Register-only steps leave choices open, so all ways are followed, each with whether the goal was met on it. Raises
    InternalError if there is no such run.
    """
    edges = [label.edge for label in labels if label.edge.type is not None or label.edge.thread in look.threads]
    first = {edge.thread: edge.step for edge in reversed(edges)}
    for starts in portions(machine.initial().before(machine.codes, first), _STARTS):
        run = _along(machine, starts, edges, met, ends=ends)
        if run is not None:
            return run
    raise InternalError("the SC machine cannot run what the search under sequential consistency has found")


def _along(machine: ScMachine, starts: Sequence[Move], edges: Sequence[EventEdge], met: Met, *, ends: bool) -> Run | None:
    ways = {(m.state, hit): MoveTrail(None, m) for m in starts for hit in [not ends and met(m)]}
    for edge in edges:
        following: dict[tuple[ScState, bool], MoveTrail] = {}
        for (state, hit), way in ways.items():
            for move in machine.moves_of(state, edge.thread):
                if _is(move, edge):
                    after = hit or (not ends and met(move))
                    following.setdefault((move.state, after), MoveTrail(way, move))
        ways = following
    for (_, hit), way in ways.items():
        if hit or (ends and met(way.move)):
            return way.run()
    return None


def _is(move: Move, edge: EventEdge) -> bool:
    """Whether the move makes the event of the edge happen."""
    action = move.action
    verb = Verb.ACCESS if edge.type is None else SC_VERBS[edge.type]
    return action.thread == edge.thread and action.step == edge.step and action.verb is verb


# Where no thread can go round in a loop that only reads, every hang is a deadlock: a condition on one control state of
# the program's VASS, by which every thread has ended or stands where none of its steps is enabled, a poll among them
# iff the counter of its queue pair is zero. That is a question about control states only while all counters are bounded
# and so a part of them; else, and where threads may spin, the states of the SC machine are searched instead (`reach`).
# Source: docs/theory-hangs.md, "Hangs".


@dataclass(frozen=True)
class Deadlocks:
    """`run` leads to a deadlock; without one there is none, unless `cut` has the limit that ended the search, for people."""

    run: Run | None
    cut: str
    states: int


def search_deadlocks(
    program: Program, limits: Limits, progress: Progress = ignore, *, look: Observables = NOTHING, compiled: bool = True
) -> Deadlocks | None:
    """Look for a hang of `program` under SC, shortest runs first; None where this search cannot tell, see above.

    A run is one of the SC machine that watches `look`. Raises InternalError if that cannot run what was found, or does not
    hang then.
    """
    if uses_deployed(program) or any(quiet_cycles(thread) for thread in program.threads):
        return None
    try:
        frame = InstrumentationFrame.of(program, SC, (GraphDetail.STEPS,) * len(program.threads), limits)
    except LimitReached as reached:
        return Deadlocks(None, reached.said, 0)
    lowered = lower(sequential(frame, tuple(_targets(frame))))
    if lowered.dimension:
        return None
    found = explore_lowered(lowered, limits, progress, engine="bfs", reduce=False, compiled=compiled)
    result = found.result
    if result.target < 0:
        return Deadlocks(None, limits.said(result.cut) if result.cut else "", result.states)
    machine = ScMachine(program, look)
    return Deadlocks(replay_labels(machine, look, found.run, met_by(HangGoal(), machine), ends=True), "", result.states)


def _targets(frame: InstrumentationFrame) -> Iterator[PlainTarget]:
    """Yield, for every place where a thread can be blocked, that it is and that the others are blocked or have ended."""
    blocked = [dict(_blocked(frame, t)) for t in range(len(frame.graphs))]
    stuck = []
    for t, places in enumerate(blocked):
        at = Name(pc(t))
        ended = equals(at, Const(frame.program.threads[t].exit))
        stuck.append(disj(ended, *(conj(equals(at, Const(p)), condition) for p, condition in places.items())))
    for t, places in enumerate(blocked):
        others = stuck[:t] + stuck[t + 1 :]
        for point, condition in places.items():
            yield Target(None, conj(condition, *others), t, point)


def _blocked(frame: InstrumentationFrame, t: int) -> Iterator[tuple[int, Expr]]:
    """Yield the points where thread `t` may wait, with the condition that it can take no step there.

    Where all that it could do is pass an `assume`, or where a fault has ended it, it does not wait.
    """
    graph, thread = frame.graphs[t], frame.program.threads[t]
    faulty = {e.target for e in graph.edges if ends_execution(e.fault)}
    leaving: dict[int, list[EventEdge]] = {point: [] for point in graph.points}
    for edge in graph.edges:
        leaving[edge.source].append(edge)
    for point, edges in leaving.items():
        if point == thread.exit or (not edges and point in faulty):
            continue
        meant = [e.step for e in edges if not ends_execution(e.fault)]
        if meant and all(step.aside for step in meant):
            continue
        yield point, conj(*(negate(_enabled(frame, e)) for e in edges))


def _enabled(frame: InstrumentationFrame, edge: EventEdge) -> Expr:
    guard = conj(frame.messages.enabled(edge), substitute(edge.guard, frame.values_for(edge)))
    if edge.type is not EventType.P or edge.remote is None:
        return guard
    return conj(guard, negate(equals(Name(frame.unpolled((edge.thread, edge.remote))), Const(0))))
