"""A batch on a Dask cluster of this machine: the answers of a local run, large programs in parts, workers that die."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from distributed import Client, LocalCluster

from rdma_robust.batch import cluster
from rdma_robust.batch.cluster import ClusterExecutor, OtherCode, Tasks, on_worker
from rdma_robust.batch.fingerprint import fingerprint
from rdma_robust.batch.job import Job, Record
from rdma_robust.cli.processes import cluster_job
from rdma_robust.cli.processes.cluster_job import TASKS, first_try, is_violation, part, parts, together
from rdma_robust.cli.processes.decide_job import decide_job
from rdma_robust.errors import UsageError
from rdma_robust.options import CheckOptions
from rdma_robust.reports.check.result import Result
from tests.cli.test_stop import endless
from tests.conftest import INVALID, NOT_ROBUST, ROBUST, ROOT, Cli

pytestmark = pytest.mark.filterwarnings("ignore")
"""What a cluster of the test's own says about its ports and its end is not ours."""

OPTIONS = CheckOptions(timeout=60)


@contextmanager
def started(processes: bool) -> Iterator[Any]:
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=processes,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=50,
    ) as found:
        yield found


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


def first_in_parts(job: Job) -> Record | int:
    """Split everything that can be split."""
    return parts(job) or decide_job(job)


@pytest.mark.parametrize("name", ["abp-polled", "barrier-all-to-all-await", "spin-cancel-spin", "abp-unpolled"])
def test_parts_make_the_verdict_of_the_whole(address: str, name: str) -> None:
    jobs = suite(name)
    assert parts(jobs[0][1]) > 1
    found = run(address, jobs, replace(TASKS, first=first_in_parts))[0].result
    here = decide_job(jobs[0][1]).result
    assert (found.verdict, found.spin_only, found.program) == (here.verdict, here.spin_only, here.program)
    assert (found.witness is not None) == (here.witness is not None)
    if found.verdict == "robust":
        assert "pivot classes, each searched apart" in found.reason


def test_large_programs_are_split_and_small_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    ((_, job),) = suite("abp-polled")
    assert isinstance(first_try(job), Record)
    monkeypatch.setattr(cluster_job, "FIRST_STATES", 20)
    number = first_try(job)
    assert number == parts(job) > 1
    outcomes = [part(job, each) for each in range(number)]
    assert not any(map(is_violation, outcomes))
    assert together(job, outcomes).result.verdict == decide_job(job).result.verdict == "robust"
    limited = first_try(replace(job, options=replace(OPTIONS, max_states=10)))
    assert isinstance(limited, Record)
    assert limited.result.verdict == "unknown"
    assert isinstance(first_try(replace(job, options=replace(OPTIONS, instrumentation="paper", max_states=10))), Record)
    assert isinstance(first_try(replace(job, text=INVALID)), Record)


def test_a_part_that_fails_fails_the_program() -> None:
    job = Job("bad.rdma", INVALID, OPTIONS)
    assert together(job, [part(job, 0)]).result.verdict == "error"


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

    def submit(self, *_: object, **__: object) -> Elsewhere:
        return Elsewhere()

    def add_done_callback(self, tell: Callable[[Elsewhere], None]) -> None:
        threading.Timer(0.01, tell, (self,)).start()

    def cancel(self, futures: list[Elsewhere]) -> None:
        assert not futures


def test_a_task_that_somebody_cancels_is_undecided_and_does_not_hang() -> None:
    client: Any = Elsewhere()
    found = dict(cluster._Run(client, TASKS, {4: Job("a.rdma", ROBUST, OPTIONS)}).records(lambda: None))
    assert (found[4].result.verdict, found[4].result.reason) == ("unknown", "its task was cancelled on the cluster")
    assert not found[4].lasting


def broken(_job: Job) -> Record:
    raise ZeroDivisionError("oh")


def test_a_task_that_breaks_is_an_internal_error(address: str) -> None:
    found = run(address, [(0, Job("a.rdma", ROBUST, OPTIONS))], replace(TASKS, first=broken))
    assert (found[0].result.error_kind, "ZeroDivisionError: oh" in found[0].result.reason) == ("internal", True)


def test_workers_with_other_code_are_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OtherCode):
        on_worker("0.0.1-other", decide_job, Job("a.rdma", ROBUST, OPTIONS))
    main = threading.main_thread()
    monkeypatch.setattr(cluster, "fingerprint", lambda: fingerprint() + "x" * (threading.current_thread() is main))
    with pytest.raises(UsageError, match="runs other code"):
        run(address, [(0, Job("a.rdma", ROBUST, OPTIONS))])


def test_leaving_early_cancels_what_is_left(local: Any, address: str) -> None:
    slow = replace(OPTIONS, reductions=frozenset())
    jobs = [(n, Job(f"{n}.rdma", ROBUST, OPTIONS) if n == 0 else Job(f"{n}.rdma", endless(), slow)) for n in range(3)]
    answers = ClusterExecutor(address, TASKS).run(jobs, lambda: None)
    assert next(iter(answers))[0] == 0
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
    monkeypatch.setattr(cluster, "CONNECT_S", 0.3)
    done = cli("report", "calm.rdma", "--no-cache", "--format", "json", "--executor", f"dask://{where}")
    assert done.returncode == 2
    said = "no Dask scheduler answers" if where == "127.0.0.1:1" else f"dask://{where}: HOST:PORT is needed"
    assert said in done.stderr
