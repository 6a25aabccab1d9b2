"""VASS whose control graph is written out: control states, counters and edges as data, and the Petri net they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rdma_robust.counters.vass import Control, CounterEffect, Marking, Vass
from rdma_robust.errors import SizeLimitError
from rdma_robust.limits import Limits
from rdma_robust.petri.net import Net, NetTransition, Vector

_CHECK_EVERY = 1024
"""Expanded control states between two looks at the clock and the memory."""


@dataclass(frozen=True, slots=True)
class VassEdge:
    """From control state `source` to `target` (indices): enabled iff counters >= effect.guard, then adds effect.delta."""

    source: int
    target: int
    effect: CounterEffect
    name: str = ""


@dataclass(frozen=True, slots=True)
class Cone:
    """The configurations in control state `state` (an index) with counters >= `least`: an upward-closed set."""

    state: int
    least: Marking


@dataclass(frozen=True, slots=True)
class ExplicitVass:
    """A coverability question: does a run from control state `initial` with counters `start` reach one of `targets`?

    `states` and `counters` are names, each distinct; markings have one entry per counter.
    """

    name: str
    states: tuple[str, ...]
    counters: tuple[str, ...]
    edges: tuple[VassEdge, ...]
    initial: int
    start: Marking
    targets: tuple[Cone, ...]


def explicit_vass(
    vass: Vass,
    limits: Limits,
    *,
    name: str = "vass",
    counters: Sequence[str] = (),
    state_name: Callable[[int, Control], str] | None = None,
    edge_name: Callable[[int], str] | None = None,
) -> ExplicitVass:
    """Return the control graph of `vass`: the control states reached if every counter test succeeds, breadth first.

    A control state where a target holds is a target and is not left: a run that covers ends there. States are called
    q0, q1, ... unless `state_name` (of their number and control state) says otherwise, edges by `edge_name` of their
    transition, counters as given or c0, c1, ... Raises SizeLimitError where `limits` end the enumeration.
    """
    order = [vass.initial]
    number = {vass.initial: 0}
    edges: list[tuple[int, int, int, int]] = []
    targets: list[Cone] = []
    nothing = (0,) * vass.dimension
    for at, control in enumerate(order):
        if at % _CHECK_EVERY == 0 and (cut := limits.exceeded()):
            raise SizeLimitError(f"the control graph is too large: {cut} limit reached after {len(order):,} control states")
        if vass.target(control) >= 0:
            targets.append(Cone(at, nothing))
            continue
        for transition, after, effect in vass.successors(control):
            if after not in number:
                if limits.states is not None and len(order) >= limits.states:
                    raise SizeLimitError(f"the control graph has more than {limits.states:,} control states")
                number[after] = len(order)
                order.append(after)
            edges.append((at, number[after], effect, transition))
    called = edge_name or (lambda transition: f"t{transition}")
    return ExplicitVass(
        name=name,
        states=tuple(state_name(i, control) if state_name else f"q{i}" for i, control in enumerate(order)),
        counters=tuple(counters) or tuple(f"c{i}" for i in range(vass.dimension)),
        edges=tuple(VassEdge(source, target, vass.effects[effect], called(t)) for source, target, effect, t in edges),
        initial=0,
        start=nothing,
        targets=tuple(targets),
    )


def to_net(vass: ExplicitVass) -> Net:
    """Return the same question as a Petri net: a place for each control state, which has a token iff the VASS is there,
    then a place for each counter. Transition i is edge i, target i is target i.

    Every place starts at exactly one number, so the control places hold one token together for ever; `weights` says so.
    """
    first = len(vass.states)

    def counters(marking: Marking) -> Vector:
        return tuple((first + i, value) for i, value in enumerate(marking) if value)

    def transition(edge: VassEdge) -> NetTransition:
        moved = {edge.source: -1, edge.target: 1} if edge.source != edge.target else {}
        return NetTransition(
            name=edge.name,
            guard=((edge.source, 1), *counters(edge.effect.guard)),
            delta=(*sorted(moved.items()), *counters(edge.effect.delta)),
        )

    marking = (*(int(i == vass.initial) for i in range(first)), *vass.start)
    return Net(
        name=vass.name,
        places=(*vass.states, *vass.counters),
        transitions=tuple(transition(edge) for edge in vass.edges),
        least=marking,
        most=marking,
        targets=tuple(((cone.state, 1), *counters(cone.least)) for cone in vass.targets),
        weights=(tuple((i, 1) for i in range(first)),),
    )
