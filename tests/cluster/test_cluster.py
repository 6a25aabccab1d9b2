"""A batch on a Dask cluster of this machine: the answers of a local run, large programs shared, workers that die."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from distributed import Client, LocalCluster

from bench.families import pipeline, producers
from rdma_robust.batch import cluster
from rdma_robust.batch.cluster import ClusterExecutor, OtherCode, Tasks, on_worker
from rdma_robust.batch.job import Job, Record
from rdma_robust.cli.processes import cluster_job
from rdma_robust.cli.processes.cluster_job import TASKS, first_try
from rdma_robust.cli.processes.decide_job import decide_job
from rdma_robust.counters.kernel import driver
from rdma_robust.counters.parts import checkpoint, dask_hosts
from rdma_robust.counters.parts.all_parts import SearchParts
from rdma_robust.counters.parts.dask_hosts import DaskHosts
from rdma_robust.counters.parts.lost_parts import HostsLostError
from rdma_robust.counters.search import explore
from rdma_robust.errors import UsageError
from rdma_robust.fingerprint import fingerprint
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.reports.check.result import Result
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.pivot import instrument_pivot
from tests.cli.test_stop import endless
from tests.conftest import INVALID, NOT_ROBUST, ROBUST, ROOT, Cli
from tests.support.searches import comparable

pytestmark = pytest.mark.filterwarnings("ignore")
"""What a cluster of the test's own says about its ports and its end is not ours."""

OPTIONS = CheckOptions(timeout=60)


CLOSE_S = 20.0
"""How long a cluster may take to close: where a worker was killed it may wait for that one forever."""


@contextmanager
def started(processes: bool) -> Iterator[Any]:
    before = multiprocessing.active_children()
    found = LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=processes,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=50,
    )
    try:
        yield found
    finally:
        with suppress(TimeoutError):
            found.close(timeout=CLOSE_S)
        for left in multiprocessing.active_children():
            if left not in before:
                left.kill()


@pytest.fixture(scope="module")
def local() -> Iterator[Any]:
    """A scheduler and two workers in threads of this process, which is quick to start."""
    with started(processes=False) as found:
        yield found


@pytest.fixture(scope="module")
def mortal() -> Iterator[Any]:
    """A scheduler in this process and two workers in processes of their own, restarted when they die."""
    with started(processes=True) as found:
        yield found


def address_of(running: Any) -> str:
    return str(running.scheduler_address).removeprefix("tcp://")


@pytest.fixture(scope="module")
def address(local: Any) -> str:
    return address_of(local)


def suite(*names: str) -> list[tuple[int, Job]]:
    return [(n, Job(f"litmus/{m}.rdma", (ROOT / f"litmus/{m}.rdma").read_text(), OPTIONS)) for n, m in enumerate(names)]


def run(address: str, jobs: list[tuple[int, Job]], tasks: Tasks = TASKS) -> dict[int, Record]:
    return dict(ClusterExecutor(address, tasks).run(jobs, lambda: None))


def timeless(result: Result) -> Result:
    return replace(result, time_s=0.0)


def test_the_answers_are_those_of_a_local_run(address: str) -> None:
    jobs = suite("mailbox-plain", "mailbox-polled", "sb-put-plain", "spin-cancel-spin", "abp-polled")
    jobs += [(7, Job("bad.rdma", INVALID, OPTIONS)), (8, Job("page.rdma", NOT_ROBUST, OPTIONS, page=True))]
    found = run(address, jobs)
    assert sorted(found) == [number for number, _ in jobs]
    for number, job in jobs:
        here = decide_job(job)
        assert timeless(found[number].result) == timeless(here.result)
        assert (found[number].page, found[number].settled) == (here.page, here.settled)


