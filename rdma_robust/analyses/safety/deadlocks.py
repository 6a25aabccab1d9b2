"""Hangs under SC by the compiled search, where every hang is a deadlock: no thread can go round in a loop that only reads.

A deadlock is then a condition on one control state of the program's VASS: every thread has ended or stands where none of
its steps is enabled, a poll among them iff the counter of its queue pair is zero. That is a question about control states
only while all counters are bounded and so a part of them; else, and where threads may spin, the states of the SC machine
are searched instead (:mod:`reach`).

Source: docs/theory.md, "Hangs".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rdma_robust.analyses.safety.goals import HangGoal, met_by
from rdma_robust.analyses.safety.on_hardware import Run
from rdma_robust.analyses.safety.sequential import replay_labels
from rdma_robust.counters.lower import lower
from rdma_robust.counters.program import Target, pc
from rdma_robust.counters.search import explore_lowered
from rdma_robust.errors import LimitReached
from rdma_robust.expr import Const, Expr, Name, conj, disj, equals, negate, substitute
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import SC
from rdma_robust.robustness.event_graph import EventEdge, Kept
from rdma_robust.robustness.frame import Frame
from rdma_robust.robustness.plain import PlainTarget, sequential
from rdma_robust.semantics.machines.chosen import uses_deployed
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.machines.threadcode import NOTHING, Watched
from rdma_robust.semantics.machines.waiting_points import ends_execution, quiet_cycles
from rdma_robust.semantics.trace import EventType


@dataclass(frozen=True)
class Deadlocks:
    """`run` leads to a deadlock; without one there is none, unless `cut` has the limit that ended the search, for people."""

    run: Run | None
    cut: str
    states: int


def search_deadlocks(
    program: Program, limits: Limits, progress: Progress = ignore, *, look: Watched = NOTHING, compiled: bool = True
) -> Deadlocks | None:
    """Look for a hang of `program` under SC, shortest runs first; None where this search cannot tell, see above.

    A run is one of the SC machine that watches `look`. Raises InternalError if that cannot run what was found, or does not
    hang then.
    """
    if uses_deployed(program) or any(quiet_cycles(thread) for thread in program.threads):
        return None
    try:
        frame = Frame.of(program, SC, (Kept.STEPS,) * len(program.threads), limits)
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


def _targets(frame: Frame) -> Iterator[PlainTarget]:
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


def _blocked(frame: Frame, t: int) -> Iterator[tuple[int, Expr]]:
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


def _enabled(frame: Frame, edge: EventEdge) -> Expr:
    guard = conj(frame.messages.enabled(edge), substitute(edge.guard, frame.values_for(edge)))
    if edge.type is not EventType.P or edge.remote is None:
        return guard
    return conj(guard, negate(equals(Name(frame.unpolled((edge.thread, edge.remote))), Const(0))))
