"""For which inputs a callee is known to meet its contract: more than its bounds name, if it meets it for more.

A value that is only moved may be anything: if the runs in which it is a token that nothing looks at show no violation, then
none do, as putting values for tokens changes neither what processes do nor which clauses hold. Numbers that are looked at
may be any integers if the runs with any integers show no violation. Lengths of arrays stay within bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from rdma_robust.contracts.language.contract_program import Contract, ContractProgram, InputBounds
from rdma_robust.contracts.language.function_instances import instance, unread_inputs
from rdma_robust.contracts.language.spec_terms import Spec
from rdma_robust.contracts.runs.run_inputs import NARROW, Wide
from rdma_robust.contracts.runs.run_terms import Condition, SymbolicTerm
from rdma_robust.contracts.runs.runs_engine import RunsCheck
from rdma_robust.contracts.runs.spec_reading import Snapshot, SpecEvaluator
from rdma_robust.contracts.runs.symbolic_data import Data, Decisions, Unknown, WeakError
from rdma_robust.limits import Limits


@dataclass(slots=True)
class Trust:
    """A contract that is met for inputs within its bounds, widened as `wide` says; `unread` are looked at by nothing.

    `meets` says whether it is met for wider inputs too; it is asked when a caller gives such inputs.
    """

    contract: Contract
    unread: frozenset[str]
    meets: Callable[[Wide], bool]
    wide: Wide = NARROW
    _tried: set[str] = field(default_factory=set)

    def holds_for(self, snapshots: list[Snapshot], on: Decisions) -> str:
        """Return the name of an input that may be another than those that were looked at, '' if there is none."""
        bounds = {each.name: each for each in self.contract.bounds}
        for process, snapshot in enumerate(snapshots):
            place = _Place(process, len(snapshots), {})
            for name, value in (*snapshot.parameters.items(), *snapshot.globals.items()):
                while not self._is_met(name, bounds.get(name), value, place, on):
                    if name in self._tried:
                        return name
                    self._tried.add(name)
                    self._widen(name, bounds.get(name))
        return ""

    def _is_met(self, name: str, bounds: InputBounds | None, value: Data, place: _Place, on: Decisions) -> bool:
        if name in self.wide.tokens or name in self.unread:
            return True
        return self._is_looked_at(bounds, value, place, on)

    def _widen(self, name: str, bounds: InputBounds | None) -> None:
        """Find out whether the contract is met for more values of one input: for all, all in arrays, or all numbers."""
        wide, more = self.wide, frozenset((name,))
        wider = [replace(wide, tokens=wide.tokens | more)]
        if bounds is not None:
            wider += [replace(wide, cells=wide.cells | more)] if bounds.lengths else []
            wider.append(replace(wide, numbers=wide.numbers | more))
        self.wide = next((each for each in wider if self.meets(each)), wide)

    def _is_looked_at(self, bounds: InputBounds | None, value: Data, place: _Place, on: Decisions) -> bool:
        if bounds is None:
            return isinstance(value, int | SymbolicTerm)
        depth = len(place.indices)
        if depth == len(bounds.lengths):
            if bounds.name in self.wide.cells:
                return True
            if not isinstance(value, int | SymbolicTerm):
                return False
            if bounds.low is None or bounds.high is None or bounds.name in self.wide.numbers:
                return True
            return _surely(on, _between(on, bounds.low, value, bounds.high, place))
        if isinstance(value, int | SymbolicTerm | Unknown):
            return False
        items = on.array(value)
        low, high = bounds.lengths[depth]
        return _surely(on, _between(on, low, len(items), high, place)) and all(
            self._is_looked_at(bounds, each, _Place(place.process, place.procs, {**place.indices, "ij"[depth]: at}), on)
            for at, each in enumerate(items)
        )


Proof = tuple[bool, int]
"""Whether something was proved, and how many states were looked at."""

_MORE: Final = 50
"""Branch states that a wider check may have more than twice those of the check within bounds."""


@dataclass(frozen=True, slots=True)
class _Place:
    process: int
    procs: int
    indices: dict[str, Data]


def _between(on: Decisions, low: Spec, value: int | SymbolicTerm, high: Spec, place: _Place) -> Condition:
    reader = SpecEvaluator(on, [Snapshot()] * place.procs)
    ends = [reader.number(each, place.process, place.indices) for each in (low, high)]
    terms = on.terms
    return terms.conjunction(
        (*(fine for _, fine in ends), terms.compare("<=", ends[0][0], value), terms.compare("<=", value, ends[1][0]))
    )


def _surely(on: Decisions, condition: Condition) -> bool:
    known = on.path.verdict(condition, on.terms)
    if known is None:
        against = on.terms.negation(condition)
        assert isinstance(against, SymbolicTerm)
        return on.feasible(against) is False
    return known


@dataclass(slots=True)
class WidenedChecks:
    """Finds out how far contracts are met, each once."""

    program: ContractProgram
    limits: Limits
    proved: Callable[[str, int, Wide, Limits], Proof] | None = None
    """Proves functions with loops from the invariants of these."""
    _known: dict[tuple[str, int], Trust | None] = field(default_factory=dict)

    def trust(self, function: str, procs: int) -> Trust | None:
        """Return for which inputs a function meets its contract, None if not even for those within bounds."""
        key = function, procs
        if key not in self._known:
            self._known[key] = self._found(function, procs)
        return self._known[key]

    def _found(self, function: str, procs: int) -> Trust | None:
        contract = self.program.contract(function)
        if contract is None:
            return None
        holds, states = self._meets(contract, procs, NARROW, self.limits)
        if not holds:
            return None
        most = _MORE + 2 * states
        limits = replace(self.limits, states=most if self.limits.states is None else min(most, self.limits.states))

        def meets(wide: Wide) -> bool:
            return self._meets(contract, procs, wide, limits)[0]

        return Trust(contract, unread_inputs(self.program, contract, instance(self.program, function, procs)), meets)

    def _meets(self, contract: Contract, procs: int, wide: Wide, limits: Limits) -> Proof:
        """Return whether a contract is met for such inputs, and the number of states looked at."""
        loops = (self.program.contract(each) for each in contract.calls)
        if self.proved is not None and any(each is not None and each.loop is not None for each in loops):
            found = self.proved(contract.name, procs, wide, limits)
            if found[0]:
                return found
        try:
            answer = RunsCheck(self.program, contract.name, procs, limits, wide=wide).answer()
        except WeakError:
            return False, 0
        return answer.verdict == "VERIFIED", answer.states
