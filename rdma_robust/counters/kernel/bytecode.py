"""Counter programs as tables for the compiled kernel: fields packed into words, commands as three-address code.

Every value lives in a numbered slot: first the fields of the state, then constants, then temporaries, of which each is
written at one place only, so that alternatives need no undoing. An interval analysis over the ranges of the fields proves
that no result exceeds 62 bits, and folds what it decides. The kernel reports a field that would leave its range; the
program is then compiled again with a wider one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from rdma_robust.counters.intervals import BOOLEAN, apply_to_intervals, interval_truth
from rdma_robust.counters.kernel.packing import Range, UnsupportedError
from rdma_robust.counters.program import (
    Add,
    Assign,
    Body,
    Choose,
    Command,
    Forget,
    LazyBranches,
    Require,
    Statement,
    Target,
    Zero,
    pc,
)
from rdma_robust.expr import Binary, Const, Expr, Ite, Name, Unary

try:
    from rdma_robust.counters.kernel._code import Op
except ImportError:
    _NUMBERS: Mapping[str, int] = {}
else:
    _NUMBERS = Op.__members__

Label = TypeVar("Label")

OPS: Final[Mapping[str, int]] = {name: int(number) for name, number in _NUMBERS.items()}
"""The operations by name, as the kernel numbers them; none without the kernel, which alone runs them."""
_BINARY: Final = {
    "+": "ADD", "-": "SUB", "*": "MUL", "/": "DIV", "%": "MOD", "==": "EQ", "!=": "NE", "<": "LT", "<=": "LE",
    "&&": "LAND", "||": "LOR", "&": "AND", "|": "OR", "&~": "ANDN", ">>": "SHR",
}  # fmt: skip
_MOST: Final = 1 << 62


@dataclass(slots=True)
class _Scope:
    """One point of a body: the slots of names that differ from the fields' own, what is computed, and what counters do."""

    slot: dict[str, int]
    known: dict[tuple[int, ...], int]
    guard: tuple[int, ...]
    delta: tuple[int, ...]
    option: int = -1

    def inner(self) -> _Scope:
        return _Scope(self.slot, dict(self.known), self.guard, self.delta, self.option)


@dataclass(slots=True)
class _Rest:
    """A place in the code where alternatives are still to be compiled: the scope there, the temporaries of the whole piece
    of code, and the ranges of those in use.
    """

    place: int
    then: Sequence[Body[Any]]
    scope: _Scope
    piece: list[int]
    ranges: dict[int, Range]


