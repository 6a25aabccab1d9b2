"""Coverability questions as the compiler reads them: rules over counters, with control states or without."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rdma_robust.counters.explicit import ExplicitVass
from rdma_robust.petri.net import Net, Vector


@dataclass(frozen=True, slots=True)
class Rule:
    """Takes `take` from the counters, which must be there, then gives `give`; moves the control from `source` to `target`.

    `about` says where the rule comes from. Without control states `source` and `target` are 0.
    """

    about: str
    take: Vector
    give: Vector
    source: int = 0
    target: int = 0


@dataclass(frozen=True, slots=True)
class Goal:
    """Control state `state` with at least `least` in the counters."""

    least: Vector
    state: int = 0


@dataclass(frozen=True, slots=True)
class System:
    """A VASS and a set of targets. `states` is empty if there is one control state, which nobody needs to look at.

    Counter i starts with exactly `start[i]` tokens, or with any number from there up if `unbounded[i]`.
    """

    name: str
    states: tuple[str, ...]
    counters: tuple[str, ...]
    rules: tuple[Rule, ...]
    initial: int
    start: tuple[int, ...]
    unbounded: tuple[bool, ...]
    goals: tuple[Goal, ...]


def system_of_net(net: Net) -> System:
    """Return a net as a VASS with one control state; it covers a target iff the net does.

    An interval of initial tokens becomes its upper end: more tokens enable every run that fewer enable, so the largest
    marking covers what any of them covers. Without an upper end the counter is unbounded.
    """
    return System(
        name=net.name,
        states=(),
        counters=net.places,
        rules=tuple(
            Rule(f"{t.name} (line {t.line})" if t.line else t.name, t.guard, _added(t.guard, t.delta))
            for t in net.transitions
        ),
        initial=0,
        start=tuple(low if high is None else high for low, high in zip(net.least, net.most, strict=True)),
        unbounded=tuple(high is None for high in net.most),
        goals=tuple(Goal(target) for target in net.targets),
    )


def system_of_vass(vass: ExplicitVass) -> System:
    """Return an explicit VASS, without the names of control states if it has only one."""
    return System(
        name=vass.name,
        states=vass.states if len(vass.states) > 1 else (),
        counters=vass.counters,
        rules=tuple(
            Rule(
                e.name,
                _sparse(e.effect.guard),
                _sparse(g + d for g, d in zip(e.effect.guard, e.effect.delta, strict=True)),
                e.source,
                e.target,
            )
            for e in vass.edges
        ),
        initial=vass.initial,
        start=vass.start,
        unbounded=(False,) * len(vass.counters),
        goals=tuple(Goal(_sparse(cone.least), cone.state) for cone in vass.targets),
    )


def _added(left: Vector, right: Vector) -> Vector:
    sums = dict(left)
    for place, amount in right:
        sums[place] = sums.get(place, 0) + amount
    return tuple(sorted((place, amount) for place, amount in sums.items() if amount))


def _sparse(marking: Iterable[int]) -> Vector:
    return tuple((counter, amount) for counter, amount in enumerate(marking) if amount)
