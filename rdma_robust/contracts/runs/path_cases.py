"""Possible violations on a path, one for each case that is not decided, and the counterexample that each is with numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rdma_robust.contracts.contract_answers import Counterexample, VisibleEvent
from rdma_robust.contracts.language.contract_program import ErrorClass
from rdma_robust.contracts.runs.fact_solver import Model
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_inputs import concrete
from rdma_robust.contracts.runs.run_state import Clock, ClockedEvent, SymbolicRun, past
from rdma_robust.contracts.runs.run_terms import Condition
from rdma_robust.contracts.runs.symbolic_data import Decisions, ForkError
from rdma_robust.errors import NO_SPAN, Span


@dataclass(frozen=True, slots=True)
class PossibleViolation:
    """A violation where `condition` is true. `clock` counts the events that show it, None for all of the run.

    `call` is the place of the violated collate among the passings of its process. `clause` is as in Counterexample.
    """

    error: ErrorClass
    process: int
    condition: Condition
    clock: Clock | None
    text: str
    clause: str
    span: Span = NO_SPAN
    other: int | None = None
    call: int = 0


def case_split(
    on: Decisions, path: Path, make: Callable[[], Sequence[PossibleViolation]]
) -> Iterator[tuple[Path, PossibleViolation]]:
    """Yield what `make` finds on a path: where it forks, on the path of each alternative."""
    before = on.path
    todo = [path]
    try:
        while todo:
            on.path = path = todo.pop()
            try:
                found = make()
            except ForkError as fork:
                todo += forked(on, path, fork)
                continue
            yield from ((path, each) for each in found)
    finally:
        on.path = before


def forked(on: Decisions, path: Path, fork: ForkError) -> list[Path]:
    """Return the possible paths of the alternatives."""
    before, found = on.path, []
    if fork.array is not None:
        for length in range(fork.array.low, fork.array.high + 1):
            child = path.copy()
            child.lengths[fork.array] = length
            found.append(child)
        return found
    assert fork.condition is not None
    for value in (False, True):
        on.path = child = path.copy()
        if on.choose(fork.condition, value=value):
            found.append(child)
    on.path = before
    return found


# A violation that was found on a run, as a run with numbers for all that is not known.


def counterexample(run: SymbolicRun, path: Path, finding: PossibleViolation, model: Model) -> Counterexample:
    """Return the part of a run that shows a finding, for the inputs of a model."""
    events = run.events if finding.clock is None else past(run.events, finding.clock)

    def happening(event: ClockedEvent) -> VisibleEvent:
        if event.kind in ("enter", "exit"):
            return VisibleEvent(event.process, event.kind, event.function, choices=event.choices, span=event.span)
        value = concrete(event.value, path, model)
        return VisibleEvent(
            event.process, event.kind, "", event.peer, event.tag, event.port, value, event.choices, event.span
        )

    inputs = tuple(
        {name: concrete(value, path, model) for name, value in {**each.parameters, **each.globals}.items()}
        for each in run.inputs
    )
    calls = run.actors[finding.process].calls[: finding.call]
    return Counterexample(
        finding.error,
        inputs,
        tuple(happening(each) for each in events),
        finding.process,
        finding.other,
        finding.clause,
        finding.span,
        sum(each.kind == "enter" for each in calls),
        finding.text,
        tuple(_ending(run, process, events) for process in range(len(run.actors))),
    )


def _ending(run: SymbolicRun, process: int, events: list[ClockedEvent]) -> tuple[int, ...]:
    """Return the choices that a process makes behind its last event among these."""
    number = sum(each.process == process for each in events)
    following = next((each for each in run.events if each.process == process and each.number == number), None)
    return run.actors[process].choices if following is None else following.choices
