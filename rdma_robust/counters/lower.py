"""Lowering: a counter program becomes a VASS whose control states are valuations of its finite variables.

The program is compiled to Python: one function per process and location (every command body becomes nested `if`s over
local variables) and one that tests the targets.
Counters with a proven bound become finite variables; the others are the VASS's counters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from rdma_robust.counters.independence import LONGEST_CHAIN, Independence, independence
from rdma_robust.counters.permutations import Arranger
from rdma_robust.counters.program import (
    Add,
    Assign,
    Body,
    Choose,
    Command,
    CounterProgram,
    Forget,
    ProcessGraph,
    Require,
    Statement,
    Zero,
    counter_bounds,
    pc,
)
from rdma_robust.counters.vass import Control, CounterEffect
from rdma_robust.expr import COMPARISONS, Binary, Const, Expr, Ite, Name, Unary, depth, divide, evaluate, modulo, names, size

Label = TypeVar("Label")
Move = Callable[[Control, Callable[[tuple[int, Control, int]], None]], None]

_MAX_SPELT = 2000
_MAX_DEPTH = 70
"""Nodes of an expression that becomes Python code, and how deeply they are nested, at most two levels of parentheses each;
Python allows 200."""
_CALLS = {"/": "divide", "%": "modulo"}


@dataclass(frozen=True, slots=True)
class Chain(Generic[Label]):
    """The label of several transitions taken at once."""

    labels: tuple[Label, ...]


def single(labels: Iterable[Any]) -> list[Any]:
    """Return the labels with those of chains one by one."""
    return [one for label in labels for one in (label.labels if isinstance(label, Chain) else (label,))]


class LoweredProgram(Generic[Label]):
    """The :class:`~rdma_robust.counters.vass.Vass` of a counter program.

    `labels[i]` is the label of transition i, `targets[i]` that of target i; `fields` names the entries of a control
    state, `unbounded` the counters: those without a proven bound, or all of them if not `bounded`; then neither bounds nor
    :class:`Zero` and :class:`Forget` have a say; `bounds` has the proven bound of every counter, None for none. What only a
    search in Python needs is compiled when it is first asked for: transitions, which are then numbered, when a process first
    comes to a location (`compile_all` does it at once), and the tests of states.
    """

    def __init__(self, program: CounterProgram[Label], bounded: bool = True) -> None:
        bounds = counter_bounds(program) if bounded else dict.fromkeys(program.counters)
        self.program = program
        self.bounds: Mapping[str, int | None] = bounds
        self.unbounded = tuple(c for c in program.counters if bounds[c] is None)
        finite = tuple(c for c in program.counters if bounds[c] is not None)
        pcs = ((pc(i), p.entry) for i, p in enumerate(program.processes))
        start = (*pcs, *program.variables, *((c, 0) for c in finite))
        self.fields = tuple(name for name, _ in start)
        self.initial: Control = tuple(value for _, value in start)
        self.targets = tuple(t.label for t in program.targets)
        self.max_rank = len(program.milestones)
        self._writer = _Writer(self.fields, self.unbounded)
        self.labels: list[Label | Chain[Label]] = self._writer.labels
        self.effects = self._writer.effects
        self._no_effect = CounterEffect((0,) * self.dimension, (0,) * self.dimension)
        self._chains: dict[tuple[int, ...], int] = {}
        self._moves = tuple(_Moves(self._writer, i, p) for i, p in enumerate(program.processes))

    @cached_property
    def target(self) -> Callable[[Control], int]:
        return self._writer.target_test(self.program)

    @cached_property
    def rank(self) -> Callable[[Control], int]:
        return self._writer.rank(self.program.milestones)

    @cached_property
    def hopeless(self) -> Callable[[Control], bool]:
        pruner = self.program.pruner
        return pruner.test(self.fields) if pruner else lambda _control: False

    @cached_property
    def arranger(self) -> Arranger | None:
        return Arranger(self.program.alike, self.fields) if self.program.alike and not self.unbounded else None

    @cached_property
    def _independence(self) -> Independence | None:
        return independence(self.program)

    @property
    def dimension(self) -> int:
        return len(self.unbounded)

    def successors(self, state: Control, members: int = -1) -> list[tuple[int, Control, int]]:
        """Return the successors of a state, by moves of the processes in the bit mask `members`."""
        out: list[tuple[int, Control, int]] = []
        for process, (moves, location) in enumerate(zip(self._moves, state, strict=False)):
            if members >> process & 1:
                moves[location](state, out.append)
        return out

    def touched(self, process: int, location: int) -> tuple[int, ...]:
        """Return the numbers of the fields on which the moves of a process at a location depend, or which they change."""
        return self._moves[process].touches(location)

    def expansions(self, state: Control) -> Iterator[list[tuple[int, Control, int]]]:
        """Yield the successors by each closed set of processes, see :mod:`rdma_robust.counters.independence`."""
        if self._independence is None:
            yield self.successors(state)
            return
        for members in self._independence.clusters(state):
            yield [self._settled(state, s) for s in self.successors(state, members)]

    def advances(self, before: Control, after: Control) -> bool:
        """Whether some process advances, and the rank stays as it is."""
        return (
            self._independence is not None
            and self.rank(before) == self.rank(after)
            and self._independence.advances(before, after)
        )

    def _settled(self, before: Control, successor: tuple[int, Control, int]) -> tuple[int, Control, int]:
        """Extend a transition by those at local locations that follow, see :mod:`rdma_robust.counters.independence`."""
        assert self._independence is not None
        first, state, effect = successor
        if self.rank(state) > self.rank(before) and self.hopeless(state):
            return successor
        mover = next((i for i in range(len(self._moves)) if state[i] != before[i]), -1)
        taken = [first]
        while mover >= 0 and len(taken) <= LONGEST_CHAIN and self._independence.places[mover][state[mover]].local:
            following = self.successors(state, 1 << mover)
            if len(following) != 1 or self.effects[following[0][2]] != self._no_effect or self.target(state) >= 0:
                break
            taken.append(following[0][0])
            state = following[0][1]
        if len(taken) == 1:
            return successor
        chain = tuple(taken)
        if chain not in self._chains:
            self._chains[chain] = len(self.labels)
            self.labels.append(Chain(tuple(single(self.labels[i] for i in chain))))
        return self._chains[chain], state, effect

    def compile_all(self) -> None:
        for moves in self._moves:
            for location in sorted(moves.commands):
                moves[location]


def lower(program: CounterProgram[Label], bounded: bool = True) -> LoweredProgram[Label]:
    """Compile `program`; see the module's docstring. Without `bounded` every counter stays a counter of the VASS."""
    return LoweredProgram(program, bounded)


