"""The compiled searches that work on one set of states, in as many threads of this process.

In: a search, and how to make more like it. Out: what they have done together. Threads run for a slice of time and end with
it, so whoever is between two slices is alone: that is when code is compiled, limits are looked at and interrupts arrive.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

with suppress(ImportError):
    from rdma_robust.counters.kernel._team import Team

if TYPE_CHECKING:
    from rdma_robust.counters.kernel._kernel import Search


class Workers:
    """One search that works alone, until others are taken on."""

    def __init__(self, leader: Search) -> None:
        self.members = [leader]
        self._team: Team | None = None

    def grow(self, make: Callable[[], Search], count: int) -> None:
        """Have `count` members, who from now on take states from each other. Raises MemoryError."""
        leader = self.members[0]
        self._team = Team(count)
        leader.lead(self._team)
        for _ in range(count - 1):
            member = make()
            member.follow(leader)
            self.members.append(member)

    def run(self, budget: int) -> list[int]:
        """Let each expand so many states, fewer where one is done sooner; return how each ended. Raises MemoryError."""
        leader, *others = self.members
        if self._team is None:
            return [leader.run(budget)]
        ends = [0] * len(self.members)

        def work(at: int, member: Search) -> None:
            ends[at] = member.run(budget)

        self._team.begin()
        started: list[Thread] = []
        try:
            for at, member in enumerate(others, 1):
                thread = Thread(target=work, args=(at, member), name=f"search {at}")
                thread.start()
                started.append(thread)
            work(0, leader)
        except RuntimeError as error:
            raise MemoryError(str(error)) from error
        finally:
            self._team.halt()
            for thread in started:
                thread.join()
        return ends

    @property
    def states(self) -> int:
        """The states that are stored."""
        leader, *others = self.members
        return leader.states - sum(member.spare for member in others)

    @property
    def done(self) -> int:
        """The states that are expanded."""
        return sum(member.done for member in self.members)

    @property
    def transitions(self) -> int:
        return sum(member.transitions for member in self.members)

    @property
    def waiting_bytes(self) -> int:
        return sum(member.waiting_bytes for member in self.members)

    @property
    def bytes(self) -> int:
        """The memory of states and of agendas."""
        return self.members[0].bytes + self.waiting_bytes

    @property
    def fired(self) -> list[int]:
        """The labels that were ever enabled."""
        return sorted({label for member in self.members for label in member.fired()})
