"""Where the parts of a drawn execution graph are, and places for them without Graphviz: a column a lane, a row an event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rdma_robust.analyses.explain.explanation import Edge, Graph, Lane, Node
from rdma_robust.reports.explanation.explanation_dot import edge_label, lane_title, thread_title
from rdma_robust.reports.share.svg import fitted, pixel_width

LONGEST_LABEL: Final = 40
NODE_HEIGHT: Final = 28
MARGIN: Final = 10

_ROW: Final = 58
_GAP: Final = 44
_HEAD: Final = 78
"""From the top of a thread's box to the middle of its first row: its title, and those of its lanes."""
_BEND: Final = 34
_APART: Final = 6
_ALONG: Final = (0.5, 0.35, 0.65, 0.22, 0.78)
"""Where along its curve a label may stand, the best first."""

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""The top left corner, width and height."""


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """Places in pixels, from the top left: centres of nodes by name, curves and label places of edges by their ends, and
    the boxes of the threads by the number of their first lane."""

    width: float
    height: float
    nodes: dict[str, Point]
    curves: dict[tuple[str, str], tuple[Point, ...]]
    labels: dict[tuple[str, str], Point]
    boxes: dict[int, Box]


def node_text(node: Node) -> str:
    """Return what stands in a node."""
    line = "" if node.line is None else f"{node.line} "
    return line + fitted(node.label, LONGEST_LABEL)


def node_width(node: Node) -> float:
    """Return how wide a node is."""
    return pixel_width(node_text(node)) + 20


def column_layout(graph: Graph, lanes: tuple[Lane, ...]) -> GraphLayout:
    """Return places for a graph: lanes side by side, those of a thread in one box, and its events in program order from the
    top down, each in a row of its own. Initial writes stand above."""
    initial = [node for node in graph.nodes if node.lane is None]
    top = MARGIN + (NODE_HEIGHT + 36 if initial else 0)
    gap = _GAP + max((pixel_width(edge_label(edge)) for edge in graph.edges), default=0.0)
    centres, boxes = _columns(graph, lanes, top, gap)
    nodes = {f"title{i}": (centres[lane.id], top + 42.0) for i, lane in enumerate(lanes)}
    for node in graph.nodes:
        if node.lane is not None:
            nodes[f"n{node.id}"] = centres[node.lane], top + _HEAD + _ROW * node.position
    x: float = MARGIN
    for node in initial:
        nodes[f"n{node.id}"] = x + node_width(node) / 2, MARGIN + NODE_HEIGHT / 2
        x += node_width(node) + _GAP / 2
    widths = {f"n{node.id}": node_width(node) for node in graph.nodes}
    curves = {ends: _curve(nodes, widths, ends) for ends in map(_ends, graph.edges)}
    right = max([x, *(left + wide for left, _, wide, _ in boxes.values())])
    bottom = max([top + float(_HEAD), *(y + high for _, y, _, high in boxes.values())])
    return GraphLayout(right + _BEND + MARGIN, bottom + MARGIN, nodes, curves, dict(_labels(graph, curves)), boxes)


def _columns(graph: Graph, lanes: tuple[Lane, ...], top: float, gap: float) -> tuple[dict[str, float], dict[int, Box]]:
    """Return the middle of each lane, and the boxes of the threads."""
    centres: dict[str, float] = {}
    boxes: dict[int, Box] = {}
    x: float = MARGIN
    rows = max((node.position + 1 for node in graph.nodes), default=0)
    for thread in dict.fromkeys(lane.thread for lane in lanes):
        left = x
        mine = [lane for lane in lanes if lane.thread == thread]
        x += MARGIN
        for lane in mine:
            events = (node_width(node) for node in graph.nodes if node.lane == lane.id)
            wide = max([pixel_width(lane_title(lane)), *events])
            centres[lane.id] = x + wide / 2
            x += wide + gap
        x = max(x - gap + MARGIN, left + pixel_width(thread_title(mine[0])) + 2 * MARGIN)
        boxes[lanes.index(mine[0])] = left, top, x - left, _HEAD + _ROW * rows - NODE_HEIGHT / 2
        x += gap
    return centres, boxes


def _ends(edge: Edge) -> tuple[str, str]:
    return f"n{edge.source}", f"n{edge.target}"


def _curve(nodes: dict[str, Point], widths: dict[str, float], ends: tuple[str, str]) -> tuple[Point, ...]:
    """Return a Bezier curve from side to side, and its tip. Those that come back stand a little below those that go."""
    source, target = ends
    (x0, y0), (x1, y1) = nodes[source], nodes[target]
    half = widths[source] / 2, widths[target] / 2
    if abs(x0 - x1) < 1:
        if 0 < y1 - y0 <= _ROW:
            start, end = (x0, y0 + NODE_HEIGHT / 2), (x1, y1 - NODE_HEIGHT / 2)
            return start, start, end, end, end
        sign = 1 if y1 > y0 else -1
        start, end = (x0 + sign * half[0], y0), (x1 + sign * half[1], y1)
        bend = sign * (_BEND + max(half))
        return start, (x0 + bend, y0), (x1 + bend, y1), end, end
    sign = 1 if x1 > x0 else -1
    start, end = (x0 + sign * half[0], y0 - sign * _APART), (x1 - sign * half[1], y1 - sign * _APART)
    reach = sign * max(abs(end[0] - start[0]) / 2, _BEND)
    return start, (start[0] + reach, start[1]), (end[0] - reach, end[1]), end, end


def _labels(graph: Graph, curves: dict[tuple[str, str], tuple[Point, ...]]) -> Iterator[tuple[tuple[str, str], Point]]:
    """Yield where the label of each edge stands: along its curve, where no other label is if there is such a place."""
    taken: list[tuple[Point, float]] = []
    for edge in sorted(graph.edges, key=lambda each: each.cycle is None):
        wide = pixel_width(edge_label(edge)) + 6
        places = [_at(curves[_ends(edge)], part) for part in _ALONG]

        def free(place: Point, wide: float = wide) -> bool:
            return all(abs(place[0] - x) * 2 > wide + w or abs(place[1] - y) > 14 for (x, y), w in taken)

        place = next(filter(free, places), places[0])
        taken.append((place, wide))
        yield _ends(edge), place


def _at(curve: tuple[Point, ...], part: float) -> Point:
    """Return the point of a Bezier curve at a part of its length, by de Casteljau."""
    points = list(curve[:4])
    while len(points) > 1:
        points = [(a + (c - a) * part, b + (d - b) * part) for (a, b), (c, d) in pairwise(points)]
    return points[0]
