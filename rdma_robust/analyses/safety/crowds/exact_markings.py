"""Markings of any number of copies in which finite numbers are exact: what is asked of them may be an absence.

Whether a program hangs, or how it ends, is about all copies: each of them is stuck, or has ended. That is no coverability.
But every marking that can be reached is one of those that this search keeps, with some number in the place of "any":

- a marking that is reached is dropped only if a kept one of the same control state has, for each local state, the same
  number or "any";
- a number becomes "any" if an ancestor of the same control state has fewer, and nowhere more (Karp and Miller), or if the
  token came from a local state with "any" and the same move can be made again right after (copycats).

So if none of them can be made one of the markings in question by choosing numbers for "any", none of those can be reached.
The opposite does not follow: which numbers go together is forgotten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rdma_robust.analyses.safety.crowds.copy_steps import Local
from rdma_robust.analyses.safety.crowds.safety_system import Control, SafetySystem
from rdma_robust.limits import Limits, Progress, ignore

ANY: Final = -1
"""The number of tokens that may be any."""

Tokens = Mapping[Local, int]
"""The number of tokens of each local state that has some, or ANY; that of a fresh one is always ANY."""


@dataclass(frozen=True)
class Kept:
    """`possible` if a marking was kept that may be one of those in question; else none can be reached, unless `cut` names
    the limit that ended the search. `markings` were kept."""

    possible: bool
    cut: str
    markings: int


@dataclass(frozen=True, slots=True)
class _Node:
    control: Control
    tokens: dict[Local, int]
    before: _Node | None


def search_exact(
    system: SafetySystem, may_be: Callable[[Control, Tokens], bool], limits: Limits, progress: Progress = ignore
) -> Kept:
    """Search until a marking may be one in question, all were seen, or a limit is reached."""
    fresh = dict.fromkeys(system.fresh, ANY)
    kept: dict[Control, list[dict[Local, int]]] = {}
    todo = [_Node(system.initial, fresh, None)]
    stored = 0
    reached = limits.watch()
    while todo:
        node = todo.pop()
        node = _Node(node.control, _raised(node), node.before)
        those = kept.setdefault(node.control, [])
        if any(_stands_for(other, node.tokens) for other in those):
            continue
        if may_be(node.control, node.tokens):
            return Kept(possible=True, cut="", markings=stored)
        those.append(node.tokens)
        stored += 1
        if limits.states is not None and stored > limits.states:
            return Kept(possible=False, cut="states", markings=stored)
        if cut := reached():
            return Kept(possible=False, cut=cut, markings=stored)
        if stored % 256 == 0:
            progress(stored, len(todo))
        todo += [_Node(control, tokens, node) for control, tokens in _following(system, node)]
    return Kept(possible=False, cut="", markings=stored)


def _following(system: SafetySystem, node: _Node) -> Iterator[tuple[Control, dict[Local, int]]]:
    for move in system.moves(node.control, tuple(node.tokens)):
        after = dict(node.tokens)
        for local, number in Counter(move.takes).items():
            there = after.get(local, 0)
            if there == ANY:
                continue
            if there < number:
                break
            after[local] = there - number
            if there == number:
                del after[local]
        else:
            many = all(node.tokens[local] == ANY for local in move.takes)
            again = many and bool(move.takes) and _again(system, move.control, move.takes, move.gives)
            for local in move.gives:
                if after.get(local) != ANY:
                    after[local] = ANY if again else after.get(local, 0) + 1
            yield move.control, after


def _again(system: SafetySystem, control: Control, takes: tuple[Local, ...], gives: tuple[Local, ...]) -> bool:
    """Whether the tokens can be taken once more after a move to `control`, with the same tokens and control state then."""
    return any(m.takes == takes and m.control == control and m.gives == gives for m in system.moves(control, takes))


def _raised(node: _Node) -> dict[Local, int]:
    """Return the tokens, any number of those of which an ancestor of the same control state has fewer, and nowhere more."""
    tokens = node.tokens
    before = node.before
    while before is not None:
        if before.control == node.control and _at_least(tokens, before.tokens):
            tokens = {local: n if before.tokens.get(local, 0) == n else ANY for local, n in tokens.items()}
        before = before.before
    return tokens


def _at_least(large: dict[Local, int], small: dict[Local, int]) -> bool:
    numbers = ((large.get(local, 0), number) for local, number in small.items())
    return all(ours == ANY or (theirs != ANY and ours >= theirs) for ours, theirs in numbers)


def _stands_for(general: dict[Local, int], tokens: dict[Local, int]) -> bool:
    """Whether choosing numbers for "any" makes `general` every marking that `tokens` can be made."""
    if any(n != ANY and tokens.get(local) != n for local, n in general.items()):
        return False
    return all(n == general.get(local) or general.get(local) == ANY for local, n in tokens.items())
