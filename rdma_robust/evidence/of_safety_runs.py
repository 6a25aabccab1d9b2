"""Evidence that a program is unsafe: the run of the model's machine, move by move."""

from __future__ import annotations

from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.certify.document import JsonObject
from rdma_robust.certify.safety.safety_runs import KIND, READ, STEP, STORE, WRITE
from rdma_robust.language.flow.cfg import Nondet, Program, Step, steps
from rdma_robust.semantics.machines.machine import Action, Verb


def run_moves(program: Program, run: SafetyRun) -> JsonObject:
    """Return the evidence that `run` is."""
    moves: list[JsonObject] = []
    for before, move in zip(run.moves, run.moves[1:], strict=False):
        action = move.action
        point = before.state.threads[action.thread].point
        moves.append(_told(program, run, action, (point, move.state.threads[action.thread].point)))
    return {"kind": KIND, "moves": moves}


def _told(program: Program, run: SafetyRun, action: Action, points: tuple[int, int]) -> JsonObject:
    does = {Verb.NIC_READ: READ, Verb.NIC_WRITE: WRITE, Verb.FLUSH: STORE}.get(action.verb, STEP)
    if run.model == "sc" and does == READ:
        does = STEP
    if run.model == "rdma" and action.verb is Verb.FENCE:
        does = READ
    drawn = does == STEP and action.step is not None and isinstance(action.step.op, Nondet)
    number = None if action.step is None else _number(program, action.thread, action.step, points if does == STEP else None)
    return {
        "thread": program.threads[action.thread].name,
        "does": does,
        "step": number,
        "word": None if action.cell is None else str(action.cell),
        "value": action.read if drawn else action.written if does == WRITE else None,
    }


def _number(program: Program, thread: int, step: Step, points: tuple[int, int] | None) -> int:
    """Return the number of a step in `cfg.steps`, of the one between two program points if these are known.

    What leads from one point to two may look the same; a posting under sc leads nowhere yet.
    """
    alike = [(n, source, target) for n, (source, target, each) in enumerate(steps(program.threads[thread])) if each == step]
    if points is None:
        return alike[0][0]
    from_there = [(n, target) for n, source, target in alike if source == points[0]]
    return next((n for n, target in from_there if target == points[1]), from_there[0][0])