class _Moves(dict[int, Move]):
    """The moves of one process at each of its locations, compiled on demand."""

    def __init__(self, writer: _Writer, index: int, process: ProcessGraph[Any]) -> None:
        super().__init__()
        self.commands: dict[int, list[Command[Any]]] = {}
        for command in process.commands:
            self.commands.setdefault(command.source, []).append(command)
        self.touched: dict[int, tuple[int, ...]] = {}
        self._writer = writer
        self._index = index

    def touches(self, location: int) -> tuple[int, ...]:
        if location not in self.touched:
            self.__missing__(location)
        return self.touched[location]

    def __missing__(self, location: int) -> Move:
        move, touched = self._writer.moves(self._index, self.commands.get(location, ()))
        self[location], self.touched[location] = move, touched
        return move


@dataclass(frozen=True, slots=True)
class _Scope:
    """How names are spelt at one point of a body: fields as their latest local, counters as the sum so far.

    `option` is the local that numbers the option taken at a Choose.
    """

    local: dict[str, str]
    guard: tuple[int, ...]
    delta: tuple[int, ...]
    option: str = ""


class _Writer:
    """Writes the Python source of one lowered program; `labels` and `effects` fill up as leaves are written."""

    def __init__(self, fields: Sequence[str], unbounded: Sequence[str]) -> None:
        self.fields = fields
        self.column = {c: i for i, c in enumerate(unbounded)}
        self.base = {name: f"s{i}" for i, name in enumerate(fields)}
        self.labels: list[Any] = []
        self.effects: list[CounterEffect] = []
        self.effect_index: dict[CounterEffect, int] = {}
        self.used: set[str] = set()
        self.changed: set[int] = set()
        self.space: dict[str, Any] = {"divide": divide, "modulo": modulo, "evaluate": evaluate}
        self.fresh = 0

    def compile(self, lines: Iterable[str], name: str) -> Any:
        exec("\n".join(lines), self.space)
        return self.space.pop(name)

    def moves(self, process: int, commands: Iterable[Command[Any]]) -> tuple[Move, tuple[int, ...]]:
        """Compile what a process does at one location: a function that hands each successor to its second argument; and the
        fields that it reads or changes.

        A successor is a copy of the state with the changed fields replaced: naming all fields would make the code, and
        the time to compile it, several times as large.
        """
        lines: list[str] = []
        for command in commands:
            local = {**self.base, pc(process): str(command.target)}
            self._body(command.body, _Scope(local, (0,) * len(self.column), (0,) * len(self.column)), 1, lines)
        touched = tuple(i for i in range(len(self.fields)) if f"s{i}" in self.used or i in self.changed)
        self.changed.clear()
        move: Move = self.compile(["def moves(state, add):", *self._unpack(), *lines, " return"], "moves")
        return move, touched

    def target_test(self, program: CounterProgram[Any]) -> Callable[[Control], int]:
        lines = [f" if not {self._spell(name, self.base)}: return -1" for name in program.milestones]
        for index, target in enumerate(program.targets):
            at = "" if target.process is None else f"{self._spell(pc(target.process), self.base)} == {target.location} and "
            lines.append(f" if {at}{self._spelt(self._test, target.condition, self.base)}: return {index}")
        code = ["def target(state):", *self._unpack(), *lines, " return -1"]
        test: Callable[[Control], int] = self.compile(code, "target")
        return test

    def rank(self, milestones: Sequence[str]) -> Callable[[Control], int]:
        reached = " + ".join(f"(state[{self.fields.index(name)}] != 0)" for name in milestones)
        rank: Callable[[Control], int] = self.compile(["def rank(state):", f" return {reached or 0}"], "rank")
        return rank

    def _spell(self, name: str, local: dict[str, str]) -> str:
        self.used.add(local[name])
        return local[name]

    def _unpack(self) -> list[str]:
        """Read the fields that the code written since the last call uses."""
        used = [f" s{i} = state[{i}]" for i in range(len(self.fields)) if f"s{i}" in self.used]
        self.used.clear()
        return used

    def _body(self, body: Body[Any], scope: _Scope, depth: int, lines: list[str]) -> None:
        for statement in body.statements:
            scope, depth = self._statement(statement, scope, depth, lines)
        if body.labels:
            effect = CounterEffect(scope.guard, scope.delta)
            number = self.effect_index.setdefault(effect, len(self.effects))
            if number == len(self.effects):
                self.effects.append(effect)
            label = f"{len(self.labels)} + {scope.option}" if scope.option else len(self.labels)
            changed = [(i, n) for i, n in enumerate(self.fields) if scope.local[n] != self.base[n]]
            self.changed.update(i for i, _ in changed)
            sets = "; ".join(f"n[{i}] = {self._spell(n, scope.local)}" for i, n in changed)
            lines.append(f"{' ' * depth}n = [*state]; {sets}; add(({label}, (*n,), {number}))")
            self.labels += body.labels
        for branch in body.then:
            self._body(branch, scope, depth, lines)

    def _statement(self, statement: Statement, scope: _Scope, depth: int, lines: list[str]) -> tuple[_Scope, int]:
        indent = " " * depth
        match statement:
            case Require(Const(truth)) if truth:
                return scope, depth
            case Require(condition):
                lines.append(f"{indent}if {self._spelt(self._test, condition, scope.local)}:")
                return scope, depth + 1
            case Assign(updates):
                local = dict(scope.local)
                for name, value in updates:
                    if isinstance(value, Const | Name):
                        local[name] = self._value(value, scope.local)
                        continue
                    self.fresh += 1
                    local[name] = f"t{self.fresh}"
                    lines.append(f"{indent}{local[name]} = {self._spelt(self._value, value, scope.local)}")
                return replace(scope, local=local), depth
            case Add(counter, amount) if counter in self.column:
                i = self.column[counter]
                guard, delta = list(scope.guard), list(scope.delta)
                delta[i] += amount
                guard[i] = max(guard[i], -delta[i])
                return replace(scope, guard=tuple(guard), delta=tuple(delta)), depth
            case Add(counter, amount):
                if amount < 0:
                    lines.append(f"{indent}if {self._spell(counter, scope.local)} >= {-amount}:")
                    depth += 1
                added = Assign(((counter, Binary("+", Name(counter), Const(amount))),))
                return self._statement(added, scope, depth, lines)
            case Choose(name, options):
                self.fresh += 1
                option, chosen, holds = (f"{part}{self.fresh}" for part in ("o", "v", "h"))
                table = "".join(
                    f"({i}, {v}, {self._spelt(self._test, test, scope.local)}), " for i, (v, test) in enumerate(options)
                )
                lines += [f"{indent}for {option}, {chosen}, {holds} in ({table}):", f"{indent} if {holds}:"]
                return replace(scope, local={**scope.local, name: chosen}, option=option), depth + 2
            case Zero(counter) | Forget(counter) if counter in self.column:
                return scope, depth
            case Zero(counter):
                return self._statement(Require(Binary("==", Name(counter), Const(0))), scope, depth, lines)
            case Forget(counter):
                return self._statement(Assign(((counter, Const(0)),)), scope, depth, lines)

    def _spelt(self, spell: Callable[[Expr, dict[str, str]], str], expr: Expr, local: dict[str, str]) -> str:
        """Spell `expr`, as a call of `evaluate` if Python's parser would find it too deeply nested."""
        nodes = size(expr)
        if nodes <= _MAX_DEPTH or (nodes <= _MAX_SPELT and depth(expr) <= _MAX_DEPTH):
            return spell(expr, local)
        self.space[key := f"e{len(self.space)}"] = expr
        values = ", ".join(f"{name!r}: {self._spell(name, local)}" for name in dict.fromkeys(names(expr)))
        return f"evaluate({key}, {{{values}}})"

    def _test(self, expr: Expr, local: dict[str, str]) -> str:
        """Spell `expr` where only its truth matters."""
        match expr:
            case Unary("!", arg):
                return f"(not {self._test(arg, local)})"
            case Binary("&&", left, right):
                return f"({self._test(left, local)} and {self._test(right, local)})"
            case Binary("||", left, right):
                return f"({self._test(left, local)} or {self._test(right, local)})"
            case Binary(op, left, right) if op in COMPARISONS:
                return f"({self._value(left, local)} {op} {self._value(right, local)})"
            case _:
                return self._value(expr, local)

    def _value(self, expr: Expr, local: dict[str, str]) -> str:
        """Spell `expr` as an integer."""
        match expr:
            case Const(value):
                return f"({value})" if value < 0 else str(value)
            case Name(name):
                return self._spell(name, local)
            case Unary("-", arg):
                return f"(-{self._value(arg, local)})"
            case Unary() | Binary("&&" | "||" | "==" | "!=" | "<" | "<=" | ">" | ">=", _, _):
                return f"(1 if {self._test(expr, local)} else 0)"
            case Ite(test, then, other):
                return f"({self._value(then, local)} if {self._test(test, local)} else {self._value(other, local)})"
            case Binary("&~", left, right):
                return f"({self._value(left, local)} & ~{self._value(right, local)})"
            case Binary("/" | "%" as op, left, right):
                return f"{_CALLS[op]}({self._value(left, local)}, {self._value(right, local)})"
            case Binary(op, left, right):
                return f"({self._value(left, local)} {op} {self._value(right, local)})"
