"""VASS whose control graph is written out: control states, counters and edges as data, and the Petri net they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rdma_robust.counters.program import CounterProgram
from rdma_robust.counters.vass import Control, CounterEffect, Marking, Vass
from rdma_robust.digraph import by_key
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

    Every place starts at exactly one number, so the control places hold one token together forever; `weights` says so.
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


def program_dot(program: CounterProgram[Any], source: Callable[[Any], str]) -> str:
    """Return one cluster a process: nodes are locations, the entry bold, with a double border where a target may hold;
    edges are commands, labelled by `source` of one of their labels and by the number of their transitions."""
    lines = [f"digraph {dot_string(program.name)} {{", "  node [shape=circle];"]
    for index, process in enumerate(program.processes):
        accepting = {t.location for t in program.targets if t.process == index}
        places = dict.fromkeys([process.entry, *(p for c in process.commands for p in (c.source, c.target))])
        lines += [f"  subgraph cluster_{index} {{", f"    label={dot_string(process.name)};"]
        for place in places:
            style = ["style=bold"] if place == process.entry else []
            style += ["peripheries=2"] if place in accepting else []
            lines.append(f"    p{index}_{place} [{', '.join([f'label={dot_string(str(place))}', *style])}];")
        for command in process.commands:
            labels = [label for _, leaf in command.body.paths() for label in leaf]
            ways = f"\n{len(labels)} ways" if len(labels) > 1 else ""
            text = f"{source(labels[0]) if labels else ''}{ways}"
            lines.append(f"    p{index}_{command.source} -> p{index}_{command.target} [label={dot_string(text)}];")
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def dot_string(text: str) -> str:
    """Return a quoted DOT string; a backslash begins an escape there, so it is doubled, and line ends become `\\n`."""
    shown = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def write_dot(vass: ExplicitVass) -> str:
    """Return `vass` as a DOT digraph: nodes are control states, targets with a double border and what they ask of the
    counters, edges with their name, guard and effect."""
    asks = by_key((cone.state, _tests(vass.counters, cone.least, [0] * len(cone.least))) for cone in vass.targets)
    lines = [f"digraph {dot_string(vass.name)} {{", "  node [shape=box, style=rounded];", '  start [shape=point, label=""];']
    for i, state in enumerate(vass.states):
        text = "\n".join([state, *dict.fromkeys(ask for ask in asks.get(i, ()) if ask)])
        lines.append(f"  q{i} [label={dot_string(text)}{', peripheries=2' if i in asks else ''}];")
    begin = ", ".join(f"{c} = {n}" for c, n in zip(vass.counters, vass.start, strict=True) if n)
    lines.append(f"  start -> q{vass.initial}{f' [label={dot_string(begin)}]' if begin else ''};")
    for edge in vass.edges:
        lines.append(f"  q{edge.source} -> q{edge.target} [label={dot_string(_label(vass.counters, edge))}];")
    return "\n".join([*lines, "}"]) + "\n"


def _label(counters: Sequence[str], edge: VassEdge) -> str:
    guard, delta = edge.effect.guard, edge.effect.delta
    changes = ", ".join(f"{c} {'+' if d > 0 else '-'}= {abs(d)}" for c, d in zip(counters, delta, strict=True) if d)
    return "\n".join(part for part in (edge.name, _tests(counters, guard, delta), changes) if part)


def _tests(counters: Sequence[str], guard: Sequence[int], delta: Sequence[int]) -> str:
    """The guards that subtracting does not imply."""
    return ", ".join(f"{c} >= {g}" for c, g, d in zip(counters, guard, delta, strict=True) if g > max(0, -d))
