"""The modes: against the contracts of callees, with their bodies, or the one and where it fails the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from rdma_robust.contracts.contract_answers import ContractEngine, ProcsAnswer, WeakCallee
from rdma_robust.contracts.language.contract_program import AssignsClause, Contract, ContractProgram, PathClause, ProcessSet
from rdma_robust.contracts.language.loop_rounds import round_program
from rdma_robust.contracts.language.spec_terms import Apply, Parameter, Spec, SpecCount, SpecNumber, SpecPid
from rdma_robust.contracts.modular.barrier_check import BarrierCheck, Rounds
from rdma_robust.contracts.modular.widened_checks import Proof, WidenedChecks
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_inputs import NARROW, PossibleViolation, Wide
from rdma_robust.contracts.runs.run_state import SymbolicRun
from rdma_robust.contracts.runs.runs_engine import ENGINE, FoundError, RunsCheck
from rdma_robust.contracts.runs.symbolic_data import WeakError
from rdma_robust.limits import Limits

ENDLESS: Final = "it is not known whether the loop ends: its contract has no `decreases`"


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
        self._widened = WidenedChecks(program, limits, self._proved)
        self._of_rounds: dict[str, ModularEngine] = {}
        self._rounds: dict[tuple[str, int], str] = {}

    def answer(self, function: str, procs: int) -> ProcsAnswer:
        """Return what holds of a function. Raises KeyError if the program has no contract of that name.

        VIOLATED comes from real bodies alone. What holds with real bodies and was not proved is VERIFIED with a hint at the
        contract that is weak or, in the mode `modular`, UNKNOWN.
        """
        contract = self._program.contract(function)
        if contract is None:
            raise KeyError(function)
        if contract.loop is not None and not contract.loop.is_round:
            return self._engine(contract).answer(function, procs)
        found = self._decided(contract, procs)
        if contract.loop is not None and found.verdict == "VERIFIED":
            why = wrong_between(
                self._program, function, procs, self._limits, self._widened, rounds=lambda name: self._why_not(name, procs)
            )
            return replace(found, verdict="UNKNOWN", reason=why) if why else found
        return found

    def _engine(self, loop: Contract) -> ModularEngine:
        """Return what decides the rounds of a loop."""
        found = self._of_rounds.get(loop.name)
        if found is None:
            program = round_program(self._program, loop)
            found = self._of_rounds[loop.name] = ModularEngine(program, self._bodies, self._mode, self._limits)
        return found

    def _why_not(self, loop: str, procs: int) -> str:
        """Return why the rounds of a loop are not known to keep its invariants and to come to an end, or nothing."""
        key = loop, procs
        if key not in self._rounds:
            self._rounds[key] = self._why_no_rounds(loop, procs)
        return self._rounds[key]

    def _why_no_rounds(self, loop: str, procs: int) -> str:
        contract = self._program.contract(loop)
        assert contract is not None
        assert contract.loop is not None
        if contract.loop.ends is None and contract.loop.decreases is None and ENDLESS:
            return ENDLESS
        found = self._engine(contract).answer(loop, procs)
        if found.verdict == "VERIFIED":
            return ""
        return f"the rounds of {loop} do not keep its invariants" if found.verdict == "VIOLATED" else found.reason

    def _check(self, function: str, procs: int, wide: Wide, limits: Limits) -> BarrierCheck:
        def rounds(name: str) -> str:
            return self._why_not(name, procs)

        return BarrierCheck(self._program, function, procs, limits, wide=wide, widened=self._widened, rounds=rounds)

    def _proved(self, function: str, procs: int, wide: Wide, limits: Limits) -> Proof:
        check = self._check(function, procs, wide, limits)
        return check.proved(), check.tally.states

    def _decided(self, contract: Contract, procs: int) -> ProcsAnswer:
        """Return what holds of a function, or of a round of a loop as one."""
        function = contract.name
        if not contract.calls:
            return replace(self._bodies(self._program, function, procs, self._limits), mode="modular")
        started = time.monotonic()
        check = self._check(function, procs, NARROW, self._limits)
        if check.proved():
            return ProcsAnswer(
                procs,
                "VERIFIED",
                "modular",
                ENGINE,
                reason=check.nothing(),
                runs=check.tally.runs,
                states=check.tally.states,
                solver_calls=check.solver.calls,
                seconds=time.monotonic() - started,
            )
        found = self._bodies(self._program, function, procs, self._limits)
        loops = [each for each in map(self._program.contract, contract.calls) if each is not None and each.loop is not None]
        if found.verdict == "UNKNOWN" and check.problem is not None and loops:
            return replace(found, reason=f"{check.problem.text}; with all rounds of loops: {found.reason}")
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


# Clauses that a callee's contract could say besides. Each is tried: the callee meets it, and the caller is proved by it.

_ALL = ProcessSet(SpecNumber(0), Apply("-", (SpecCount(), SpecNumber(1))))


def proposal(program: ContractProgram, function: str, procs: int, limits: Limits, first: str = "") -> tuple[str, str] | None:
    """Return a callee of `function` and a clause that is enough to prove it, None if none of those tried is.

    `first` is the callee to begin with.
    """
    own = program.contract(function)
    callees = [] if own is None else sorted(own.calls, key=lambda name: name != first)
    for name in callees:
        contract = next((each for each in program.contracts if each.name == name), None)
        if contract is None or contract.loop is not None:
            continue
        for text, stronger in _stronger(contract):
            changed = replace(
                program, contracts=tuple(stronger if each.name == name else each for each in program.contracts)
            )
            widened = WidenedChecks(changed, limits)
            if widened.trust(name, procs) is None:
                continue
            if BarrierCheck(changed, function, procs, limits, widened=widened).proved():
                return name, text
    return None


def _stronger(contract: Contract) -> Iterator[tuple[str, Contract]]:
    if contract.frames is None:
        yield "assigns \\nothing", replace(contract, frames=(AssignsClause(()),))
    if contract.kind == "local":
        return
    for text, path in _paths(contract):
        yield text, replace(contract, paths=(*contract.paths, path))


def _paths(contract: Contract) -> Iterator[tuple[str, PathClause]]:
    ranks: list[tuple[str, Spec]] = [(name, Parameter(name)) for name in contract.parameters]
    ranks.append(("0", SpecNumber(0)))
    for name, rank in ranks:
        other = Apply("!=", (SpecPid(), rank))
        until = ProcessSet(rank, rank)
        text = f"quiet to \\all until {name} if PID != {name}"
        yield text, PathClause("quiet to", _ALL, until=until, condition=other)
    yield "quiet to \\all until \\all", PathClause("quiet to", _ALL, until=_ALL)
    yield "waitsfor \\all", PathClause("waitsfor", _ALL)
    for name, rank in ranks:
        yield f"waitsfor {name}", PathClause("waitsfor", ProcessSet(rank, rank))
        own = Apply("==", (SpecPid(), rank))
        yield f"waitsfor \\all if PID == {name}", PathClause("waitsfor", _ALL, condition=own)


# All runs of one round of a loop, with what has to hold from round to round.


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
