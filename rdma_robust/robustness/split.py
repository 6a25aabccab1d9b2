"""One program decided pivot class by pivot class, so that different machines can take different classes.

A violation in normal form has a pivot, and the pivot is an event of some class. So a program is not robust iff the
targets of some class are reachable, and robust iff every class was exhausted without one; a class that was cut short
leaves it undecided, unless another has a confirmed violation. Source: docs/theory.md, "The pivot refinement"; Theorem
5.2 of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Counts, Outcome, Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.frame import InstrumentationFrame
from rdma_robust.robustness.reasons import sorted_faults
from rdma_robust.robustness.static_filter import pivots_to_try


def class_count(program: Program, options: CheckOptions) -> int:
    """Return the number of pivot classes that the static reductions leave; 0 if the program is robust without a search."""
    options = options.on(program.hardware)
    frame = InstrumentationFrame.to_instrument(program, options.model, recv_depth=options.recv_depth)
    return len(pivots_to_try(frame, options.reductions - {"permute"}, large=options.large).classes.tried)


def decide_class(program: Program, options: CheckOptions, number: int) -> Outcome:
    """Return the outcome for one pivot class, from 0: ROBUST says only that no violation has a pivot of this class.

    Raises UsageError for an instrumentation without classes, IndexError for a class that there is not.
    """
    if options.instrumentation != "pivot":
        raise UsageError("only the pivot instrumentation has pivot classes")
    if number < 0:
        raise IndexError(number)
    return decide(program, options, only=number)


def combine(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of the program from those of all its classes, in their order.

    The witness is that of the first class that has one. Where one is confirmed, the outcomes of the classes after it may be
    left out. `time_s` is the sum: the work, not the wait. Every class is searched through all of the program under
    sequential consistency if that can go wrong, so one exhausted search knows every fault.
    """
    first = next((o for o in outcomes if o.verdict is Verdict.NOT_ROBUST), None)
    cut = [(number, o) for number, o in enumerate(outcomes, 1) if o.verdict is Verdict.UNKNOWN]
    chosen = first or (cut[0][1] if cut else max(outcomes, key=lambda o: o.counts.states))
    reason = chosen.reason
    if first is None:
        apart = f"{len(outcomes)} pivot classes, each searched apart"
        reason = (
            f"{reason} (class {cut[0][0]} of {apart})"
            if cut
            else f"exhausted the search: no violating trace exists ({apart})"
        )
    counts = [o.counts for o in outcomes]
    return replace(
        chosen,
        reason=reason,
        counts=Counts(
            sum(c.states for c in counts),
            sum(c.transitions for c in counts),
            sum(c.pivots for c in counts),
            max(c.counters for c in counts),
        ),
        time_s=sum(o.time_s for o in outcomes),
        faults=sorted_faults({f for o in outcomes for f in o.faults}),
        faults_exact=chosen.verdict is Verdict.ROBUST and any(o.faults_exact for o in outcomes),
    )
