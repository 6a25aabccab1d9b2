"""What to ask of a state: whether it, or one that buffers and cards alone make of it, violates a claim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rdma_robust.certify.safety.claimed import BadStateClaim
from rdma_robust.certify.safety.reduced_program import PlacedState, ReducedProgram
from rdma_robust.certify.safety.thread_steps import step_expression
from rdma_robust.certify.safety.wide_updates import WideUpdates
from rdma_robust.expr import Const, Expr, Name, substitute


class Doubt(NamedTuple):
    """A claim that a state would violate, if `condition` were true after `updates`."""

    claim: str
    updates: WideUpdates
    condition: Expr


def doubts_of(system: ReducedProgram, state: PlacedState) -> Iterator[Doubt]:
    """Yield every way in which a state, or one that agents alone make of it, might violate a claim about states."""
    for claim in system.claims:
        if claim.final and any(point != code.thread.exit for point, code in zip(state.points, system.code, strict=True)):
            continue
        for updates, at in _seen_by(system, state, claim):
            if at is None:
                yield Doubt("a word gets a value that is not listed", updates, Const(1))
            elif not claim.final or system.drained(at):
                condition = substitute(claim.bad, _told(system, at, claim))
                if not isinstance(condition, Const) or condition.value:
                    yield Doubt(claim.text, updates, condition)


def _seen_by(
    system: ReducedProgram, state: PlacedState, claim: BadStateClaim
) -> Iterator[tuple[WideUpdates, PlacedState | None]]:
    if not system.lazy:
        yield (), state
        return
    words = frozenset(i for i, word in enumerate(system.words) if word in claim.names)
    yield from system.leads.to(state, lambda agent: claim.final or agent.writes in words)


def _told(system: ReducedProgram, state: PlacedState, claim: BadStateClaim) -> dict[str, Expr]:
    told: dict[str, Expr] = dict(claim.constants)
    for i, word in enumerate(system.words):
        if word in claim.names:
            told[word] = step_expression(system.in_memory(state, i))
    for code, registers in zip(system.code, state.registers, strict=True):
        for name, value in zip(code.names, registers, strict=True):
            if name in claim.names:
                told[name] = Name(name) if value is None else Const(value)
    for name, (t, points) in claim.atoms.items():
        told[name] = Const(int(state.points[t] in points))
    return told
