"""Exhaustive search through a machine's states, breadth first, within limits."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.language.flow.cfg import Fault
from rdma_robust.layers import by_layers
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.final import FinalState
from rdma_robust.semantics.machines.machine import Machine, State


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
    seen: dict[State, None] = {}
    for move in machine.initial():
        seen[move.state] = None
        faults.update(dict.fromkeys(move.faults))

    def expand(state: State, following: list[State]) -> None:
        nonlocal transitions, stuck
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

    cut, _ = by_layers(tuple(seen), expand, seen.__len__, limits)
    amount = limits.amount(cut) if cut else None
    return Exploration(frozenset(finals), len(seen), transitions, stuck, tuple(faults), amount)
