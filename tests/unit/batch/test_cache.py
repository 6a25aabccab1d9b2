"""The cache answers what was asked, never anything else, whatever lies in its folder."""

from __future__ import annotations

import hmac
import json
import os
import socket
import stat
import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rdma_robust.batch import cache
from rdma_robust.batch import cache as cache_module
from rdma_robust.batch.cache import UNUSED_S, Cache, default_folder
from rdma_robust.batch.job import Job, Record
from rdma_robust.batch.run import Answers, Numbered, Tick, run_batch
from rdma_robust.cli.processes.decide_job import decide_job
from rdma_robust.fingerprint import fingerprint
from rdma_robust.options import CheckOptions
from tests.conftest import INVALID, NOT_ROBUST, ROBUST
from tests.support.questions import gave_up

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
    return [p for p in store.folder.rglob("*") if p.is_file() and p.name != "key"]


def sealed(store: Cache, plain: bytes, key: bytes | None = None) -> bytes:
    """Return what the owner of the key would have written."""
    packed = zlib.compress(plain)
    used = (store.folder / "key").read_bytes() if key is None else key
    return hmac.digest(used, fingerprint().encode() + b"\0" + packed, "sha256") + packed


def opened(data: bytes) -> dict[str, Any]:
    """Return the object in an entry."""
    entry: dict[str, Any] = json.loads(zlib.decompress(data[32:]))
    return entry


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
    entry = opened(data)
    match damage:
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "flipped":
            path.write_bytes(data[:40] + bytes([data[40] ^ 16]) + data[41:])
        case "other":
            entry["question"]["text"] = "0" * 64
            path.write_bytes(sealed(store, json.dumps(entry).encode()))
        case "not json":
            path.write_bytes(sealed(store, b"{"))
        case "wrong type":
            entry["result"]["states"] = "many"
            path.write_bytes(sealed(store, json.dumps(entry).encode()))
        case "missing field":
            del entry["result"]["witness"]
            path.write_bytes(sealed(store, json.dumps(entry).encode()))
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
    assert {p.name for p in store.folder.iterdir()} == {"somebody else's", "0.0.8-fedcba9876543210", fingerprint(), "key"}


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

    monkeypatch.setattr(cache.os, "replace", full)
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


def changed(data: bytes, verdict: str) -> bytes:
    """Return the object of an entry with another verdict."""
    entry = opened(data)
    entry["result"]["verdict"] = verdict
    return json.dumps(entry).encode()


