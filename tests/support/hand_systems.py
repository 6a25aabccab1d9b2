"""Small transition systems written by hand: threads as edges with updates, interleaved, and all their runs up to a bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from rdma_robust.analyses.prove.transition_system import (
    Assignment,
    Bad,
    Control,
    Draw,
    Drop,
    EngineResult,
    Join,
    Region,
    SafetyClaim,
    Selection,
    Suppose,
    Transition,
    Update,
)
from rdma_robust.errors import NO_SPAN
from rdma_robust.expr import TRUE, Binary, Const, Expr, Name, evaluate, names
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName

CLAIM = SafetyClaim("invariant", "by hand", NO_SPAN, 0)

Edge = tuple[int, tuple[Update, ...], int]


def var(name: str) -> Name:
    return Name(name)


def op(left: Expr | str | int, sign: str, right: Expr | str | int) -> Expr:
    """`op("x", "<=", 3)`."""
    return Binary(sign, as_expr(left), as_expr(right))


def as_expr(part: Expr | str | int) -> Expr:
    return Name(part) if isinstance(part, str) else Const(part) if isinstance(part, int) else part


def let(name: str, value: Expr | str | int) -> Assignment:
    return Assignment(name, as_expr(value))


@dataclass(frozen=True)
class HandSystem:
    """Threads with program points; `bad` gives what must not be true at some points (one for each thread)."""

    threads: tuple[tuple[Edge, ...], ...]
    wide: tuple[tuple[str, int], ...]
    bad: Callable[[tuple[int, ...]], Expr | None]
    model: AnyModelName = "sc"
    claims: tuple[SafetyClaim, ...] = (CLAIM,)
    program: Program = field(default=Program("by_hand", "by_hand.rdma", "", (), (), ()))
    full: frozenset[tuple[int, ...]] = frozenset()
    dead: Mapping[tuple[int, ...], frozenset[str]] = field(default_factory=dict)

    def initial(self) -> Control:
        return tuple(0 for _ in self.threads)

    def successors(self, control: Control) -> list[Transition]:
        assert isinstance(control, tuple)
        return [
            Transition((), updates, (*control[:number], to, *control[number + 1 :]))
            for number, edges in enumerate(self.threads)
            for at, updates, to in edges
            if at == control[number]
        ]

    def violations(self, control: Control) -> list[Bad]:
        assert isinstance(control, tuple)
        condition = self.bad(control)
        return [] if condition is None else [Bad(0, condition)]

    def overflowed(self, control: Control) -> bool:
        return control in self.full

    def live(self, control: Control) -> frozenset[str]:
        assert isinstance(control, tuple)
        return frozenset(name for name, _ in self.wide) - self.dead.get(control, frozenset())

    def described(self, control: Control) -> dict[str, object]:
        return {"at": control}


State = tuple[tuple[str, tuple[int, ...]], ...]
"""What each variable stands for: one value, or, of a folded variable, all values, sorted."""


def after(updates: tuple[Update, ...], state: State, drawn: range) -> Iterator[State]:
    """Yield every state after updates; values without bound are drawn from `drawn`."""
    states = [dict(state)]
    for update in updates:
        states = [each for now in states for each in _after(update, now, drawn)]
    for each in states:
        yield tuple(sorted(each.items()))


def _after(update: Update, now: dict[str, tuple[int, ...]], drawn: range) -> Iterator[dict[str, tuple[int, ...]]]:
    match update:
        case Suppose(condition):
            if value_of(condition, now):
                yield now
        case Assignment(name, value):
            yield now | {name: (value_of(value, now),)}
        case Draw(name, low, high):
            least = drawn.start if low is None else value_of(low, now)
            most = drawn.stop - 1 if high is None else value_of(high, now)
            yield from (now | {name: (each,)} for each in range(least, most + 1))
        case Join(name, value):
            yield now | {name: tuple(sorted({*now[name], value_of(value, now)}))}
        case Selection(name, folded):
            yield from (now | {name: (each,)} for each in now[folded])
        case Drop(name):
            yield from (now | {name: (each,)} for each in {*now[name], drawn.start})


def value_of(expr: Expr, now: Mapping[str, tuple[int, ...]]) -> int:
    """Evaluate over variables that stand for one value."""
    values = {}
    for name in names(expr):
        (values[name],) = now[name]
    return evaluate(expr, values)


def holds(region: Region, state: State) -> bool:
    """Whether a region is true whatever folded variables stand for."""
    used = [(name, values) for name, values in state if any(name in names(each) for each in region)]
    return all(
        all(evaluate(each, dict(zip((name for name, _ in used), chosen, strict=True))) for each in region)
        for chosen in product(*(values for _, values in used))
    )


@dataclass(frozen=True)
class Runs:
    """Every state reached within so many moves, and whether one is bad."""

    states: frozenset[tuple[Control, State]]
    bad: bool


def all_runs(system: HandSystem, moves: int, drawn: range = range(-3, 4), most: int = 50_000) -> Runs:
    """Return what is reached, breadth first, within `moves` moves and `most` states."""
    start = (system.initial(), tuple(sorted((name, (value,)) for name, value in system.wide)))
    known, layer, bad = {start}, [start], False
    for _ in range(moves + 1):
        found = []
        for control, state in layer:
            now = dict(state)
            for each in system.violations(control):
                bad = bad or bool(value_of(each.condition, now))
            for transition in system.successors(control):
                for to in after(transition.updates, state, drawn):
                    if (transition.to, to) not in known and len(known) < most:
                        known.add((transition.to, to))
                        found.append((transition.to, to))
        layer = found
    return Runs(frozenset(known), bad)


def outside(found: EngineResult, runs: Runs) -> list[tuple[Control, State]]:
    """Return reached states that an invariant does not have."""
    assert found.invariant is not None
    return [
        (control, state)
        for control, state in runs.states
        if not any(holds(region, state) for region in found.invariant.get(control, ()))
    ]


def never(*, at: tuple[int, ...], condition: Expr = TRUE) -> Callable[[tuple[int, ...]], Expr | None]:
    """Say that `condition` must not be true where every thread is at its point of `at`; -1 is any point."""

    def bad(control: tuple[int, ...]) -> Expr | None:
        same = all(wanted in (-1, point) for wanted, point in zip(at, control, strict=True))
        return condition if same else None

    return bad
