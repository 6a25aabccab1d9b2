"""The passes for a program with templates, by the names of those for others, from the program to its outcome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rdma_robust.counters.printing import show_program
from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness import contracts, shown
from rdma_robust.robustness.crowds.decide_any import confirm_any, count_copies, lift_any
from rdma_robust.robustness.crowds.explicit_run import CountedAttempt, CrowdSearchResult, Two, TwoFiltered
from rdma_robust.robustness.crowds.instance import WHOLE, Parts, TwoCopyInstance, pivots_of, two_copies
from rdma_robust.robustness.passes import Context, DecisionPass, FilterArtefact, PassContract, Passes, VassArtefact


def _events(program: Program, context: Context) -> Two:
    options = context.options
    if options.instrumentation == "paper":
        raise UsageError("the paper's instrumentation does not have threads of which there are any number; give a number")
    return Two(program, two_copies(program, options.model, context.limits, options.recv_depth))


def _filter(two: Two, context: Context) -> TwoFiltered:
    return TwoFiltered(two.original, pivots_of(two.original, two.frame, context.options.reductions))


def _instrument(left: TwoFiltered, _context: Context) -> TwoCopyInstance:
    return TwoCopyInstance.with_pivots(left.original, left.pivots)


def _lower(instance: TwoCopyInstance, _context: Context) -> TwoCopyInstance:
    assert instance.lowered
    return instance


def _show_events(two: Two) -> str:
    return shown.events(two.frame)


def _show_filtered(left: TwoFiltered) -> str:
    return shown.filtered(FilterArtefact(left.pivots.frame, left.pivots))


def _show_instrumented(instance: TwoCopyInstance) -> str:
    return show_program(instance.lowered.program)


def _show_lowered(instance: TwoCopyInstance) -> str:
    return shown.lowered(VassArtefact(instance.program, instance.lowered)) + _parts(instance)


def _parts(instance: TwoCopyInstance) -> str:
    """What is the local state of a copy."""
    parts = Parts.of(instance)
    lines = []
    for thread, mover in zip(instance.original.crowds, instance.movers, strict=True):
        held = ", ".join(
            parts.fields[field] + (f" & {bits:#x}" if bits != WHOLE else "") for field, bits in parts.slots[mover]
        )
        lines.append(f"local state of {thread.name}: {held}")
    return "\n".join(lines) + "\n"


def _show_counted(counted: CrowdSearchResult) -> str:
    counts = counted.counts
    lines = [f"engine {counted.engine}: {counts.states} markings", counted.reason]
    if counted.found is not None:
        lines += [f"  {name}: {event}" for name, event in counted.found.events]
        lines.append(f"target {counted.target}: {counted.pivot}")
    return "\n".join(lines) + "\n"


def _show_lifted(attempt: CountedAttempt) -> str:
    found, made = attempt.counted.found, attempt.lifted
    return "nothing to lift\n" if found is None or made is None else shown.trace(found.program, made)


def _two(two: Two) -> Iterator[str]:
    yield from contracts.EVENTS.broken(two.frame)


def _filtered(left: TwoFiltered) -> Iterator[str]:
    yield from contracts.FILTERED.broken(FilterArtefact(left.pivots.frame, left.pivots))


def _instance(instance: TwoCopyInstance) -> Iterator[str]:
    yield from contracts.LOWERED.broken(VassArtefact(instance.program, instance.lowered))


def _counted(counted: CrowdSearchResult) -> Iterator[str]:
    if counted.verdict is not Verdict.NOT_ROBUST and (counted.found or counted.explicit):
        yield "a run to a target, or a P(n), of something else than a violation"


def _attempt(attempt: CountedAttempt) -> Iterator[str]:
    if attempt.lifted is not None and attempt.counted.found is None:
        yield "a trace without a reached target"


def _decided(outcome: Outcome) -> Iterator[str]:
    if outcome.witness is not None and (outcome.verdict is not Verdict.NOT_ROBUST or outcome.copies is None):
        yield "a witness of something else than a violation of some P(n)"


TWO: Final = PassContract("two copies of each template, as event graphs", _two)
FILTERED: Final = PassContract(
    "the classes of named threads and of one copy that lie on a critical cycle of any P(n)", _filtered
)
INSTANCE: Final = PassContract("the instrumented program of two copies", _instance)
COUNTED: Final = PassContract("what is found for any number of copies", _counted)
LIFTED: Final = PassContract("the trace of P(n) of the run", _attempt)
DECIDED: Final = PassContract("a verdict for any number; of a violation the trace of some P(n)", _decided)

FOR_ANY: Final[Passes] = (
    DecisionPass("events", _events, contracts.PROGRAM, TWO, _show_events),
    DecisionPass("filter", _filter, TWO, FILTERED, _show_filtered),
    DecisionPass("instrument", _instrument, FILTERED, INSTANCE, _show_instrumented),
    DecisionPass("lower", _lower, INSTANCE, INSTANCE, _show_lowered),
    DecisionPass("cover", count_copies, INSTANCE, COUNTED, _show_counted),
    DecisionPass("lift", lift_any, COUNTED, LIFTED, _show_lifted),
    DecisionPass("confirm", confirm_any, LIFTED, DECIDED, shown.shown_outcome),
)
"""From a program with templates to its outcome."""
