"""Robustness under a table that lacks a fact, or that says of some cells that nobody knows them: from other tables.

A table that keeps less has more executions. So a program that is robust under a weaker table is robust, and a counterexample
of any table is one if the axioms of this table confirm it. Source: docs/theory.md, "Tables that lack a fact".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from rdma_robust.orders import order_name
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_changes import resolved, stronger_with_facts, weaker_with_facts
from rdma_robust.outcome import Outcome, Verdict, Witness
from rdma_robust.robustness.lift import LiftedTrace, confirm
from rdma_robust.robustness.searched_orders import has_atomics
from rdma_robust.semantics.axioms import rdma_violation, sc_violation
from rdma_robust.semantics.linearise import trace_of_order

Decide = Callable[[Program, Model], Outcome]
"""Decides a program under a model."""


def decided_between(program: Program, model: Model, decide: Decide) -> Outcome | None:
    """Return what the nearest tables with the facts say of the program under `model`, None if they do not decide it."""
    lacks = f"order {model.order_name}, which lacks a fact about its table"
    for found, which in ((weaker_with_facts, "weaker"), (stronger_with_facts, "stronger")):
        order = found(model.order, atomics=has_atomics(program))
        if order is None:
            continue
        outcome = decide(program, replace(model, order=order))
        if which == "weaker" and outcome.verdict is Verdict.ROBUST:
            return replace(outcome, model=model, reason=f"{outcome.reason}: so it is under a weaker table than {lacks}")
        witness = None if outcome.witness is None else confirmed_under(outcome.witness, program, model)
        if witness is not None:
            reason = f"a violating trace was found under a {which} table, and confirmed by the axioms of {lacks}"
            return replace(outcome, model=model, reason=reason, witness=witness)
    return None


def confirmed_under(witness: Witness, program: Program, model: Model) -> Witness | None:
    """Return a witness of another model as one of `model`, with its events in the same order; None if it is none there."""
    trace = trace_of_order(witness.order, program, model)
    pivot = None if witness.pivot is None else witness.pivot.index
    if rdma_violation(trace, model) is not None or sc_violation(trace, pivot) is None:
        return None
    return confirm(program, LiftedTrace(trace, witness.before, witness.pivot, witness.run), model)


def decided_unknown_cells(program: Program, model: Model, decide: Decide) -> Outcome:
    """Return the outcome under a table with cells that nobody knows: the verdict that the program has whichever they are, or
    UNKNOWN with the cells on which it depends and the run that the weaker reading allows."""
    unknown = frozenset(order_table(model.order).unknown)

    def under(kept: frozenset[tuple[str, str]]) -> Outcome:
        return decide(program, replace(model, order=resolved(model.order, kept)))

    weak = under(frozenset())
    if weak.verdict is not Verdict.NOT_ROBUST:
        return replace(weak, model=model)
    strong = under(unknown)
    if strong.verdict is not Verdict.ROBUST:
        return strong
    needed = [" ".join(cell) for cell in sorted(unknown) if under(unknown - {cell}).verdict is not Verdict.ROBUST]
    cells = ", ".join(needed or (" ".join(cell) for cell in sorted(unknown)))
    reason = (
        f"it depends on {cells}, of which order {order_name(model.order)} does not say whether it is kept: {broken_by(weak)}"
    )
    return replace(
        weak, verdict=Verdict.UNKNOWN, model=model, reason=reason, witness=None, checked_by=(), faults_exact=False
    )


def broken_by(outcome: Outcome) -> str:
    """Return what a counterexample puts in another order, in words."""
    from rdma_robust.semantics.wording import Words  # noqa: PLC0415 - for few programs

    witness = outcome.witness
    if witness is None:
        return "if not, it is not robust"
    words = Words(outcome.shown, outcome.model.order)
    told = "; ".join(dict.fromkeys(words.reordering(earlier, later) for earlier, later in witness.relaxed))
    return f"if not, it is not robust: {told}" if told else "if not, it is not robust"
