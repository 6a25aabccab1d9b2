"""What is proved of a function for every number of processes."""

from __future__ import annotations

import time
from typing import Final

from rdma_robust.contracts.any_procs.any_inputs import LEVELS, Level
from rdma_robust.contracts.any_procs.any_proof import Proof
from rdma_robust.contracts.any_procs.any_values import UnrecognisedError
from rdma_robust.contracts.contract_answers import EveryProcsAnswer, ProvedInputs
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.limits import Limits

_INPUTS: Final[dict[Level, ProvedInputs]] = {"any": "all", "kinds": "kinds", "bounds": "bounds"}


def for_every_n(program: ContractProgram, function: str, limits: Limits) -> EveryProcsAnswer:
    """Return whether a function is proved to meet its contract for every n, at the most inputs for which that is found.

    Raises KeyError for a function without a contract, and LimitReached.
    """
    contract = program.contract(function)
    if contract is None:
        raise KeyError(function)
    if program.buffer != "infinite":
        return EveryProcsAnswer("UNKNOWN", reason="for every n only with --buffer infinite")
    if _has_loops(program, function):
        return EveryProcsAnswer("UNKNOWN", reason="loops with contracts are proved for single numbers of processes only")
    started, questions, reason = time.monotonic(), 0, ""
    for level in LEVELS:
        proof = None
        try:
            proof = Proof(program, contract, level, limits)
            proof.prove()
        except UnrecognisedError as why:
            reason = str(why)
        questions += proof.prover.questions if proof is not None else 0
        seconds = round(time.monotonic() - started, 6)
        if proof is not None and not reason:
            return EveryProcsAnswer("VERIFIED", _INPUTS[level], proof.most, solver_calls=questions, seconds=seconds)
        if level != LEVELS[-1]:
            reason = ""
    return EveryProcsAnswer("UNKNOWN", reason=reason, solver_calls=questions, seconds=round(time.monotonic() - started, 6))


def _has_loops(program: ContractProgram, function: str) -> bool:
    """Whether a function is a loop with a contract, or has one, or calls one that has."""
    seen: set[str] = set()
    todo = [function]
    while todo:
        name = todo.pop()
        contract = program.contract(name)
        if name in seen or contract is None:
            continue
        if contract.loop is not None:
            return True
        seen.add(name)
        todo += contract.calls
    return False
