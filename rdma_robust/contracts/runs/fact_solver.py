"""Inputs for which facts are true: guessed, or found by z3 where it is installed (the extra `[smt]`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import takewhile
from typing import Any, Final

from rdma_robust.contracts.runs.run_terms import CONDITIONS, Number, SymbolicTerm, TermTable
from rdma_robust.expr import divide, modulo
from rdma_robust.limits import NO_LIMITS, Limits

TIMEOUT_MS: Final = 10_000

Model = dict[SymbolicTerm, int]
"""Inputs to their values."""


class FactSolver:
    """Says whether facts are possible. `calls` counts questions to z3, `unknown` those it gave up.

    `missing` is whether one was left for want of z3.
    """

    def __init__(self, terms: TermTable, limits: Limits = NO_LIMITS, *, use_z3: bool = True) -> None:
        self.terms = terms
        self.calls = 0
        self.missing = False
        self.unknown = 0
        self._limits = limits
        self._answers: dict[frozenset[SymbolicTerm], tuple[bool | None, Model | None]] = {}
        self._z3 = _Z3() if use_z3 and find_spec("z3") is not None else None

    def possible(self, facts: Sequence[SymbolicTerm], near: Model | None = None) -> tuple[bool | None, Model | None]:
        """Return whether all facts can be true, None if that is not known, and inputs for which they are.

        `near` are inputs that may do.
        """
        key = frozenset(facts)
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._possible(facts, near)
        return found

    def _possible(self, facts: Sequence[SymbolicTerm], near: Model | None) -> tuple[bool | None, Model | None]:
        for guess in self._guesses(facts, near):
            if all(term_value(each, guess) for each in facts):
                return True, guess
        if self._z3 is None:
            self.missing = True
            return None, None
        self.calls += 1
        left = self._limits.seconds_left()
        time = TIMEOUT_MS if left is None else max(1, min(TIMEOUT_MS, int(left * 1000)))
        answer, model = self._z3.solve(facts, time)
        self.unknown += answer is None
        if answer and not all(term_value(each, model) for each in facts):
            return None, None
        return answer, model if answer else None

    def _guesses(self, facts: Sequence[SymbolicTerm], near: Model | None) -> Iterable[Model]:
        if near is not None:
            yield near
        yield {}
        yield self.distinct(facts)

    @staticmethod
    def value(number: Number, model: Model) -> int:
        """Return what a number is for these inputs."""
        return term_value(number, model)

    def distinct(self, facts: Iterable[SymbolicTerm]) -> Model:
        """Return inputs that differ from one another as far as their ranges let them."""
        found: Model = {}
        taken: set[int] = set()
        for each in term_leaves(facts):
            value = default(each)
            while value in taken and (each.high is None or value < each.high):
                value += 1
            taken.add(value)
            found[each] = value
        return found


def default(leaf: SymbolicTerm) -> int:
    """Return the value of an input of which nothing is asked but its range."""
    if leaf.low is not None and leaf.low > 0:
        return leaf.low
    return leaf.high if leaf.high is not None and leaf.high < 0 else 0


def term_leaves(roots: Iterable[SymbolicTerm]) -> list[SymbolicTerm]:
    """Return the inputs in terms, in the order in which they were made."""
    seen: set[SymbolicTerm] = set()
    found: set[SymbolicTerm] = set()
    todo = list(roots)
    while todo:
        each = todo.pop()
        if each in seen:
            continue
        seen.add(each)
        if each.op == "input":
            found.add(each)
        elif each.op == "poly":
            todo += [atom for monomial, _ in each.poly for atom in monomial]
        else:
            todo += [part for part in each.args if isinstance(part, SymbolicTerm)]
    return sorted(found, key=lambda term: term.number)


def term_value(root: Number | bool, model: Model) -> int:
    """Return what a number or a condition (0 or 1) is for these inputs; those that are missing have their default."""
    return _worth(root, model, {})


def _worth(term: Number | bool, model: Model, done: dict[SymbolicTerm, int]) -> int:
    if not isinstance(term, SymbolicTerm):
        return int(term)
    found = done.get(term)
    if found is None:
        found = done[term] = _computed(term, model, done)
    return found


def _computed(term: SymbolicTerm, model: Model, done: dict[SymbolicTerm, int]) -> int:
    args = term.args
    match term.op:
        case "input":
            return model[term] if term in model else default(term)
        case "poly":
            total = 0
            for monomial, factor in term.poly:
                for atom in monomial:
                    factor *= _worth(atom, model, done)
                total += factor
            return total
        case "*":
            return _worth(args[0], model, done) * _worth(args[1], model, done)
        case "/" | "%":
            by = _worth(args[1], model, done)
            if not by:
                return 0
            return (divide if term.op == "/" else modulo)(_worth(args[0], model, done), by)
        case "if":
            return _worth(args[1] if _worth(args[0], model, done) else args[2], model, done)
        case "truth":
            return _worth(args[0], model, done)
        case "zero":
            return int(_worth(args[0], model, done) == 0)
        case "nonzero":
            return int(_worth(args[0], model, done) != 0)
        case "positive":
            return int(_worth(args[0], model, done) >= 0)
        case "and":
            return int(all(_worth(each, model, done) for each in args))
        case _:
            return int(any(_worth(each, model, done) for each in args))


class _Z3:
    """One solver for many questions; what two questions begin with in common stays asserted."""

    def __init__(self) -> None:
        from rdma_robust.guarded_z3 import z3  # noqa: PLC0415 - an extra

        self._z3 = z3
        self._solver = z3.Solver()
        self._asserted: list[SymbolicTerm] = []
        self._made: dict[SymbolicTerm, Any] = {}
        self._ranged: list[list[SymbolicTerm]] = []
        """For each fact that is asserted the inputs whose ranges are, with it first."""
        self._in_range: set[SymbolicTerm] = set()

    def solve(self, facts: Sequence[SymbolicTerm], milliseconds: int) -> tuple[bool | None, Model]:
        common = len(list(takewhile(lambda pair: pair[0] is pair[1], zip(self._asserted, facts, strict=False))))
        if common < len(self._asserted):
            self._solver.pop(len(self._asserted) - common)
            self._in_range.difference_update(*self._ranged[common:])
        del self._asserted[common:], self._ranged[common:]
        for each in facts[common:]:
            self._solver.push()
            self._solver.add(self._expr(each))
            new = [leaf for leaf in term_leaves((each,)) if leaf not in self._in_range]
            for leaf in new:
                self._range(leaf)
            self._in_range.update(new)
            self._ranged.append(new)
            self._asserted.append(each)
        self._solver.set("timeout", milliseconds)
        answer = self._solver.check()
        if answer != self._z3.sat:
            return (False if answer == self._z3.unsat else None), {}
        model = self._solver.model()
        values = {leaf: model.eval(self._expr(leaf), model_completion=True) for leaf in term_leaves(facts)}
        return True, {leaf: int(value.as_long()) for leaf, value in values.items()}

    def _range(self, leaf: SymbolicTerm) -> None:
        if leaf.low is not None:
            self._solver.add(self._expr(leaf) >= leaf.low)
        if leaf.high is not None:
            self._solver.add(self._expr(leaf) <= leaf.high)

    def _expr(self, term: Number | bool) -> Any:
        z3 = self._z3
        if isinstance(term, bool):
            return z3.BoolVal(term)
        if isinstance(term, int):
            return z3.IntVal(term)
        found = self._made.get(term)
        if found is None:
            found = self._made[term] = self._condition(term) if term.op in CONDITIONS else self._number(term)
        return found

    def _condition(self, term: SymbolicTerm) -> Any:
        z3 = self._z3
        parts = [self._expr(each) for each in term.args]
        match term.op:
            case "zero":
                return parts[0] == 0
            case "nonzero":
                return parts[0] != 0
            case "positive":
                return parts[0] >= 0
            case "and":
                return z3.And(parts)
            case _:
                return z3.Or(parts)

    def _number(self, term: SymbolicTerm) -> Any:
        z3 = self._z3
        match term.op:
            case "input":
                return z3.Int(f"i{term.number}")
            case "poly":
                return z3.Sum([self._monomial(monomial, factor) for monomial, factor in term.poly])
            case "*":
                return self._expr(term.args[0]) * self._expr(term.args[1])
            case "if":
                return z3.If(*[self._expr(each) for each in term.args])
            case "truth":
                return z3.If(self._expr(term.args[0]), z3.IntVal(1), z3.IntVal(0))
            case _:
                a, b = self._expr(term.args[0]), self._expr(term.args[1])
                # z3 rounds so that no remainder is negative; programs round towards zero, as C does. By 0 both are 0 here.
                quotient = z3.If(a >= 0, a / b, -((-a) / b))
                made = quotient if term.op == "/" else a - b * quotient
                return made if isinstance(term.args[1], int) else z3.If(b == 0, z3.IntVal(0), made)

    def _monomial(self, monomial: tuple[SymbolicTerm, ...], factor: int) -> Any:
        found = self._z3.IntVal(factor)
        for atom in monomial:
            found = found * self._expr(atom)
        return found
