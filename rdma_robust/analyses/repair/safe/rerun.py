"""Whether a run is one with more waits as well: the model's machine takes it, each wait just before the thread's next step.

This is what the search for the fewest waits stands on: a clause is taken only if the set of everything outside of it was
seen to have a run. It shares nothing with how the clause was found.
"""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.analyses.prove.on_machine import met_on
from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.analyses.repair.repairs import Choices
from rdma_robust.analyses.repair.safe.spots import WaitSpots
from rdma_robust.language.flow.cfg import Step
from rdma_robust.semantics.machines.by_model import stepwise_machine
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.semantics.machines.stepping import StepMachine, StepState

Waits = frozenset[Step]


def has_run(spots: WaitSpots, chosen: Choices, run: SafetyRun, claim: SafetyClaim) -> bool:
    """Return whether the program with `chosen` has a run with the same moves, but for waits, that violates `claim`."""
    program = spots.having(chosen)
    machine = stepwise_machine(program, spots.model)
    waits = frozenset(s for at, t in zip(spots.at, spots.full.threads, strict=True) for p, _, s in t.edges if p in at)
    reached = machine.initial()
    for move in run.moves[1:]:
        if move.action.step not in waits:
            states = dict.fromkeys(each.state for each in reached)
            reached = [after for state in states for after in _taken(machine, state, move.action, waits)]
    met = met_on(machine, claim)
    return any(met(end) for last in reached for end in (last, *_waited(machine, last, waits)))


def _taken(machine: StepMachine, state: StepState, action: Action, waits: Waits) -> Iterator[Move]:
    """Yield the ways to take the same move, behind the waits that its thread is at."""
    t = action.thread
    if action.verb in (Verb.ACCESS, Verb.ISSUE):
        *_, state = _waiting(machine, state, t, waits)
    drawn = () if action.read is None else (action.read,)
    for move in machine.moves_of(state, t, lambda _low, _high: drawn):
        if move.action == action:
            yield move


def _waiting(machine: StepMachine, state: StepState, t: int, waits: Waits) -> Iterator[StepState]:
    """Yield a state and those after thread `t` has passed the waits that it is at, one by one, as far as it can."""
    seen = set()
    while state not in seen:
        yield state
        seen.add(state)
        passed = (m for m in machine.moves_of(state, t, lambda _low, _high: ()) if m.action.step in waits)
        state = next((m.state for m in passed if m.action.verb is Verb.ACCESS), state)


def _waited(machine: StepMachine, last: Move, waits: Waits) -> Iterator[Move]:
    """Yield moves with the states after which some threads have passed waits that they are at."""
    states: list[StepState] = [last.state]
    for t in range(len(machine.codes)):
        states = [after for each in states for after in _waiting(machine, each, t, waits)]
    return (Move(last.action, state) for state in states)
