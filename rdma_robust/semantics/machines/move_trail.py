"""How a replay that follows all ways side by side came to each of its moves."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.semantics.machines.machine import Move


@dataclass(frozen=True, slots=True)
class MoveTrail:
    """A move, and the trail that led to it: None at the start. Trails that part share what they have in common."""

    before: MoveTrail | None
    move: Move

    def run(self) -> tuple[Move, ...]:
        """Return the moves, the start first."""
        moves = []
        at: MoveTrail | None = self
        while at is not None:
            moves.append(at.move)
            at = at.before
        return tuple(reversed(moves))
