"""A violation that was found on a run, as a run with numbers for all that is not known."""

from __future__ import annotations

from rdma_robust.contracts.contract_answers import Counterexample, VisibleEvent
from rdma_robust.contracts.runs.fact_solver import Model
from rdma_robust.contracts.runs.path_cases import PossibleViolation
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_inputs import concrete
from rdma_robust.contracts.runs.run_state import ClockedEvent, SymbolicRun, past


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
