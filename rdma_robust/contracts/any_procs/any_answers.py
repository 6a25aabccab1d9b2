"""What is proved of functions for every number of processes."""

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


class EveryProcs:
    """Proves functions of one program; what is found out of callees is kept."""

    def __init__(self, program: ContractProgram, limits: Limits) -> None:
        self._program = program
        self._limits = limits
        self._answers: dict[str, EveryProcsAnswer] = {}

    def answer(self, function: str) -> EveryProcsAnswer:
        """Return whether a function is proved to meet its contract for every n, at the most inputs for which that is found.

        Raises KeyError for a function without a contract, and LimitReached.
        """
        if function not in self._answers:
            self._answers[function] = self._tried(function)
        return self._answers[function]

    def _tried(self, function: str) -> EveryProcsAnswer:
        contract = self._program.contract(function)
        if contract is None:
            raise KeyError(function)
        if self._program.buffer != "infinite":
            return EveryProcsAnswer("UNKNOWN", reason="for every n only with --buffer infinite")
        if _has_loops(self._program, function):
            reason = "loops with contracts are proved for single numbers of processes only"
            return EveryProcsAnswer("UNKNOWN", reason=reason)
        started, questions, reason = time.monotonic(), 0, ""
        for level in LEVELS:
            proof = None
            try:
                proof = Proof(self._program, contract, level, self._limits, self._proved)
                proof.prove()
            except UnrecognisedError as why:
                reason = str(why)
            else:
                reason = ""
            questions += 0 if proof is None else proof.prover.questions
            if proof is not None and not reason:
                return EveryProcsAnswer("VERIFIED", _INPUTS[level], proof.most, "", questions, _since(started))
        return EveryProcsAnswer("UNKNOWN", reason=reason, solver_calls=questions, seconds=_since(started))

    def _proved(self, function: str) -> tuple[Level, int | None]:
        found = self.answer(function)
        if found.inputs is None:
            raise UnrecognisedError(f"{function}: {found.reason}")
        return next(level for level, inputs in _INPUTS.items() if inputs == found.inputs), found.most


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


def _since(started: float) -> float:
    return round(time.monotonic() - started, 6)
