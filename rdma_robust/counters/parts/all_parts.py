"""All parts of a search, as the one who asks sees them: what kernel/workers.py is for threads.

In: who has room for parts, and a plan. Out: what they have done together. Raises PartsLostError where one is gone and there
are no checkpoints; else all go on from the last one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from rdma_robust.counters.kernel._code import Status
from rdma_robust.counters.kernel.search_plan import SearchPlan
from rdma_robust.counters.kernel.workers import KernelText
from rdma_robust.counters.parts.checkpoint import Checkpoint, SavedStates, digest_of_text
from rdma_robust.counters.parts.lost_parts import CheckpointError, HostsLostError, PartsLostError
from rdma_robust.counters.parts.search_part import RoundReport

if TYPE_CHECKING:
    from types import TracebackType

    from rdma_robust.limits import Limits

Found = TypeVar("Found")

_NO_LIMIT: Final = 1 << 40
"""More states than there are numbers for."""
MOST_LOSSES: Final = 3
"""Losses of parts without a new checkpoint between them, at most: what kills them may be the search."""


class Hosts(Protocol):
    """The processes that parts are in."""

    count: int
    """How many parts are best."""
    seconds: float
    """How long a round is best."""

    def begin(self, plan: SearchPlan, parts: int) -> None:
        """Make the parts, in place of those that there were."""
        ...

    def call(self, method: str, *arguments: Any, each: Sequence[tuple[Any, ...]] = (), more_s: float = 0.0) -> list[Any]:
        """Call a method of every part at once, with arguments for all or for each; return what they return.

        It may take so many seconds `more_s` than other calls. Raises PartsLostError where a process is gone, or too slow.
        """
        ...

    def ask(self, part: int, method: str, *arguments: Any) -> Any:
        """Call a method of one part."""
        ...

    def memory(self, limit: int | None) -> int | None:
        """Return the mebibytes that each process may have."""
        ...

    def close(self) -> None: ...


class SearchParts:
    """A search in parts; with the end of the `with` they are gone. With checkpoints it goes on from the last one."""

    def __init__(
        self, hosts: Hosts, plan: SearchPlan, values: list[int], text: KernelText, kept: Checkpoint | None = None
    ) -> None:
        self._hosts, self._plan, self._values, self._text, self._kept = hosts, plan, values, text, kept
        self._losses = 0
        self.count = hosts.count
        if kept is not None and kept.saved is not None:
            self.count = len(kept.saved.files)
        self.members: list[RoundReport] = []
        try:
            self._safely(self._begin, again=lambda: None)
        except BaseException:
            hosts.close()
            raise

    def _begin(self) -> None:
        """Make the parts, with the states of the last checkpoint or the initial one."""
        saved = None if self._kept is None else self._kept.saved
        hosts, plan = self._hosts, self._plan
        hosts.begin(plan if saved is None else replace(plan, masks=saved.masks, owners=saved.owners), self.count)
        addresses = hosts.call("address")
        hosts.call("connect", addresses, secrets.token_bytes(32))
        hosts.call("load", self._text)
        if saved is None or self._kept is None:
            hosts.call("start", self._values)
        else:
            hosts.call("restore", each=[(self._kept.place, name) for name, _ in saved.files], more_s=_file_s(saved.states))
        self.members = hosts.call("round", 0.0, 1, None)

    def _safely(self, work: Callable[[], Found], again: Callable[[], Found]) -> Found:
        """Do something; where a part is lost on the way go back to the last checkpoint, and then do it `again`.

        Raises PartsLostError if there are no checkpoints, or parts are lost again and again.
        """
        try:
            return work()
        except (HostsLostError, CheckpointError):
            raise
        except PartsLostError as error:
            self._losses += 1
            if self._kept is None or self._losses > MOST_LOSSES:
                raise
            lost = error
        try:
            self._safely(self._begin, again=lambda: None)
        except HostsLostError as error:
            raise HostsLostError(f"{lost.said}; {error.said}") from error
        return again()

    def __enter__(self) -> SearchParts:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._hosts.close()

    def load(self, text: KernelText) -> None:
        """Give all of them code, and what processes do where."""
        old = self._text
        self._text = KernelText(text.code, (*old.places, *text.places), (*old.targets, *text.targets))
        self._safely(lambda: self._give(text), again=lambda: None)

    def _give(self, text: KernelText) -> None:
        self._hosts.call("load", text)

    def run(self, _budget: int, limits: Limits) -> list[int]:
        """Let them search for one round; return how each ended."""
        return self._safely(lambda: self._round(limits), again=lambda: [Status.BUDGET] * self.count)

    def _round(self, limits: Limits) -> list[int]:
        if self._kept is not None and self._kept.due:
            self._save(self._kept)
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

    def _save(self, kept: Checkpoint) -> None:
        """Have every part write what it has, and let that be the checkpoint."""
        names = kept.names(self.count)
        try:
            digests = self._hosts.call("save", each=[(kept.place, name) for name in names], more_s=_file_s(self.states))
        except CheckpointError:
            kept.clean()
            raise
        by = self._plan if kept.saved is None else kept.saved
        files, text = list(zip(names, digests, strict=True)), digest_of_text(self._text)
        kept.keep(SavedStates(by.masks, by.owners, list(kept.asked), text, files, self.states))
        self._losses = 0

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


def _file_s(states: int) -> float:
    """How long a checkpoint of so many states may take to write, or to read: some 24 bytes each, 4 MB a second."""
    return states * 24 / 4e6
