"""All runs of one round of a loop, with what has to hold from round to round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.modular.barrier_check import BarrierCheck
from rdma_robust.contracts.modular.round_checks import Rounds
from rdma_robust.contracts.modular.widened_checks import WidenedChecks
from rdma_robust.contracts.runs.path_cases import PossibleViolation
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_state import SymbolicRun
from rdma_robust.contracts.runs.runs_engine import FoundError, RunsCheck
from rdma_robust.contracts.runs.symbolic_data import WeakError
from rdma_robust.limits import Limits


def wrong_between(
    program: ContractProgram, name: str, procs: int, limits: Limits, widened: WidenedChecks, *, rounds: Callable[[str], str]
) -> str:
    """Return what does not hold from round to round of a loop whose rounds keep its invariants, or why that is open.

    Nothing if all does. `program` has the round as a function of the name of the loop. `rounds` says of a loop inside of
    it why that is not known to keep what its contract says, which then counts for nothing.
    """
    contract = program.contract(name)
    assert contract is not None
    assert contract.loop is not None
    if not contract.loop.waits and not any(each.kind == "quiet from" for each in contract.paths):
        return ""
    if contract.calls:
        barrier = _BarrierRounds(program, name, procs, limits, widened=widened, rounds=rounds)
        if not barrier.looked():
            return ""
    return _RealRounds(program, name, procs, limits).looked()


@dataclass(slots=True)
class _RealRounds(RunsCheck):
    """Rounds with real bodies."""

    wrong: str = ""

    def looked(self) -> str:
        """Return what is wrong, or why that is open."""
        answer = self.answer()
        return self.wrong or answer.reason

    def ended(self, run: SymbolicRun) -> None:
        """Look at what has to hold from round to round."""
        self.wrong = _wrong(self, run)
        if self.wrong:
            raise FoundError

    def told(self, _run: SymbolicRun, _path: Path, _finding: PossibleViolation) -> None:
        """Take no violation: rounds are known to show none."""


@dataclass(slots=True)
class _BarrierRounds(BarrierCheck):
    """Rounds with callees by their contracts alone."""

    wrong: str = ""

    def looked(self) -> str:
        """Return what is wrong, or why that is open."""
        self.in_order = True
        try:
            answer = self.answer()
        except WeakError as weak:
            return f"what is unknown is looked at: {weak}"
        return self.wrong or answer.reason or ("" if self.problem is None else self.problem.text)

    def ended(self, run: SymbolicRun) -> None:
        """Look at what has to hold from round to round."""
        self.wrong = _wrong(self, run)
        if self.wrong:
            raise FoundError

    def told(self, _run: SymbolicRun, _path: Path, _finding: PossibleViolation) -> None:
        """Take no violation: rounds are known to show none."""


def _wrong(check: RunsCheck, run: SymbolicRun) -> str:
    contract = check.program.contract(check.function)
    assert contract is not None
    assert contract.loop is not None
    rounds = Rounds(check.on, check.procs, contract.loop)
    for condition, text in (*rounds.unknown_after(run), *rounds.disturbed_later(run)):
        if check.is_possible(run.path, condition):
            return text
    return ""