@pytest.mark.parametrize("shared", [False, True])
def test_a_large_program_is_shared_by_all_workers(address: str, monkeypatch: pytest.MonkeyPatch, shared: bool) -> None:
    """The first try counts in a worker's process, which is this one here; the search is made there once more in parts."""
    job = Job("pipeline.rdma", pipeline(3, 4), replace(OPTIONS, threads=1))
    here = decide_job(job).result
    assert here.processes == 0 and here.states > 1000
    monkeypatch.setattr(driver, "MANY", 0)
    if shared:
        monkeypatch.setattr(cluster_job, "FIRST_STATES", 1000)
    found = run(address, [(0, job)])[0].result
    assert found.processes == 2 * shared
    assert timeless(replace(found, processes=0)) == timeless(here)


def test_what_a_first_try_settles() -> None:
    ((_, job),) = suite("abp-polled")
    settled = first_try(job)
    assert settled is not None and settled.result.verdict == "robust"
    limited = first_try(replace(job, options=replace(OPTIONS, max_states=10)))
    assert limited is not None and limited.result.verdict == "unknown"
    invalid = first_try(replace(job, text=INVALID))
    assert invalid is not None and invalid.result.verdict == "error"


def test_a_bundle_ends_after_its_time_and_the_rest_goes_on(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "BUNDLE_S", 0.0)
    jobs = [(n, Job(f"{n}.rdma", ROBUST, OPTIONS)) for n in range(12)]
    assert len(on_worker(fingerprint(), decide_job, [job for _, job in jobs])) == 1
    assert {r.result.file for r in run(address, jobs).values()} == {job.name for _, job in jobs}


@pytest.mark.parametrize(("text", "engine"), [(pipeline(3, 3), "dfs"), (producers(2, 2), "bfs")])
def test_workers_find_what_one_thread_finds(address: str, monkeypatch: pytest.MonkeyPatch, text: str, engine: str) -> None:
    monkeypatch.setattr(driver, "MANY", 0)
    program = instrument_pivot(load_program(text, "it"), reductions=ALL_REDUCTIONS)
    alone = explore(program, Limits(), engine=engine)
    found = explore(program, Limits(executor=f"dask://{address}"), engine=engine)
    assert comparable(found) == comparable(alone)
    assert found.processes == 2


@pytest.mark.ci
def test_a_worker_that_is_killed_in_a_search_leaves_the_question_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MANY", 0)
    monkeypatch.setattr(DaskHosts, "seconds", 0.01)
    search = SearchParts.run
    with started(processes=True) as mortal:

        def hit(self: SearchParts, budget: int, limits: Limits) -> list[int]:
            if not killed:
                with Client(mortal.scheduler_address, set_as_default=False) as client:
                    killed.extend(client.run(os.getpid).values())
                os.kill(killed[0], signal.SIGKILL)
            return search(self, budget, limits)

        killed: list[int] = []
        monkeypatch.setattr(SearchParts, "run", hit)
        outcome = decide(load_program(pipeline(3, 6), "it"), CheckOptions(executor=f"dask://{address_of(mortal)}"))
        assert outcome.verdict is Verdict.UNKNOWN
        assert "gone" in outcome.reason


