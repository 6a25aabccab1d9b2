"""Runs of the search that lead to a target, but whose witness, executed with real values, is not confirmed.

Remote read-modify-writes of beta may go another way in the witness than in the run that was searched
(:mod:`remote_atomics`, M1 and M2), control states that can be reached by several runs are stored with the first, and the
rules that force events into beta may not be all that there are under an order table of its own. So a reached target alone
proves nothing: other runs to targets are looked for, and if none is confirmed, neighbours of such a table, or brute force
over the axioms, decide programs without loops. What is left is UNKNOWN, never ROBUST.

Source: docs/theory-atomics.md, "Remote atomics", M2; "Tables that lack a fact".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from rdma_robust.counters.search import explore_lowered
from rdma_robust.errors import InternalError
from rdma_robust.expr import VALUE, names
from rdma_robust.language.flow.cfg import Program, RemoteRmw, steps
from rdma_robust.model import Model
from rdma_robust.outcome import Counts, Outcome, Verdict, Witness
from rdma_robust.robustness.frame import EventLabel
from rdma_robust.robustness.lift import confirm, lift
from rdma_robust.robustness.passes import Context, CoverArtefact
from rdma_robust.robustness.searched_orders import forces_less, lacked_facts

UNCONFIRMED: Final = (
    "the search reached a target, but no run to one was confirmed by the axioms with the values that hardware has"
)


class UnconfirmedError(InternalError):
    """The witness of a reached target is not confirmed, of a program for which that need not be a mistake."""

    def __init__(self, covered: CoverArtefact, why: str) -> None:
        super().__init__(why)
        self.covered = covered


def may_differ(program: Program, model: Model) -> bool:
    """Return whether a reached target need be no violation: what some remote read-modify-write does depends on what it
    reads, memory lies behind a card, or what is forced may be less than there is."""
    if program.memories or forces_less(program, model):
        return True
    ops = (step.op for thread in program.threads for _, _, step in steps(thread))
    return any(isinstance(op, RemoteRmw) and VALUE.name in names(op.when) for op in ops)


@contextmanager
def watched_decision(covered: CoverArtefact, model: Model) -> Iterator[None]:
    """Raise UnconfirmedError instead of InternalError for a program, or an order table, for which that need not be a
    mistake."""
    try:
        yield
    except InternalError as error:
        if not may_differ(covered.lowered.program, model):
            raise
        raise UnconfirmedError(covered, str(error)) from error


def search_on(covered: CoverArtefact, context: Context, decide: Callable[[Program, Model], Outcome]) -> Outcome:
    """Return the outcome for a program of which a reached target is not confirmed; `decide` decides it under a model."""
    options, lowered = context.options, covered.lowered
    program = lowered.program
    found: list[Witness] = []

    def accept(target: int, run: Sequence[EventLabel]) -> bool:
        try:
            lifted = lift(program, run, lowered.vass.program.targets[target].label, options.model)
            found.append(confirm(program, lifted, options.model))
        except InternalError:
            return False
        return True

    result = explore_lowered(lowered.vass, context.limits, context.progress, engine=options.engine, accept=accept).result
    counts = Counts(result.states, result.transitions, 0, covered.found.dimension)
    if found:
        reason = "a violating trace was found and confirmed by the axioms"
        outcome = _undecided(covered, context, reason, counts)
        return replace(outcome, verdict=Verdict.NOT_ROBUST, witness=found[0], checked_by=("axioms",))
    from rdma_robust.robustness.by_axioms import decide_by_axioms  # noqa: PLC0415 - slow, and few need it

    if lacked_facts(program, options.model):
        from rdma_robust.robustness.between_tables import decided_between  # noqa: PLC0415 - few tables lack a fact

        between = decided_between(program, options.model, decide)
        if between is not None and between.verdict is not Verdict.UNKNOWN:
            return between
    by_axioms = decide_by_axioms(program, context)
    if by_axioms.verdict is not Verdict.UNKNOWN:
        return by_axioms
    return _undecided(covered, context, UNCONFIRMED, counts)


def _undecided(covered: CoverArtefact, context: Context, reason: str, counts: Counts) -> Outcome:
    program, engine = covered.lowered.program, covered.found.engine
    return Outcome(
        program, Verdict.UNKNOWN, reason, context.options.instrumentation, engine, counts, 0.0, faults_exact=False
    )
