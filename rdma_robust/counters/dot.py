"""Counter programs, as the graphs of their processes, and explicit VASS in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rdma_robust.counters.explicit import ExplicitVass, VassEdge
from rdma_robust.counters.program import CounterProgram


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
    asks: dict[int, list[str]] = {}
    for cone in vass.targets:
        asks.setdefault(cone.state, []).append(_tests(vass.counters, cone.least, [0] * len(cone.least)))
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
