"""Register-only steps folded into the event that follows them, so that one event is one atomic step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from rdma_robust.digraph import components
from rdma_robust.expr import FALSE, conj, names, size, substitute
from rdma_robust.language.flow.cfg import Thread
from rdma_robust.limits import Poll
from rdma_robust.robustness.event_edge import EventEdge, section_stores, with_touches

_MAX_FOLDED = 64
"""Silent paths from one program point that are folded; beyond it silent edges stay, which is correct and larger."""

_MAX_SIZE = 150
"""Size of the expressions that folding may build; a silent edge whose successor would get larger ones stays."""


def edges_from(edges: Iterable[EventEdge]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for edge in edges:
        found.setdefault(edge.source, set()).add(edge.target)
    return found


def fold_silent(edges: list[EventEdge], thread: Thread, to_end: bool, poll: Poll) -> list[EventEdge]:
    """Fold silent edges into the events after them; points that only silent edges reached disappear.

    With `to_end`, what leads to the end of the thread without an event stays as one silent edge.
    """
    out: dict[int, list[EventEdge]] = {}
    for edge in edges:
        out.setdefault(edge.source, []).append(edge)
    kept = _silent_loop_heads(edges) | ({thread.exit} if to_end else set())
    folded: list[EventEdge] = []
    todo, seen = [thread.entry], {thread.entry}
    while todo:
        point = todo.pop()
        paths = list(poll.each(_silent_paths(point, out, kept, thread.exit)))
        for edge in paths if len(paths) <= _MAX_FOLDED else out.get(point, []):
            folded.append(edge)
            if edge.target not in seen:
                seen.add(edge.target)
                todo.append(edge.target)
    return sorted(folded, key=lambda e: (e.source, e.target))


def _silent_loop_heads(edges: list[EventEdge]) -> set[int]:
    """Return program points that together lie on every cycle of silent edges."""
    silent = edges_from(e for e in edges if e.type is None and not _idle(e))
    heads: set[int] = set()
    for component in components(silent):
        if len(component) > 1 or component[0] in silent.get(component[0], ()):
            heads.update(component)
    return heads


def _idle(edge: EventEdge) -> bool:
    return edge.type is None and edge.source == edge.target and not edge.assigns and edge.fault is None


def _silent_paths(point: int, out: dict[int, list[EventEdge]], kept: set[int], end: int) -> Iterator[EventEdge]:
    """Yield what can happen first at `point`: each event after any silent prefix, folded into one edge.

    A path stops at an event, at a fault, at a point in `kept` and, for a purely silent path, is dropped at the end of
    the thread, where nothing can follow.
    """
    stack = [e for e in reversed(out.get(point, [])) if not _idle(e) and e.guard != FALSE]
    found = 0
    while stack:
        edge = stack.pop()
        if edge.type is not None or edge.fault is not None or edge.target in kept:
            found += 1
            yield edge
            if found > _MAX_FOLDED:
                return
        elif edge.target != end:
            following = [e for e in out.get(edge.target, []) if not _idle(e)]
            if any(_folded_size(edge, e) > _MAX_SIZE for e in following):
                found += 1
                yield edge
            else:
                after = [_after(edge, e) for e in reversed(following)]
                stack += [e for e in after if e.guard != FALSE]


def _folded_size(silent: EventEdge, edge: EventEdge) -> int:
    """The size of all expressions of `edge` preceded by `silent`, without building them."""
    grows = {register: size(value) for register, value in silent.assigns}
    written = () if edge.written is None else (edge.written,)
    parts = (edge.guard, *(value for _, value in edge.assigns), *written, *(edge.rmw or ()), *section_stores(edge))
    substituted = sum(size(part) + sum(grows.get(name, 0) for name in names(part)) for part in parts)
    return size(silent.guard) + sum(grows.values()) + substituted


def _after(silent: EventEdge, edge: EventEdge) -> EventEdge:
    """Return `edge` preceded by `silent` in the same atomic step."""
    by = dict(silent.assigns)
    assigns = {**by, **{r: substitute(e, by) for r, e in edge.assigns}}
    return replace(
        edge,
        source=silent.source,
        guard=conj(silent.guard, substitute(edge.guard, by)),
        assigns=tuple(assigns.items()),
        written=None if edge.written is None else substitute(edge.written, by),
        rmw=None if edge.rmw is None else (substitute(edge.rmw[0], by), substitute(edge.rmw[1], by)),
        section=with_touches(edge, by),
    )
