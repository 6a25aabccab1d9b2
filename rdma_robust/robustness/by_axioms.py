"""Robustness under a model for which no search is proven to decide: all traces, by brute force over the axioms.

Source: Definitions 1 to 4 of the paper. Only programs without loops have finitely many traces; for others,
and beyond the limits of the oracle, the answer is UNKNOWN.

Robustness where a message that finds no buffer waits (`hardware rnr wait`), from the decision where that is a fault.

Source: docs/theory-deployed.md, "Messages that wait".
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Final

import networkx as nx

from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from rdma_robust.outcome import BRUTE_FORCE, Counts, Outcome, Verdict, Witness
from rdma_robust.robustness.lift import LiftedTrace, confirm
from rdma_robust.robustness.passes import Context
from rdma_robust.robustness.searched_orders import not_searched
from rdma_robust.semantics.axioms import ob
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.oracle.brute_force import DEFAULT_LIMITS, oracle_robust
from rdma_robust.semantics.trace import Trace
from rdma_robust.semantics.vertices import sections
from rdma_robust.semantics.waiting_runs import is_sequential


def decide_by_axioms(program: Program, context: Context, why: str = "") -> Outcome:
    """Return the outcome for `program` under the model of `context`, whatever its order table is; `why` says why by axioms.

    ROBUST follows from all its traces, NOT_ROBUST carries a violating one, confirmed by the axioms; UNKNOWN names the limit
    of brute force that was met. Faults are not looked for. Raises InternalError if a trace that was found is not confirmed.
    """
    started = time.monotonic()
    options, model = context.options, context.options.model
    why = why or not_searched(program, model) or "no search is proven to decide robustness of this program"
    witness = None
    try:
        if program.crowds:
            raise SizeLimitError("there is any number of copies")
        trace = oracle_robust(program, model, DEFAULT_LIMITS.within(context.limits.seconds_left()))
    except SizeLimitError as error:
        verdict, reason = Verdict.UNKNOWN, f"{why}, and brute force over the axioms gave up: {error}"
    else:
        found = "none of all traces is violating" if trace is None else "a violating trace was found"
        verdict = Verdict.ROBUST if trace is None else Verdict.NOT_ROBUST
        witness = None if trace is None else witness_of(trace, program, model)
        reason = f"{found}, by brute force over the axioms: {why}"
    return Outcome(
        program,
        verdict,
        reason,
        options.instrumentation,
        BRUTE_FORCE,
        Counts(),
        time.monotonic() - started,
        witness,
        faults_exact=False,
        checked_by=("axioms",) if witness else (),
    )


def witness_of(trace: Trace, program: Program, model: Model) -> Witness:
    """Return a violating trace as a witness without a pivot, in an order in which its events may take effect.

    Every order that extends ob gives the trace back (Theorem 4.1). Raises InternalError if this one is not confirmed.
    """
    observed: nx.DiGraph[int] = nx.DiGraph(list(ob(trace, model)))
    observed.add_nodes_from(e.index for e in trace.events)
    first = sections(trace)
    found = [i for i in nx.lexicographical_topological_sort(observed) if i not in first]
    together = {i: [i, *(e for e, head in first.items() if head == i)] for i in found}
    order = [trace.events[e] for i in found for e in together[i] if trace.events[e].thread >= 0]
    ordered = trace_of_order(order, program, model)
    return confirm(program, LiftedTrace(ordered, 0, None, ordered.events[len(program.cells) :]), model)


NOT_SEARCHED: Final = "a message can find no buffer and waits (rnr wait), of which no search knows"


def with_waiting(outcome: Outcome, context: Context) -> Outcome:
    """Return the outcome for a program whose messages wait, of that where a message without a buffer is a fault.

    ROBUST stays, as then no message finds no buffer; NOT ROBUST does if no run in which messages wait has the trace. Where a
    message can find no buffer the axioms decide; in loops, beyond the limits of brute force, and where a violation may be
    behind a message that waits forever, it is UNKNOWN.
    """
    unready = any(fault.kind == "rnr" for fault in outcome.faults)
    faults = tuple(fault for fault in outcome.faults if fault.kind != "rnr")
    if outcome.verdict is Verdict.NOT_ROBUST and _stays(outcome):
        return replace(outcome, faults=faults)
    if outcome.verdict is Verdict.ROBUST or not (unready or outcome.witness is not None):
        return replace(outcome, faults=faults)
    return replace(decide_by_axioms(outcome.program, context, NOT_SEARCHED), faults=faults)


def _stays(outcome: Outcome) -> bool:
    """Whether no run in which messages wait has the trace that was found; False also where there are too many runs."""
    try:
        return outcome.witness is not None and not is_sequential(outcome.program, outcome.witness.trace)
    except SizeLimitError:
        return False
