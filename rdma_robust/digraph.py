"""Questions asked of every program's graphs: the points that are reached, those on a cycle together, the names live there.

networkx would answer too, but loading it takes longer than deciding a small program; a test compares with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

Point = TypeVar("Point", bound=Hashable)
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

Flow = tuple[Point, Point, AbstractSet[str], Mapping[str, AbstractSet[str]]]
"""A step: the points before and after it, the names that it uses whatever follows, and the names that it sets, each with
those that are used only if somebody asks for it."""

Following = Mapping[int, Collection[int]]
"""The points that can follow each point; those that are missing have none."""


def by_key(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the second members of pairs by the first, all in the order of the pairs: the points that follow each, or any
    other values by what they have in common."""
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def reachable(starts: Iterable[Point], following: Mapping[Point, Iterable[Point]]) -> set[Point]:
    """Return `starts` and every point that paths from them come to."""
    found = set(starts)
    todo = list(found)
    while todo:
        new = [point for point in following.get(todo.pop(), ()) if point not in found]
        found.update(new)
        todo += new
    return found


def closure(starts: Iterable[Point], onward: Callable[[Point], Iterable[Point]]) -> dict[Point, None]:
    """Return `starts` and all that `onward` makes of them, again and again, in the order in which it is found."""
    found = dict.fromkeys(starts)
    todo = list(found)
    while todo:
        new = [point for point in onward(todo.pop()) if point not in found]
        found.update(dict.fromkeys(new))
        todo += new
    return found


def components(following: Following) -> list[list[int]]:
    """Return the strongly connected components of all points that have an entry or follow one that has.

    A component comes after those that it leads to. Source: Tarjan, Depth-first search and linear graph algorithms, 1972.
    """
    found: list[list[int]] = []
    number: dict[int, int] = {}
    lowest: dict[int, int] = {}
    """Of each point on the stack, the smallest number on the stack that it is known to reach."""
    stack: list[int] = []
    for root in following:
        walk = [] if root in number else [(root, iter(following[root]))]
        while walk:
            point, rest = walk[-1]
            if point not in number:
                number[point] = lowest[point] = len(number)
                stack.append(point)
            after = next(rest, None)
            if after is not None and after not in number:
                walk.append((after, iter(following.get(after, ()))))
            elif after is not None:
                lowest[point] = min(lowest[point], lowest.get(after, lowest[point]))
            else:
                walk.pop()
                if lowest[point] == number[point]:
                    found.append(_popped(stack, point, lowest))
                else:
                    lowest[walk[-1][0]] = min(lowest[walk[-1][0]], lowest[point])
    return found


def numbered_forward(entry: int, following: Following) -> dict[int, int]:
    """Return for every point a number: edges lead to larger ones, but for those that close a cycle as paths from `entry`
    are followed in depth.

    Numbers say how many edges can follow at most without closing one. Where each cycle can be entered at one point only, as
    in structured programs, the edges are the same in whatever order paths are followed (Hecht and Ullman 1974).
    """
    found: dict[int, int] = {}
    seen: set[int] = set()
    for root in (entry, *sorted(following)):
        walk = [] if root in seen else [(root, iter(sorted(following.get(root, ()))))]
        seen.add(root)
        while walk:
            point, rest = walk[-1]
            after = next((each for each in rest if each not in seen), None)
            if after is None:
                found[point] = min((found[each] - 1 for each in following.get(point, ()) if each in found), default=0)
                walk.pop()
            else:
                seen.add(after)
                walk.append((after, iter(sorted(following.get(after, ())))))
    return found


def _popped(stack: list[int], last: int, lowest: dict[int, int]) -> list[int]:
    """Take points from the stack, and from `lowest`, down to `last`."""
    taken: list[int] = []
    while not taken or taken[-1] != last:
        taken.append(stack.pop())
        del lowest[taken[-1]]
    return taken


def live_names(flows: Sequence[Flow[Point]], held: Mapping[Point, AbstractSet[str]]) -> dict[Point, frozenset[str]]:
    """Return for each point the names whose values some way from there uses before it sets them, or that are `held` there.

    The least fixed point, from the ends. Points are those of `flows` and of `held`.
    """
    live = {point: frozenset(names) for point, names in held.items()}
    into: dict[Point, list[Flow[Point]]] = {}
    for flow in flows:
        into.setdefault(flow[1], []).append(flow)
        for point in flow[:2]:
            live.setdefault(point, frozenset())
    todo = list(flows)
    while todo:
        source, target, used, sets = todo.pop()
        after = live[target]
        new = live[source].union(used, after - sets.keys(), *(sets[name] for name in sets.keys() & after))
        if new != live[source]:
            live[source] = new
            todo += into.get(source, ())
    return live


def sets_of(names: Iterable[str]) -> dict[str, AbstractSet[str]]:
    """Return that these names are set, for a :data:`Flow` whose uses are counted whatever follows."""
    return dict.fromkeys(names, frozenset())
