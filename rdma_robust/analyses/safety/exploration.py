"""The search for goals among the states of the RDMA machine, with runs that lead there, shortest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rdma_robust.analyses.safety.goals import Goal, HangMet, Met, met_by
from rdma_robust.analyses.safety.on_hardware import Run
from rdma_robust.errors import InternalError
from rdma_robust.layers import by_layers
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.semantics.axioms import rdma_violation
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.machines.chosen import AnyRdmaMachine, SomeMachine
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.machine import Machine, Move, State, Verb
from rdma_robust.semantics.machines.run_history import history, numbered_run
from rdma_robust.semantics.machines.sc import ScState
from rdma_robust.semantics.machines.starts import starts_at
from rdma_robust.semantics.trace import Event, Trace
from rdma_robust.semantics.wellformed import check_well_formed

_COMPLETING = frozenset({Verb.NIC_READ, Verb.NIC_WRITE, Verb.FLUSH, Verb.FENCE, Verb.DRAIN})
"""What the NIC, and a store buffer, does by itself."""


_LENGTHENING = frozenset({Verb.ISSUE, Verb.ACCESS, Verb.RECV, Verb.DRAIN})
"""What may lengthen a queue, or a store buffer."""

_LOOKED_AT = 64
"""Of the states found last, on whose way completions may have grown."""

FIRST_BOUND = 2
"""Operations of a queue pair under way that a search of a program with loops allows at first; then twice as many."""


@dataclass(frozen=True)
class MachineExploration:
    """`runs` has a run for each goal that was reached, by its place among the goals.

    `cut` is the limit that ended the search, for people, empty if the other goals are unreachable. `states` are those of
    the last search, `depth` its longest shortest run in moves. `bound` is the largest number of operations of a
    queue pair under way (completions waiting for a poll included) up to which every state has been seen, None if that
    number plays no part, 0 if not even the first search was finished. `undecided` are goals for which some states could not
    be judged. `growing` if the search cannot end because completions that nobody polls grow without bound.
    """

    runs: Mapping[int, Run]
    cut: str
    states: int
    depth: int
    bound: int | None
    undecided: frozenset[int] = frozenset()
    growing: bool = False


def explore_machine(
    machine: SomeMachine,
    goals: Sequence[Goal],
    limits: Limits,
    progress: Progress = ignore,
    *,
    bounded: bool = False,
    reduce: bool = True,
) -> MachineExploration:
    """Look for every goal. `bounded` is for programs whose queues may grow forever: the search is repeated with longer
    queues, so that every run with short ones is tried before any with long ones; it is exhausted once no queue was cut."""
    tests = {i: met_by(goal, machine) for i, goal in enumerate(goals)}
    runs: dict[int, Run] = {}
    bound = FIRST_BOUND if bounded else None
    seen_to = 0 if bounded else None
    while True:
        layers = _Layers(machine, bound, reduce)
        cut = layers.search(tests, limits, progress)
        runs |= layers.runs
        for number in layers.runs:
            del tests[number]
        whole = not tests or (not cut and not layers.shortened)
        if whole or cut or bound is None:
            large = frozenset(i for i, met in tests.items() if isinstance(met, HangMet) and met.large)
            size = len(layers.before)
            bound = None if whole else seen_to
            said = limits.said(cut) if cut and tests else ""
            return MachineExploration(runs, said, size, layers.depth, bound, large, bool(cut) and layers.growing())
        seen_to, bound = bound, 2 * bound


@dataclass
class _Layers:
    """One breadth-first search. `before` has the predecessor of every state; `shortened` if `bound` has ruled out a move."""

    machine: Machine
    bound: int | None
    reduce: bool
    before: dict[State, State | None] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)
    depth: int = 0
    shortened: bool = False

    def search(self, tests: Mapping[int, Met], limits: Limits, progress: Progress) -> str:
        """Search until every goal has been reached, every state seen, or a limit, whose name is returned."""
        left = dict(tests)

        def begin(move: Move, layer: list[State]) -> None:
            self._arrive(None, move, left, layer)

        def expand(state: State, following: list[State]) -> None:
            for move in self._moves(state):
                self._arrive(state, move, left, following)

        starts, stored = self.machine.initial(), self.before.__len__
        cut, self.depth = by_layers(starts, begin, expand, stored, limits, enough=lambda: not left, progress=progress)
        return cut

    def _moves(self, state: State) -> list[Move]:
        moves = self.machine.reduced(state) if self.reduce else self.machine.successors(state)
        if self.bound is None or all(map(self._fits, moves)):
            return moves
        self.shortened = True
        return [move for move in self.machine.successors(state) if self._fits(move)]

    def _fits(self, move: Move) -> bool:
        assert self.bound is not None
        lengthens = _LENGTHENING if isinstance(self.machine, DeployedMachine) else (Verb.ISSUE,)
        if move.action.verb not in lengthens:
            return True
        return self.machine.under_way(move.state) <= self.bound

    def _arrive(self, source: State | None, move: Move, left: dict[int, Met], layer: list[State]) -> None:
        state = move.state
        new = state not in self.before
        if new:
            self.before[state] = source
            layer.append(state)
        if new or move.faults:
            for number in [n for n, met in left.items() if met(move)]:
                del left[number]
                self.runs[number] = (*self._run_to(source), move)

    def growing(self) -> bool:
        """Return whether, under SC, some run comes back to where it was with more completions to be polled.

        It can then do so again and again, since a completion more never hinders a thread: there are infinitely many states.
        """
        last = list(self.before)[-_LOOKED_AT:]
        return any(isinstance(state, ScState) and self._has_grown(state) for state in last)

    def _has_grown(self, state: ScState) -> bool:
        at = self.before[state]
        while isinstance(at, ScState):
            if _polls_aside(at) == _polls_aside(state):
                pairs = [
                    p
                    for a, b in zip(at.threads, state.threads, strict=True)
                    for p in zip(a.unpolled, b.unpolled, strict=True)
                ]
                if all(a <= b for a, b in pairs):
                    return True
            at = self.before[at]
        return False

    def _run_to(self, state: State | None) -> Run:
        path: list[State] = []
        while state is not None:
            path.append(state)
            state = self.before[state]
        moves: list[Move] = []
        for after in reversed(path):
            choices = self.machine.successors(moves[-1].state) if moves else starts_at(self.machine, after)
            moves.append(next(move for move in choices if move.state == after))
        return tuple(moves)


def _happened(machine: AnyRdmaMachine, moves: Sequence[Move]) -> list[Event] | None:
    """Return the events of a run in the order of their effects, None if they are not a prefix of each thread's."""
    past = history(*numbered_run(machine, moves))
    return [event for _, event in past.events()] if past.is_prefix() else None


