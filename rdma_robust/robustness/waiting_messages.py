"""Robustness where a message that finds no buffer waits (`hardware rnr wait`), from the decision where that is a fault.

Source: docs/theory.md, "Messages that wait".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from rdma_robust.errors import SizeLimitError
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.by_axioms import decide_by_axioms
from rdma_robust.robustness.passes import Context
from rdma_robust.semantics.waiting_runs import is_sequential

NOT_SEARCHED: Final = "a message can find no buffer and waits (rnr wait), of which no search knows"


def with_waiting(outcome: Outcome, context: Context) -> Outcome:
    """Return the outcome for a program whose messages wait, of that where a message without a buffer is a fault.

    ROBUST stays, as then no message finds no buffer; NOT ROBUST does if no run in which messages wait has the trace. Where a
    message can find no buffer the axioms decide; in loops, beyond the limits of brute force, and where a violation may be
    behind a message that waits for ever, it is UNKNOWN.
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
