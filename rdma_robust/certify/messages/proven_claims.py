"""The claims about message programs, and what proves each: a run, all states of the normal form, or a proof."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from rdma_robust.certify.document import integer, json_array, json_members, json_word, mapping, reject
from rdma_robust.certify.messages.proved_formulas import MESSAGE_PROOF, check_proof
from rdma_robust.certify.messages.settled_worlds import EndlessProcessError, matched, settled_worlds
from rdma_robust.certify.messages.unfolding import LOOKS
from rdma_robust.certify.messages.world_json import read
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import (
    BufferGrant,
    MatchedPair,
    MatchMove,
    Move,
    OperationId,
    ProcessStep,
    Schedule,
)
from rdma_robust.messages.replay.interpreter import Interpreter, NotEnabled
from rdma_robust.messages.replay.replaying import replay_schedule, state_ending
from rdma_robust.messages.replay.world import ReplayState

MESSAGE_STATES: Final = "message-states"
MESSAGE_RUN: Final = "message-run"


CLAIMS: Final = ("holds", "violated", "deadlock-free", "deadlocks")
"""Each claim about assertions and faults, or about deadlocks."""

POSITIVE: Final = ("holds", "deadlock-free")


def check_message_claim(program: MessageProgram, buffer: Buffer, claim: str, evidence: object) -> str:
    """Return what proves the claim. Raises InvalidCertificate if the evidence does not."""
    if claim in POSITIVE:
        if program.looks:
            reject(LOOKS)
        kind = mapping(evidence, "`evidence`").get("kind")
        if json_word(kind, f"`evidence.kind` for the claim {claim!r}", (MESSAGE_STATES, MESSAGE_PROOF)) == MESSAGE_PROOF:
            check_proof(program, buffer, "holds" if claim == "holds" else "deadlock-free", evidence)
            return "a refutation of all matchings"
        _check_states(Interpreter(program, buffer), claim, evidence)
        return "all states of the normal form"
    _check_run(program, buffer, claim, evidence)
    return "a run"


def _check_states(rules: Interpreter, claim: str, evidence: object) -> None:
    """Check that the first states and those after each match are among those listed, and that none breaks the claim."""
    found = json_members(evidence, "`evidence`", ("kind", "states"))
    listed = json_array(found["states"], "`evidence.states`", _state)
    states = set(listed)
    _enter(rules, rules.start(), claim, states, "at the start")
    for number, state in enumerate(listed):
        where = f"after state {number}"
        try:
            if claim == "deadlock-free" and state_ending(rules, state) == "deadlock":
                reject(f"state {number} is a deadlock")
            for new in matched(rules, state):
                _enter(rules, new, claim, states, where)
        except (LookupError, TypeError, ValueError, AssertionError, AttributeError):
            reject(f"state {number} is none of this program")


def _state(value: object, where: str) -> ReplayState:
    state = read(value, where)
    try:
        hash(state)
    except TypeError:
        reject(f"{where} is not a state")
    return state if isinstance(state, ReplayState) else reject(f"{where} is not a state")


def _enter(rules: Interpreter, world: ReplayState, claim: str, states: AbstractSet[ReplayState], where: str) -> None:
    try:
        onward = settled_worlds(rules, world, lambda: None)
    except EndlessProcessError:
        reject(f"{where} a process computes for ever")
    if claim == "holds" and onward.violations:
        reject(f"{where} something is violated: {', '.join(sorted(onward.violations))}")
    if not onward.worlds <= states:
        reject(f"{where} comes a state that is not listed")


def _check_run(program: MessageProgram, buffer: Buffer, claim: str, evidence: object) -> None:
    found = json_members(evidence, "`evidence`", ("kind", "moves"))
    json_word(found["kind"], f"`evidence.kind` for the claim {claim!r}", (MESSAGE_RUN,))
    schedule: Schedule = tuple(json_array(found["moves"], "`evidence.moves`", _move))
    try:
        end = replay_schedule(program, buffer, schedule)
    except NotEnabled as refused:
        reject(f"the run is none: {refused}")
    if claim == "violated" and not end.violations:
        reject("the run violates nothing")
    if claim == "deadlocks" and end.ending != "deadlock":
        reject("the run does not end in a deadlock")


def _move(value: object, where: str) -> Move:
    if isinstance(value, dict) and "match" in value:
        pair = json_array(json_members(value, where, ("match",))["match"], where, integer)
        if len(pair) != 4:
            reject(f"{where} does not name a receive and a send by process and number")
        return MatchMove(MatchedPair(OperationId(pair[0], pair[1]), OperationId(pair[2], pair[3])))
    if isinstance(value, dict) and "buffer" in value:
        return BufferGrant(integer(json_members(value, where, ("buffer",))["buffer"], where))
    found = json_members(value, where, ("step",), ("choice",))
    return ProcessStep(integer(found["step"], where), integer(found["choice"], where) if "choice" in found else None)


def move_json(move: Move) -> dict[str, object]:
    """Return a move as certificates have it."""
    match move:
        case MatchMove(MatchedPair(receive, send)):
            return {"match": [*receive, *send]}
        case BufferGrant(process):
            return {"buffer": process}
        case ProcessStep(process, None):
            return {"step": process}
        case ProcessStep(process, choice):
            return {"step": process, "choice": choice}
