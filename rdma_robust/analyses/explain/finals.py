"""Whether the reordering can be seen in the end: final states that RDMA reaches and sequential consistency does not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from rdma_robust.analyses.explain.explanation import Condition, FinalStates
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.semantics.machines.final import FinalState
from rdma_robust.semantics.machines.outcomes import OutcomesReport, explore_outcomes
from rdma_robust.semantics.values import is_loop_free

MOST_CONDITIONS = 3
"""Values up to which every combination is tried; of more an irreducible one is taken."""

STATES = 100_000
"""States of each machine that are searched for final states, unless told otherwise; for programs with loops a tenth."""


def not_asked(reason: str) -> FinalStates:
    return FinalStates("not-asked", reason, 0, 0, 0, False, (), ())


def final_states(program: Program, model: Model, states: int, limits: Limits) -> FinalStates:
    """Compare the final states of both machines, searching at most `states` states of each within `limits`.

    `new` and `none` are claims about all executions: `new` needs the whole of the SC machine, `none` both. What the limits
    do not allow to know is `unknown`.
    """
    bound = states if is_loop_free(program) else max(1, states // 10)
    report = explore_outcomes(program, model, max_states=bound, limits=limits)
    counts = (sum(s.sc for s in report.states), sum(s.rdma for s in report.states), len(report.only_rdma))
    if report.sc.cut is not None:
        reason = f"the search of the states under sequential consistency was cut at {report.sc.cut}"
        return FinalStates("unknown", reason, *counts, False, (), ())
    if not report.only_rdma:
        if report.rdma.cut is not None:
            reason = f"the search of the states under RDMA was cut at {report.rdma.cut}, without a new one so far"
            return FinalStates("unknown", reason, *counts, False, (), ())
        return FinalStates("none", "both machines were searched completely", *counts, True, (), ())
    telling, example = _telling(report)
    reason = "both machines were searched completely"
    if report.rdma.cut is not None:
        reason = f"the search of the states under RDMA was cut at {report.rdma.cut}"
    return FinalStates("new", reason, *counts, report.rdma.cut is None, telling, example)


def _telling(report: OutcomesReport) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
    """Return values in a new final state that no final state of SC has together, and that state: the fewest such values if
    those are at most `MOST_CONDITIONS`, else some of which none can be left out.

    Registers are named before memory words: they are what a thread has seen.
    """
    reached = [s.values for s in report.states if s.sc]
    new = [s.values for s in report.only_rdma]
    cells = sum(not cell.hidden for cell in report.program.cells)
    places = [*range(cells, len(report.names)), *range(cells)]
    for size in range(MOST_CONDITIONS + 1):
        for chosen in combinations(places, size):
            known = {tuple(state[i] for i in chosen) for state in reached}
            for state in new:
                if tuple(state[i] for i in chosen) not in known:
                    return _conditions(report.names, state, chosen), _conditions(report.names, state)
    left = list(places)
    for i in reversed(places):
        fewer = [j for j in left if j != i]
        if tuple(new[0][j] for j in fewer) not in {tuple(state[j] for j in fewer) for state in reached}:
            left = fewer
    return _conditions(report.names, new[0], left), _conditions(report.names, new[0])


def _conditions(names: Sequence[str], state: FinalState, chosen: Sequence[int] | None = None) -> tuple[Condition, ...]:
    return tuple(Condition(names[i], state[i]) for i in (range(len(names)) if chosen is None else chosen))
