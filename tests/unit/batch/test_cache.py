"""The cache answers what was asked, never anything else, whatever lies in its folder."""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rdma_robust.batch import cache as cache_module
from rdma_robust.batch.cache import UNUSED_S, Cache, default_folder
from rdma_robust.batch.fingerprint import fingerprint
from rdma_robust.batch.job import Job, Record
from rdma_robust.batch.run import Answers, Numbered, Tick, run_batch
from rdma_robust.cli.processes.decide_job import decide_job
from rdma_robust.options import CheckOptions
from rdma_robust.reports.check.result import gave_up
from tests.conftest import INVALID, NOT_ROBUST, ROBUST

OPTIONS = CheckOptions(timeout=60, memory=4000)
SPINNING = """node A { x }
node B { f, y }
thread T on A { put B.y = x; x = 1; put B.f = x }
thread R on B { reg r; while f != 1 {} r = y }
"""
CUT = replace(OPTIONS, timeout=1e-9)


@pytest.fixture
def store(tmp_path: Path) -> Cache:
    opened = Cache(tmp_path / "cache")
    opened.open()
    return opened


def entries(store: Cache) -> list[Path]:
    return [p for p in store.folder.rglob("*") if p.is_file()]


def kept(store: Cache, job: Job) -> Record:
    record = decide_job(job)
    store.put(job, record)
    return record


@pytest.mark.parametrize("text", [ROBUST, NOT_ROBUST])
@pytest.mark.parametrize("page", [False, True])
def test_what_was_put_is_got(store: Cache, text: str, page: bool) -> None:
    job = Job("some/a.rdma", text, OPTIONS, page)
    assert store.get(job) is None
    record = kept(store, job)
    found = store.get(job)
    assert found is not None
    assert (found.result, found.page) == (record.result, record.page)
    assert (found.page is not None) == page
    assert len(entries(store)) == 1


def test_a_file_that_moved_is_the_same_program(store: Cache) -> None:
    job = Job("here/a.rdma", NOT_ROBUST, OPTIONS)
    kept(store, job)
    found = store.get(replace(job, name="there/a.rdma"))
    assert found is not None
    assert found.result.file == "there/a.rdma"


@pytest.mark.parametrize(
    "other",
    [
        {"text": NOT_ROBUST + "\n"},
        {"name": "b.rdma"},
        {"page": True},
        {"options": replace(OPTIONS, ordered_reads=True)},
        {"options": replace(OPTIONS, await_loops=True)},
        {"options": replace(OPTIONS, instrumentation="paper")},
        {"options": replace(OPTIONS, engine="bfs")},
        {"options": replace(OPTIONS, max_states=1000)},
        {"options": replace(OPTIONS, self_check=True)},
        {"options": replace(OPTIONS, reductions=frozenset())},
    ],
    ids=lambda other: next(iter(other)),
)
def test_another_question_has_no_answer(store: Cache, other: dict[str, object]) -> None:
    job = Job("a.rdma", NOT_ROBUST, OPTIONS)
    kept(store, job)
    assert store.get(replace(job, **other)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options", [replace(OPTIONS, timeout=1), replace(OPTIONS, memory=None), replace(OPTIONS, kernel="python")]
)
def test_a_settled_verdict_holds_for_all_limits_and_kernels(store: Cache, options: CheckOptions) -> None:
    job = Job("a.rdma", NOT_ROBUST, OPTIONS)
    kept(store, job)
    assert store.get(replace(job, options=options)) is not None


def test_what_a_limit_cut_short_holds_for_that_limit_only(store: Cache) -> None:
    job = Job("a.rdma", NOT_ROBUST, CUT)
    assert kept(store, job).result.verdict == "unknown"
    assert store.get(job) is not None
    assert store.get(replace(job, options=OPTIONS)) is None
    assert store.get(replace(job, options=replace(CUT, memory=None))) is None


