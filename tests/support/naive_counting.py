"""Coverability of a counting system by the textbook, for comparison: Karp and Miller's tree, and finite markings by number.

It shares nothing with the searches of the room `counting`: markings are dictionaries, and nothing is done ahead of time.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

OMEGA = float("inf")

Marking = frozenset[tuple[Any, float]]


class Node(NamedTuple):
    control: Any
    marking: Marking
    before: Node | None


class TooLargeError(Exception):
    """More nodes than were allowed."""


def coverable(system: Any, most: int = 20_000) -> int:
    """Return the index of a target that can be covered with some number of processes, -1 if none can."""
    root = Node(system.initial, frozenset(), None)
    seen: dict[Any, list[dict[Any, float]]] = {}
    todo = [root]
    stored = 0
    while todo:
        node = todo.pop()
        tokens = _raised(node)
        if any(_covers(old, tokens) for old in seen.get(node.control, ())):
            continue
        if (target := system.target(node.control)) >= 0:
            return int(target)
        seen.setdefault(node.control, []).append(tokens)
        stored += 1
        if stored > most:
            raise TooLargeError
        here = Node(node.control, frozenset(tokens.items()), node.before)
        for move, after in _fired(system, node.control, tokens):
            todo.append(Node(move.control, frozenset(after.items()), here))
    return -1


def least(system: Any, most_copies: int, most: int = 200_000) -> int | None:
    """Return the least number of copies with which a target is reached, None if it is more than `most_copies`."""
    ticket = itertools.count()
    heap: list[Any] = [(0, next(ticket), system.initial, frozenset())]
    seen = set()
    while heap:
        copies, _, control, marking = heapq.heappop(heap)
        if (control, marking) in seen:
            continue
        seen.add((control, marking))
        if len(seen) > most:
            raise TooLargeError
        if system.target(control) >= 0:
            return int(copies)
        tokens = dict(marking)
        for move in system.moves(control, list(tokens)):
            taken = Counter(move.takes)
            born = sum(n for local, n in taken.items() if local in system.fresh)
            left = {local: n - (0 if local in system.fresh else taken[local]) for local, n in tokens.items()}
            lacking = any(n > tokens.get(local, 0) for local, n in taken.items() if local not in system.fresh)
            if lacking or copies + born > most_copies:
                continue
            for local in move.gives:
                if local not in system.fresh:
                    left[local] = left.get(local, 0) + 1
            after = frozenset((local, n) for local, n in left.items() if n)
            # A copy that is fresh again may as well be a new one: that is counted as a copy more, and never too few.
            heapq.heappush(heap, (copies + born, next(ticket), move.control, after))
    return None


def _fired(system: Any, control: Any, tokens: dict[Any, float]) -> Iterator[tuple[Any, dict[Any, float]]]:
    for move in system.moves(control, list(tokens)):
        after = dict(tokens)
        enabled = True
        for local, n in Counter(move.takes).items():
            if local in system.fresh:
                continue
            if after.get(local, 0) < n:
                enabled = False
                break
            after[local] -= n
        if not enabled:
            continue
        for local in move.gives:
            if local not in system.fresh:
                after[local] = after.get(local, 0) + 1
        yield move, {local: n for local, n in after.items() if n}


def _raised(node: Node) -> dict[Any, float]:
    """Return the marking with any number where it is larger than that of an ancestor of the same control state."""
    tokens = dict(node.marking)
    before = node.before
    while before is not None:
        old = dict(before.marking)
        if before.control == node.control and _covers(tokens, old):
            for local, n in tokens.items():
                if n > old.get(local, 0):
                    tokens[local] = OMEGA
        before = before.before
    return tokens


def _covers(large: dict[Any, float], small: dict[Any, float]) -> bool:
    return all(large.get(local, 0) >= n for local, n in small.items())
