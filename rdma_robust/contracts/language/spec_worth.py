"""Values of contract expressions in a collective state, and the clauses that hold there or speak of a process.

Operators do what they do in the language's expressions; besides, `==` and `!=` compare two arrays, which are the same if
they have the same elements. To compare a number with an array is a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, assert_never

from rdma_robust.contracts.language.contract_program import Contract, PathClause, PathKind, ProcessSet, StateClause
from rdma_robust.contracts.language.spec_terms import (
    Agree,
    Apply,
    BoundVariable,
    FunctionResult,
    Global,
    Item,
    LengthOf,
    LetBinding,
    NewArray,
    OldValue,
    On,
    Parameter,
    Quantification,
    Spec,
    SpecCount,
    SpecNumber,
    SpecPid,
)
from rdma_robust.expr import OPERATORS
from rdma_robust.limits import NEVER, Poll
from rdma_robust.messages.language.message_terms import FaultError, Value, element_at, require_array, require_number, zeros

Registers = Mapping[str, Value]
NOTHING_BOUND: Final[Registers] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CollectiveState:
    """The values of each process when it passes a collate: `now`, its globals.

    `parameters` are those at entry, `before` the globals at the collective entry, where `now` is the same. `results` are
    those of a collective exit, None where the function gives none.
    """

    parameters: tuple[Registers, ...]
    before: tuple[Registers, ...]
    now: tuple[Registers, ...]
    results: tuple[Value | None, ...]

    @classmethod
    def at_entry(cls, parameters: tuple[Registers, ...], globals_: tuple[Registers, ...]) -> CollectiveState:
        """Return the state of a collective entry."""
        return cls(parameters, globals_, globals_, (None,) * len(globals_))

    @classmethod
    def of_one(cls, procs: int, process: int, parameters: Registers, globals_: Registers) -> CollectiveState:
        """Return what one process has as it enters, for what does not look at others."""
        nothing: Registers = {}
        both = [
            tuple(own if each == process else nothing for each in range(procs)) for own in (parameters, globals_)
        ]  # fmt: skip
        return cls.at_entry(both[0], both[1])

    @property
    def procs(self) -> int:
        return len(self.now)

    def entry(self) -> CollectiveState:
        """Return the state at the collective entry."""
        return self.at_entry(self.parameters, self.before)


def is_true(spec: Spec, state: CollectiveState, process: int, poll: Poll = NEVER) -> bool:
    """Whether `spec` is a number other than 0 for a process. Raises FaultError, and LimitReached as `poll` does."""
    return bool(require_number(spec_value(spec, state, process, poll=poll)))


def clause_holds(clause: StateClause, state: CollectiveState, process: int, poll: Poll = NEVER) -> bool:
    """Whether a clause holds for a process: where its behavior's `assumes` is true at entry, the condition is.

    A fault in `assumes` is one of the clause.
    """
    try:
        if clause.assumes is not None and not is_true(clause.assumes, state.entry(), process, poll):
            return True
        return is_true(clause.condition, state, process, poll)
    except FaultError:
        return False


def spec_value(
    spec: Spec, state: CollectiveState, process: int, bound: Registers = NOTHING_BOUND, poll: Poll = NEVER
) -> Value:
    """Return what `spec` is worth for a process, from left to right. Raises FaultError, and LimitReached as `poll` does.

    `poll` is called for every element of a range.
    """
    return _Look(state, process, bound, poll).value(spec)


@dataclass(frozen=True, slots=True)
class _Look:
    """Who looks at which state, and the variables that are bound."""

    state: CollectiveState
    process: int
    bound: Registers
    poll: Poll

    def value(self, spec: Spec) -> Value:
        match spec:
            case SpecNumber(value):
                return value
            case SpecPid():
                return self.process
            case SpecCount():
                return self.state.procs
            case Parameter(name):
                return self.state.parameters[self.process][name]
            case Global(name):
                return self.state.now[self.process][name]
            case BoundVariable(name):
                return self.bound[name]
            case FunctionResult():
                return self._result()
            case Apply(op, operands):
                return _LAZY[op](self, operands) if op in _LAZY else self._applied(op, operands)
            case Item(of, index):
                return element_at(self.value(of), self.value(index))
            case LengthOf(of):
                return len(require_array(self.value(of)))
            case NewArray(size):
                return zeros(self.value(size))
            case _:
                return self._collective(spec)

    def number(self, spec: Spec) -> int:
        return require_number(self.value(spec))

    def truth(self, spec: Spec) -> bool:
        return bool(self.number(spec))

    def _collective(self, spec: On | OldValue | Agree | LetBinding | Quantification) -> Value:
        match spec:
            case On(process, value):
                return self._at(self.number(process)).value(value)
            case OldValue(value):
                return replace(self, state=self.state.entry()).value(value)
            case Agree(value):
                values = [self._at(each).value(value) for each in range(self.state.procs)]
                return int(all(each == values[0] for each in values))
            case LetBinding(name, value, inner):
                return self._with(name, self.value(value)).value(inner)
            case Quantification():
                return self._quantified(spec)
            case _:
                assert_never(spec)

    def _at(self, process: int) -> _Look:
        if not 0 <= process < self.state.procs:
            raise FaultError("index")
        return replace(self, process=process)

    def _with(self, name: str, value: Value) -> _Look:
        return replace(self, bound={**self.bound, name: value})

    def _result(self) -> Value:
        result = self.state.results[self.process]
        if result is None:
            raise FaultError("kind")
        return result

    def _applied(self, op: str, operands: tuple[Spec, ...]) -> Value:
        values = [self.value(each) for each in operands]
        if op in ("==", "!=") and isinstance(values[0], tuple) and isinstance(values[1], tuple):
            return int((values[0] == values[1]) == (op == "=="))
        numbers = [require_number(each) for each in values]
        if len(numbers) == 1:
            return -numbers[0] if op == "-" else int(not numbers[0])
        if op in "/%" and not numbers[1]:
            raise FaultError("division")
        return OPERATORS[op](*numbers)

    def _quantified(self, spec: Quantification) -> Value:
        looks = (
            self._with(spec.name, at) for at in self.poll.each(range(self.number(spec.low), self.number(spec.high) + 1))
        )
        match spec.kind:
            case "forall":
                return int(all(each.truth(spec.inner) for each in looks))
            case "exists":
                return int(any(each.truth(spec.inner) for each in looks))
            case "sum":
                return sum(each.number(spec.inner) for each in looks)
            case "count":
                return sum(each.truth(spec.inner) for each in looks)
        values = [each.number(spec.inner) for each in looks]
        if not values:
            raise FaultError("index")
        return max(values) if spec.kind == "max" else min(values)


_LAZY: Final[Mapping[str, Callable[[_Look, tuple[Spec, ...]], Value]]] = {
    "&&": lambda look, of: int(look.truth(of[0]) and look.truth(of[1])),
    "||": lambda look, of: int(look.truth(of[0]) or look.truth(of[1])),
    "==>": lambda look, of: int(not look.truth(of[0]) or look.truth(of[1])),
    "?": lambda look, of: look.value(of[1] if look.truth(of[0]) else of[2]),
}


# What path clauses of a contract say in one process: their sets as numbers, from the state in which the process enters.


@dataclass(frozen=True, slots=True)
class LocalPathClause:
    """A path clause of one process; `tag` and `port` are None for any.

    Where a fault occurs in the clause it does not hold: of a guarantee that is a violation (PGV) as the process enters, of a
    callee's requirement one (PRV) as the process enters, and the own requirement keeps nobody quiet. Sets are empty then.
    """

    clause: PathClause = field(compare=False)
    kind: PathKind
    who: frozenset[int] = frozenset()
    tag: int | None = None
    port: int | None = None
    until: frozenset[int] = frozenset()
    faulty: bool = False

    def speaks_of(self, other: int, port: int, tag: int) -> bool:
        """Whether a message with this tag, to or from `other` on `port`, is one of which the clause speaks."""
        return other in self.who and self.port in (None, port) and self.tag in (None, tag)

    def covers(self, sender: int, port: int, tag: int | None) -> bool:
        """Whether no message for a receive of this tag (None: any) comes from `sender` while this `quiet from` is obeyed."""
        return sender in self.who and self.port in (None, port) and (self.tag is None or self.tag == tag)


def paths_of(contract: Contract, state: CollectiveState, process: int) -> tuple[LocalPathClause, ...]:
    """Return the path clauses of `contract` in a process that enters; those whose `if` is false are left out.

    Of `state` only what the process itself has is looked at.
    """
    found = []
    for clause in contract.paths:
        try:
            if clause.condition is None or is_true(clause.condition, state, process):
                found.append(_path(clause, state, process))
        except FaultError:
            found.append(LocalPathClause(clause, clause.kind, faulty=True))
    return tuple(found)


def _path(clause: PathClause, state: CollectiveState, process: int) -> LocalPathClause:
    who = _members(clause.who, state, process)
    tag = None if clause.tag is None else require_number(spec_value(clause.tag, state, process))
    until = frozenset[int]() if clause.until is None else _members(clause.until, state, process)
    return LocalPathClause(clause, clause.kind, who, tag, clause.port, until)


def _members(processes: ProcessSet, state: CollectiveState, process: int) -> frozenset[int]:
    """Return the numbers of a set; those that are no process contribute nothing."""
    low, high = (require_number(spec_value(each, state, process)) for each in (processes.low, processes.high))
    found = frozenset(range(max(low, 0), min(high, state.procs - 1) + 1))
    return found - {process} if processes.others else found
