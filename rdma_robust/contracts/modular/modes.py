"""The modes: against the contracts of callees, with their bodies, or the one and where it fails the other."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Literal

from rdma_robust.contracts.contract_answers import ContractEngine, ProcsAnswer, WeakCallee
from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.modular.barrier_check import BarrierCheck
from rdma_robust.contracts.modular.stronger_contracts import proposal
from rdma_robust.contracts.modular.widened_checks import Widened
from rdma_robust.contracts.runs.runs_engine import ENGINE
from rdma_robust.limits import Limits


class ModularEngine:
    """Checks functions of one program against the contracts of what they call; what is found out of callees is kept.

    `bodies` decides with real bodies, where that is needed.
    """

    def __init__(
        self, program: ContractProgram, bodies: ContractEngine, mode: Literal["auto", "modular"], limits: Limits
    ) -> None:
        self._program = program
        self._bodies = bodies
        self._mode = mode
        self._limits = limits
        self._widened = Widened(program, limits)

    def answer(self, function: str, procs: int) -> ProcsAnswer:
        """Return what holds of a function. Raises KeyError if the program has no contract of that name.

        VIOLATED comes from real bodies alone. What holds with real bodies and was not proved is VERIFIED with a hint at the
        contract that is weak or, in the mode `modular`, UNKNOWN.
        """
        contract = self._program.contract(function)
        if contract is None:
            raise KeyError(function)
        if not contract.calls:
            return replace(self._bodies(self._program, function, procs, self._limits), mode="modular")
        started = time.monotonic()
        check = BarrierCheck(self._program, function, procs, self._limits, widened=self._widened)
        if check.proved():
            return ProcsAnswer(
                procs,
                "VERIFIED",
                "modular",
                ENGINE,
                runs=check.tally.runs,
                states=check.tally.states,
                solver_calls=check.solver.calls,
                seconds=time.monotonic() - started,
            )
        found = self._bodies(self._program, function, procs, self._limits)
        if found.verdict != "VERIFIED" or check.problem is None:
            return found
        if check.problem.limit:
            return found if self._mode == "auto" else self._left_open(found, check.problem.text)
        return self._weak(found, function, check.problem.text, check.problem.callee)

    def _left_open(self, found: ProcsAnswer, reason: str) -> ProcsAnswer:
        return replace(found, verdict="UNKNOWN", mode="modular", reason=reason)

    def _weak(self, found: ProcsAnswer, function: str, needed: str, callee: str) -> ProcsAnswer:
        tried = proposal(self._program, function, found.procs, self._limits, callee)
        if tried is not None:
            callee = tried[0]
        contract = self._program.contract(function)
        if not callee and contract is not None:
            callee = ", ".join(contract.calls)
        weak = (WeakCallee(callee, needed, None if tried is None else tried[1]),)
        if self._mode == "auto":
            return replace(found, weak=weak)
        text = needed if tried is None else f"{needed}; {tried[0]}: add `{tried[1]}`"
        return replace(found, verdict="UNKNOWN", mode="modular", weak=weak, reason=f"weak contract: {text}")
