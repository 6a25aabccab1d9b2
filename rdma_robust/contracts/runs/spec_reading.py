"""Clauses over collective states whose values are not all known: the condition under which a clause holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

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
from rdma_robust.contracts.runs.run_terms import Condition, Number, SymbolicTerm
from rdma_robust.contracts.runs.symbolic_data import ArrayInput, Data, Decisions, NeedsDecisionError, Unknown, WeakError
from rdma_robust.contracts.runs.term_code import operated
from rdma_robust.messages.language.message_terms import FaultError

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The values of one process when it passes; `parameters` are as at entry, `result` is None where there is none."""

    parameters: Mapping[str, Data] = field(default_factory=dict)
    globals: Mapping[str, Data] = field(default_factory=dict)
    result: Data | None = None


class DeadError(Exception):
    """A fault for all inputs for which an expression is evaluated at all."""


class SpecEvaluator:
    """Evaluates clauses over `states`, with `\\pre` over `befores`; what faults is kept as a condition beside the value.

    Raises ForkError where a length or range has to be known first, and TooManyError.
    """

    def __init__(self, on: Decisions, states: Sequence[Snapshot], befores: Sequence[Snapshot] | None = None) -> None:
        self._on = on
        self._terms = on.terms
        self._states = states
        self._befores = befores
        self._count = len(states)
        self._guards: list[Condition] = []
        self._fine: list[Condition] = []

    def holds(self, spec: Spec, process: int, assumes: Spec | None = None) -> Condition:
        """Return the condition under which a clause is true for a process, if what it `assumes` was at entry.

        A clause in which a fault occurs is not.
        """
        self._guards, self._fine = [], []
        try:
            whole = spec if assumes is None else Apply("==>", (OldValue(assumes), spec))
            value = self._truth(whole, process, {})
        except DeadError:
            return False
        return self._terms.conjunction((*self._fine, value))

    def number(self, spec: Spec, process: int, bound: Mapping[str, Data] | None = None) -> tuple[Number, Condition]:
        """Return a number and the condition under which there is no fault."""
        self._guards, self._fine = [], []
        try:
            value = self._on.number(self._value(spec, process, bound or {}))
        except (DeadError, FaultError):
            return 0, False
        return value, self._terms.conjunction(self._fine)

    def value(self, spec: Spec, process: int, bound: Mapping[str, Data] | None = None) -> tuple[Data, Condition]:
        """Return a value and the condition under which there is no fault."""
        self._guards, self._fine = [], []
        try:
            value = self._value(spec, process, bound or {})
        except (DeadError, FaultError):
            return 0, False
        return value, self._terms.conjunction(self._fine)

    # faults and what is only evaluated sometimes

    def _need(self, condition: Condition) -> None:
        """Note that it is a fault if a condition is false here."""
        known = self._on.path.verdict(condition, self._terms)
        if known is True:
            return
        against = [self._terms.negation(each) for each in self._guards]
        self._fine.append(self._terms.disjunction((*against, condition)))
        if known is False:
            raise DeadError

    def _fault(self) -> NoReturn:
        self._need(False)
        raise DeadError

    def _under(self, guard: Condition, made: Callable[[], Made]) -> Made | None:
        """Return what is only evaluated where `guard` is true; None if it faults there.

        Raises UndecidedError if it takes a decision: then the guard is to be decided first.
        """
        fine = len(self._fine)
        self._guards.append(guard)
        self._on.trying += 1
        try:
            return made()
        except DeadError:
            return None
        except NeedsDecisionError:
            del self._fine[fine:]
            raise
        finally:
            self._guards.pop()
            self._on.trying -= 1

    def _known(self, condition: Condition) -> bool | None:
        return self._on.path.verdict(condition, self._terms)

    # values

    def _truth(self, spec: Spec, process: int, bound: Mapping[str, Data]) -> Condition:
        if isinstance(spec, Apply) and spec.op in ("&&", "||", "==>"):
            return self._junction(spec, process, bound)
        if isinstance(spec, Apply) and spec.op == "!":
            return self._terms.negation(self._truth(spec.operands[0], process, bound))
        if isinstance(spec, Quantification) and spec.kind in ("forall", "exists"):
            return self._all_or_some(spec, process, bound)
        return self._terms.truth(self._number(self._value(spec, process, bound)))

    def _number(self, value: Data) -> Number:
        if isinstance(value, tuple | ArrayInput):
            self._fault()
        return self._on.number(value)

    def _items(self, value: Data) -> tuple[Data, ...]:
        if isinstance(value, int | SymbolicTerm):
            self._fault()
        return self._on.array(value)

    def _junction(self, spec: Apply, process: int, bound: Mapping[str, Data]) -> Condition:
        left, right = spec.operands
        first = self._truth(left, process, bound)
        going = self._terms.negation(first) if spec.op == "||" else first
        known = self._known(going)
        if known is None:
            try:
                second = self._under(going, lambda: self._truth(right, process, bound)) or False
            except NeedsDecisionError:
                known = self._on.decide(going)
            else:
                if spec.op == "&&":
                    return self._terms.conjunction((first, second))
                return self._terms.disjunction((self._terms.negation(going), second))
        return self._truth(right, process, bound) if known else spec.op != "&&"

    def _all_or_some(self, spec: Quantification, process: int, bound: Mapping[str, Data]) -> Condition:
        goes_on = spec.kind == "forall"
        found: list[Condition] = []
        before = len(self._guards)
        try:
            for each in self._range(spec, process, bound):
                value = self._truth(spec.inner, process, {**bound, spec.name: each})
                found.append(value)
                going = value if goes_on else self._terms.negation(value)
                known = self._known(going)
                if known is False:
                    break
                if known is None:
                    self._guards.append(going)
        except DeadError:
            if len(self._guards) == before:
                raise
            found.append(False)
        finally:
            del self._guards[before:]
        return self._terms.conjunction(found) if goes_on else self._terms.disjunction(found)

    def _range(self, spec: Quantification, process: int, bound: Mapping[str, Data]) -> range:
        low = self._number(self._value(spec.low, process, bound))
        high = self._number(self._value(spec.high, process, bound))
        return range(self._on.some(low, "the start of a range"), self._on.some(high, "the end of a range") + 1)

    def _value(self, spec: Spec, process: int, bound: Mapping[str, Data]) -> Data:
        match spec:
            case SpecNumber(value):
                return value
            case SpecPid():
                return process
            case SpecCount():
                return self._count
            case Parameter(name):
                return self._states[process].parameters[name]
            case Global(name):
                return self._states[process].globals[name]
            case BoundVariable(name):
                return bound[name]
            case FunctionResult():
                result = self._states[process].result
                return self._fault() if result is None else result
            case Item(array, index):
                return self._item(self._value(array, process, bound), self._value(index, process, bound))
            case LengthOf(array):
                return len(self._items(self._value(array, process, bound)))
            case NewArray(size):
                return self._zeros(self._number(self._value(size, process, bound)))
            case On(at, inner):
                return self._on_other(self._number(self._value(at, process, bound)), inner, bound)
            case OldValue(inner):
                return self._before(inner, process, bound)
            case Agree(inner):
                values = [self._value(inner, each, bound) for each in range(self._count)]
                same = [self.same(values[0], each) for each in values[1:]]
                return self._terms.counted(self._terms.conjunction(same))
            case LetBinding(name, value, inner):
                return self._value(inner, process, {**bound, name: self._value(value, process, bound)})
            case Quantification():
                return self._quantified(spec, process, bound)
            case Apply():
                return self._applied(spec, process, bound)

    def _before(self, inner: Spec, process: int, bound: Mapping[str, Data]) -> Data:
        now = self._states
        self._states = now if self._befores is None else self._befores
        try:
            return self._value(inner, process, bound)
        finally:
            self._states = now

    def _zeros(self, size: Number) -> Data:
        try:
            return self._on.zeros(size)
        except FaultError:
            self._fault()

    def _item(self, array: Data, index: Data) -> Data:
        items, at = self._items(array), self._number(index)
        return self._select(at, len(items), lambda which: items[which])

    def _on_other(self, at: Number, inner: Spec, bound: Mapping[str, Data]) -> Data:
        return self._select(at, self._count, lambda other: self._value(inner, other, bound))

    def _select(self, at: Number, count: int, made: Callable[[int], Data]) -> Data:
        """Return what is `made` of a number, which must be one of 0 to `count` - 1."""
        terms = self._terms
        if type(at) is int:
            self._need(0 <= at < count)
            return made(at)
        self._need(terms.conjunction((terms.compare(">=", at, 0), terms.compare("<", at, count))))
        which = [each for each in range(count) if self._known(terms.compare("==", at, each)) is not False]
        if not which:
            self._fault()
        if len(which) == 1:
            return made(which[0])
        found: list[tuple[Condition, Data]] = []
        for each in which:
            condition = terms.compare("==", at, each)
            try:
                value = self._under(condition, lambda: made(each))  # noqa: B023 - called at once
            except NeedsDecisionError:
                if self._on.decide(condition):
                    return made(each)
            else:
                found += [] if value is None else [(condition, value)]
        if not found:
            raise DeadError
        chosen = found[-1][1]
        for condition, other in reversed(found[:-1]):
            chosen = self._either(condition, other, chosen)
        return chosen

    def _either(self, test: Condition, a: Data, b: Data) -> Data:
        """Return `test ? a : b`; on the path of each where they have not the same shape."""
        if a is b:
            return a
        if isinstance(a, int | SymbolicTerm) and isinstance(b, int | SymbolicTerm):
            return self._terms.either(test, a, b)
        if isinstance(a, tuple | ArrayInput) and isinstance(b, tuple | ArrayInput):
            left, right = self._on.array(a), self._on.array(b)
            if len(left) == len(right):
                return tuple([self._either(test, x, y) for x, y in zip(left, right, strict=True)])
        return a if self._on.decide(test) else b

    def same(self, a: Data, b: Data) -> Condition:
        """Return whether two values are equal."""
        if a is b:
            return True
        if isinstance(a, int | SymbolicTerm) and isinstance(b, int | SymbolicTerm):
            return self._terms.compare("==", a, b)
        for each in (a, b):
            if isinstance(each, Unknown):
                raise WeakError(each.name)
        if isinstance(a, int | SymbolicTerm) or isinstance(b, int | SymbolicTerm):
            return False
        if isinstance(a, ArrayInput) and isinstance(b, ArrayInput) and (a.low > b.high or a.high < b.low):
            return False
        left, right = self._on.array(a), self._on.array(b)
        if len(left) != len(right):
            return False
        return self._terms.conjunction([self.same(x, y) for x, y in zip(left, right, strict=True)])

    def _quantified(self, spec: Quantification, process: int, bound: Mapping[str, Data]) -> Data:
        if spec.kind in ("forall", "exists"):
            return self._terms.counted(self._all_or_some(spec, process, bound))
        each = [(number, {**bound, spec.name: number}) for number in self._range(spec, process, bound)]
        if spec.kind == "count":
            return self._terms.total(self._terms.counted(self._truth(spec.inner, process, inner)) for _, inner in each)
        values = [self._number(self._value(spec.inner, process, inner)) for _, inner in each]
        if spec.kind == "sum":
            return self._terms.total(values)
        if not values:
            self._fault()
        found = values[0]
        for value in values[1:]:
            larger = self._terms.compare("<" if spec.kind == "max" else ">", found, value)
            found = self._terms.either(larger, value, found)
        return found

    def _applied(self, spec: Apply, process: int, bound: Mapping[str, Data]) -> Data:
        op, operands, terms = spec.op, spec.operands, self._terms
        if op in ("&&", "||", "==>", "!"):
            return terms.counted(self._truth(spec, process, bound))
        if op == "?":
            return self._chosen(operands, process, bound)
        values = [self._value(each, process, bound) for each in operands]
        if len(values) == 1:
            return terms.multiply(-1, self._number(values[0]))
        if op in ("==", "!=") and not any(isinstance(each, int | SymbolicTerm) for each in values):
            same = self.same(*values)
            return terms.counted(same if op == "==" else terms.negation(same))
        a, b = self._number(values[0]), self._number(values[1])
        if op in "/%":
            self._need(terms.negation(terms.zero(b)))
            return terms.divide(op, a, b)
        return operated(op, a, b, self._on)

    def _chosen(self, operands: tuple[Spec, ...], process: int, bound: Mapping[str, Data]) -> Data:
        test = self._truth(operands[0], process, bound)
        known = self._known(test)
        if known is not None:
            return self._value(operands[1 if known else 2], process, bound)
        found: list[Data] = []
        for condition, operand in ((test, operands[1]), (self._terms.negation(test), operands[2])):
            try:
                value = self._under(condition, lambda: self._value(operand, process, bound))  # noqa: B023 - called at once
            except NeedsDecisionError:
                return self._value(operands[1 if self._on.decide(test) else 2], process, bound)
            found += [] if value is None else [value]
        if not found:
            raise DeadError
        return found[0] if len(found) == 1 else self._either(test, *found)
