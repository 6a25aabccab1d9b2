"""Breadth-first search layer by layer: the loop of every search through the states of a machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from rdma_robust.limits import Limits, Progress, ignore

State = TypeVar("State")
Start = TypeVar("Start")


def by_layers(
    starts: Iterable[Start],
    begin: Callable[[Start, list[State]], None],
    expand: Callable[[State, list[State]], None],
    stored: Callable[[], int],
    limits: Limits,
    *,
    enough: Callable[[], bool] = lambda: False,
    progress: Progress = ignore,
) -> tuple[str, int]:
    """Expand the `starts`, then what that leads to, and so on; return the name of the limit reached, or '', and the depth.

    `begin` gets a start and `expand` a state, and each appends to the list what is new behind it; `stored` says how many
    states there are by now. Starts are asked for one by one, so that the limits hold for them as for all states. The search
    ends early where it is `enough`. The depth is the number of moves to the last layer that was begun.
    """
    layer: list[State] = []
    reached = limits.watch()
    depth = done = 0
    for start in starts:
        begin(start, layer)
        if enough():
            return "", depth
        if limits.states is not None and stored() > limits.states:
            return "states", depth
        if cut := reached():
            return cut, depth
    while layer and not enough():
        following: list[State] = []
        for state in layer:
            expand(state, following)
            if enough():
                return "", depth
            if limits.states is not None and stored() > limits.states:
                return "states", depth
            if cut := reached():
                return cut, depth
            done += 1
            if done % 256 == 0:
                progress(stored(), len(layer) + len(following))
        layer = following
        depth += bool(layer)
        if limits.depth is not None and depth > limits.depth:
            return "depth", depth
    return "", depth
