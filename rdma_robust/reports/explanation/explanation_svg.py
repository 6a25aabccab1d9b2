"""The execution graph as a drawing. Graphviz lays it out, inside this process: nothing else needs to be installed. Where its
library is missing, as in a browser, lanes are columns and events rows."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any, Literal

from rdma_robust.analyses.explain.explanation import Edge, Explanation, Graph, Lane, Node
from rdma_robust.foreign import unheard
from rdma_robust.reports.explanation.explanation_dot import (
    Attributes,
    DotStyle,
    digraph,
    edge_label,
    lane_title,
    thread_title,
)
from rdma_robust.reports.explanation.explanation_timeline import timeline_svg
from rdma_robust.reports.explanation.graph_places import (
    LONGEST_LABEL,
    MARGIN,
    NODE_HEIGHT,
    Box,
    GraphLayout,
    Point,
    column_layout,
    node_width,
)
from rdma_robust.reports.share.svg import arrow_head, fitted, markup_text, number, pixel_width, svg_image

POINTS = 72
LABEL_HEIGHT = 16
TITLE_HEIGHT = 18


def graph_svg(explanation: Explanation) -> str:
    """Return the execution graph as an SVG image, "" if there is no witness."""
    graph, timeline = explanation.graph, explanation.timeline
    if graph is None or timeline is None:
        return ""
    return graph_image(graph, timeline.lanes, f"execution graph of {explanation.program}")


def graph_image(graph: Graph, lanes: tuple[Lane, ...], title: str) -> str:
    """Return a graph whose nodes stand in these lanes as an SVG image."""
    layout = graph_layout(graph, lanes)
    body = [_box(thread_title(lanes[first]), box) for first, box in layout.boxes.items()]
    body += [_title(lane, layout.nodes[f"title{i}"]) for i, lane in enumerate(lanes)]
    body += [_edge(edge, layout) for edge in sorted(graph.edges, key=lambda e: e.cycle is not None)]
    body += [_node(node, layout.nodes[f"n{node.id}"], lanes) for node in graph.nodes]
    return svg_image(layout.width, layout.height, title, body, "graph")


def graph_layout(graph: Graph, lanes: tuple[Lane, ...]) -> GraphLayout:
    """Return where Graphviz's `dot` puts everything. It sees sizes and no texts, so that fonts do not matter."""
    try:
        import pygraphviz  # noqa: PLC0415 - slow, and only drawings need it
    except ImportError:
        return column_layout(graph, lanes)
    text = digraph(graph, lanes, [], DotStyle(_title_size, _node_size, _label_size))
    with unheard(), pygraphviz.AGraph(string=text) as laid:
        found = json.loads(laid.draw(prog="dot", format="json0"))
    return _layout(found)


def _layout(found: dict[str, Any]) -> GraphLayout:
    left, bottom, right, top = (float(v) for v in found["bb"].split(","))

    def point(text: str) -> Point:
        x, y = text.split(",")[:2]
        return float(x) - left + MARGIN, top - float(y) + MARGIN

    objects = found.get("objects", [])
    names = {o["_gvid"]: o["name"] for o in objects}
    curves: dict[tuple[str, str], tuple[Point, ...]] = {}
    labels: dict[tuple[str, str], Point] = {}
    for edge in found.get("edges", []):
        ends = names[edge["tail"]], names[edge["head"]]
        if edge.get("style") == "invis":
            continue
        curves[ends] = _curve(edge["pos"], point)
        if "lp" in edge:
            labels[ends] = point(edge["lp"])
    boxes: dict[int, Box] = {}
    for each in objects:
        if "bb" in each:
            x0, y0, x1, y1 = (float(v) for v in each["bb"].split(","))
            (a, b), (c, d) = point(f"{x0},{y1}"), point(f"{x1},{y0}")
            boxes[int(each["name"].removeprefix("cluster_"))] = a, b, c - a, d - b
    nodes = {o["name"]: point(o["pos"]) for o in objects if "pos" in o}
    return GraphLayout(right - left + 2 * MARGIN, top - bottom + 2 * MARGIN, nodes, curves, labels, boxes)


def _curve(pos: str, point: Any) -> tuple[Point, ...]:
    """Return the control points of a Bezier curve, the tip of the arrow as the last."""
    tip = re.search(r"e,(\S+)", pos)
    points = tuple(point(p) for p in re.sub(r"[es],\S+", "", pos).split())
    return (*points, point(tip.group(1))) if tip else (*points, points[-1])


def _node_size(node: Node | Lane) -> Attributes:
    wide = pixel_width(lane_title(node)) if isinstance(node, Lane) else node_width(node)
    high = TITLE_HEIGHT if isinstance(node, Lane) else NODE_HEIGHT
    return {
        "shape": "box",
        "label": '""',
        "fixedsize": "true",
        "width": f"{wide / POINTS:.4f}",
        "height": f"{high / POINTS:.4f}",
    }


