"""Ctrl-C, termination and readers that leave: what is done is reported, and no process stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from bench.families import pipeline
from tests.conftest import COMMAND, ROBUST, ROOT, Cli

SCHEMA = json.loads((ROOT / "rdma_robust/schema/check.schema.json").read_text())


def endless(threads: int = 6) -> str:
    """A robust program with far too many states: threads that write each other's words and flush after every write."""
    lines = [f"node N{k} {{ x{k}, y{k}, f{k} }}" for k in range(threads)]
    for k in range(threads):
        following = (k + 1) % threads
        flush = f"get f{k} = N{following}.x{following}; poll N{following}; poll N{following}"
        body = "; ".join(f"put N{following}.y{following} = {value}; {flush}; r = y{k}" for value in range(1, 6))
        lines.append(f"thread T{k} on N{k} {{ reg r; {body} }}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A program that is done at once, with a warning that tells when; and one that never is."""
    (tmp_path / "a.rdma").write_text(ROBUST.replace("node B { y }", "node B { y, unused }"))
    (tmp_path / "b.rdma").write_text(endless())
    return tmp_path


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start the command in a process group of its own and wait until it has reported `a.rdma`."""
    process = subprocess.Popen(
        [COMMAND, "a.rdma", "b.rdma", "--timeout", "100", "--reductions", "none", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stderr is not None
        assert "warning" in process.stderr.readline()
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def group_is_gone(group: int, seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_prints_what_is_done(folder: Path, jobs: str) -> None:
    with running(folder, "--jobs", jobs) as process:
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "a.rdma  robust" in out
        assert "interrupted: 1 of 2 done" in out
        assert "Traceback" not in err
        assert group_is_gone(process.pid)


def test_ctrl_c_leaves_valid_json(folder: Path) -> None:
    with running(folder, "--jobs", "2", "--format", "json", "-o", "report.json") as process:
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 130
    report = json.loads((folder / "report.json").read_text())
    Draft202012Validator(SCHEMA).validate(report)
    assert report["interrupted"] is True
    assert [r["file"] for r in report["results"]] == ["a.rdma"]


def test_termination_is_an_orderly_end_too(folder: Path) -> None:
    with running(folder, "--jobs", "2") as process:
        process.terminate()
        out, _ = process.communicate(timeout=30)
        assert process.returncode == 143
        assert "interrupted: 1 of 2 done" in out
        assert group_is_gone(process.pid)


def test_no_process_outlives_a_killed_parent(folder: Path) -> None:
    with running(folder, "--jobs", "2") as process:
        process.kill()
        process.wait()
        assert group_is_gone(process.pid)


def test_a_killed_process_costs_one_program(folder: Path) -> None:
    (folder / "c.rdma").write_text(ROBUST)
    with running(folder, "c.rdma", "--jobs", "2") as process:
        deadline = time.monotonic() + 20
        while len(children(process.pid)) > 1 and time.monotonic() < deadline:
            time.sleep(0.1)  # until the worker of the other programs has nothing left and was ended
        (worker,) = children(process.pid)
        os.kill(worker, signal.SIGKILL)
        out, _ = process.communicate(timeout=30)
        assert process.returncode == 3
        rows = {line.split()[0]: line for line in out.splitlines()}
        assert "UNKNOWN" in rows["b.rdma"]
        assert "was killed" in rows["b.rdma"]
        assert "robust" in rows["c.rdma"]


def children(process: int) -> list[int]:
    """Return the processes started by `process` (Linux)."""
    return [int(p) for p in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def test_head(folder: Path) -> None:
    for k in range(5):
        (folder / f"b{k}.rdma").write_text(ROBUST)
    (folder / "b.rdma").unlink()
    done = subprocess.run(
        ["bash", "-c", f'"{COMMAND}" --jobs 2 . | head -1; exit ${{PIPESTATUS[0]}}'],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 141
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.ci
@pytest.mark.parametrize(
    ("redirections", "code", "said"),
    [
        ("- <&-", 2, "standard input is closed"),
        ("a.rdma >/dev/full", 2, "cannot write to standard output"),
        ("fmt a.rdma >/dev/full", 2, "cannot write to standard output"),
        ("a.rdma >&-", 0, ""),
        ("bad.rdma 2>&-", 2, ""),
    ],
)
def test_streams_that_fail(folder: Path, redirections: str, code: int, said: str) -> None:
    (folder / "bad.rdma").write_text("node")
    command = ["bash", "-c", f'"{COMMAND}" {redirections}']
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code
    assert said in done.stderr
    assert "internal error" not in done.stderr


@pytest.mark.ci
@pytest.mark.parametrize("asked", ["--version", "--help", "check --help", "messages trace --help", "check --show-settings"])
def test_a_reader_that_has_gone_is_no_defect_of_what_is_told(asked: str) -> None:
    """The parser of options, which prints help, has an exit code of its own for it."""
    done = subprocess.run(
        ["bash", "-c", f'{{ sleep 0.2; "{COMMAND}" {asked}; }} | true; exit ${{PIPESTATUS[0]}}'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (141, "")


def test_a_library_that_ends_the_process_is_a_defect(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    """Its exit code would be taken for an answer: 1 means not robust."""
    monkeypatch.setattr("rdma_robust.cli.app.with_command", lambda _: sys.exit(1))
    done = cli("check", "a.rdma")
    assert (done.returncode, "a library ended the process" in done.stderr) == (4, True)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A program of millions of states."""
    (tmp_path / "long.rdma").write_text(pipeline(4, 10))
    return tmp_path


SHARED = (
    "import sys; from rdma_robust.counters.kernel import driver; driver.MANY = 0; "
    "from rdma_robust.__main__ import main; sys.exit(main())"
)
"""The command, which shares every search from its first state on."""


def in_session(leader: int, text: str = "") -> list[int]:
    """Return the processes of this session whose command line has this text (Linux)."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            session = entry.name.isdigit() and os.getsid(int(entry.name)) == leader
            if session and text in (entry / "cmdline").read_text():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def parts_in_session(leader: int) -> list[int]:
    """Return the processes of this session that have a part of a search: children of the one that starts them."""
    found = in_session(leader, "start_parts")
    with suppress(OSError):  # one that has just ended
        return [each for each in found if int(Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[1]) in found]
    return []


@contextmanager
def sharing(folder: Path, command: str, timeout: str = "100") -> Iterator[subprocess.Popen[str]]:
    """Start the command in a session of its own, and wait until two processes have a part of its search."""
    process = subprocess.Popen(
        [sys.executable, "-c", SHARED, *command.split(), "long.rdma", "--executor", "local:2", "--timeout", timeout],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + 60
        while len(parts_in_session(process.pid)) < 2:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.02)
        yield process
        end = time.monotonic() + 10
        while left := in_session(process.pid):
            assert time.monotonic() < end, left
            time.sleep(0.05)
    finally:
        for each in in_session(process.pid):
            os.kill(each, signal.SIGKILL)
        process.communicate()


ASKED = ["check", "verify", "reach -t Stage1.got==2"]


@pytest.mark.ci
@pytest.mark.parametrize("command", ASKED)
def test_ctrl_c_ends_the_processes_of_a_shared_search(shared: Path, command: str) -> None:
    with sharing(shared, command) as process:
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert (process.returncode, "Traceback" in err) == (130, False)


@pytest.mark.ci
@pytest.mark.parametrize("command", ["check", "verify"])
def test_a_limit_of_time_ends_the_processes_of_a_shared_search(shared: Path, command: str) -> None:
    with sharing(shared, command, timeout="6") as process:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, "Traceback" in err) == (3, False)
        assert "unknown" in out.lower()


@pytest.mark.ci
def test_a_part_that_is_killed_ends_a_shared_search(shared: Path) -> None:
    """The other questions go on without it: they have other ways to an answer."""
    with sharing(shared, "check") as process:
        os.kill(parts_in_session(process.pid)[0], signal.SIGKILL)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, "Traceback" in err) == (3, False)
        assert "of the search was killed by SIGKILL" in out


@pytest.mark.ci
def test_the_processes_of_a_shared_search_do_not_outlive_who_asked(shared: Path) -> None:
    with sharing(shared, "check") as process:
        process.kill()
        process.wait()
