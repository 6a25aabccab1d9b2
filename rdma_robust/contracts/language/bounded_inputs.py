"""The inputs at which a function's own check looks: what `bounds` allows and `requires` does not exclude."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import islice, product
from typing import Final

from rdma_robust.contracts.language.contract_program import Contract, InputBounds, StateClause
from rdma_robust.contracts.language.spec_folding import spec_conjuncts
from rdma_robust.contracts.language.spec_terms import Agree, On, Spec
from rdma_robust.contracts.language.spec_worth import CollectiveState, clause_holds, spec_value
from rdma_robust.errors import RdmaRobustError
from rdma_robust.limits import NEVER, Poll
from rdma_robust.messages.language.message_terms import FaultError, Value, require_number

MOST_INPUTS: Final = 1_000_000
"""Inputs of one process, before `requires` of all processes together excludes some."""

MOST_LENGTH: Final = 1_000
"""Elements of an array of an input."""

_INDICES: Final = ("i", "j")

OneInput = dict[str, Value]


class UnboundedInputsError(RdmaRobustError):
    """The inputs cannot be enumerated: says why, as the reason of UNKNOWN."""


def inputs_of(
    contract: Contract, globals_: Sequence[str], unread: frozenset[str], procs: int, poll: Poll = NEVER
) -> Iterator[tuple[OneInput, ...]]:
    """Yield the inputs within bounds that meet `requires`: for each process its parameters and globals by their names.

    What is `unread`, and has no bounds, is 0.

    Raises NoInputsError for one that has no bounds but is read, for bounds in which a fault occurs, and for too many inputs.
    """
    choice = _Choice(contract, tuple(globals_), unread, procs, poll)
    yield from choice.together([list(choice.own(each)) for each in range(procs)], ())


def inputs_of_one(
    contract: Contract, globals_: Sequence[str], unread: frozenset[str], alone: tuple[int, int], poll: Poll = NEVER
) -> Iterator[tuple[OneInput, ...]]:
    """Yield the inputs of a local function in one of so many processes; those of the others have no names. Else as above."""
    process, procs = alone
    choice = _Choice(contract, tuple(globals_), unread, procs, poll)
    for one in choice.own(process):
        yield tuple(one if each == process else {} for each in range(procs))


@dataclass(frozen=True, slots=True)
class _Choice:
    """Chooses inputs process by process, and drops what `requires` cannot be true for whatever the other processes have."""

    contract: Contract
    globals: tuple[str, ...]
    unread: frozenset[str]
    procs: int
    poll: Poll

    def own(self, process: int) -> Iterator[OneInput]:
        """Yield the inputs of one process that do not make false what `requires` says of it alone."""
        names = (*self.contract.parameters, *self.globals)
        bounds = {each.name: each for each in self.contract.bounds}
        free = [each for each in names if each not in bounds and each not in self.unread]
        if free:
            raise UnboundedInputsError(f"needs bounds: {', '.join(free)} may be anything")
        alone = [each for each in self._required() if _looks_at_itself(each)]
        values = [self._values(bounds[each], process) if each in bounds else [0] for each in names]
        for number_, chosen in enumerate(self.poll.each(product(*values))):
            if number_ >= MOST_INPUTS:
                raise UnboundedInputsError(f"process {process} alone has more than {MOST_INPUTS:,} inputs within the bounds")
            one = dict(zip(names, chosen, strict=True))
            state = self._of_one(one, process)
            if all(clause_holds(each, state, process, self.poll) for each in alone):
                yield one

    def together(self, own: list[list[OneInput]], chosen: tuple[OneInput, ...]) -> Iterator[tuple[OneInput, ...]]:
        """Yield what all processes have together, where the first ones have `chosen`."""
        process = len(chosen)
        if process == self.procs:
            state = CollectiveState.at_entry(self._part(chosen, self.contract.parameters), self._part(chosen, self.globals))
            required = [each for each in self.contract.clauses if each.kind == "requires"]
            if all(clause_holds(each, state, at, self.poll) for each in required for at in range(self.procs)):
                yield chosen
            return
        for one in self.poll.each(own[process]):
            if all(self._agree(each, chosen, one) for each in self._agreed()):
                yield from self.together(own, (*chosen, one))

    def _required(self) -> Iterator[StateClause]:
        """Yield what `requires` says, clause by clause, and those that are a conjunction in parts."""
        for clause in self.contract.clauses:
            if clause.kind == "requires":
                parts = spec_conjuncts(clause.condition) if clause.assumes is None else [clause.condition]
                yield from (replace(clause, condition=each) for each in parts)

    def _agreed(self) -> list[Spec]:
        """Return what all processes must have the same, and which each can compute by itself."""
        required = (each.condition for each in self._required() if each.assumes is None)
        return [each.value for each in required if isinstance(each, Agree) and _alone(each.value)]

    def _agree(self, spec: Spec, chosen: tuple[OneInput, ...], one: OneInput) -> bool:
        try:
            first = spec_value(spec, self._of_one(chosen[0] if chosen else one, 0), 0, poll=self.poll)
            return first == spec_value(spec, self._of_one(one, len(chosen)), len(chosen), poll=self.poll)
        except FaultError:
            return False

    def _of_one(self, one: OneInput, process: int) -> CollectiveState:
        (parameters,), (globals_,) = self._part((one,), self.contract.parameters), self._part((one,), self.globals)
        return CollectiveState.of_one(self.procs, process, parameters, globals_)

    def _part(self, inputs: tuple[OneInput, ...], names: Sequence[str]) -> tuple[OneInput, ...]:
        return tuple({name: each[name] for name in names} for each in inputs)

    def _values(self, bounds: InputBounds, process: int) -> list[Value]:
        try:
            found = list(islice(self._arrays(bounds, bounds.lengths, {}, process), MOST_INPUTS + 1))
        except FaultError as fault:
            raise UnboundedInputsError(
                f"the bounds of {bounds.name} have no meaning in process {process}: {fault}"
            ) from None
        if len(found) > MOST_INPUTS:
            raise UnboundedInputsError(f"{bounds.name} has more than {MOST_INPUTS:,} values within its bounds")
        return found

    def _arrays(
        self, bounds: InputBounds, lengths: tuple[tuple[Spec, Spec], ...], indices: dict[str, Value], process: int
    ) -> Iterator[Value]:
        """Yield the values within bounds of an element with these indices: a number, or arrays by their lengths."""

        def range_of(low: Spec, high: Spec) -> range:
            nothing = CollectiveState.of_one(self.procs, process, {}, {})
            first, last = (require_number(spec_value(each, nothing, process, indices)) for each in (low, high))
            if last - first >= MOST_INPUTS:
                raise UnboundedInputsError(f"{bounds.name} has more than {MOST_INPUTS:,} values within its bounds")
            return range(first, last + 1)

        if not lengths:
            if bounds.low is None or bounds.high is None:
                raise UnboundedInputsError(f"needs bounds: the elements of {bounds.name} may be anything")
            yield from range_of(bounds.low, bounds.high)
            return
        index = _INDICES[len(indices)]
        for length in self.poll.each(range_of(*lengths[0])):
            if length > MOST_LENGTH:
                raise UnboundedInputsError(f"{bounds.name} may have more than {MOST_LENGTH:,} elements")
            if length < 0:
                continue
            yield from product(
                *(list(self._arrays(bounds, lengths[1:], {**indices, index: at}, process)) for at in range(length))
            )


def _looks_at_itself(clause: StateClause) -> bool:
    return _alone(clause.condition) and (clause.assumes is None or _alone(clause.assumes))


def _alone(spec: Spec) -> bool:
    """Whether what `spec` is worth depends on nothing but the process for which it is evaluated."""
    return not any(isinstance(each, On | Agree) for each in records_in(spec))


def records_in(spec: object) -> Iterator[object]:
    """Yield a record of expressions and all records in it: of clauses too, and of contracts."""
    if isinstance(spec, tuple):
        for each in spec:
            yield from records_in(each)
    elif is_dataclass(spec):
        yield spec
        for part in fields(spec):
            yield from records_in(getattr(spec, part.name))
