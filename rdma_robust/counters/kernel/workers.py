"""The compiled searches that work on one set of states, in as many threads of this process.

In: a search, and how to make more like it. Out: what they have done together. Threads live as long as the search and work by
rounds, so whoever is between two rounds is alone: that is when code is compiled, limits are looked at and interrupts arrive.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

with suppress(ImportError):
    from rdma_robust.counters.kernel._team import Team

if TYPE_CHECKING:
    from types import TracebackType

    from rdma_robust.counters.kernel._kernel import Search


class Workers:
    """One search that works alone, until others are taken on; with the end of the `with` they are gone."""

    def __init__(self, leader: Search) -> None:
        self.members = [leader]
        self._team: Team | None = None
        self._threads: list[Thread] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._team is not None:
            self._team.dismiss()
        for thread in self._threads:
            thread.join()

    def grow(self, make: Callable[[], Search], count: int) -> None:
        """Have `count` members, who from now on take states from each other. Raises MemoryError."""
        leader = self.members[0]
        self._team = Team(count)
        leader.lead(self._team)
        for at in range(1, count):
            member = make()
            member.follow(leader)
            thread = Thread(target=member.serve, name=f"search {at}")
            try:
                thread.start()
            except RuntimeError as error:
                raise MemoryError(str(error)) from error
            self.members.append(member)
            self._threads.append(thread)

    def run(self, budget: int) -> list[int]:
        """Let each expand so many states, fewer where one is done sooner; return how each ended."""
        self.members[0].run(budget)
        return [member.status for member in self.members]

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