def _title_size(title: str) -> str:
    return _blank(round(pixel_width(title) + 2 * MARGIN), TITLE_HEIGHT)


def _label_size(edge: Edge) -> Attributes:
    wide = round(pixel_width(edge_label(edge)) + 6)
    return {"label": _blank(wide, LABEL_HEIGHT), "weight": "2" if "po" in edge.relations else "1"}


def _blank(wide: float, high: float) -> str:
    """Return a label that is a place without text."""
    return f'<<TABLE BORDER="0" FIXEDSIZE="TRUE" WIDTH="{wide}" HEIGHT="{high}"><TR><TD></TD></TR></TABLE>>'


def _box(title: str, box: Box) -> str:
    x, y, wide, high = box
    frame = f'<rect class="rr-band" x="{number(x)}" y="{number(y)}" width="{number(wide)}" height="{number(high)}" rx="10"/>'
    return frame + _caption("rr-head", x + wide / 2, y + 18, title)


def _caption(style: str, x: float, y: float, text: str) -> str:
    place = f'x="{number(x)}" y="{number(y)}"'
    return f'<text class="{style} rr-sans" {place} text-anchor="middle">{markup_text(text)}</text>'


def _title(lane: Lane, at: Point) -> str:
    return _caption("rr-muted", at[0], at[1] + 4, lane_title(lane))


def _node(node: Node, at: Point, lanes: tuple[Lane, ...]) -> str:
    x, y = at
    wide = node_width(node)
    kind = next((lane.kind for lane in lanes if lane.id == node.lane), "init")
    marks = f"rr-node rr-{kind}{' rr-cycle' if node.on_cycle else ''}{' rr-pivot' if node.pivot else ''}"
    line = "" if node.line is None else f' data-line="{node.line}" tabindex="0"'
    said = f"{node.text}{' (the pivot)' if node.pivot else ''}"
    number_of = "" if node.line is None else f'<tspan class="rr-muted">{node.line} </tspan>'
    return (
        f'<g class="{marks}" data-event="{node.id}"{line}><title>{markup_text(said)}</title>'
        f'<rect class="rr-chip" x="{number(x - wide / 2)}" y="{number(y - NODE_HEIGHT / 2)}" width="{number(wide)}" '
        f'height="{NODE_HEIGHT}" rx="7"/><text x="{number(x)}" y="{number(y + 4)}" text-anchor="middle">'
        f"{number_of}{markup_text(fitted(node.label, LONGEST_LABEL))}</text></g>"
    )


def _edge(edge: Edge, layout: GraphLayout) -> str:
    ends = f"n{edge.source}", f"n{edge.target}"
    curve = layout.curves[ends]
    *points, tip = curve
    start, rest = points[0], points[1:]
    path = f"M{number(start[0])},{number(start[1])}C" + " ".join(f"{number(x)},{number(y)}" for x, y in rest)
    colour = "var(--rr-cycle)" if edge.cycle else f"var(--rr-{edge.relations[0]})"
    before = next((p for p in reversed(points) if p != tip), start)
    dash = {"po": ' stroke-dasharray="6 4"', "oppo": ' stroke-dasharray="1 4"'}.get(edge_label(edge), "")
    place = layout.labels.get(ends) or _middle(curve)
    marks = " ".join([*(f"rr-is-{r}" for r in edge.relations), *(["rr-edge-cycle"] if edge.cycle else [])])
    return (
        f'<g class="rr-relation {marks}"><title>{markup_text(edge.text or edge_label(edge))}</title>'
        f'<path class="rr-edge" d="{path}" style="stroke:{colour}"{dash}/>'
        f'<polygon points="{arrow_head(*tip, tip[0] - before[0], tip[1] - before[1], 10)}" style="fill:{colour}"/>'
        f'<text class="rr-label" x="{number(place[0])}" y="{number(place[1] + 4)}" text-anchor="middle" '
        f'style="fill:{colour}">{markup_text(edge_label(edge))}</text></g>'
    )


def _middle(points: tuple[Point, ...]) -> Point:
    a, b = list(pairwise(points))[len(points) // 2 - 1]
    return (a[0] + b[0]) / 2, (a[1] + b[1]) / 2


def drawn(explanation: Explanation, of: Literal["graph", "timeline"]) -> str:
    """Return the drawing that is asked for; without a witness one that says so."""
    if explanation.timeline is None:
        text = f"{explanation.headline} There is no execution to draw.".replace("`", "")
        line = f'<text x="{MARGIN}" y="26">{markup_text(text)}</text>'
        return svg_image(pixel_width(text) + 2 * MARGIN, 40, explanation.program, [line], of)
    return graph_svg(explanation) if of == "graph" else timeline_svg(explanation)
