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
from rdma_robust.semantics.machines.chosen import machine_of
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.waiting_runs import is_sequential

NOT_SEARCHED: Final = "a message can find no buffer and waits (rnr wait), of which no search knows"

FOR_EVER: Final = "a message may wait for ever (rnr wait), and no trace tells what its thread does behind it"
MOST: Final = 50_000
"""States of the machine that are looked at for that."""


def with_waiting(outcome: Outcome, context: Context) -> Outcome:
    """Return the outcome for a program whose messages wait, of that where a message without a buffer is a fault.

    ROBUST stays, as then no message finds no buffer; NOT ROBUST does if no run in which messages wait has the trace. Where a
    message can find no buffer the axioms decide, if none waits for ever; in loops, and beyond the limits of brute force, it
    is UNKNOWN.
    """
    unready = any(fault.kind == "rnr" for fault in outcome.faults)
    faults = tuple(fault for fault in outcome.faults if fault.kind != "rnr")
    if outcome.verdict is Verdict.NOT_ROBUST and _stays(outcome):
        return replace(outcome, faults=faults)
    if outcome.verdict is Verdict.ROBUST or not (unready or outcome.witness is not None):
        return replace(outcome, faults=faults)
    by_axioms = replace(decide_by_axioms(outcome.program, context, NOT_SEARCHED), faults=faults)
    if by_axioms.verdict is Verdict.ROBUST and _may_wait_for_ever(outcome, context):
        return replace(by_axioms, verdict=Verdict.UNKNOWN, reason=FOR_EVER)
    return by_axioms


def _may_wait_for_ever(outcome: Outcome, context: Context) -> bool:
    """Whether a run of a program without loops ends with a message that waits, or too many states are to be looked at: a
    trace has nothing of what its thread does behind one."""
    machine = machine_of(outcome.program, context.options.model, recv_depth=context.options.recv_depth)
    if not isinstance(machine, DeployedMachine):
        return False
    left = [move.state for move in machine.initial()]
    seen = set(left)
    while left and len(seen) <= MOST:
        state = left.pop()
        after = {move.state for move in machine.successors(state)}
        if not after and any(True for t in range(len(state.threads)) for _ in machine.waiting_steps(state, t)):
            return True
        left += after - seen
        seen |= after
    return bool(left)


def _stays(outcome: Outcome) -> bool:
    """Whether no run in which messages wait has the trace that was found; False also where there are too many runs."""
    try:
        return outcome.witness is not None and not is_sequential(outcome.program, outcome.witness.trace)
    except SizeLimitError:
        return False
