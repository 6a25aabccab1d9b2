"""Kinds of inputs without `bounds`, by their use: what has elements or a length is an array, the rest are numbers.

Clauses say it first; where they are silent, the bodies do: of parameters, and of registers declared outside, to which no
whole value is stored before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from rdma_robust.contracts.language import spec_terms as spec
from rdma_robust.contracts.language.contract_program import Contract, InputBounds, PathClause
from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_parts import (
    all_lines,
    function_calls_in,
    inner_operands,
    operands_of,
    stored_places,
)
from rdma_robust.messages.language.message_world import GlobalScope

_MOST_LENGTHS: Final = 2
"""An array of arrays is the most that `bounds` says of an input."""

_LONGEST: Final = spec.Apply("+", (spec.SpecCount(), spec.SpecNumber(1)))
"""The most elements at which is looked where no `bounds` says so."""

_NUMBERS: Final = frozenset({"+", "-", "*", "/", "%", "<", "<=", ">", ">=", "&&", "||", "==>", "!"})


@dataclass(frozen=True, slots=True)
class Use:
    """An input is an array nested at least `depth` deep, 0 is nothing known; `exact` if what is inside is a number."""

    depth: int
    exact: bool

    def contradicts(self, other: Use) -> bool:
        """Whether no value can be used in both ways."""
        return (self.exact and other.depth > self.depth) or (other.exact and self.depth > other.depth)


_NUMBER: Final = Use(0, True)
_UNKNOWN: Final = Use(0, False)


def with_kinds(contract: Contract, function: tree.FunctionItem, world: GlobalScope, report: Reporter) -> Contract:
    """Return a contract with bounds for arrays that have none. Inputs that are used in two ways are reported."""
    clauses = _ClauseUses(contract)
    for name, uses in clauses.found.items():
        _check(contract, name, uses, report)
    bodies = _BodyUses(world)
    bounded = {each.name for each in contract.bounds}
    made = list(contract.bounds)
    for name in (*contract.parameters, *world.globals):
        depth = max((use.depth for use, _ in clauses.found.get(name, ())), default=0)
        if not any(use.depth or use.exact for use, _ in clauses.found.get(name, ())):
            depth = bodies.depth(function, name)
        if depth and name not in bounded:
            made.append(_bounds(name, min(depth, _MOST_LENGTHS), function, report))
    return replace(contract, bounds=tuple(made))


def _check(contract: Contract, name: str, uses: list[tuple[Use, Span]], report: Reporter) -> None:
    given = next((each for each in contract.bounds if each.name == name), None)
    known = [(Use(len(given.lengths), True), given.span)] if given is not None else []
    for use, span in uses:
        for before, there in known:
            if use.contradicts(before):
                what = "as a number" if use == _NUMBER else "as an array" if not before.depth else "otherwise"
                is_ = "a number" if not before.depth else "an array" if before.depth == 1 else "an array of arrays"
                said = f"{quote(name)} is used {what} here, and is {is_} by line {there.line}"
                hint = "`bounds x len 0..3;` is for arrays, `bounds x in 0..3;` for numbers"
                report.error("RR961", span, said, hint=hint)
                return
        known.append((use, span))


def _bounds(name: str, depth: int, function: tree.FunctionItem, report: Reporter) -> InputBounds:
    own = next((each for each in function.parameters if each.text == name), None)
    span = function.name.span if own is None else own.span
    text = name + " len 0..NPROCS + 1" * depth
    said = f"{quote(name)} is used as an array, and has no `bounds`: lengths up to NPROCS + 1 are looked at"
    report.warn("RR756", span, said, hint=f"`bounds {name}{' len 0..3' * depth};` says which lengths are looked at")
    low = spec.SpecNumber(0)
    return InputBounds(name, ((low, _LONGEST),) * depth, None, None, report.at(span), text)


@dataclass(slots=True)
class _ClauseUses:
    """How the clauses of a contract use inputs: `found` has for each the uses and where they stand."""

    contract: Contract
    found: dict[str, list[tuple[Use, Span]]] = field(default_factory=dict)
    _span: Span = field(init=False)
    _at_exit: bool = False

    def __post_init__(self) -> None:
        """Look at every clause."""
        for clause in self.contract.clauses:
            self._span, self._at_exit = clause.span, clause.kind == "ensures"
            self._walk(clause.condition, _NUMBER, {})
            self._at_exit = False
            if clause.assumes is not None:
                self._walk(clause.assumes, _NUMBER, {})
        for frame in self.contract.frames or ():
            self._span, self._at_exit = frame.span, False
            for part in (frame.assumes, *(end for cells in frame.cells for end in (cells.low, cells.high))):
                if part is not None:
                    self._walk(part, _NUMBER, {})
        for path in self.contract.paths:
            self._span, self._at_exit = path.span, False
            for each in _path_parts(path):
                self._walk(each, _NUMBER, {})

    def _walk(self, part: spec.Spec, use: Use, bound: dict[str, spec.Spec]) -> None:
        match part:
            case spec.Parameter(name):
                self._note(name, use)
            case spec.Global(name):
                if not self._at_exit:
                    self._note(name, use)
            case spec.BoundVariable(name):
                if name in bound:
                    inner = {each: value for each, value in bound.items() if each != name}
                    self._walk(bound[name], use, inner)
            case spec.Item(array, index):
                self._walk(array, Use(use.depth + 1, use.exact), bound)
                self._walk(index, _NUMBER, bound)
            case spec.LengthOf(array):
                self._walk(array, Use(1, False), bound)
            case spec.LetBinding(name, value, inner):
                self._walk(value, _UNKNOWN, bound)
                self._walk(inner, use, {**bound, name: value})
            case spec.Quantification(_, name, low, high, inner):
                self._walk(low, _NUMBER, bound)
                self._walk(high, _NUMBER, bound)
                self._walk(inner, _NUMBER, {each: value for each, value in bound.items() if each != name})
            case spec.On(process, value):
                self._walk(process, _NUMBER, bound)
                self._walk(value, use, bound)
            case spec.OldValue(value):
                now, self._at_exit = self._at_exit, False
                self._walk(value, use, bound)
                self._at_exit = now
            case spec.Agree(value):
                self._walk(value, _UNKNOWN, bound)
            case spec.NewArray(size):
                self._walk(size, _NUMBER, bound)
            case spec.Apply(op, operands):
                for operand, each in zip(operands, _uses_of(op, operands, use), strict=True):
                    self._walk(operand, each, bound)

    def _note(self, name: str, use: Use) -> None:
        if use != _UNKNOWN:
            self.found.setdefault(name, []).append((use, self._span))


def _uses_of(op: str, operands: tuple[spec.Spec, ...], use: Use) -> Iterable[Use]:
    """Return how an operator uses its operands, where the value is used in a way."""
    if op == "?":
        return (_NUMBER, use, use)
    if op in _NUMBERS:
        return (_NUMBER,) * len(operands)
    left, right = map(_kind, operands)
    return right, left


def _kind(part: spec.Spec) -> Use:
    """Return what an expression surely is."""
    match part:
        case spec.SpecNumber() | spec.SpecPid() | spec.SpecCount() | spec.LengthOf() | spec.Agree() | spec.Quantification():
            return _NUMBER
        case spec.NewArray():
            return Use(1, True)
        case spec.Apply(op):
            return _UNKNOWN if op == "?" else _NUMBER
        case _:
            return _UNKNOWN


def _path_parts(path: PathClause) -> Iterator[spec.Spec]:
    for each in (path.who, path.until):
        if each is not None:
            yield each.low
            yield each.high
    for part in (path.tag, path.condition):
        if part is not None:
            yield part


class _BodyUses:
    """How bodies use what they begin with."""

    def __init__(self, world: GlobalScope) -> None:
        self._world = world
        self._known: dict[tuple[str, str], int] = {}

    def depth(self, function: tree.FunctionItem, name: str) -> int:
        """Return how deep the array is nested that `name` is as the function begins, 0 if nothing says that it is one."""
        key = function.name.text, name
        if key not in self._known:
            self._known[key] = 0
            self._known[key] = self._depth(function, name)
        return self._known[key]

    def _depth(self, function: tree.FunctionItem, name: str) -> int:
        if self._is_stored(function, name):
            return 0
        found = [0]
        for line in all_lines(function.body):
            for part in operands_of(line):
                found += _depths_in(part, name)
        for call in function_calls_in(function.body):
            callee = self._world.function(call.name.text)
            if callee is None or (call.name.text not in self._world.functions and name in self._world.globals):
                continue
            given = zip(callee.parameters, call.arguments, strict=False)
            found += [self.depth(callee, each.text) for each, value in given if _is_named(value, name)]
            if name in self._world.globals and name not in {each.text for each in function.parameters}:
                found.append(self.depth(callee, name))
        return max(found)

    def _is_stored(self, function: tree.FunctionItem, name: str) -> bool:
        """Whether something is stored to the whole of it, or it is another one inside."""
        for line in all_lines(function.body):
            match line:
                case ast.Assign():
                    stored = [tree.target(line)]
                case ast.For(counter) if counter.text == name:
                    return True
                case tree.RegisterLine(declared):
                    stored = []
                    if name in {each.name.text for each in declared}:
                        return True
                case _:
                    stored = list(stored_places(line))
            if any(each.name.text == name and not each.indices for each in stored):
                return True
        return False


def _is_named(value: object, name: str) -> bool:
    return isinstance(value, tree.IndexedName) and value.name.text == name and not value.indices


def _depths_in(part: object, name: str) -> Iterator[int]:
    stack = [part] if part is not None else []
    while stack:
        each = stack.pop()
        if isinstance(each, tree.IndexedName) and each.name.text == name:
            yield len(each.indices)
        if isinstance(each, tree.FunctionCall) and each.name.text == "len":
            yield from (len(value.indices) + 1 for value in each.arguments if isinstance(value, tree.IndexedName)
                        and value.name.text == name)  # fmt: skip
        stack += inner_operands(each)
