"""All parts of a search, as the one who asks sees them: what kernel/workers.py is for threads.

In: who has room for parts, and a plan. Out: what they have done together. Raises PartsLostError where one is gone.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from rdma_robust.counters.kernel._code import Status
from rdma_robust.counters.kernel.search_plan import SearchPlan
from rdma_robust.counters.parts.search_part import RoundReport
from rdma_robust.errors import LimitReached

if TYPE_CHECKING:
    from types import TracebackType

    from rdma_robust.counters.kernel.workers import KernelText
    from rdma_robust.limits import Limits

_NO_LIMIT: Final = 1 << 40
"""More states than there are numbers for."""


class PartsLostError(LimitReached):
    """A process that has a part of the search is gone, or cannot be reached: there is no answer. `why` is for people."""

    def __init__(self, why: str) -> None:
        super().__init__("processes", why, "searching")
        self.args = (why,)

    def __reduce__(self) -> tuple[type[PartsLostError], tuple[str]]:
        return (PartsLostError, (self.said,))


class Hosts(Protocol):
    """The processes that parts are in: for each its own."""

    count: int
    seconds: float
    """How long a round is best."""

    def begin(self, plan: SearchPlan) -> None:
        """Make the parts."""
        ...

    def call(self, method: str, *arguments: Any, each: Sequence[tuple[Any, ...]] = ()) -> list[Any]:
        """Call a method of every part at once, with arguments for all or for each; return what they return."""
        ...

    def ask(self, part: int, method: str, *arguments: Any) -> Any:
        """Call a method of one part."""
        ...

    def memory(self, limit: int | None) -> int | None:
        """Return the mebibytes that the process of each part may have."""
        ...

    def close(self) -> None: ...


class SearchParts:
    """A search in parts, of which none is begun; with the end of the `with` they are gone."""

    def __init__(self, hosts: Hosts, plan: SearchPlan, values: list[int], text: KernelText) -> None:
        self._hosts = hosts
        self.count = hosts.count
        try:
            hosts.begin(plan)
            addresses = hosts.call("address")
            hosts.call("connect", addresses, secrets.token_bytes(32))
            self.load(text)
            hosts.call("start", values)
            self.members: list[RoundReport] = hosts.call("round", 0.0, 1, None)
        except BaseException:
            hosts.close()
            raise

    def __enter__(self) -> SearchParts:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._hosts.close()

    def load(self, text: KernelText) -> None:
        """Give all of them code, and what processes do where."""
        self._hosts.call("load", text)

    def run(self, _budget: int, limits: Limits) -> list[int]:
        """Let them search for one round; return how each ended."""
        left = _NO_LIMIT if limits.states is None else limits.states - self.states
        if left <= 0:
            return [Status.STATES] * self.count
        memory = self._hosts.memory(limits.memory)
        self.members = self._hosts.call("round", each=[(self._hosts.seconds, n, memory) for n in self._shares(left)])
        if any(each.work for each in self.members):
            # Who has nothing to do may get something from others, and who has no room left gets some.
            done = (Status.DONE, Status.STATES)
            return [Status.BUDGET if each.status in done else each.status for each in self.members]
        return [each.status if each.status != Status.BUDGET else Status.DONE for each in self.members]

    def _shares(self, left: int) -> list[int]:
        """How many more states each may store, together at most `left`: who has nothing to do needs no room at the end."""
        if left >= self.count * 1000:
            return [left // self.count] * self.count
        busy = [number for number, each in enumerate(self.members) if each.work]
        share, more = divmod(left, max(1, len(busy)))
        return [share + (busy.index(number) < more) if number in busy else 0 for number in range(self.count)]

    @property
    def states(self) -> int:
        """The states that are stored."""
        return sum(each.states for each in self.members)

    @property
    def done(self) -> int:
        """The states that are expanded."""
        return sum(each.done for each in self.members)

    @property
    def transitions(self) -> int:
        return sum(each.transitions for each in self.members)

    @property
    def bytes(self) -> int:
        """The memory of states and of agendas, of all parts."""
        return sum(each.bytes for each in self.members)

    @property
    def fired(self) -> list[int]:
        """The labels that were ever enabled."""
        return sorted({label for found in self._hosts.call("fired") for label in found})

    def path(self, member: RoundReport) -> list[tuple[list[int], list[int]]]:
        """Return (labels taken, packed fields) of each state from the initial one, where none is taken, to the one found."""
        part, number = self.members.index(member), member.found_state
        found: list[tuple[list[int], list[int]]] = []
        while True:
            words, parent = self._hosts.ask(part, "link", number)
            if parent < 0:
                return [([0], words), *found[::-1]]
            number, part = divmod(parent, self.count)
            found.append((self._hosts.ask(part, "steps", number, words), words))