@pytest.mark.parametrize("forgery", ["no digest", "another key", "another entry", "another version", "a bomb"])
def test_a_forged_entry_turns_no_verdict(store: Cache, forgery: str, monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job("a.rdma", NOT_ROBUST, OPTIONS)
    kept(store, job)
    (path,) = entries(store)
    robust = changed(path.read_bytes(), "robust")
    match forgery:
        case "no digest":
            path.write_bytes(zlib.compress(robust))
        case "another key":
            path.write_bytes(sealed(store, robust, b"0" * 32))
        case "another entry":
            kept(store, replace(job, text=ROBUST))
            (other,) = set(entries(store)) - {path}
            path.write_bytes(other.read_bytes())
        case "another version":
            packed = zlib.compress(robust)
            key = (store.folder / "key").read_bytes()
            path.write_bytes(hmac.digest(key, b"0.0.9-0123456789abcdef\0" + packed, "sha256") + packed)
        case "a bomb":
            monkeypatch.setattr(cache_module, "MOST", 10_000)
            path.write_bytes(sealed(store, robust + b" " * 20_000))
    assert store.get(job) is None


@pytest.mark.parametrize("forgery", ["turned round", "no proof", "of another program", "of another setting", "changed"])
def test_a_violation_is_checked_anew_whoever_wrote_it(store: Cache, forgery: str) -> None:
    job = Job("a.rdma", NOT_ROBUST, OPTIONS)
    calm = replace(job, text=ROBUST)
    kept(store, job)
    (path,) = entries(store)
    entry = opened(path.read_bytes())
    asked = job
    match forgery:
        case "turned round":
            kept(store, calm)
            (path,) = set(entries(store)) - {path}
            entry = opened(path.read_bytes()) | {"result": entry["result"]}
            asked = calm
        case "no proof":
            entry["proof"] = ""
        case "of another program":
            kept(store, calm)
            (path,) = set(entries(store)) - {path}
            entry = opened(path.read_bytes()) | {"result": entry["result"], "proof": entry["proof"]}
            asked = calm
        case "of another setting":
            asked = replace(job, options=replace(OPTIONS, await_loops=True))
            kept(store, asked)
            (path,) = set(entries(store)) - {path}
            entry = opened(path.read_bytes()) | {"proof": entry["proof"]}
        case "changed":
            proof = json.loads(b64decode(entry["proof"]))
            proof["evidence"]["events"] = proof["evidence"]["events"][1:]
            entry["proof"] = b64encode(json.dumps(proof).encode()).decode()
    path.write_bytes(sealed(store, json.dumps(entry).encode()))
    assert store.get(asked) is None


@pytest.mark.parametrize("special", ["fifo", "link to a fifo", "device", "socket"])
def test_an_entry_that_is_no_file_counts_as_missing(store: Cache, special: str, tmp_path: Path) -> None:
    job = Job("a.rdma", ROBUST, OPTIONS)
    kept(store, job)
    (path,) = entries(store)
    path.unlink()
    match special:
        case "fifo":
            os.mkfifo(path)
        case "link to a fifo":
            os.mkfifo(tmp_path / "fifo")
            path.symlink_to(tmp_path / "fifo")
        case "device":
            path.symlink_to("/dev/zero")
        case "socket":
            with socket.socket(socket.AF_UNIX) as one:
                one.bind(str(tmp_path / "s"))
            path.symlink_to(tmp_path / "s")
    assert store.get(job) is None


def test_the_folder_is_made_for_the_user_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        store = Cache(tmp_path / "new" / "cache")
        store.open()
    finally:
        os.umask(old)
    assert store.trouble == ""
    folders = [tmp_path / "new", store.folder, store.folder / fingerprint()]
    assert [stat.S_IMODE(f.stat().st_mode) for f in folders] == [0o700] * 3
    assert stat.S_IMODE((store.folder / "key").stat().st_mode) == 0o600


@pytest.mark.parametrize("open_to_others", ["folder", "version", "parent", "link", "key"])
def test_a_folder_that_others_could_change_is_not_used(tmp_path: Path, open_to_others: str) -> None:
    parent = tmp_path / "parent"
    store = Cache(parent / "cache")
    store.open()
    job = Job("a.rdma", NOT_ROBUST, OPTIONS)
    kept(store, job)
    place = {
        "folder": store.folder,
        "version": store.folder / fingerprint(),
        "parent": parent,
        "link": parent,
        "key": store.folder / "key",
    }[open_to_others]
    place.chmod(0o777 if place.is_dir() else 0o644)
    folder = store.folder
    if open_to_others == "link":
        folder = tmp_path / "link"
        folder.symlink_to(store.folder)
    again = Cache(folder)
    again.open()
    assert again.get(job) is None
    before = len(entries(store))
    kept(again, replace(job, text=ROBUST))
    assert len(entries(store)) == before
    assert "others" in again.trouble or "only the user" in again.trouble


def test_a_parent_that_is_sticky_is_fine(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    store = Cache(tmp_path / "shared" / "cache")
    store.open()
    assert store.trouble == ""


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Cache(tmp_path / "cache")
    store.open()
    monkeypatch.setattr(cache.os, "geteuid", lambda: os.getuid() + 1)
    again = Cache(tmp_path / "cache")
    again.open()
    assert "belongs to somebody else" in again.trouble