def test_a_spin_loop_that_was_not_looked_into_is_not_settled(store: Cache) -> None:
    """Whether the program is robust but for failed spin reads needs a second search, which a limit may have cut."""
    record = decide_job(Job("a.rdma", SPINNING, OPTIONS))
    assert record.result.verdict == "not-robust"
    assert record.settled is record.result.spin_only
    store.put(Job("a.rdma", SPINNING, OPTIONS), replace(record, settled=False))
    assert store.get(Job("a.rdma", SPINNING, replace(OPTIONS, timeout=61))) is None


def test_errors_and_accidents_are_not_kept(store: Cache) -> None:
    kept(store, Job("a.rdma", INVALID, OPTIONS))
    store.put(Job("b.rdma", ROBUST, OPTIONS), Record(gave_up("b.rdma", "its process was killed")))
    assert entries(store) == []


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "other", "not json", "wrong type", "missing field", "folder"])
def test_damaged_entries_count_as_missing(store: Cache, damage: str) -> None:
    job = Job("a.rdma", NOT_ROBUST, OPTIONS)
    kept(store, job)
    (path,) = entries(store)
    data = path.read_bytes()
    entry = json.loads(zlib.decompress(data))
    match damage:
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "flipped":
            path.write_bytes(data[:40] + bytes([data[40] ^ 16]) + data[41:])
        case "other":
            entry["question"]["text"] = "0" * 64
            path.write_bytes(zlib.compress(json.dumps(entry).encode()))
        case "not json":
            path.write_bytes(zlib.compress(b"{"))
        case "wrong type":
            entry["result"]["states"] = "many"
            path.write_bytes(zlib.compress(json.dumps(entry).encode()))
        case "missing field":
            del entry["result"]["witness"]
            path.write_bytes(zlib.compress(json.dumps(entry).encode()))
        case "folder":
            path.unlink()
            path.mkdir()
    assert store.get(job) is None
    if damage != "folder":
        kept(store, job)
        assert store.get(job) is not None


def test_answers_of_other_code_are_not_seen(store: Cache, tmp_path: Path) -> None:
    job = Job("a.rdma", NOT_ROBUST, OPTIONS)
    kept(store, job)
    assert fingerprint() in str(entries(store)[0])
    assert Cache(tmp_path / "cache", _version="0.1.0-0123456789abcdef").get(job) is None


def test_only_old_versions_are_thrown_away(store: Cache) -> None:
    long_ago = time.time() - UNUSED_S - 60
    for name in ("0.0.9-0123456789abcdef", "somebody else's", "0.0.8-fedcba9876543210"):
        (store.folder / name).mkdir()
    for name in ("0.0.9-0123456789abcdef", "somebody else's", fingerprint()):
        os.utime(store.folder / name, (long_ago, long_ago))
    store.open()
    assert {p.name for p in store.folder.iterdir()} == {"somebody else's", "0.0.8-fedcba9876543210", fingerprint()}


def test_a_folder_that_cannot_be_is_trouble_and_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Cache(tmp_path / "file" / "cache")
    store.open()
    job = Job("a.rdma", ROBUST, OPTIONS)
    kept(store, job)
    assert store.get(job) is None
    assert "file" in store.trouble


def test_a_disk_that_is_full_leaves_no_half_entries(store: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache_module.os, "replace", full)
    kept(store, Job("a.rdma", ROBUST, OPTIONS))
    assert "No space left" in store.trouble
    assert entries(store) == []


def test_the_environment_names_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RDMA_ROBUST_CACHE", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("RDMA_ROBUST_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_folder().name == "rdma-robust"


def test_a_batch_asks_only_for_what_is_not_known(store: Cache) -> None:
    asked: list[int] = []

    class Counting:
        def run(self, jobs: Sequence[Numbered], _tick: Tick) -> Answers:
            for number, job in jobs:
                asked.append(number)
                yield number, decide_job(job)

    jobs = [(n, Job(f"{n}.rdma", text, OPTIONS)) for n, text in enumerate((ROBUST, NOT_ROBUST, INVALID))]
    first = dict(run_batch(jobs, Counting(), store, lambda: None))
    again = dict(run_batch(jobs, Counting(), store, lambda: None))
    assert asked == [0, 1, 2, 2]
    assert {n: r.result for n, r in again.items()} == {n: r.result for n, r in first.items()}
