"""One function against the contracts of what it calls: conditions M1 to M7 on all its barrier runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rdma_robust.contracts.language.contract_program import CollectiveLoop, Contract
from rdma_robust.contracts.language.loop_rounds import loop_of, whole_contract
from rdma_robust.contracts.modular.barrier_machine import BarrierMachine, CalleeRules
from rdma_robust.contracts.modular.later_messages import Early, LaterMessages
from rdma_robust.contracts.modular.round_checks import Rounds
from rdma_robust.contracts.modular.widened_checks import WidenedChecks
from rdma_robust.contracts.runs.path_cases import PossibleViolation
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_code import run_code
from rdma_robust.contracts.runs.run_judge import Judge
from rdma_robust.contracts.runs.run_machine import RunMachine
from rdma_robust.contracts.runs.run_points import RunCode
from rdma_robust.contracts.runs.run_promises import Promises
from rdma_robust.contracts.runs.run_state import SymbolicRun
from rdma_robust.contracts.runs.runs_engine import FoundError, RunsCheck
from rdma_robust.contracts.runs.spec_reading import Snapshot
from rdma_robust.contracts.runs.symbolic_data import WeakError
from rdma_robust.messages.language.message_program import Process


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the contracts of callees are not enough: `callee` is the one that says too little, '' if it may be any.

    Or, as the `limit`, why barrier runs were not all looked at, which is no contract's fault.
    """

    text: str
    callee: str = ""
    limit: bool = False


def _unknown_rounds(name: str) -> str:
    return f"the rounds of {name} were not looked at"


@dataclass(slots=True)
class BarrierCheck(RunsCheck):
    """A check with callees by their contracts alone. `problem` is the first that was found."""

    widened: WidenedChecks | None = None
    problem: Problem | None = None
    rounds: Callable[[str], str] = _unknown_rounds
    """Returns for a loop why it is not known that its rounds keep its invariants, or nothing."""

    def proved(self) -> bool:
        """Return whether the function meets its contract if its callees do, as `widened` finds that they do."""
        self.in_order = True
        try:
            answer = self.answer()
        except WeakError as weak:
            self.problem = Problem(f"what is unknown is looked at: {weak}", _callee_in(str(weak)))
            return False
        if self.problem is None and answer.verdict != "VERIFIED":
            self.problem = Problem(answer.reason, limit=True)
        return self.problem is None

    def contracts(self) -> dict[str, Contract]:
        """Return the contracts of all calls: of a loop that of all its rounds."""
        found = RunsCheck.contracts(self)
        wholes = (whole_contract(each) for each in found.values() if each.loop is not None and not each.loop.is_round)
        return {**found, **{each.name: each for each in wholes}}

    def code(self, process: Process, contracts: Mapping[str, Contract]) -> RunCode:
        """Return the code of a process without the bodies of callees that have contracts."""
        callees = contracts.keys() - {self.function}
        return run_code(process, contracts, callees, rendezvous=self.program.buffer == "zero")

    def machine(self, codes: Sequence[RunCode], collective: frozenset[str], judge: Judge) -> RunMachine:
        """Return a machine for barrier runs."""
        made = BarrierMachine(codes, self.program.globals, collective, self.on, judge)
        made.rules, made.judge = CalleeRules(judge.contracts, self._outside), judge
        return made

    def _outside(self, run: SymbolicRun, function: str, snapshots: list[Snapshot]) -> None:
        """Look whether a callee is known to meet its contract for what it is given. Raises FoundError if not."""
        contract = self.contracts()[function]
        if contract.loop is not None:
            self._loop(run, contract, contract.loop, snapshots)
        else:
            self._callee(function, snapshots)
        if self.problem is not None:
            raise FoundError

    def _loop(self, run: SymbolicRun, contract: Contract, loop: CollectiveLoop, snapshots: list[Snapshot]) -> None:
        """Look whether the rounds of a loop are known to keep its invariants, and what holds at its first head."""
        name = loop_of(contract)
        why = self.rounds(name)
        if why:
            self.problem = Problem(why, name)
        for condition, text in Rounds(self.on, self.procs, loop).known_at_first(snapshots):
            if self.is_possible(run.path, condition):
                self.problem = self.problem or Problem(text, name)

    def _callee(self, function: str, snapshots: list[Snapshot]) -> None:
        assert self.widened is not None
        trust = self.widened.trust(function, self.procs)
        if trust is None:
            self.problem = Problem(f"{function} does not meet its contract, or that is not known", function)
        else:
            name = trust.holds_for(snapshots, self.on)
            if name:
                text = f"{function} is called with other values of {name} than its own check looks at"
                self.problem = Problem(text, function)

    def ended(self, run: SymbolicRun) -> None:
        """Look at M5 to M7."""
        for early in LaterMessages(Promises(self.on, self.procs), self.procs).found(run):
            self._early(run, early)

    def _early(self, run: SymbolicRun, early: Early) -> None:
        if not self.is_possible(run.path, early.condition):
            return
        whose = f"in {early.callee}" if early.callee else "later"
        why = {
            "quiet to": "which the function promises not to do yet",
            "quiet from": "which a callee that was left forbids",
            "wildcard": "which a receive from any may take too early",
        }[early.rule]
        self.problem = Problem(f"process {early.sender} may send to process {early.receiver} {whose}, {why}", early.callee)
        raise FoundError

    def told(self, _run: SymbolicRun, path: Path, finding: PossibleViolation) -> None:
        """Take what may be a violation: it is a problem if it is not surely none."""
        if self.is_possible(path, finding.condition):
            self.problem = Problem(f"{finding.error}: {finding.text}")
            raise FoundError


def _callee_in(text: str) -> str:
    """Return the function after whose call a value is unknown, as names of unknown values have it."""
    _, _, behind = text.rpartition(" after ")
    return behind.partition(" ")[0]
