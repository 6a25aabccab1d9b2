"""Exhaustive search through a machine's states, breadth first, within limits."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.language.flow.cfg import Fault
from rdma_robust.layers import by_layers
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.final import FinalState
from rdma_robust.semantics.machines.machine import Machine, Move, State
from rdma_robust.text import count


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


def under_way_at_most(number: int) -> str:
    """Return what people call the limit of :func:`explore` with so many operations under way."""
    return f"{count(number, 'operation')} of a queue pair under way"


def explore(machine: Machine, limits: Limits, *, reduce: bool = True, under_way: int | None = None) -> Exploration:
    """Return everything reachable from the machine's initial states, or as much of it as `limits` allow.

    With `reduce`, only enough states are visited to find the same final states, stuck states and faults. With `under_way`,
    only states with at most so many operations of a queue pair under way; the search is cut if there are others. Faults
    are in the order of the search, each once.
    """
    choose = machine.reduced if reduce else machine.successors
    shortened = False
    finals: set[FinalState] = set()
    faults: dict[Fault, None] = {}
    transitions = stuck = 0
    seen: dict[State, None] = {}

    def begin(move: Move, layer: list[State]) -> None:
        faults.update(dict.fromkeys(move.faults))
        if move.state not in seen:
            seen[move.state] = None
            layer.append(move.state)

    def successors(state: State) -> list[Move]:
        nonlocal shortened
        moves = choose(state)
        if under_way is None or all(machine.under_way(move.state) <= under_way for move in moves):
            return moves
        shortened = True
        return [move for move in machine.successors(state) if machine.under_way(move.state) <= under_way]

    def expand(state: State, following: list[State]) -> None:
        nonlocal transitions, stuck
        moves = successors(state)
        transitions += len(moves)
        if machine.is_final(state):
            finals.add(machine.final(state))
        elif not moves and not choose(state):
            stuck += 1
        for _, after, met in moves:
            if met:
                faults.update(dict.fromkeys(met))
            if after not in seen:
                seen[after] = None
                following.append(after)

    cut, _ = by_layers(machine.initial(), begin, expand, seen.__len__, limits)
    amount = limits.amount(cut) if cut else under_way_at_most(under_way or 0) if shortened else None
    return Exploration(frozenset(finals), len(seen), transitions, stuck, tuple(faults), amount)
