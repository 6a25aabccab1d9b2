"""What zones have to be, by definition: points, updates of points, and invariants that are closed under transitions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from math import isqrt
from typing import Any

from rdma_robust.analyses.prove.transition_system import (
    AbstractPath,
    Assignment,
    Draw,
    Drop,
    EngineResult,
    Join,
    Region,
    Selection,
    Suppose,
    Transition,
    TransitionSystem,
    Update,
)
from rdma_robust.analyses.prove.zones import zone_matrix
from rdma_robust.analyses.prove.zones.zone_updates import zone_transition
from rdma_robust.expr import conj, evaluate

NO_CLIP = 10**40

State = Mapping[str, Any]


def has_point(entries: Sequence[int | None], values: Sequence[int]) -> bool:
    """Return whether the values satisfy every bound."""
    size = isqrt(len(entries))
    points = (0, *values)
    return all(
        (bound := entries[i * size + j]) is None or points[i] - points[j] <= bound for i in range(size) for j in range(size)
    )


def updated(values: State, updates: Sequence[Update], draws: Sequence[int] = range(-3, 4)) -> Iterator[State]:
    """Yield the values after updates, in which a draw is one of `draws`.

    A folded variable has a tuple of values; where it has a number, it stands for any one of its values all along.
    """
    states = [dict(values)]
    for update in updates:
        following = []
        for state in states:
            with suppress(ZeroDivisionError):
                following += _after(state, update, draws)
        states = following
    yield from states


def _after(state: dict[str, Any], update: Update, draws: Sequence[int]) -> list[dict[str, Any]]:
    match update:
        case Suppose(condition):
            return [state] if evaluate(condition, state) else []
        case Assignment(name, value):
            after = evaluate(value, state)
            return [{**state, name: (after,) if isinstance(state[name], tuple) else after}]
        case Draw(name, low, high):
            least = None if low is None else evaluate(low, state)
            most = None if high is None else evaluate(high, state)
            fitting = [d for d in draws if (least is None or d >= least) and (most is None or d <= most)]
            return [{**state, name: d} for d in fitting]
        case Join(name, value):
            after = evaluate(value, state)
            if isinstance(state[name], tuple):
                return [{**state, name: (*state[name], after)}]
            return [state, {**state, name: after}]
        case Selection(name, folded):
            held = state[folded] if isinstance(state[folded], tuple) else (state[folded],)
            return [{**state, name: value} for value in held]
        case Drop():
            return [state]


def uncovered(system: TransitionSystem, invariant: Mapping[object, tuple[Region, ...]]) -> list[str]:
    """Return what keeps an invariant from being an inductive one that violates no claim, zone by zone, without clipping."""
    zones = {
        control: [zone for region in regions if (zone := region_zone(system, control, region)) is not None]
        for control, regions in invariant.items()
    }
    found = []
    start = system.initial()
    values = dict(system.wide)
    first = zone_matrix.of_values([values[name] for name in sorted(system.live(start))], NO_CLIP)
    if not any(zone_matrix.included(first, large) for large in zones.get(start, ())):
        found.append("the start")
    for control, kept in zones.items():
        for zone in kept:
            found += [
                f"a violation at {control}" for bad in system.violations(control) if violates(system, control, zone, bad)
            ]
            found += [
                f"{control} to {step.to}"
                for step in system.successors(control)
                if not _led(system, control, zone, step, zones)
            ]
    return found


def violates(system: TransitionSystem, control: object, zone: zone_matrix.Matrix, bad: object) -> bool:
    """Return whether a zone has a point at which `bad` holds."""
    updates = (*bad.updates, Suppose(bad.condition))  # type: ignore[attr-defined]
    made = zone_transition(updates, sorted(system.live(control)), (), NO_CLIP)
    return any(zone_matrix.run_zone_code(code, zone) is not None for code in made.codes)


def region_zone(system: TransitionSystem, control: object, region: Region) -> zone_matrix.Matrix | None:
    """Return the zone that a region says, over the live variables of its control state, None if it is empty."""
    names = sorted(system.live(control))
    (code,) = zone_transition((Suppose(conj(*region)),), (), names, NO_CLIP).codes
    return zone_matrix.run_zone_code(code, (0,))


def _led(
    system: TransitionSystem,
    control: object,
    zone: zone_matrix.Matrix,
    step: Transition,
    zones: Mapping[object, list[zone_matrix.Matrix]],
) -> bool:
    made = zone_transition(step.updates, sorted(system.live(control)), sorted(system.live(step.to)), NO_CLIP)
    after = [reached for code in made.codes if (reached := zone_matrix.run_zone_code(code, zone)) is not None]
    if step.fault is not None:
        return not after
    return all(any(zone_matrix.included(reached, large) for large in zones.get(step.to, ())) for reached in after)


def _start(system: TransitionSystem, folded: Collection[str]) -> dict[str, Any]:
    return {name: (value,) if name in folded else value for name, value in system.wide}


def points_reached(
    system: TransitionSystem, depth: int, draws: Sequence[int] = range(-3, 4), folded: Collection[str] = ()
) -> bool:
    """Return whether some run of at most so many steps violates a claim."""
    layer = {(system.initial(), tuple(_start(system, folded).items()))}
    seen = set(layer)
    for _ in range(depth):
        following = set()
        for control, values in layer:
            for step in system.successors(control):
                for after in updated(dict(values), step.updates, draws):
                    if step.fault is not None or _is_bad(system, step.to, after):
                        return True
                    following.add((step.to, tuple(after.items())))
        layer = following - seen
        seen |= layer
    return any(_is_bad(system, control, dict(values)) for control, values in seen)


def _is_bad(system: TransitionSystem, control: object, values: State) -> bool:
    for bad in system.violations(control):
        for after in updated(values, bad.updates):
            with suppress(ZeroDivisionError):
                if evaluate(bad.condition, after):
                    return True
    return False


def follows(system: TransitionSystem, path: AbstractPath, draws: Sequence[int], folded: Collection[str] = ()) -> bool:
    """Return whether the path is one of the system from its start, and can be taken with these numbers drawn."""
    control = system.initial()
    states: list[State] = [_start(system, folded)]
    for transition in path.transitions:
        if transition not in system.successors(control):
            return False
        states = [after for state in states for after in updated(state, transition.updates, draws)]
        control = transition.to
    if path.bad is None:
        return bool(states) and path.transitions[-1].fault is not None
    return any(_is_bad(system, control, state) for state in states)


def said(searched: EngineResult) -> str:
    """Return the answer in a word."""
    return "path" if searched.path is not None else searched.cut or "safe"
