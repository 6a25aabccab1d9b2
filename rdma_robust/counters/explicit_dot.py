"""Explicit VASS as a graph in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Sequence

from rdma_robust.counters.explicit import Edge, ExplicitVass


def write_dot(vass: ExplicitVass) -> str:
    """Return `vass` as a DOT digraph: nodes are control states, targets with a double border and what they ask of the
    counters, edges with their name, guard and effect."""
    asks: dict[int, list[str]] = {}
    for cone in vass.targets:
        asks.setdefault(cone.state, []).append(_tests(vass.counters, cone.least, [0] * len(cone.least)))
    lines = [f"digraph {_quote(vass.name)} {{", "  node [shape=box, style=rounded];", '  start [shape=point, label=""];']
    for i, state in enumerate(vass.states):
        text = "\n".join([state, *dict.fromkeys(ask for ask in asks.get(i, ()) if ask)])
        lines.append(f"  q{i} [label={_quote(text)}{', peripheries=2' if i in asks else ''}];")
    begin = ", ".join(f"{c} = {n}" for c, n in zip(vass.counters, vass.start, strict=True) if n)
    lines.append(f"  start -> q{vass.initial}{f' [label={_quote(begin)}]' if begin else ''};")
    for edge in vass.edges:
        lines.append(f"  q{edge.source} -> q{edge.target} [label={_quote(_label(vass.counters, edge))}];")
    return "\n".join([*lines, "}"]) + "\n"


def _label(counters: Sequence[str], edge: Edge) -> str:
    guard, delta = edge.effect.guard, edge.effect.delta
    changes = ", ".join(f"{c} {'+' if d > 0 else '-'}= {abs(d)}" for c, d in zip(counters, delta, strict=True) if d)
    return "\n".join(part for part in (edge.name, _tests(counters, guard, delta), changes) if part)


def _tests(counters: Sequence[str], guard: Sequence[int], delta: Sequence[int]) -> str:
    """The guards that subtracting does not imply."""
    return ", ".join(f"{c} >= {g}" for c, g, d in zip(counters, guard, delta, strict=True) if g > max(0, -d))


def _quote(text: str) -> str:
    """A quoted DOT string. A backslash begins an escape there, so it is doubled; line ends become \\n."""
    shown = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