@pytest.mark.ci
def test_a_worker_that_is_killed_is_made_up_for_from_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its part goes to the worker that is left, or to the one that is started in its place."""
    monkeypatch.setattr(driver, "MANY", 0)
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    monkeypatch.setattr(DaskHosts, "seconds", 0.05)
    program = instrument_pivot(load_program(pipeline(3, 5), "it"), reductions=ALL_REDUCTIONS)
    alone = explore(program, Limits())
    search, rounds = SearchParts.run, []
    with started(processes=True) as mortal:

        def hit(self: SearchParts, budget: int, limits: Limits) -> list[int]:
            rounds.append(1)
            if len(rounds) == 3:
                with Client(mortal.scheduler_address, set_as_default=False) as client:
                    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            return search(self, budget, limits)

        monkeypatch.setattr(SearchParts, "run", hit)
        found = explore(program, Limits(executor=f"dask://{address_of(mortal)}", checkpoint=str(tmp_path)))
    assert comparable(found) == comparable(alone)
    assert found.processes == 2 and len(rounds) > 3


@contextmanager
def started_apart(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A scheduler and two workers in processes of their own: the address, and the process of the scheduler."""
    folder.mkdir()
    place = folder / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    at = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(place)]
    commands = [[*dask, "scheduler", "--port", "0", *at]] + 2 * [[*dask, "worker", "--nthreads", "1", *at]]
    running = [subprocess.Popen(each, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for each in commands]
    try:
        with Client(scheduler_file=str(place), set_as_default=False, timeout=60) as client:
            client.wait_for_workers(2, timeout=60)
            address = str(client.scheduler.address).removeprefix("tcp://")
        yield address, running[0]
    finally:
        for each in running:
            each.kill()
            each.wait()


@pytest.mark.ci
def test_a_scheduler_that_is_killed_ends_the_search_and_another_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "MANY", 0)
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    monkeypatch.setattr(DaskHosts, "seconds", 0.05)
    monkeypatch.setattr(dask_hosts, "LOST_S", 1.0)
    program = instrument_pivot(load_program(pipeline(3, 6), "it"), reductions=ALL_REDUCTIONS)
    kept, search, rounds = tmp_path / "kept", SearchParts.run, []
    with started_apart(tmp_path / "one") as (address, scheduler), monkeypatch.context() as patched:

        def hit(self: SearchParts, budget: int, limits: Limits) -> list[int]:
            rounds.append(1)
            if len(rounds) == 3:
                scheduler.kill()
            return search(self, budget, limits)

        patched.setattr(SearchParts, "run", hit)
        with pytest.raises(HostsLostError, match="is gone"):
            explore(program, Limits(executor=f"dask://{address}", checkpoint=str(kept)))
    assert len(rounds) == 3 and list(kept.glob("*.states"))
    with started_apart(tmp_path / "other") as (address, _):
        found = explore(program, Limits(executor=f"dask://{address}", checkpoint=str(kept)))
    assert comparable(found) == comparable(explore(program, Limits()))


@pytest.mark.usefixtures("programs")
def test_a_check_looks_at_the_cluster_before_anything_else(cli: Cli, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("check", "calm.rdma", "--executor", f"dask://{address}").returncode == 0
    monkeypatch.setattr(dask_hosts, "CONNECT_S", 0.3)
    done = cli("check", "calm.rdma", "--executor", "dask://127.0.0.1:1")
    assert done.returncode == 2
    assert "no Dask scheduler answers at 127.0.0.1:1" in done.stderr


def slow(job: Job) -> Record:
    """Take a second for the first program, long enough to be killed."""
    if job.name == "victim.rdma":
        time.sleep(1.0)
    return decide_job(job)


def kill_a_busy_worker(running: Any, killed: list[int]) -> None:
    """Kill the process of a worker as soon as it has something to do."""
    with Client(running.scheduler_address, set_as_default=False) as client:
        pids = client.run(os.getpid)
    end = time.monotonic() + 20
    while not killed and time.monotonic() < end:
        for worker in list(running.scheduler.workers.values()):
            if worker.processing and worker.address in pids:
                os.kill(pids[worker.address], signal.SIGKILL)
                killed.append(pids[worker.address])
                return
        time.sleep(0.01)


@pytest.mark.ci
def test_a_worker_that_is_killed_loses_nothing(mortal: Any) -> None:
    """A worker is killed with a program under way and others waiting; the scheduler gives them to the other worker."""
    jobs = [(0, Job("victim.rdma", NOT_ROBUST, OPTIONS)), *((n, Job(f"{n}.rdma", ROBUST, OPTIONS)) for n in range(1, 6))]
    killed: list[int] = []
    killer = threading.Thread(target=kill_a_busy_worker, args=(mortal, killed))
    killer.start()
    found = run(address_of(mortal), jobs, replace(TASKS, first=slow))
    killer.join()
    assert killed
    assert {n: r.result.verdict for n, r in found.items()} == {0: "not-robust", **dict.fromkeys(range(1, 6), "robust")}


def deadly(job: Job) -> Record:
    os.kill(os.getpid(), signal.SIGKILL)
    return decide_job(job)


@pytest.mark.ci
def test_a_program_that_kills_every_worker_is_undecided(mortal: Any) -> None:
    mortal.scheduler.allowed_failures = 0
    found = run(address_of(mortal), [(0, Job("deadly.rdma", ROBUST, OPTIONS))], replace(TASKS, first=deadly))
    assert found[0].result.verdict == "unknown"
    assert "workers that decided it died" in found[0].result.reason
    assert not found[0].lasting


class Elsewhere:
    """A client whose tasks somebody else cancels, and the future of such a task."""

    status = "cancelled"

    def scheduler_info(self, **_: object) -> dict[str, object]:
        return {"workers": {}}

    def submit(self, *_: object, **__: object) -> Elsewhere:
        return Elsewhere()

    def add_done_callback(self, tell: Callable[[Elsewhere], None]) -> None:
        threading.Timer(0.01, tell, (self,)).start()

    def cancel(self, futures: list[Elsewhere]) -> None:
        assert not futures


def test_a_task_that_somebody_cancels_is_undecided_and_does_not_hang() -> None:
    client: Any = Elsewhere()
    found = dict(cluster._Run(client, decide_job, {4: Job("a.rdma", ROBUST, OPTIONS)}, []).records(lambda: None))
    assert (found[4].result.verdict, found[4].result.reason) == ("unknown", "its task was cancelled on the cluster")
    assert not found[4].lasting


def broken(_job: Job) -> Record:
    raise ZeroDivisionError("oh")


def test_a_task_that_breaks_is_an_internal_error(address: str) -> None:
    found = run(address, [(0, Job("a.rdma", ROBUST, OPTIONS))], replace(TASKS, first=broken))
    assert (found[0].result.error_kind, "ZeroDivisionError: oh" in found[0].result.reason) == ("internal", True)


def test_workers_with_other_code_are_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OtherCode):
        on_worker("0.0.1-other", decide_job, [Job("a.rdma", ROBUST, OPTIONS)])
    main = threading.main_thread()
    monkeypatch.setattr(cluster, "fingerprint", lambda: fingerprint() + "x" * (threading.current_thread() is main))
    with pytest.raises(UsageError, match="runs other code"):
        run(address, [(0, Job("a.rdma", ROBUST, OPTIONS))])


