"""The execution graph in the language of Graphviz: threads as boxes, one column for each processor and queue pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from rdma_robust.analyses.explain.explanation import Edge, Explanation, Graph, Lane, Node
from rdma_robust.text import printable

COLOURS = {
    "po": "#6b7280",
    "rf": "#15803d",
    "mo": "#1d4ed8",
    "rb": "#c2410c",
    "pf": "#7e22ce",
    "nfo": "#0f766e",
    "oppo": "#9ca3af",
}
CYCLE = "#dc2626"

Attributes = dict[str, str]
"""Attributes of a node or edge with their values as they are written: numbers, quoted strings, or HTML-like labels."""


@dataclass(frozen=True, slots=True)
class DotStyle:
    """How things are written: the label of a thread's box, and the attributes of nodes, titles of lanes, and edges."""

    box: Callable[[str], str]
    node: Callable[[Node | Lane], Attributes]
    edge: Callable[[Edge], Attributes]


def graph_dot(explanation: Explanation) -> str:
    """Return the execution graph as a DOT file, an empty graph with a comment if there is no witness."""
    graph, timeline = explanation.graph, explanation.timeline
    comment = f"// {printable(explanation.headline)}\n"
    if graph is None or timeline is None:
        return f"{comment}// There is no counterexample, so there is no execution to draw.\ndigraph execution {{\n}}\n"
    head = [
        "  label=" + quoted(f"{explanation.program}: {explanation.file}") + "; labelloc=t; fontname=Helvetica;",
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname=Helvetica, fontsize=11];',
        "  edge [fontname=Helvetica, fontsize=10];",
    ]
    return comment + digraph(graph, timeline.lanes, head, DotStyle(quoted, _node_look, _edge_look))


def digraph(
    graph: Graph,
    lanes: tuple[Lane, ...],
    head: list[str],
    look: DotStyle,
) -> str:
    """Return the graph as DOT. Columns are chains of invisible edges below a title each; Graphviz may swap columns to have
    fewer crossings. Program order gives the rows, so the events of a thread stand in it from the top down."""
    lines = ["digraph execution {", "  newrank=true; nodesep=0.3; ranksep=0.35;", *head]
    for thread in dict.fromkeys(lane.thread for lane in lanes):
        mine = [lane for lane in lanes if lane.thread == thread]
        first = lanes.index(mine[0])
        lines += [
            f"  subgraph cluster_{first} {{",
            f"    label={look.box(thread_title(mine[0]))}; style=rounded; margin=10;",
        ]
        for lane in mine:
            lines += _column(graph, lane, lanes.index(lane), look.node)
        lines.append("  }")
    titles = [f"title{i}" for i in range(len(lanes))]
    lines.append(f"  {{ rank=same; {' '.join(titles)} }}")
    lines += [f"  {a} -> {b} [style=invis];" for a, b in pairwise(titles)]
    initial = [n for n in graph.nodes if n.lane is None]
    lines += [f"  n{n.id} [{attribute_list(look.node(n))}];" for n in initial]
    if initial and titles:
        lines.append(f"  {{ rank=same; {' '.join(f'n{n.id}' for n in initial)} }}")
        lines += [f"  n{n.id} -> {titles[0]} [style=invis, weight=0];" for n in initial]
    lines += list(_edges(graph, look.edge))
    return "\n".join([*lines, "}"]) + "\n"


def _column(graph: Graph, lane: Lane, number: int, look: Callable[[Node | Lane], Attributes]) -> list[str]:
    nodes = sorted((n for n in graph.nodes if n.lane == lane.id), key=lambda n: n.position)
    lines = [f"    title{number} [group=g{number}, {attribute_list(look(lane))}];"]
    lines += [f"    n{n.id} [group=g{number}, {attribute_list(look(n))}];" for n in nodes]
    chain = [f"title{number}", *(f"n{n.id}" for n in nodes)]
    return lines + [f"    {a} -> {b} [style=invis, weight=20];" for a, b in pairwise(chain)]


def _edges(graph: Graph, look: Callable[[Edge], Attributes]) -> Iterator[str]:
    position = {n.id: n.position for n in graph.nodes}
    for edge in graph.edges:
        attributes = look(edge)
        if "po" not in edge.relations or position[edge.target] != position[edge.source] + 1:
            attributes["constraint"] = "false"
        yield f"  n{edge.source} -> n{edge.target} [{attribute_list(attributes)}];"


def edge_label(edge: Edge) -> str:
    """Return the relations of an edge; po that RDMA does not keep has no oppo."""
    return "+".join(edge.relations)


def thread_title(lane: Lane) -> str:
    return f"{lane.thread} on {lane.node}" if lane.node else lane.thread


def lane_title(lane: Lane) -> str:
    if lane.kind == "cpu":
        return "CPU"
    return "store buffer" if lane.remote is None else f"NIC to {lane.remote}"


def quoted(text: str) -> str:
    """Return `text` as a DOT string: escapes of DOT are taken literally, line ends cannot occur."""
    return '"' + printable(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def attribute_list(attributes: Attributes) -> str:
    return ", ".join(f"{name}={value}" for name, value in attributes.items())


def _node_look(node: Node | Lane) -> Attributes:
    if isinstance(node, Lane):
        return {"label": quoted(lane_title(node)), "shape": "plaintext", "style": '""'}
    line = "" if node.line is None else f"{node.line}: "
    look = {"label": quoted(f"{line}{node.label}"), "tooltip": quoted(node.text)}
    if node.on_cycle:
        look |= {"color": quoted(CYCLE), "penwidth": "2"}
    if node.pivot:
        look |= {"peripheries": "2"}
    return look


def _edge_look(edge: Edge) -> Attributes:
    relation = edge.cycle or edge.relations[0]
    colour = quoted(CYCLE if edge.cycle else COLOURS[relation])
    look = {"label": quoted(edge_label(edge)), "color": colour, "fontcolor": colour}
    if edge.cycle:
        look |= {"penwidth": "2.4", "tooltip": quoted(edge.text)}
    if edge.relations == ("po",):
        look |= {"style": "dashed"}
    elif edge.relations == ("oppo",):
        look |= {"style": "dotted"}
    return look
