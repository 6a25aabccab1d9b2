"""Guided search without guidance is exhaustive search, and states that are alike have the same future."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from random import Random

import pytest

from rdma_robust.hardness.pcp_search import future_key, guided_search
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.machine import Move
from rdma_robust.semantics.machines.rdma import RdmaMachine, RdmaState
from tests.support.random_programs import SMALL, TINY, Size, random_program

SEEDS = range(15)


def machine_of(seed: int, size: Size, *, loops: bool = False) -> RdmaMachine:
    return RdmaMachine(load_program(random_program(Random(seed), size, loops=loops), "x"))


def reachable(machine: RdmaMachine, most: int = 3_000) -> dict[RdmaState, int]:
    """Return the reachable states and their distances from the start, all of them if they are at most `most`."""
    found = {move.state: 0 for move in machine.initial()}
    for state in (todo := list(found)):
        for move in machine.successors(state):
            if move.state not in found and len(found) < most:
                found[move.state] = found[state] + 1
                todo.append(move.state)
    return found


@dataclass
class Free:
    """Allows every move; a goal is a state in which every thread has ended."""

    machine: RdmaMachine

    def moves(self, state: RdmaState) -> Sequence[Move]:
        return self.machine.successors(state)

    def is_goal(self, state: RdmaState) -> bool:
        return all(t.point == code.thread.exit for t, code in zip(state.threads, self.machine.codes, strict=True))

    def is_step(self, move: Move) -> bool:
        return move.action.step is not None


def test_without_guidance_the_search_is_exhaustive() -> None:
    ended = set()
    for seed in SEEDS:
        machine = machine_of(seed, TINY)
        guide = Free(machine)
        states = reachable(machine)
        found = guided_search(machine, guide, Limits())
        assert found.cut is None
        assert (found.run is not None) == any(map(guide.is_goal, states))
        if found.run is not None:
            assert guide.is_goal(found.run[-1].state)
        ended.add(found.run is not None)
    assert ended == {True, False}


@pytest.mark.parametrize("loops", [False, True])
def test_states_that_are_alike_can_do_the_same(loops: bool) -> None:
    """The key is a bisimulation: states with one key have the same moves, but for what it leaves out, to the same keys."""
    merged = 0
    for seed in SEEDS:
        machine = machine_of(seed, SMALL, loops=loops)
        key = future_key(machine)
        future: dict[Hashable, Hashable] = {}
        for state in reachable(machine, 250):
            points = tuple(thread.point for thread in state.threads)
            moves = frozenset((m.action.thread, m.action.verb, key(m.state)) for m in machine.successors(state))
            merged += key(state) in future
            assert future.setdefault(key(state), (points, moves)) == (points, moves)
    assert merged > 30


@pytest.mark.parametrize(("write", "keys"), [("a = 1", 1), ("x = 1", 2)])
def test_puts_are_alike_only_if_nobody_writes_their_sources(write: str, keys: int) -> None:
    text = f"""node A {{ x, z, a }}
node B {{ y }}
thread T on A {{
  choose {{ put B.y = x }} or {{ put B.y = z }}
  {write}
}}
thread U on B {{ reg r; r = y }}
thread V on A {{ reg r; r = a }}
"""
    machine = RdmaMachine(load_program(text, "x"))
    (start,) = machine.initial()
    posted = [move.state for move in machine.cpu_moves(start.state, 0)]
    assert len(posted) == 2
    assert len(set(map(future_key(machine), posted))) == keys
