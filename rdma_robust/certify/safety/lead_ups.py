"""Steps that agents (store buffers, NICs) may have to take before another one, and no more than that.

Theorem. Every run can be put into an order in which each move of an agent is followed, before or with the next step of a
thread (or the look of a claim), by something that depends on it, so that the same steps are made with the same values.
Proof. Take the first step a of a thread, and of the agents' moves before it those that a depends on, or that a later one of
these depends on. The others commute with all of these and with a, and go behind a. This goes on with the rest of the
run, which has a step less. In the end agents' moves are left that the claim does not depend on, and they are left out.

A step or move depends on a move of an agent before it if they need not commute, in values or in whether they are possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rdma_robust.certify.safety.wide_updates import NOTHING_DONE, WideEffect, WideUpdates, wide_effects

if TYPE_CHECKING:
    from rdma_robust.certify.safety.reduced_program import PlacedState, ReducedProgram


class AgentMove(NamedTuple):
    """A move of an agent of thread `thread`: the places of the words that it reads and writes (-1: none), what it takes from
    what is under way and what it adds, and the node that it is about."""

    thread: int
    reads: int
    writes: int
    takes: object = None
    gives: object = None
    peer: str | None = None


def depends(later: AgentMove, earlier: AgentMove, in_order: bool) -> bool:
    """Return whether the agents' moves need not commute; `in_order` iff those of one thread are in order."""
    if later.thread == earlier.thread and (in_order or (earlier.gives is not None and earlier.gives == later.takes)):
        return True
    if earlier.writes >= 0 and earlier.writes in (later.reads, later.writes):
        return True
    return later.writes >= 0 and earlier.reads == later.writes


Told = Callable[[AgentMove], bool]
"""Whether a step depends on an agent's move before it."""


class LeadUps:
    """The sequences of moves of agents that may have to come before a step."""

    def __init__(self, system: ReducedProgram) -> None:
        self._system = system
        self.in_order = False

    def to(self, state: PlacedState, told: Told) -> Iterator[tuple[WideUpdates, PlacedState | None]]:
        """Yield the updates of each such sequence, the empty one first, and the state after it.

        None for the state: something small gets a number that is not listed, which must be impossible.
        """
        yield (), state
        useful = self._useful(self._system.ahead(state), told)
        if not useful:
            return
        folded = self._system.folded(state) if self._system.variables.wide else frozenset()
        agenda: list[tuple[PlacedState, frozenset[AgentMove], WideUpdates, list[WideEffect]]] = [
            (state, frozenset(), (), [NOTHING_DONE])
        ]
        seen: set[object] = set()
        while agenda:
            here, owed, updates, done = agenda.pop()
            for agent in self._system.agents(here):
                if agent not in useful:
                    continue
                left = frozenset(each for each in owed if not depends(agent, each, self.in_order))
                left = left if told(agent) else left | {agent}
                for taken in self._system.act(here, agent):
                    every = (*updates, *taken.updates)
                    if taken.to is None:
                        yield every, None
                        continue
                    after = done
                    if taken.updates:
                        after = [each for before in done for each in wide_effects(taken.updates, folded, before)]
                    key = taken.to, left, frozenset(each.key for each in after) if every else None
                    if key in seen:
                        continue
                    seen.add(key)
                    agenda.append((taken.to, left, every, after))
                    if not left:
                        yield every, taken.to

    def _useful(self, ahead: Sequence[AgentMove], told: Told) -> frozenset[AgentMove]:
        """Return the moves among those to come that the step depends on, or another useful one does."""
        useful = {agent for agent in ahead if told(agent)}
        rest = [agent for agent in ahead if agent not in useful]
        changed = bool(useful)
        while changed:
            more = {a for a in rest if any(depends(later, a, self.in_order) for later in useful)}
            changed = bool(more)
            useful |= more
            rest = [agent for agent in rest if agent not in more]
        return frozenset(useful)
