"""That no process waits for ever: a rank of events that grows along each process, and from each send to its receive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Final

from rdma_robust.contracts.any_procs.any_events import Counters, ParametricEvent
from rdma_robust.contracts.any_procs.any_matching import (
    MatchedStatements,
    Matching,
    P,
    generic,
    happens,
    other_generic,
    precedes,
)
from rdma_robust.contracts.any_procs.any_values import Bool, Int
from rdma_robust.digraph import components
from rdma_robust.guarded_z3 import z3

Key = Callable[[ParametricEvent, Int, Counters], Int]


def _counter(event: ParametricEvent, _process: Int, at: Counters) -> Int:
    return at[event.loops[0]] if event.loops else z3.IntVal(0)


def _process(_event: ParametricEvent, process: Int, _at: Counters) -> Int:
    return process


def _down(_event: ParametricEvent, process: Int, _at: Counters) -> Int:
    return -process


def _text(event: ParametricEvent, _process: Int, _at: Counters) -> Int:
    return z3.IntVal(event.number)


RANKS: Final[tuple[tuple[Key, ...], ...]] = (
    (_text,),
    (_counter, _text),
    (_process, _counter, _text),
    (_down, _counter, _text),
    (_counter, _process, _text),
    (_counter, _down, _text),
)
"""Numbers that are compared one after the other, for events that may wait for each other in a circle."""


def well_founded(matching: Matching, pairs: Sequence[MatchedStatements]) -> bool:
    """Whether a rank of all events is found: first by the parts of the text that can follow one another, then in each."""
    events = {each.number: each for each in (*matching.sends, *matching.recvs)}
    following: dict[int, set[int]] = {each: set() for each in events}
    steps = [(a, b) for a, b in product(events.values(), repeat=2) if _can_follow(matching, a, b)]
    for first, second in steps:
        following[first.number].add(second.number)
    for pair in pairs:
        following[pair.send].add(pair.recv)
    for part in components(following):
        inside = [(a, b) for a, b in steps if a.number in part and b.number in part]
        crossing = [each for each in pairs if each.send in part and each.recv in part]
        if (inside or crossing) and not any(_grows(matching, rank, inside, crossing) for rank in RANKS):
            return False
    return True


def _can_follow(matching: Matching, first: ParametricEvent, second: ParametricEvent) -> bool:
    """Whether one process may do both, the first before the second."""
    later = other_generic(second)
    other = matching.function.event(second.number, P, later)
    given = [happens(first, P), happens(other, P), precedes(first, generic(first), second, later)]
    return not matching.prover.proves(given, z3.BoolVal(False))


def _grows(
    matching: Matching,
    rank: tuple[Key, ...],
    steps: Sequence[tuple[ParametricEvent, ParametricEvent]],
    pairs: Sequence[MatchedStatements],
) -> bool:
    """Whether a rank grows in each step of a process, and from each send to its receive."""
    events = {each.number: each for each in (*matching.sends, *matching.recvs)}
    for first, second in steps:
        at, later = generic(first), other_generic(second)
        other = matching.function.event(second.number, P, later)
        given = [happens(first, P), happens(other, P), precedes(first, at, second, later)]
        if not matching.prover.proves(given, _less(rank, (first, P, at), (second, P, later))):
            return False
    for pair in pairs:
        send, recv = events[pair.send], events[pair.recv]
        at = generic(recv)
        q, there = pair.sent(P, at)
        if not matching.prover.proves([happens(recv, P)], _less(rank, (send, q, there), (recv, P, at))):
            return False
    return True


def _less(
    rank: tuple[Key, ...], one: tuple[ParametricEvent, Int, Counters], two: tuple[ParametricEvent, Int, Counters]
) -> Bool:
    found = z3.BoolVal(False)
    for key in reversed(rank):
        a, b = key(*one), key(*two)
        found = z3.Or(a < b, z3.And(a == b, found))
    return found
