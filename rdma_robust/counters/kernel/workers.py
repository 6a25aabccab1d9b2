"""The compiled searches that work on one set of states, in as many threads of this process.

In: a search, and how to make more like it. Out: what they have done together. Threads live as long as the search and work by
rounds, so whoever is between two rounds is alone: that is when code is compiled, limits are looked at and interrupts arrive.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from rdma_robust.limits import resident_mebibytes

with suppress(ImportError):
    from rdma_robust.counters.kernel._team import Team

if TYPE_CHECKING:
    from types import TracebackType

    from rdma_robust.counters.kernel._kernel import Search
    from rdma_robust.limits import Limits

_NO_LIMIT: Final = sys.maxsize


@dataclass(frozen=True, slots=True)
class KernelText:
    """Code of the kernel, all of it, and what is new of where it is: of places, and of tests for targets."""

    code: tuple[Any, ...]
    places: tuple[tuple[int, int, int, tuple[int, ...], bool], ...]
    targets: tuple[tuple[int, int, int], ...] = ()


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

    @property
    def count(self) -> int:
        return len(self.members)

    def load(self, text: KernelText) -> None:
        """Give all of them code, and what processes do where."""
        places = self.members[0].places
        for place in text.places:
            places.set_place(*place)
        for target in text.targets:
            places.set_target(*target)
        for member in self.members:
            member.load(*text.code)

    def run(self, budget: int, limits: Limits) -> list[int]:
        """Let each expand so many states, fewer where one is done sooner; return how each ended."""
        leader = self.members[0]
        leader.limit(_NO_LIMIT if limits.states is None else limits.states, self._room(limits.memory))
        leader.run(budget)
        return [member.status for member in self.members]

    def path(self, member: Search) -> list[tuple[list[int], list[int]]]:
        """Return (labels taken, packed fields) of each state from the initial one, where none is taken, to the one found."""
        return member.path(member.found_state)

    def _room(self, memory: int | None) -> int:
        """The bytes that states may have so that the process stays within so many mebibytes."""
        return _NO_LIMIT if memory is None else self.members[0].bytes + max(0, (memory - resident_mebibytes()) << 20)

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
