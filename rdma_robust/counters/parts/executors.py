"""The processes that an `--executor` means."""

from __future__ import annotations

import re

from rdma_robust.counters.parts.all_parts import Hosts
from rdma_robust.counters.parts.local import LocalHosts
from rdma_robust.errors import UsageError
from rdma_robust.limits import processors
from rdma_robust.text import one_line

MOST_PARTS = 1024


def hosts_of(executor: str) -> Hosts:
    """Return the processes that `local`, `local:N` means. Raises UsageError."""
    found = re.fullmatch(r"local(?::([0-9]{1,4}))?", executor)
    if found is None:
        raise UsageError(f"--executor {one_line(executor)}: local, local:N or dask://HOST:PORT is needed")
    count = int(found[1]) if found[1] else processors()
    if not 1 <= count <= MOST_PARTS:
        raise UsageError(f"--executor {executor}: 1 to {MOST_PARTS} processes can share a search")
    return LocalHosts(count)