class Assembler(Generic[Label]):
    """Compiles bodies and target tests; the tables grow, and the kernel takes them again.

    `ranges` has the range of each of `fields`; `unbounded` are the counters. Raises UnsupportedError where a number might
    not fit.
    """

    def __init__(self, fields: Sequence[str], ranges: Sequence[Range], unbounded: Sequence[str]) -> None:
        self.fields = {name: i for i, name in enumerate(fields)}
        self.column = {c: i for i, c in enumerate(unbounded)}
        self.ranges: list[Range] = list(ranges)
        self.constants: dict[int, int] = {}
        self.code = array("i")
        self.leaves = array("i")
        self.changes = array("i")
        self.effects: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        self.table = array("Q")
        self.labels: list[Label] = []
        self.label_effects: list[int] = []
        self._rests: list[_Rest] = []
        self._values: list[int] = [0] * len(self.ranges)
        self._temporaries: list[int] = []
        self._free: list[int] = []
        self._taken: list[int] = []

    @property
    def slots(self) -> array[int]:
        return array("q", self._values)

    def moves(self, process: int, commands: Iterable[Command[Label]]) -> int:
        """Compile what a process does at one location; return where the code starts."""
        start = self._begin()
        zeros = (0,) * len(self.column)
        known: dict[tuple[int, ...], int] = {}
        for command in commands:
            slot = {pc(process): self._constant(command.target)}
            self._body(command.body, _Scope(slot, known, zeros, zeros))
        self._emit("END")
        return start

    def complete(self, number: int) -> None:
        """Compile alternatives that were left for :data:`LATER`."""
        rest = self._rests[number]
        start = self._begin(rest.piece)
        for slot, limits in rest.ranges.items():
            self.ranges[slot] = limits
        self._alternatives(rest.then, rest.scope)
        self._emit("JMP", rest.place + 1)
        self.code[4 * rest.place : 4 * rest.place + 2] = array("i", (OPS["JMP"], start))

    def test(self, targets: Iterable[tuple[int, Target[Any]]]) -> int:
        """Compile a test of these numbered targets, the location left aside; return where the code starts."""
        start = self._begin()
        known: dict[tuple[int, ...], int] = {}
        for number, target in targets:
            scope = _Scope({}, dict(known), (), ())
            jump = self._jump_unless(self._value(target.condition, scope))
            self._emit("ACCEPT", number)
            self._land(jump)
        self._emit("END")
        return start

    def _begin(self, piece: Sequence[int] = ()) -> int:
        """Temporaries live within one piece of code only: others reuse their slots, but not what belongs to that piece."""
        used = set(piece)
        self._free = [slot for slot in reversed(self._temporaries) if slot not in used]
        self._taken = list(piece)
        return len(self.code) // 4

    def _emit(self, op: str, a: int = 0, b: int = 0, c: int = 0) -> int:
        self.code.extend((OPS[op], a, b, c))
        return len(self.code) // 4 - 1

    def _constant(self, value: int) -> int:
        if not -_MOST <= value < _MOST:
            raise UnsupportedError
        if value not in self.constants:
            self.constants[value] = self._slot((value, value), value)
        return self.constants[value]

    def _slot(self, limits: Range, value: int = 0) -> int:
        self.ranges.append(limits)
        self._values.append(value)
        return len(self.ranges) - 1

    def _temporary(self, limits: Range) -> int:
        if not -_MOST <= limits[0] <= limits[1] < _MOST:
            raise UnsupportedError
        if not self._free:
            self._free.append(self._slot(limits))
            self._temporaries.append(self._free[0])
        slot = self._free.pop()
        self.ranges[slot] = limits
        self._taken.append(slot)
        return slot

    def _jump_unless(self, slot: int) -> int:
        """Emit a jump taken where the slot is 0; return its place, -1 if it is never taken."""
        return -1 if interval_truth(self.ranges[slot]) else self._emit("JZ", 0, slot)

    def _land(self, jump: int) -> None:
        if jump >= 0:
            self.code[4 * jump + 1] = len(self.code) // 4

    def _body(self, body: Body[Label], scope: _Scope, first: int = 0) -> None:
        jumps: list[int] = []
        for place in range(first, len(body.statements)):
            statement = body.statements[place]
            if isinstance(statement, Choose):
                self._choose(body, place, statement, scope)
                break
            test = self._statement(statement, scope)
            if test is not None:
                if self.ranges[test] == (0, 0):
                    break
                if (jump := self._jump_unless(test)) >= 0:
                    scope = scope.inner()
                    jumps.append(jump)
        else:
            if body.labels:
                self._leaf(body.labels, scope)
            if isinstance(body.then, LazyBranches):
                place = self._emit("LATER", len(self._rests))
                ranges = {slot: self.ranges[slot] for slot in self._taken}
                self._rests.append(_Rest(place, body.then, scope.inner(), self._taken, ranges))
            else:
                self._alternatives(body.then, scope)
        for jump in jumps:
            self._land(jump)

    def _alternatives(self, then: Sequence[Body[Label]], scope: _Scope) -> None:
        for branch in then:
            self._body(branch, _Scope(dict(scope.slot), scope.known, scope.guard, scope.delta, scope.option))

    def _choose(self, body: Body[Label], place: int, choose: Choose, scope: _Scope) -> None:
        """Call the rest of the body for each option that holds."""
        values = [value for value, _ in choose.options]
        chosen = self._temporary((min(values), max(values)))
        option = self._temporary((0, len(values) - 1))
        inner = scope.inner()
        calls = []
        for number, (value, condition) in enumerate(choose.options):
            test = self._value(condition, scope.inner())
            if self.ranges[test] == (0, 0):
                continue
            jump = self._jump_unless(test)
            self._emit("MOV", chosen, self._constant(value))
            self._emit("MOV", option, self._constant(number))
            calls.append(self._emit("CALL"))
            self._land(jump)
        end = self._emit("JMP")
        for call in calls:
            self._land(call)
        inner.slot[choose.name], inner.option = chosen, option
        self._body(body, inner, place + 1)
        self._emit("RET")
        self._land(end)

    def _leaf(self, labels: tuple[Label, ...], scope: _Scope) -> None:
        effect = self.effects.setdefault((scope.guard, scope.delta), len(self.effects))
        self.leaves.extend((len(self.changes) // 2, len(self.labels), effect))
        changed = [(self.fields[name], slot) for name, slot in scope.slot.items() if name in self.fields]
        for field, slot in sorted(changed):
            if slot != field:
                self.changes.extend((field, slot))
        self.labels += labels
        self.label_effects += [effect] * len(labels)
        self._emit("EMIT", len(self.leaves) // 3 - 1, scope.option)

    def _statement(self, statement: Statement, scope: _Scope) -> int | None:
        """Compile a statement into `scope`; return the slot of the condition under which it can be taken, if any."""
        match statement:
            case Require(condition):
                return self._value(condition, scope)
            case Assign(updates):
                scope.slot = {**scope.slot, **{name: self._value(value, scope) for name, value in updates}}
            case Add(counter, amount) if counter in self.column:
                i = self.column[counter]
                guard, delta = list(scope.guard), list(scope.delta)
                delta[i] += amount
                guard[i] = max(guard[i], -delta[i])
                scope.guard, scope.delta = tuple(guard), tuple(delta)
            case Add(counter, amount):
                enough = self._value(Binary("<=", Const(-amount), Name(counter)), scope) if amount < 0 else None
                self._statement(Assign(((counter, Binary("+", Name(counter), Const(amount))),)), scope)
                return enough
            case Zero(counter) | Forget(counter) if counter in self.column:
                return None
            case Zero(counter):
                return self._value(Binary("==", Name(counter), Const(0)), scope)
            case Forget(counter):
                scope.slot = {**scope.slot, counter: self._constant(0)}
            case Choose():
                raise TypeError("a choice is no plain statement")
        return None

    def _value(self, expr: Expr, scope: _Scope) -> int:
        """Return the slot with the value of an expression, computed here unless it is known."""
        match expr:
            case Const(value):
                return self._constant(value)
            case Name(name):
                return scope.slot[name] if name in scope.slot else self.fields[name]
            case Unary("-", arg):
                return self._binary("-", self._constant(0), self._value(arg, scope), scope)
            case Unary(_, arg):
                return self._not(self._value(arg, scope), scope)
            case Ite(test, then, other):
                return self._ite(self._value(test, scope), then, other, scope)
            case Binary("&", Binary(">>", Const(mask), index), Const(1)) if mask >= _MOST:
                return self._bit(mask, self._value(index, scope), scope)
            case Binary(">" | ">=" as op, left, right):
                swapped = "<" if op == ">" else "<="
                return self._value(Binary(swapped, right, left), scope)
            case Binary(op, left, right):
                return self._binary(op, self._value(left, scope), self._value(right, scope), scope)

    def _not(self, slot: int, scope: _Scope) -> int:
        holds = interval_truth(self.ranges[slot])
        if holds is not None:
            return self._constant(int(not holds))
        return self._computed(("NOT", slot, 0), BOOLEAN, scope)

    def _ite(self, test: int, then: Expr, other: Expr, scope: _Scope) -> int:
        holds = interval_truth(self.ranges[test])
        if holds is not None:
            return self._value(then if holds else other, scope)
        a, b = self._value(then, scope), self._value(other, scope)
        if a == b:
            return a
        key = (OPS["ITE"], test, a, b)
        if key not in scope.known:
            limits = (min(self.ranges[a][0], self.ranges[b][0]), max(self.ranges[a][1], self.ranges[b][1]))
            scope.known[key] = self._temporary(limits)
            self._emit("ITE", scope.known[key], test, a)
            self.code.extend((b, 0, 0, 0))
        return scope.known[key]

    def _bit(self, mask: int, index: int, scope: _Scope) -> int:
        """Look one bit up in a constant too long for a slot."""
        if self.ranges[index][0] < 0:
            raise UnsupportedError
        size = max(mask.bit_length(), self.ranges[index][1] + 1)
        start = len(self.table)
        self.table.extend(mask >> 64 * i & (1 << 64) - 1 for i in range(size // 64 + 1))
        return self._computed(("BIT", start, index), BOOLEAN, scope)

    def _binary(self, op: str, a: int, b: int, scope: _Scope) -> int:
        limits = apply_to_intervals(op, self.ranges[a], self.ranges[b])
        if limits[0] is not None and limits[0] == limits[1]:
            return self._constant(limits[0])
        return self._computed((_BINARY[op], a, b), limits, scope)

    def _computed(self, operation: tuple[str, int, int], limits: tuple[int | None, int | None], scope: _Scope) -> int:
        op, a, b = operation
        least, most = limits
        if least is None or most is None:
            raise UnsupportedError
        key = (OPS[op], a, b)
        if key not in scope.known:
            scope.known[key] = self._temporary((least, most))
            self._emit(op, scope.known[key], a, b)
        return scope.known[key]
