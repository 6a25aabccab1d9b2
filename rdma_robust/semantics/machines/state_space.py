"""Exhaustive search through a machine's states, breadth first, within limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from rdma_robust.language.flow.cfg import Fault
from rdma_robust.semantics.machines.final import FinalState
from rdma_robust.semantics.machines.machine import Machine


@dataclass(frozen=True, slots=True)
class Limits:
    """Moves from the start, stored states, and seconds; None means no limit.

    The seconds count from `started` (as of `time.monotonic`), by default from the start of the search.
    """

    depth: int | None = None
    max_states: int | None = None
    timeout: float | None = None
    started: float | None = None


@dataclass(frozen=True, slots=True)
class Exploration:
    """What a search found. `stuck` counts states that are not final and have no move; `cut` names the limit that
    ended the search before every reachable state was seen, and is None if none did."""

    finals: frozenset[FinalState]
    states: int
    transitions: int
    stuck: int
    faults: tuple[Fault, ...]
    cut: str | None


def explore(machine: Machine, limits: Limits, *, reduce: bool = True) -> Exploration:
    """Return everything reachable from the machine's initial states, or as much of it as `limits` allow.

    With `reduce`, only enough states are visited to find the same final states, stuck states and faults. Faults are in
    the order of the search, each once.
    """
    successors = machine.reduced if reduce else machine.successors
    finals: set[FinalState] = set()
    faults: dict[Fault, None] = {}
    transitions = stuck = 0
    out_of = clock(limits)
    cut = None
    layer = []
    for move in machine.initial():
        layer.append(move.state)
        faults.update(dict.fromkeys(move.faults))
    seen = dict.fromkeys(layer)
    layer = list(seen)
    depth = 0
    while layer and cut is None:
        following = []
        for state in layer:
            moves = successors(state)
            transitions += len(moves)
            if machine.is_final(state):
                finals.add(machine.final(state))
            elif not moves:
                stuck += 1
            for _, after, met in moves:
                if met:
                    faults.update(dict.fromkeys(met))
                if after not in seen:
                    seen[after] = None
                    following.append(after)
            if limits.max_states is not None and len(seen) > limits.max_states:
                cut = f"{limits.max_states} states"
                break
            if out_of():
                cut = f"{limits.timeout:g} s"
                break
        depth += 1
        layer = following
        if layer and cut is None and limits.depth is not None and depth > limits.depth:
            cut = f"depth {limits.depth}"
    return Exploration(frozenset(finals), len(seen), transitions, stuck, tuple(faults), cut)


def clock(limits: Limits) -> Callable[[], bool]:
    """Return a cheap test whether the time is up, which looks at the clock only now and then."""
    if limits.timeout is None:
        return lambda: False
    end = (monotonic() if limits.started is None else limits.started) + limits.timeout
    calls = 0

    def is_over() -> bool:
        nonlocal calls
        calls += 1
        return calls % 64 == 1 and monotonic() > end

    return is_over
