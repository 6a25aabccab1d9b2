"""The processes that an `--executor` means."""

from __future__ import annotations

from rdma_robust.counters.parts.all_parts import Hosts
from rdma_robust.counters.parts.local import LocalHosts
from rdma_robust.limits import executor_of


def hosts_of(executor: str) -> Hosts:
    """Return the processes that an executor means, as limits.py says. Raises UsageError for a cluster that is not there."""
    kind, where = executor_of(executor)
    if kind == "local":
        return LocalHosts(int(where))
    from rdma_robust.counters.parts.dask_hosts import DaskHosts  # noqa: PLC0415 - an extra, and slow

    return DaskHosts(where)
