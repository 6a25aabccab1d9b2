"""What a counter program does, by walking its trees: the plain meaning against which invariants are checked.

It shares nothing with the lowering and the search engines. Counters are naturals without bounds. :class:`Zero` and
:class:`Forget`, which only help a search, are ignored: the program then has more runs, so what holds of it holds anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never

from rdma_robust.certify.document import reject
from rdma_robust.counters.program import (
    Add,
    Assign,
    Body,
    Choose,
    Command,
    CounterProgram,
    Forget,
    Require,
    Statement,
    Target,
    Zero,
    pc,
)
from rdma_robust.expr import Expr, evaluate, names

Control = tuple[int, ...]
Values = dict[str, int]


@dataclass(frozen=True, slots=True)
class Transition:
    """One transition from a control state: entries (index, value) that it sets, and its effect on the counters.

    It is enabled iff every counter is at least its entry in `least`; then `added` is added.
    """

    sets: tuple[tuple[int, int], ...]
    least: tuple[int, ...]
    added: tuple[int, ...]

    def apply(self, control: Control) -> Control:
        after = list(control)
        for index, value in self.sets:
            after[index] = value
        return tuple(after)


@dataclass(frozen=True, slots=True)
class _Path:
    """A path of a body's tree so far: variables and temporaries, what was set, and the sums of what was added."""

    values: Values
    sets: dict[int, int]
    least: tuple[int, ...]
    added: tuple[int, ...]


class Interpreter:
    """The transitions of a counter program. Control states list the locations (`pc0`...), then the variables.

    What a command does depends only on the entries that its expressions name, so it is walked once for each of their
    valuations.
    """

    def __init__(self, program: CounterProgram[Any]) -> None:
        self.program = program
        pcs = tuple(pc(i) for i in range(len(program.processes)))
        self.fields = (*pcs, *(name for name, _ in program.variables))
        self.counters = program.counters
        self.initial: Control = (*(p.entry for p in program.processes), *(value for _, value in program.variables))
        self._index = {name: i for i, name in enumerate(self.fields)}
        self._counter = {name: i for i, name in enumerate(self.counters)}
        self._commands: list[dict[int, list[_Cached]]] = []
        for number, process in enumerate(program.processes):
            at: dict[int, list[_Cached]] = {}
            for command in process.commands:
                at.setdefault(command.source, []).append(_Cached(number, command, self._used(command)))
            self._commands.append(at)
        self._targets: dict[tuple[int | None, int], list[tuple[Target[Any], tuple[int, ...]]]] = {}
        for target in program.targets:
            used = tuple(sorted({self._index[n] for n in names(target.condition) if n in self._index}))
            self._targets.setdefault((target.process, target.location), []).append((target, used))
        self._holds: dict[tuple[int, tuple[int, ...]], bool] = {}

    def transitions(self, control: Control) -> Iterator[Transition]:
        """Yield every transition from `control`. Raises InvalidCertificate where an expression has no value."""
        for number, at in enumerate(self._commands):
            for cached in at.get(control[number], ()):
                key = tuple([control[i] for i in cached.used])
                found = cached.found.get(key)
                if found is None:
                    found = cached.found[key] = tuple(self._walk(cached, key))
                yield from found

    def reached_target(self, control: Control) -> bool:
        """Return whether a target holds in `control`, whatever the counters are."""
        places: list[tuple[int | None, int]] = [(None, 0), *((i, control[i]) for i in range(len(self._commands)))]
        for place in places:
            for target, used in self._targets.get(place, ()):
                key = (id(target), tuple([control[i] for i in used]))
                if key not in self._holds:
                    self._holds[key] = bool(_value(target.condition, {self.fields[i]: control[i] for i in used}))
                if self._holds[key]:
                    return True
        return False

    def _used(self, command: Command[Any]) -> tuple[int, ...]:
        found: set[int] = set()
        todo = [command.body]
        while todo:
            body = todo.pop()
            todo += body.then
            for statement in body.statements:
                for expr in _expressions(statement):
                    found |= {self._index[n] for n in names(expr) if n in self._index}
        return tuple(sorted(found))

    def _walk(self, cached: _Cached, values: tuple[int, ...]) -> Iterator[Transition]:
        env = {self.fields[i]: value for i, value in zip(cached.used, values, strict=True)}
        # An expression that names the location of the moving process could mean the one before or after: refuse it.
        env.pop(pc(cached.process), None)
        zeros = (0,) * len(self.counters)
        return self._body(cached.command.body, _Path(env, {cached.process: cached.command.target}, zeros, zeros))

    def _body(self, body: Body[Any], path: _Path) -> Iterator[Transition]:
        paths = [path]
        for statement in body.statements:
            paths = [after for before in paths for after in self._statement(statement, before)]
        for each in paths:
            if body.labels or not body.then:
                yield Transition(tuple(sorted(each.sets.items())), each.least, each.added)
            for branch in body.then:
                yield from self._body(branch, each)

    def _statement(self, statement: Statement, path: _Path) -> Iterator[_Path]:
        match statement:
            case Require(condition):
                if _value(condition, path.values):
                    yield path
            case Assign(updates):
                yield self._set(path, {name: _value(expr, path.values) for name, expr in updates})
            case Choose(name, options):
                for value, condition in options:
                    if _value(condition, path.values):
                        yield self._set(path, {name: value})
            case Add(counter, amount):
                i = self._counter[counter]
                added = path.added[i] + amount
                least = max(path.least[i], -added)
                yield _Path(path.values, path.sets, _put(path.least, i, least), _put(path.added, i, added))
            case Zero() | Forget():
                yield path
            case _:
                assert_never(statement)

    def _set(self, path: _Path, values: Values) -> _Path:
        sets = path.sets | {self._index[name]: value for name, value in values.items() if name in self._index}
        return _Path(path.values | values, sets, path.least, path.added)


@dataclass(slots=True)
class _Cached:
    """A command of a process, the entries that its expressions name, and its transitions for their valuations."""

    process: int
    command: Command[Any]
    used: tuple[int, ...]
    found: dict[tuple[int, ...], tuple[Transition, ...]] = field(default_factory=dict)


def _expressions(statement: Statement) -> Iterator[Expr]:
    match statement:
        case Require(condition):
            yield condition
        case Assign(updates):
            yield from (expr for _, expr in updates)
        case Choose(_, options):
            yield from (condition for _, condition in options)
        case _:
            pass


def _put(values: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    return (*values[:index], value, *values[index + 1 :])


def _value(expr: Expr, values: Mapping[str, int]) -> int:
    try:
        return evaluate(expr, values)
    except (KeyError, ArithmeticError, ValueError) as error:
        reject(f"in one of its states an expression of the program has no value ({type(error).__name__}: {error})")
