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
        moves.append(_told(program, run, action, point))
    return {"kind": KIND, "moves": moves}


def _told(program: Program, run: SafetyRun, action: Action, point: int) -> JsonObject:
    does = {Verb.NIC_READ: READ, Verb.NIC_WRITE: WRITE, Verb.FLUSH: STORE}.get(action.verb, STEP)
    if run.model == "sc" and does == READ:
        does = STEP
    if run.model == "rdma" and action.verb is Verb.FENCE:
        does = READ
    drawn = does == STEP and action.step is not None and isinstance(action.step.op, Nondet)
    number = None if action.step is None else _number(program, action.thread, action.step, point if does == STEP else None)
    return {
        "thread": program.threads[action.thread].name,
        "does": does,
        "step": number,
        "word": None if action.cell is None else str(action.cell),
        "value": action.read if drawn else action.written if does == WRITE else None,
    }


def _number(program: Program, thread: int, step: Step, point: int | None) -> int:
    """Return the number of a step in `cfg.steps`, of the one from `point` if that is known."""
    numbered = enumerate(steps(program.threads[thread]))
    return next(n for n, (source, _, each) in numbered if each == step and point in (None, source))
