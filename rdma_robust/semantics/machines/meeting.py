"""Rounds of barriers in the machines: once all threads of one stand at it they leave, one after the other in the order of
the program, and nothing happens in between.

So a round is one step for everybody, though each thread has a move of its own in it. What a round costs are the states
between these moves, from each of which there is one way on. Source: docs/deployed.md, "Barriers".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from rdma_robust.semantics.machines.threadcode import Command, ThreadCode


class OpenRound(NamedTuple):
    """A round that has begun: its threads by number, ascending, and how many of them have left. Without threads there is
    none."""

    members: tuple[int, ...] = ()
    left: int = 0

    @property
    def next(self) -> int:
        """The thread that leaves next, -1 if no round has begun."""
        return self.members[self.left] if self.members else -1


NO_MEETING: Final = OpenRound()


def commands_in(code: ThreadCode, point: int, t: int, meeting: OpenRound) -> Sequence[Command]:
    """Return the commands that thread `t` may run at a point: in a round only the barrier, and only of who leaves next."""
    found = code.visible.get(point, ())
    if not meeting.members:
        return found
    return [command for command in found if command.members == meeting.members] if t == meeting.next else ()


def after_leaving(command: Command, t: int, meeting: OpenRound, stands: Callable[[int], bool]) -> OpenRound | None:
    """Return the round after thread `t` has left the barrier of `command`, None as long as it waits; `stands` says of each
    of the others whether it is there."""
    if not meeting.members and (t != command.members[0] or not all(map(stands, command.members[1:]))):
        return None
    left = meeting.left + 1
    return OpenRound(command.members, left) if left < len(command.members) else NO_MEETING
