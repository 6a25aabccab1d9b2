"""Explanations of programs for tests, and every order in which the machine lets things take effect."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

from rdma_robust.analyses.explain.compose import explanation
from rdma_robust.analyses.explain.explanation import Explanation
from rdma_robust.language.flow.cfg import Get, Program, Put, Step
from rdma_robust.model import rdma
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome
from rdma_robust.pipeline import check_text
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.semantics.machines.rdma import RdmaMachine
from tests.support.random_programs import Size, random_program

LITMUS = Path(__file__).parents[2] / "litmus"

Place = tuple[int, int, str, str]
"""Start and end of a statement, `CPU` or the type of the NIC's event, and the cell."""


def outcome_of(text: str, ordered_reads: bool = False, name: str = "p.rdma") -> Outcome:
    return check_text(text, name, CheckOptions(ordered_reads=ordered_reads, max_states=20_000))


def explained(text: str, ordered_reads: bool = False, name: str = "p.rdma", final_state_limit: int = 100_000) -> Explanation:
    outcome = outcome_of(text, ordered_reads, name)
    return explanation(outcome, CheckOptions(ordered_reads=ordered_reads), final_state_limit=final_state_limit)


@cache
def litmus(name: str) -> Explanation:
    path = LITMUS / f"{name}.rdma"
    return explained(path.read_text(encoding="utf-8"), name=path.name)


def programs(seed: int, number: int, size: Size, *, loops: bool = False) -> list[str]:
    return [random_program(Random(seed * 1000 + i), size, loops=loops) for i in range(number)]


def effect(action: Action) -> Place | None:
    """Return the access that takes effect with a move of the machine, None if none does."""
    step = action.step
    if step is None:
        return None
    op = step.op
    at = step.span.start, step.span.end
    match action.verb, op:
        case Verb.NIC_READ, Put(_, cell):
            return (*at, "nlR", str(cell))
        case Verb.NIC_READ, Get(_, cell):
            return (*at, "nrR", str(cell))
        case Verb.FLUSH, Put(cell, _):
            return (*at, "nrW", str(cell))
        case Verb.FLUSH, Get(cell, _):
            return (*at, "nlW", str(cell))
        case Verb.ACCESS, _:
            return (*at, "CPU", str(getattr(op, "cell", None)))
    return None


def accesses(step: Step) -> tuple[Place, ...]:
    """Return the accesses that a remote operation makes, none for anything else."""
    at = step.span.start, step.span.end
    match step.op:
        case Put(target, source):
            return (*at, "nlR", str(source)), (*at, "nrW", str(target))
        case Get(target, source):
            return (*at, "nrR", str(source)), (*at, "nlW", str(target))
    return ()


def overtakings(program: Program, ordered_reads: bool = False, most: int = 8_000) -> set[tuple[str, Place, Place]] | None:
    """Return (thread, earlier, later) for all accesses of a loop-free program that take effect against program order in some
    run of the machine: `later` while `earlier`, posted before, has not. None if there are more than `most` points."""
    machine = RdmaMachine(program, rdma(ordered_reads))
    found: set[tuple[str, Place, Place]] = set()
    start = tuple(() for _ in program.threads)
    todo: list[tuple[object, tuple[tuple[Place, ...], ...]]] = [(move.state, start) for move in machine.initial()]
    seen = set(todo)
    while todo:
        state, pending = todo.pop()
        for action, after, _ in machine.successors(state):  # type: ignore[arg-type]
            t = action.thread
            waiting = pending[t]
            if action.verb is Verb.ISSUE and action.step is not None:
                waiting = (*waiting, *accesses(action.step))
            now = effect(action)
            if now is not None:
                at = waiting.index(now) if now in waiting else len(waiting)
                found |= {(program.threads[t].name, earlier, now) for earlier in waiting[:at]}
                waiting = waiting[:at] + waiting[at + 1 :]
            point = (after, (*pending[:t], waiting, *pending[t + 1 :]))
            if point not in seen:
                seen.add(point)
                todo.append(point)
        if len(seen) > most:
            return None
    return found
