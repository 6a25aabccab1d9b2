"""Bodies of commands as lists of paths, each a guard and a sequence of assignments; also with dead variables set to 0."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rdma_robust.counters.program import Add, Assign, Body, Choose, Forget, Require, Statement, Zero
from rdma_robust.digraph import live_names, sets_of
from rdma_robust.expr import FALSE, TRUE, Binary, Const, Expr, Ite, Name, Unary, conj, equals, evaluate, names, substitute

Updates = tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class BodyPath:
    """One transition: enabled where `guard` holds, then each of `steps`, a simultaneous assignment, in order.

    `guard` is over the state before the transition only; `steps` may use temporaries assigned by earlier steps.
    """

    guard: Expr
    steps: tuple[Updates, ...]
    label: Any

    def names(self) -> Iterator[str]:
        """Yield every name that is read or assigned."""
        yield from names(self.guard)
        for step in self.steps:
            for name, value in step:
                yield name
                yield from names(value)

    def sequential(self) -> BodyPath:
        """Return the same transition with one assignment a step; swapped values go through temporaries."""
        return replace(self, steps=tuple((update,) for step in self.steps for update in _in_order(step)))


SAVED = "old'"


def saved(name: str) -> str:
    """The temporary that holds the old value of a variable while a simultaneous assignment is taken apart."""
    return SAVED + name


def _in_order(step: Updates) -> Iterator[tuple[str, Expr]]:
    """Yield assignments that do one after the other what `step` does at once."""
    left = list(step)
    while left:
        free = next((u for u in left if not any(u[0] in names(value) for n, value in left if n != u[0])), None)
        if free is None:
            name = left[0][0]
            yield saved(name), Name(name)
            left = [(n, value if n == name else substitute(value, {name: Name(saved(name))})) for n, value in left]
        else:
            yield free
            left.remove(free)


def paths_of_body(body: Body[Any], caps: Mapping[str, int]) -> Iterator[BodyPath]:
    """Yield the paths of `body`, without those whose guard is always false.

    Counters become variables; one with an entry in `caps` stays at that number when it would grow beyond it. Capped
    counters under-approximate: fewer completions never enable more.
    """
    yield from _walk(body, _Prefix(), caps)


@dataclass(frozen=True, slots=True)
class _Prefix:
    """The path so far. `constants` are the names whose last value is a constant; `option` is set after a Choose."""

    guard: Expr = TRUE
    steps: tuple[Updates, ...] = ()
    constants: tuple[tuple[str, Const], ...] = ()
    option: int = 0

    def require(self, condition: Expr) -> _Prefix:
        for step in reversed(self.steps):
            condition = substitute(condition, dict(step))
        return replace(self, guard=conj(self.guard, fold_constants(condition)))

    def assign(self, updates: Updates) -> _Prefix:
        constants = dict(self.constants)
        step = tuple((name, fold_constants(substitute(value, constants))) for name, value in updates)
        for name, value in step:
            constants.pop(name, None)
            if isinstance(value, Const):
                constants[name] = value
        kept = tuple((name, value) for name, value in step if value != Name(name))
        return replace(self, steps=(*self.steps, kept) if kept else self.steps, constants=tuple(constants.items()))


def _walk(body: Body[Any], before: _Prefix, caps: Mapping[str, int]) -> Iterator[BodyPath]:
    for prefix in _statements(body.statements, before, caps):
        if body.labels:
            yield BodyPath(prefix.guard, prefix.steps, body.labels[prefix.option])
        for branch in body.then:
            yield from _walk(branch, prefix, caps)


def _statements(statements: tuple[Statement, ...], prefix: _Prefix, caps: Mapping[str, int]) -> Iterator[_Prefix]:
    if prefix.guard == FALSE:
        return
    if not statements:
        yield prefix
        return
    first, rest = statements[0], statements[1:]
    if isinstance(first, Choose):
        for i, (value, condition) in enumerate(first.options):
            chosen = prefix.require(condition).assign(((first.name, Const(value)),))
            yield from _statements(rest, replace(chosen, option=i), caps)
    else:
        yield from _statements(rest, _after(first, prefix, caps), caps)


def _after(statement: Require | Assign | Add | Zero | Forget, prefix: _Prefix, caps: Mapping[str, int]) -> _Prefix:
    match statement:
        case Require(condition):
            return prefix.require(condition)
        case Assign(updates):
            return prefix.assign(updates)
        case Add(counter, amount):
            enough = prefix if amount >= 0 else prefix.require(Binary(">=", Name(counter), Const(-amount)))
            value: Expr = Binary("+" if amount >= 0 else "-", Name(counter), Const(abs(amount)))
            if amount > 0 and counter in caps:
                cap = caps[counter]
                value = Ite(Binary("<=", Name(counter), Const(cap - amount)), value, Const(cap))
            return enough.assign(((counter, value),))
        case Zero(counter):
            return prefix.require(equals(Name(counter), Const(0)))
        case Forget(counter):
            return prefix.assign(((counter, Const(0)),))


def fold_constants(expr: Expr) -> Expr:
    """Return `expr` with constant parts computed; its value is kept. A constant part that divides by zero stays."""
    match expr:
        case Unary(op, arg):
            return _computed(Unary(op, fold_constants(arg)))
        case Binary("&&" | "||" as op, left, right):
            return _junction(op, fold_constants(left), fold_constants(right))
        case Binary(op, left, right):
            return _computed(Binary(op, fold_constants(left), fold_constants(right)))
        case Ite(test, then, other):
            condition = fold_constants(test)
            if isinstance(condition, Const):
                return fold_constants(then if condition.value else other)
            return Ite(condition, fold_constants(then), fold_constants(other))
        case Const() | Name():
            return expr


def _junction(op: str, left: Expr, right: Expr) -> Expr:
    """Fold `&&` and `||` with a constant side."""
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Const):
            return Const(int(op == "||")) if bool(side.value) == (op == "||") else truth_expr(other)
    return Binary(op, left, right)


def truth_expr(expr: Expr) -> Expr:
    """Return an expression that is 1 where `expr` is non-zero and 0 where it is 0."""
    match expr:
        case Const(value):
            return Const(int(bool(value)))
        case Unary("!") | Binary("&&" | "||" | "==" | "!=" | "<" | "<=" | ">" | ">="):
            return expr
        case _:
            return Binary("!=", expr, Const(0))


def _computed(expr: Unary | Binary) -> Expr:
    parts = (expr.arg,) if isinstance(expr, Unary) else (expr.left, expr.right)
    if not all(isinstance(part, Const) for part in parts):
        return expr
    try:
        return Const(evaluate(expr, {}))
    except (ZeroDivisionError, ValueError):
        return expr


Step = tuple[int, int, BodyPath]
"""From a location to a location of one process."""


def reset_dead(steps: Sequence[Step], looked_at: Iterable[tuple[int, str]], own: Collection[str]) -> list[BodyPath]:
    """Return the paths of `steps`, each also setting to 0 what dies on it of `own`, the variables of this process alone.

    `looked_at` are the variables that somebody looks at in a location without leaving it. A variable is dead in a location
    if on every way from there it is assigned before it is read.
    """
    held: dict[int, set[str]] = {}
    for place, name in looked_at:
        held.setdefault(place, set()).add(name)
    effects = [_reads_and_writes(path) for _, _, path in steps]
    mine = set(own)
    flows = [
        (source, target, reads & mine, sets_of(writes))
        for (source, target, _), (reads, writes) in zip(steps, effects, strict=True)
    ]
    live = live_names(flows, held)
    result = []
    for (source, target, path), (_, writes) in zip(steps, effects, strict=True):
        dying = sorted(((live[source] | writes) & mine) - live[target])
        kept = tuple(step for step in path.steps if not (len(step) == 1 and _pointless(step[0][0], dying, path)))
        result.append(replace(path, steps=(*kept, *(((name, Const(0)),) for name in dying))))
    return result


def _pointless(name: str, dying: Collection[str], path: BodyPath) -> bool:
    """Whether assignments to the name have no use: it dies, and nothing on the path reads it."""
    return name in dying and all(name not in names(value) for step in path.steps for _, value in step)


def _reads_and_writes(path: BodyPath) -> tuple[set[str], set[str]]:
    """What the path reads before assigning it, and what it assigns."""
    reads = set(names(path.guard))
    writes: set[str] = set()
    for step in path.steps:
        reads |= {name for _, value in step for name in names(value)} - writes
        writes |= {name for name, _ in step}
    return reads, writes
