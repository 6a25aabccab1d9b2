"""The processes that an `--executor` means."""

from __future__ import annotations

from rdma_robust.counters.parts.all_parts import Hosts
from rdma_robust.counters.parts.local import LocalHosts
from rdma_robust.errors import UsageError
from rdma_robust.limits import executor_of


def hosts_of(executor: str) -> Hosts:
    """Return the processes that `local`, `local:N` means. Raises UsageError."""
    kind, where = executor_of(executor)
    if kind != "local":
        raise UsageError(f"--executor {executor}: one search is shared by processes of this machine: local or local:N")
    return LocalHosts(int(where))
