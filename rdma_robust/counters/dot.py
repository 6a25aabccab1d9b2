"""The process graphs of a counter program in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rdma_robust.counters.program import CounterProgram


def program_dot(program: CounterProgram[Any], source: Callable[[Any], str]) -> str:
    """Return one cluster a process: nodes are locations, the entry bold, with a double border where a target may hold;
    edges are commands, labelled by `source` of one of their labels and by the number of their transitions."""
    lines = [f"digraph {quote(program.name)} {{", "  node [shape=circle];"]
    for index, process in enumerate(program.processes):
        accepting = {t.location for t in program.targets if t.process == index}
        places = dict.fromkeys([process.entry, *(p for c in process.commands for p in (c.source, c.target))])
        lines += [f"  subgraph cluster_{index} {{", f"    label={quote(process.name)};"]
        for place in places:
            style = ["style=bold"] if place == process.entry else []
            style += ["peripheries=2"] if place in accepting else []
            lines.append(f"    p{index}_{place} [{', '.join([f'label={quote(str(place))}', *style])}];")
        for command in process.commands:
            labels = [label for _, leaf in command.body.paths() for label in leaf]
            ways = f"\n{len(labels)} ways" if len(labels) > 1 else ""
            text = f"{source(labels[0]) if labels else ''}{ways}"
            lines.append(f"    p{index}_{command.source} -> p{index}_{command.target} [label={quote(text)}];")
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def quote(text: str) -> str:
    """Return a quoted DOT string; a backslash begins an escape there, so it is doubled, and line ends become `\\n`."""
    shown = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
