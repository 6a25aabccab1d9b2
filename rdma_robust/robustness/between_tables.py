"""Robustness under a table that lacks a fact, or that says of some cells that nobody knows them: from other tables.

A table that keeps less has more executions. So a program that is robust under a weaker table is robust, and a counterexample
of any table is one if the axioms of this table confirm it. Source: docs/theory-orders.md, "Tables that lack a fact".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import RDMA, Model
from rdma_robust.orders.order_changes import Cell, reading, stronger_with_facts, told_of_source, weaker_with_facts
from rdma_robust.orders.order_strength import keeps_all_of
from rdma_robust.outcome import Outcome, Verdict, Witness
from rdma_robust.robustness.lift import LiftedTrace, confirm
from rdma_robust.robustness.searched_orders import (
    ARGUED,
    has_messages,
    not_searched,
    takes_any_receive,
    unknown_cells,
)
from rdma_robust.semantics.axioms import is_consistent, sc_violation
from rdma_robust.semantics.like_orders import atomic_rows
from rdma_robust.semantics.linearise import trace_of_order

Decide = Callable[[Program, Model], Outcome]
"""Decides a program under a model."""


def decided_between(program: Program, model: Model, decide: Decide) -> Outcome | None:
    """Return what the nearest tables with the facts say of the program under `model`, None if they do not decide it."""
    lacks = f"order {model.order_name}, under which no search is argued"
    for order, which in _neighbours(program, model):
        outcome = decide(program, replace(model, order=order))
        if which == "weaker" and outcome.verdict is Verdict.ROBUST:
            return replace(outcome, model=model, reason=f"{outcome.reason}: so it is under a weaker table than {lacks}")
        witness = None if outcome.witness is None else confirmed_under(outcome.witness, outcome.shown, model)
        if witness is not None:
            reason = f"a violating trace was found under a {which} table, and confirmed by the axioms of {lacks}"
            copies = None if outcome.copies is None else replace(outcome.copies, least=False)
            return replace(outcome, model=model, reason=reason, witness=witness, copies=copies)
    return None


def _neighbours(program: Program, model: Model) -> Iterator[tuple[str, str]]:
    """Yield an order that keeps less and one that keeps more, which the search decides: with the facts, and as near as was
    found, or else one for which docs/theory-orders.md argues it. Where none of these keeps more, the default order may
    have a counterexample all the same."""
    if not_searched(program, replace(model, order=RDMA.order)):
        return
    plain, atomics, messages = told_of_source(model.order), atomic_rows(program), has_messages(program)
    weaker = (plain, weaker_with_facts(plain, atomics=atomics, messages=messages), *ARGUED)
    above = stronger_with_facts(plain, atomics=atomics, messages=messages) if plain == model.order else None
    stronger = (above, *ARGUED)
    for which, orders in (("weaker", weaker), ("stronger", stronger)):
        for order in orders:
            if order is None or order == model.order or not_searched(program, replace(model, order=order)):
                continue
            if keeps_all_of(model.order, order) if which == "weaker" else keeps_all_of(order, model.order):
                yield order, which
                break
        else:
            if which == "stronger":
                yield RDMA.order, "different"


def confirmed_under(witness: Witness, program: Program, model: Model) -> Witness | None:
    """Return a witness of another model as one of `model`, with its events in the same order; None if it is none there."""
    trace = trace_of_order(witness.order, program, model)
    pivot = None if witness.pivot is None else witness.pivot.index
    if not is_consistent(trace, model) or sc_violation(trace, pivot) is None:
        return None
    return confirm(program, LiftedTrace(trace, witness.before, witness.pivot, witness.run), model)


def decided_both_ways(program: Program, model: Model, decide: Decide, by_axioms: Callable[[str], Outcome]) -> Outcome:
    """Return the outcome under a table with cells that can be read in two ways: the verdict that the program has whichever
    they are, or UNKNOWN with the cells on which it depends and the run that the weaker reading allows. A table that lets
    messages take any receive has more executions than one that does not: only NOT ROBUST follows from that one, and what is
    robust there is decided `by_axioms`, with a reason."""
    cells = unknown_cells(program, model)

    def under(kept: frozenset[Cell]) -> Outcome:
        return decide(program, replace(model, order=reading(model.order, kept)))

    strong = under(cells)
    if strong.verdict is not Verdict.ROBUST:
        return strong
    if takes_any_receive(program, model):
        said = f"order {model.order_name} lets a message take any posted receive"
        if cells:
            return _undecided(strong, model, f"{said}: it is robust if messages take them in order, and no more is known")
        return replace(by_axioms(said), model=model)
    weak = under(frozenset())
    if weak.verdict is not Verdict.NOT_ROBUST:
        return replace(weak, model=model)
    needed = [" ".join(cell) for cell in sorted(cells) if under(cells - {cell}).verdict is not Verdict.ROBUST]
    named = ", ".join(needed or (" ".join(cell) for cell in sorted(cells)))
    return _undecided(weak, model, f"it depends on {named}, which order {model.order_name} leaves open: {broken_by(weak)}")


def _undecided(outcome: Outcome, model: Model, reason: str) -> Outcome:
    left = replace(outcome, verdict=Verdict.UNKNOWN, model=model, reason=reason, witness=None)
    return replace(left, checked_by=(), faults_exact=False)


def broken_by(outcome: Outcome) -> str:
    """Return what a counterexample puts in another order, in words."""
    from rdma_robust.semantics.wording import Words  # noqa: PLC0415 - for few programs

    witness = outcome.witness
    if witness is None:
        return "if not, it is not robust"
    words = Words(outcome.shown, outcome.model.order)
    told = "; ".join(dict.fromkeys(words.reordering(earlier, later) for earlier, later in witness.relaxed))
    return f"if not, it is not robust: {told}" if told else "if not, it is not robust"
