"""The profiler of a Dask worker, which pauses while programs are decided there."""

from __future__ import annotations

import time

import pytest
from distributed import Client, LocalCluster, get_worker

from rdma_robust.counters.parts.dask_hosts import paused_profiler


@pytest.mark.filterwarnings("ignore")
def test_the_profiler_of_a_worker_pauses_while_programs_are_decided() -> None:
    def runs() -> bool:
        time.sleep(0.05)  # the worker's loop does what it is told in a moment
        return bool(get_worker().periodic_callbacks["profile"].is_running())

    def told() -> list[bool]:
        before = runs()
        with paused_profiler():
            within = runs()
        return [before, within, runs()]

    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(processes=False, protocol="tcp://", host="127.0.0.1", **options) as local, Client(local) as client:
        assert client.submit(told, pure=False).result(timeout=20) == [True, False, True]


def test_there_is_nothing_to_pause_where_no_worker_is() -> None:
    with paused_profiler():
        pass
