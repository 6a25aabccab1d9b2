"""Which registers something after a program point may depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.expr import VALUE, Expr, names
from rdma_robust.language.flow.cfg import Step, Thread, operands, steps

Live = Mapping[int, frozenset[str]]
"""Registers by program point."""


def live_registers(thread: Thread, claims: Sequence[SafetyClaim]) -> Live:
    """Return the registers of `thread` whose value at a program point a step or a claim may still ask for.

    Those of an invariant are asked for at every point, those of an outcome at the end.
    """
    own = {name for name, _ in thread.registers}
    always = {r for claim in claims if not claim.final for r in _registers(claim.bad, thread.name)} & own
    finally_ = {r for claim in claims if claim.final for r in _registers(claim.bad, thread.name)} & own
    live = {point: set(always) for point in thread.points}
    live[thread.exit] |= finally_
    edges = list(reversed(steps(thread)))
    changed = True
    while changed:
        changed = False
        for source, target, step in edges:
            needed = used_registers(step) | (live[target] - {name for name, _ in step.assigns})
            if not needed <= live[source]:
                live[source] |= needed
                changed = True
    return {point: frozenset(found) for point, found in live.items()}


def _registers(condition: Expr, thread: str) -> list[str]:
    return [name.partition(".")[2] for name in names(condition) if name.partition(".")[0] == thread]


def used_registers(step: Step) -> set[str]:
    """Return the names in a step's guard, its operation, and what it assigns, hidden registers included, VALUE not."""
    used = [step.guard, *(expr for _, expr in step.assigns), *operands(step.op)]
    return {name for expr in used for name in names(expr) if name != VALUE.name}