def _polls_aside(state: ScState) -> ScState:
    return state._replace(threads=tuple([thread._replace(unpolled=()) for thread in state.threads]))


def confirmed_events(machine: AnyRdmaMachine, run: Run, goal: Goal) -> tuple[Event, ...] | None:
    """Return the events of :func:`confirmed_trace` in the order in which they take effect."""
    trace = confirmed_trace(machine, run, goal)
    return None if trace is None else trace.events[len(machine.program.cells) :]


def confirmed_trace(machine: AnyRdmaMachine, run: Run, goal: Goal) -> Trace | None:
    """Return the trace of a run that meets `goal` at its last move.

    What is under way at the end is completed first, so that the events are a trace. Checks that every move is one of the
    machine, that the goal is met, and by the axioms that the trace is one of the program and RDMA-consistent. Raises
    InternalError if not. A run in which a thread has gone on although a message before has no buffer is no trace: of it only
    the moves are checked, and None is returned.
    """
    if run[0] not in machine.initial() or any(b not in machine.successors(a.state) for a, b in pairwise(run)):
        raise InternalError("a run that was found is none of the RDMA machine")
    if not met_by(goal, machine)(run[-1]):
        raise InternalError("a run that was found does not lead to the goal")
    moves = list(run)
    while not machine.is_drained(moves[-1].state):
        completing = (m for m in machine.successors(moves[-1].state) if m.action.verb in _COMPLETING)
        if (following_move := next(completing, None)) is None:
            break
        moves.append(following_move)
    order = _happened(machine, moves)
    if order is None:
        return None
    trace = trace_of_order(order, machine.program, machine.model)
    check_well_formed(machine.program, trace, machine.model)
    if (cycle := rdma_violation(trace, machine.model)) is not None:
        raise InternalError("a run that was found is not RDMA-consistent: " + "; ".join(map(str, cycle.edges)))
    return trace
