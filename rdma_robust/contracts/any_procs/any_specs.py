"""Clauses of contracts for a process that is a term: what to prove that they hold, and what follows if they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from rdma_robust.contracts.any_procs.any_events import NPROCS, Registers
from rdma_robust.contracts.any_procs.any_terms import computed
from rdma_robust.contracts.any_procs.any_values import (
    WORTH,
    ArrayTerm,
    Bool,
    Int,
    NumberTerm,
    TermValue,
    UnrecognisedError,
    ValueTerm,
    conditional,
    equal,
    in_range,
    number_constant,
    summed,
    truth_of,
)
from rdma_robust.contracts.language.contract_program import AssignsClause, Contract, InputBounds
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
from rdma_robust.expr import COMPARISONS
from rdma_robust.guarded_z3 import z3
from rdma_robust.messages.language.message_terms import LONGEST

Bindings = Mapping[str, TermValue]


@dataclass(frozen=True, slots=True)
class Moment:
    """The values that processes have at a collective entry or exit; globals `before` are those at entry."""

    parameters: Callable[[Int], Registers]
    before: Callable[[Int], Registers]
    now: Callable[[Int], Registers]
    result: Callable[[Int], TermValue | None]

    def entry(self) -> Moment:
        """Return the collective entry."""
        return Moment(self.parameters, self.before, self.before, lambda _: None)


@dataclass(frozen=True, slots=True)
class ProofGoal:
    """To prove: `claim` follows from `given`."""

    given: tuple[Bool, ...]
    claim: Bool

    def under(self, *more: Bool) -> ProofGoal:
        return ProofGoal((*more, *self.given), self.claim)


def is_process(term: Int) -> Bool:
    """Return whether a number is one of a process."""
    return in_range(term, 0, NPROCS - 1)


class MomentReader:
    """Reads clauses at one moment.

    What it returns as goals is enough for a clause to hold, and what it returns as assumed follows if it does: a fault in an
    element of a range is in the first case taken to be one wherever it is, and in the second to be none.
    """

    def __init__(self, moment: Moment) -> None:
        self._moment = moment
        self._guards: list[Bool] = []
        self._fine: list[Bool] = []
        self._strong = True

    # whole clauses

    def goals(self, spec: Spec, process: Int, bound: Bindings | None = None) -> list[ProofGoal]:
        """Return what has to be proved for a clause to hold for a process, whatever it is."""
        self._strong = True
        return self._goals(spec, process, bound or {})

    def _goals(self, spec: Spec, process: Int, bound: Bindings) -> list[ProofGoal]:
        match spec:
            case Apply("&&" | "==>" as op, (left, right)):
                fine, truth = self._alone(lambda: self._truth(left, process, bound))
                first = self._goals(left, process, bound) if op == "&&" else [ProofGoal((), fine)]
                return [*first, *(each.under(truth) for each in self._goals(right, process, bound))]
            case Quantification("forall", name, low, high, inner):
                fine, ends = self._alone(lambda: (self._number(low, process, bound), self._number(high, process, bound)))
                at = z3.FreshInt(name)
                inside = self._goals(inner, process, {**bound, name: NumberTerm(at)})
                return [ProofGoal((), fine), *(each.under(in_range(at, *ends)) for each in inside)]
            case LetBinding(name, value, inner):
                fine, known = self._alone(lambda: self._value(value, process, bound))
                return [ProofGoal((), fine), *self._goals(inner, process, {**bound, name: known})]
        fine, truth = self._alone(lambda: self._truth(spec, process, bound))
        return [ProofGoal((), z3.And(fine, truth))]

    def assumed(self, spec: Spec, process: Int, bound: Bindings | None = None) -> Bool:
        """Return what is true if a clause holds for a process."""
        self._strong = False
        return self._assumed(spec, process, bound or {})

    def _assumed(self, spec: Spec, process: Int, bound: Bindings) -> Bool:
        match spec:
            case Apply("&&", (left, right)):
                return z3.And(self._assumed(left, process, bound), self._assumed(right, process, bound))
            case Apply("==>", (left, right)):
                fine, truth = self._alone(lambda: self._truth(left, process, bound))
                return z3.And(fine, z3.Implies(truth, self._assumed(right, process, bound)))
            case Quantification("forall", name, low, high, inner):
                fine, ends = self._alone(lambda: (self._number(low, process, bound), self._number(high, process, bound)))
                at = z3.FreshInt(name)
                inside = self._assumed(inner, process, {**bound, name: NumberTerm(at)})
                return z3.And(fine, z3.ForAll([at], z3.Implies(in_range(at, *ends), inside)))
            case LetBinding(name, value, inner):
                fine, known = self._alone(lambda: self._value(value, process, bound))
                return z3.And(fine, self._assumed(inner, process, {**bound, name: known}))
        fine, truth = self._alone(lambda: self._truth(spec, process, bound))
        return z3.And(fine, truth)

    def truth(self, spec: Spec, process: Int) -> tuple[Bool, Bool]:
        """Return whether there is surely no fault, and whether an expression is true then."""
        self._strong = True
        return self._alone(lambda: self._truth(spec, process, {}))

    def number(self, spec: Spec, process: Int, bound: Bindings | None = None) -> tuple[Bool, Int]:
        """Return whether there is surely no fault, and a number."""
        self._strong = True
        return self._alone(lambda: self._number(spec, process, bound or {}))

    # faults

    def _alone(self, made: Callable[[], Any]) -> tuple[Bool, Any]:
        """Return whether there is no fault in what is made, and that."""
        fine, self._fine = self._fine, []
        guards, self._guards = self._guards, []
        try:
            found = made()
            return z3.And(*self._fine, z3.BoolVal(True)), found
        finally:
            self._fine, self._guards = fine, guards

    def _need(self, condition: Bool) -> None:
        guard = z3.And(*self._guards, z3.BoolVal(True))
        self._fine.append(z3.simplify(z3.Implies(guard, condition)))

    @contextmanager
    def _under(self, *conditions: Bool) -> Iterator[None]:
        self._guards += conditions
        yield
        del self._guards[len(self._guards) - len(conditions) :]

    def _each(self, name: str, guard: Callable[[Int], Bool], made: Callable[[Int], Any]) -> tuple[Int, Any]:
        """Return a new variable and what is made of it; faults are noted for all its values."""
        at = z3.FreshInt(name)
        fine, self._fine = self._fine, []
        with self._under(guard(at)):
            found = made(at)
        inner, self._fine = self._fine, fine
        if self._strong and inner:
            self._fine.append(z3.ForAll([at], z3.And(*inner)))
        return at, found

    # values

    def _number(self, spec: Spec, process: Int, bound: Bindings) -> Int:
        found = self._value(spec, process, bound)
        self._need(found.is_number())
        return found.number()

    def _truth(self, spec: Spec, process: Int, bound: Bindings) -> Bool:
        match spec:
            case Apply("!", (operand,)):
                return z3.Not(self._truth(operand, process, bound))
            case Apply("&&" | "||" | "==>" as op, (left, right)):
                first = self._truth(left, process, bound)
                with self._under(z3.Not(first) if op == "||" else first):
                    second = self._truth(right, process, bound)
                return {"&&": z3.And, "||": z3.Or, "==>": z3.Implies}[op](first, second)
            case Apply("==" | "!=" as op, (left, right)):
                a, b = self._value(left, process, bound), self._value(right, process, bound)
                self._need(a.is_number() == b.is_number())
                same = equal(a, b)
                return same if op == "==" else z3.Not(same)
            case Apply(op, (left, right)) if op in COMPARISONS:
                return COMPARISONS[op](self._number(left, process, bound), self._number(right, process, bound))
            case Quantification("forall" | "exists"):
                return self._all_or_some(spec, process, bound)
            case Agree(inner):
                first_one = self._value(inner, z3.IntVal(0), bound)
                at, same = self._each("p", is_process, lambda p: equal(self._value(inner, p, bound), first_one))
                return z3.ForAll([at], z3.Implies(is_process(at), same))
        return self._number(spec, process, bound) != 0

    def _all_or_some(self, spec: Quantification, process: Int, bound: Bindings) -> Bool:
        low, high = self._number(spec.low, process, bound), self._number(spec.high, process, bound)

        def inner(at: Int) -> Bool:
            return self._truth(spec.inner, process, {**bound, spec.name: NumberTerm(at)})

        at, truth = self._each(spec.name, lambda t: in_range(t, low, high), inner)
        if spec.kind == "forall":
            return z3.ForAll([at], z3.Implies(in_range(at, low, high), truth))
        return z3.Exists([at], z3.And(in_range(at, low, high), truth))

    def _value(self, spec: Spec, process: Int, bound: Bindings) -> TermValue:
        match spec:
            case SpecNumber(value):
                return number_constant(value)
            case SpecPid():
                return NumberTerm(process)
            case SpecCount():
                return NumberTerm(NPROCS)
            case Parameter(name):
                return self._moment.parameters(process)[name]
            case Global(name):
                return self._moment.now(process)[name]
            case BoundVariable(name):
                return bound[name]
            case FunctionResult():
                return self._result(process)
            case On(at, inner):
                other = self._number(at, process, bound)
                self._need(is_process(other))
                return self._value(inner, other, bound)
            case OldValue(inner):
                return self._before(inner, process, bound)
            case LetBinding(name, value, inner):
                return self._value(inner, process, {**bound, name: self._value(value, process, bound)})
            case Item() | LengthOf() | NewArray():
                return self._array(spec, process, bound)
            case Quantification("sum" | "count"):
                return self._total(spec, process, bound)
            case Quantification("max" | "min"):
                raise UnrecognisedError(f"a clause with \\{spec.kind}")
            case Apply("?", (test, then, other_one)):
                return self._chosen(test, then, other_one, process, bound)
            case Apply("-", (operand,)):
                return NumberTerm(-self._number(operand, process, bound))
            case Apply("+" | "-" | "*" | "/" | "%" as op, (left, right)):
                a, b = self._number(left, process, bound), self._number(right, process, bound)
                if op in "/%":
                    self._need(b != 0)
                return NumberTerm(computed(op, a, b))
        return NumberTerm(truth_of(self._truth(spec, process, bound)))

    def _result(self, process: Int) -> TermValue:
        found = self._moment.result(process)
        if found is None:
            self._need(z3.BoolVal(False))
            return ValueTerm(z3.FreshConst(WORTH, "no_result"))
        return found

    def _before(self, inner: Spec, process: Int, bound: Bindings) -> TermValue:
        now, self._moment = self._moment, self._moment.entry()
        try:
            return self._value(inner, process, bound)
        finally:
            self._moment = now

    def _array(self, spec: Item | LengthOf | NewArray, process: Int, bound: Bindings) -> TermValue:
        if isinstance(spec, NewArray):
            size = self._number(spec.size, process, bound)
            self._need(in_range(size, 0, LONGEST))
            return ArrayTerm(size, lambda _: number_constant(0))
        array = self._value(spec.array, process, bound)
        self._need(z3.Not(array.is_number()))
        if isinstance(spec, LengthOf):
            return NumberTerm(array.length())
        index = self._number(spec.index, process, bound)
        self._need(in_range(index, 0, array.length() - 1))
        return array.cell(index)

    def _total(self, spec: Quantification, process: Int, bound: Bindings) -> TermValue:
        low, high = self._number(spec.low, process, bound), self._number(spec.high, process, bound)

        def added(at: Int) -> Int:
            inside = {**bound, spec.name: NumberTerm(at)}
            if spec.kind == "count":
                return truth_of(self._truth(spec.inner, process, inside))
            return self._number(spec.inner, process, inside)

        at, term = self._each(spec.name, lambda t: in_range(t, low, high), added)
        return NumberTerm(summed(low, high, lambda t: z3.substitute(term, (at, t))))

    def _chosen(self, test: Spec, then: Spec, other: Spec, process: Int, bound: Bindings) -> TermValue:
        condition = self._truth(test, process, bound)
        with self._under(condition):
            first = self._value(then, process, bound)
        with self._under(z3.Not(condition)):
            second = self._value(other, process, bound)
        return conditional(condition, lambda: first, lambda: second)


# At which inputs a proof looks: all values that meet `requires`, those of the kinds of `bounds`, or within the bounds.

Level = Literal["any", "kinds", "bounds"]
LEVELS: Final[tuple[Level, ...]] = ("any", "kinds", "bounds")


def admitted_input(contract: Contract, name: str, data: TermValue, process: Int, level: Level) -> Bool:
    """Return whether a value is one at which a check of this level looks."""
    bounds = next((each for each in contract.bounds if each.name == name), None)
    if level == "any":
        return z3.BoolVal(True)
    if bounds is None:
        return data.is_number()
    return _nested(bounds, data, process, level, ())


def _nested(bounds: InputBounds, data: TermValue, process: Int, level: Level, at: tuple[Int, ...]) -> Bool:
    nothing = Moment(lambda _: {}, lambda _: {}, lambda _: {}, lambda _: None)
    reader = MomentReader(nothing)
    bound = {name: NumberTerm(index) for name, index in zip("ij", at, strict=False)}
    ends = bounds.lengths[len(at)] if len(at) < len(bounds.lengths) else (bounds.low, bounds.high)
    if ends[0] is None or ends[1] is None:
        return data.is_number()
    (fine, low), (fine_too, high) = reader.number(ends[0], process, bound), reader.number(ends[1], process, bound)
    ranged = [fine, fine_too]
    if len(at) == len(bounds.lengths):
        ranged.append(in_range(data.number(), low, high))
        return z3.And(data.is_number(), *(ranged if level == "bounds" else ()))
    ranged.append(in_range(data.length(), low, high))
    index = z3.FreshInt("i")
    cells = _nested(bounds, data.cell(index), process, level, (*at, index))
    every = z3.ForAll([index], z3.Implies(in_range(index, 0, data.length() - 1), cells))
    return z3.And(z3.Not(data.is_number()), every, *(ranged if level == "bounds" else ()))


# That globals do not change where a contract does not allow it.


def unchanged_goals(name: str, frames: tuple[AssignsClause, ...], moment: Moment, process: Int) -> Iterator[ProofGoal]:
    """Yield what has to be proved for a global to be at exit what it was, but for what the frames of its process allow."""
    before, now = moment.before(process)[name], moment.now(process)[name]
    index = z3.FreshInt("k")
    fine, whole, cell = allowed(name, frames, moment, process, index)
    yield ProofGoal((), fine)
    if before is now:
        return
    given = (z3.Not(whole), z3.Not(equal(before, now)))
    yield ProofGoal(given, kept(before, now))
    inside = in_range(index, 0, before.length() - 1)
    yield ProofGoal((*given, inside, z3.Not(cell)), equal(before.cell(index), now.cell(index)))


def kept(before: TermValue, now: TermValue) -> Bool:
    """Return whether both are arrays of the same length."""
    return z3.And(z3.Not(before.is_number()), z3.Not(now.is_number()), before.length() == now.length())


def allowed(
    name: str, frames: tuple[AssignsClause, ...], moment: Moment, process: Int, index: Int
) -> tuple[Bool, Bool, Bool]:
    """Return whether there is no fault in frames, whether a global may change, and whether its cell at an index may."""
    reader = MomentReader(moment.entry())
    fine, whole, cell = [], [z3.BoolVal(False)], [z3.BoolVal(False)]
    for frame in frames:
        active = z3.BoolVal(True)
        if frame.assumes is not None:
            fine_assumes, active = reader.truth(frame.assumes, process)
            fine.append(fine_assumes)
        for cells in frame.cells:
            if cells.name != name:
                continue
            if cells.low is None:
                whole.append(active)
                continue
            fine_low, low = reader.number(cells.low, process)
            fine_high, high = (fine_low, low) if cells.high is None else reader.number(cells.high, process)
            fine.append(z3.Implies(active, z3.And(fine_low, fine_high)))
            cell.append(z3.And(active, in_range(index, low, high)))
    return z3.And(*fine, z3.BoolVal(True)), z3.Or(*whole), z3.Or(*cell)
