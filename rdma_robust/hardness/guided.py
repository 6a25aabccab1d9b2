"""Guided search: breadth first through those moves of the RDMA machine that a guide picks.

A guide says which moves of a state are worth trying: one if nothing is lost by making it, several where there is a real
choice, none at a dead end. States between choices are not stored, so that a search can go deep; its depth counts those
moves at choices that the guide calls steps. What is found is replayed with the machine's own `successors`, so a guide can
miss runs but not invent them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rdma_robust.errors import InternalError
from rdma_robust.hardness.alike import alike
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.machine import Move
from rdma_robust.semantics.machines.rdma import RdmaMachine, RdmaState


class Guide(Protocol):
    """What directs a search; deterministic. Its moves must not go round in a circle without a choice."""

    def moves(self, state: RdmaState) -> Sequence[Move]:
        """Return the moves worth trying, each a successor of `state`; more than one is a choice."""

    def is_goal(self, state: RdmaState) -> bool:
        """Return whether the search is over at `state`."""

    def is_step(self, move: Move) -> bool:
        """Return whether a move taken at a choice counts for the depth of the search."""


@dataclass(frozen=True, slots=True)
class Found:
    """The end of a guided search: a run to a goal with the fewest steps, or None.

    `cut` names the limit that ended the search, None if it is over: then, without a run, no sequence of choices leads to a
    goal. `depth` is the number of steps up to which every sequence of choices was followed, `alive` how many sequences
    were left then. `states` counts the visited states, each as often as it was met, `kept` those stored at choices.
    """

    run: tuple[Move, ...] | None
    cut: str | None
    depth: int
    alive: int
    states: int
    kept: int


@dataclass(frozen=True, slots=True)
class _Node:
    """A choice: its state, and how the search came to it, the number of the move taken at the choice before."""

    state: RdmaState
    parent: _Node | None
    taken: int


def guided_search(machine: RdmaMachine, guide: Guide, limits: Limits) -> Found:
    """Return a run to a goal with the fewest steps among those the guide allows, or why there is none.

    The depth of `limits` counts steps, its states all visited ones. Of choices that are alike (:func:`alike`) only the
    first is followed: they have the same futures. Raises InternalError if the guide has invented a move.
    """
    return _Search(machine, guide, limits).run()


class _Search:
    def __init__(self, machine: RdmaMachine, guide: Guide, limits: Limits) -> None:
        self.machine = machine
        self.guide = guide
        self.limits = limits
        self.reached = limits.watch()
        self.alike = alike(machine)
        self.states = 0
        self.seen: set[Hashable] = set()

    def run(self) -> Found:
        """Search layer by layer: a layer are the choices that have as many steps before them."""
        layer: list[_Node | None] = [None]
        depth = 0
        while layer:
            if depth == self.limits.depth:
                return self._ended(self.limits.amount("depth"), depth, len(layer))
            following: list[_Node | None] = []
            alive = len(layer)
            # The layer grows while it is searched, by the choices that are no step.
            for node in layer:
                for taken, move in enumerate(self._options(node)):
                    reached = self._follow(move, node, taken)
                    if reached is None:
                        continue
                    if self.guide.is_goal(reached.state):
                        run = replay(self.machine, self.guide, _choices(reached))
                        return Found(run, None, depth + 1, alive, self.states, len(self.seen))
                    (following if self.guide.is_step(move) else layer).append(reached)
                cut = self._cut()
                if cut is not None:
                    return self._ended(cut, depth, alive)
            layer = following
            depth += 1
        return self._ended(None, depth, 0)

    def _options(self, node: _Node | None) -> Sequence[Move]:
        return self.machine.initial() if node is None else self.guide.moves(node.state)

    def _follow(self, move: Move, node: _Node | None, taken: int) -> _Node | None:
        """Return the next choice or goal after `move`, or None at a dead end and where the search has been before."""
        state = move.state
        while not self.guide.is_goal(state):
            self.states += 1
            moves = self.guide.moves(state)
            if not moves:
                return None
            if len(moves) > 1:
                key = self.alike(state)
                if key in self.seen:
                    return None
                self.seen.add(key)
                break
            state = moves[0].state
        return _Node(state, node, taken)

    def _cut(self) -> str | None:
        limits = self.limits
        limit = "states" if limits.states is not None and self.states > limits.states else self.reached()
        return limits.amount(limit) if limit else None

    def _ended(self, cut: str | None, depth: int, alive: int) -> Found:
        return Found(None, cut, depth, alive, self.states, len(self.seen))


def _choices(node: _Node) -> list[int]:
    taken = []
    here: _Node | None = node
    while here is not None:
        taken.append(here.taken)
        here = here.parent
    return taken[::-1]


def replay(machine: RdmaMachine, guide: Guide, choices: Sequence[int]) -> tuple[Move, ...]:
    """Return the run that makes these choices (the first is that of the start) up to a goal.

    Raises InternalError if a move is not one of the machine's successors, or if the choices lead elsewhere.
    """
    start = machine.initial()[choices[0]]
    run = [start]
    left = list(choices[:0:-1])
    while not guide.is_goal(run[-1].state):
        moves = guide.moves(run[-1].state)
        if not moves or (len(moves) > 1 and not left):
            raise InternalError("the choices of a guided search lead nowhere")
        move = moves[left.pop()] if len(moves) > 1 else moves[0]
        if move not in machine.successors(run[-1].state):
            raise InternalError("a guided search has made a move that the machine cannot make")
        run.append(move)
    return tuple(run)
