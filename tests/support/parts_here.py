"""Parts of a search in threads of this process, for tests that start no processes: as in a worker that has several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rdma_robust.counters.kernel.search_plan import SearchPlan
from rdma_robust.counters.parts.dask_hosts import called
from rdma_robust.counters.parts.search_part import SearchPart


class HostsHere:
    """So many parts in this process."""

    seconds = 0.02

    def __init__(self, count: int) -> None:
        self.count = count
        self._parts: list[SearchPart] = []

    def begin(self, plan: SearchPlan, parts: int) -> None:
        self.close()
        for part in range(parts):
            self._parts.append(SearchPart(plan, part, parts, "127.0.0.1"))

    def call(self, method: str, *arguments: Any, each: Sequence[tuple[Any, ...]] = (), more_s: float = 0.0) -> list[Any]:
        assert more_s >= 0
        return called(self._parts, method, [(*arguments, *(each[n] if each else ())) for n in range(len(self._parts))])

    def ask(self, part: int, method: str, *arguments: Any) -> Any:
        return getattr(self._parts[part], method)(*arguments)

    def memory(self, limit: int | None) -> int | None:
        return limit

    def close(self) -> None:
        for part in self._parts:
            part.close()
        self._parts.clear()
