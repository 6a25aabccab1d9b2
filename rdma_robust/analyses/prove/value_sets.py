"""The values that every register and word can ever have under any model, if they are few.

Registers are followed along each thread's graph, as one set of values per register and program point; words have one set
each. What may have more than `narrow` values, or values that are not found by trying, is *wide* (None).

Sound under every model of docs/theory-safety.md, "Machines", whatever its order: each reads from a word, sooner or
later, what was there at the start or what a step has written into it (a card writes what it has read from a word), and
a remote atomic uses the registers' values at the program point where it was posted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

from rdma_robust.expr import TRUE, VALUE, Binary, Const, Expr, Ite, Name, Unary, conj, evaluate, names
from rdma_robust.language.flow.cfg import (
    Cas,
    Get,
    Nondet,
    Program,
    Put,
    Read,
    RemoteOp,
    RemoteRmw,
    Rmw,
    Step,
    Thread,
    Write,
    steps,
)

Values = frozenset[int] | None

MOST_VALUATIONS: Final = 512
"""An expression is evaluated for at most so many valuations of its names; beyond, part by part."""

_BOOLEAN: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||"})


@dataclass(frozen=True)
class VariableDomains:
    """The values that each register `T.r` and word `A.x` can ever have, sorted; those of wide ones are None."""

    of: Mapping[str, tuple[int, ...] | None]

    def wide(self, name: str) -> bool:
        return self.of[name] is None


def value_sets(program: Program, narrow: int) -> VariableDomains:
    """Return the values of every register and word of a program, as `Thread.register` and `Node.word`."""
    flow = _Flow(program, narrow)
    flow.run()
    found: dict[str, tuple[int, ...] | None] = {}
    for number, thread in enumerate(program.threads):
        for name, _ in thread.registers:
            ever: Values = frozenset()
            for (owner, _), registers in flow.points.items():
                if owner == number:
                    ever = _union(ever, registers[name], narrow)
            found[f"{thread.name}.{name}"] = None if ever is None else tuple(sorted(ever))
    for word, values in flow.words.items():
        found[word] = None if values is None else tuple(sorted(values))
    return VariableDomains(found)


class _Flow:
    """The least sets that hold the initial values and what steps make of them; ends, as sets grow up to `narrow` only."""

    def __init__(self, program: Program, narrow: int) -> None:
        self.program = program
        self.narrow = narrow
        self.words: dict[str, Values] = {str(cell): frozenset({cell.init}) for cell in program.cells}
        self.points: dict[tuple[int, int], dict[str, Values]] = {}
        self.changed = False

    def run(self) -> None:
        for number, thread in enumerate(self.program.threads):
            self.points[number, thread.entry] = {name: frozenset({value}) for name, value in thread.registers}
        self.changed = True
        while self.changed:
            self.changed = False
            for number, thread in enumerate(self.program.threads):
                self._pass(number, thread)

    def _pass(self, number: int, thread: Thread) -> None:
        for source, target, step in steps(thread):
            here = self.points.get((number, source))
            if here is not None:
                self._step(number, target, step, here)
            if isinstance(step.op, RemoteOp):  # an engine that knows less of data may come here
                self._add(str(step.op.target), self.words[str(step.op.source)])

    def _step(self, number: int, target: int, step: Step, here: Mapping[str, Values]) -> None:
        env = {**here, VALUE.name: self._read(step, here)}
        if not _possible(step.guard, env):
            return
        after = {name: _filtered(name, values, step.guard, env) for name, values in here.items()}
        after |= {name: self._values(expr, step.guard, env) for name, expr in step.assigns}
        self._write(step, env)
        known = self.points.get((number, target))
        if known is None:
            self.points[number, target] = after
            self.changed = True
            return
        for name, values in after.items():
            wider = _union(known[name], values, self.narrow)
            if wider != known[name]:
                known[name] = wider
                self.changed = True

    def _read(self, step: Step, here: Mapping[str, Values]) -> Values:
        match step.op:
            case Read(cell) | Cas(cell, _, _) | Rmw(cell, _, _):
                return self.words[str(cell)]
            case RemoteRmw(_, source, _, _):
                return self.words[str(source)]
            case Nondet(low, high) if low is not None and high is not None:
                lows, highs = self._values(low, TRUE, here), self._values(high, TRUE, here)
                if lows is None or highs is None or not lows or not highs or max(highs) - min(lows) >= self.narrow:
                    return None
                return frozenset(range(min(lows), max(highs) + 1))
            case Nondet():
                return None
            case _:
                return frozenset({0})

    def _write(self, step: Step, env: Mapping[str, Values]) -> None:
        match step.op:
            case Write(cell, value):
                self._add(str(cell), self._values(value, step.guard, env))
            case Cas(cell, expected, new):
                self._add(str(cell), self._values(new, conj(step.guard, Binary("==", VALUE, expected)), env))
            case Rmw(cell, new, when):
                self._add(str(cell), self._values(new, conj(step.guard, when), env))
            case RemoteRmw(target, source, new, when):
                self._add(str(source), self._values(new, when, env))
                self._add(str(target), self.words[str(source)])
            case Put(target, source) | Get(target, source):
                self._add(str(target), self.words[str(source)])
            case _:
                pass

    def _add(self, word: str, values: Values) -> None:
        wider = _union(self.words[word], values, self.narrow)
        if wider != self.words[word]:
            self.words[word] = wider
            self.changed = True

    def _values(self, expr: Expr, guard: Expr, env: Mapping[str, Values]) -> Values:
        """Return what `expr` can be where the guard holds, None if that is wide."""
        found: Values = None
        for wanted in (guard, TRUE):
            valuations = _valuations((*names(expr), *names(wanted)), env)
            if valuations is not None:
                found = frozenset(v for each in valuations if _holds(wanted, each) for v in _value(expr, each))
                break
        else:
            found = self._by_parts(expr, env)
        return None if found is None or len(found) > self.narrow else found

    def _by_parts(self, expr: Expr, env: Mapping[str, Values]) -> Values:
        match expr:
            case Const(value):
                return frozenset({value})
            case Name(name):
                return env[name]
            case Unary("!", _):
                return frozenset({0, 1})
            case Unary(_, arg):
                values = self._values(arg, TRUE, env)
                return None if values is None else frozenset(-v for v in values)
            case Binary(op, _, _) if op in _BOOLEAN:
                return frozenset({0, 1})
            case Binary("%", _, Const(value)) if 0 < abs(value) <= self.narrow:
                return frozenset(range(1 - abs(value), abs(value)))
            case Binary(op, left, right):
                first, second = self._values(left, TRUE, env), self._values(right, TRUE, env)
                if first is None or second is None:
                    return None
                both = Binary(op, Name("a"), Name("b"))
                return frozenset(v for a, b in product(first, second) for v in _value(both, {"a": a, "b": b}))
            case Ite(_, then, other):
                return _union(self._values(then, TRUE, env), self._values(other, TRUE, env), self.narrow)


def _union(first: Values, second: Values, narrow: int) -> Values:
    if first is None or second is None:
        return None
    both = first | second
    return None if len(both) > narrow else both


def _valuations(used: tuple[str, ...], env: Mapping[str, Values]) -> Iterator[dict[str, int]] | None:
    """Return every valuation of these names, None if there are too many or a name is wide."""
    count = 1
    sets: list[frozenset[int]] = []
    different = tuple(dict.fromkeys(used))
    for name in different:
        values = env[name]
        if values is None:
            return None
        sets.append(values)
        count *= len(values)
    if count > MOST_VALUATIONS:
        return None
    return (dict(zip(different, chosen, strict=True)) for chosen in product(*sets))


def _value(expr: Expr, valuation: Mapping[str, int]) -> tuple[int, ...]:
    try:
        return (evaluate(expr, valuation),)
    except ZeroDivisionError:  # only where the step's guard fails
        return ()


def _holds(guard: Expr, valuation: Mapping[str, int]) -> bool:
    return any(_value(guard, valuation))


def _possible(guard: Expr, env: Mapping[str, Values]) -> bool:
    valuations = _valuations(tuple(names(guard)), env)
    return valuations is None or any(_holds(guard, each) for each in valuations)


def _filtered(name: str, values: Values, guard: Expr, env: Mapping[str, Values]) -> Values:
    """Return the values of a register with which the guard can hold."""
    if values is None or name not in set(names(guard)):
        return values
    valuations = _valuations(tuple(names(guard)), env)
    if valuations is None:
        return values
    return frozenset(each[name] for each in valuations if _holds(guard, each))