def test_leaving_early_cancels_what_is_left(local: Any, address: str) -> None:
    slow = replace(OPTIONS, reductions=frozenset(), timeout=3)  # a worker in a thread of this process does not give it up
    jobs = [(n, Job(f"{n}.rdma", ROBUST, OPTIONS) if n == 0 else Job(f"{n}.rdma", endless(), slow)) for n in range(6)]
    answers = ClusterExecutor(address, TASKS).run(jobs, lambda: None)
    assert any(number == 0 for number, _ in answers)  # both workers are of this process, and either may be the first
    answers.close()
    end = time.monotonic() + 10
    while local.scheduler.tasks and time.monotonic() < end:
        time.sleep(0.05)
    assert not local.scheduler.tasks


def test_report_on_the_cluster(cli: Cli, programs: Any, address: str) -> None:
    arguments = ["report", "calm.rdma", "sb.rdma", "bad.rdma", "--cache", "c"]
    there = cli(*arguments, "-o", "there.json", "--executor", f"dask://{address}")
    assert there.returncode == 2, there.stderr
    assert [r["verdict"] for r in json.loads((programs / "there.json").read_text())["results"]] == [
        "robust",
        "not-robust",
        "error",
    ]
    assert len(list((programs / "c").rglob("*.z"))) == 2


@pytest.mark.parametrize("where", ["127.0.0.1:1", "no port", "127.0.0.1", ""])
@pytest.mark.usefixtures("programs")
def test_no_scheduler_no_run(cli: Cli, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_hosts, "CONNECT_S", 0.3)
    done = cli("report", "calm.rdma", "--no-cache", "--format", "json", "--executor", f"dask://{where}")
    assert done.returncode == 2
    said = "no Dask scheduler answers" if where == "127.0.0.1:1" else f"dask://{where}: HOST:PORT is needed"
    assert said in done.stderr
