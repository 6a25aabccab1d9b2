"""`--watch`: the installed command runs again when a file has changed, and ends with Ctrl-C."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import COMMAND, NOT_ROBUST, ROBUST, Cli
from tests.support.hostile import ran, shadow_modules


class Watching:
    """A command that runs, and what it has printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: queue.Queue[str] = queue.Queue()
        for stream in (process.stdout, process.stderr):
            threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: Iterator[str]) -> None:
        for line in stream:
            self.lines.put(line)

    def until(self, text: str) -> str:
        """Return all that is printed up to a line with this text."""
        seen = ""
        while text not in seen:
            seen += self.lines.get(timeout=60)
        return seen


@contextmanager
def watching(folder: Path, *arguments: str) -> Iterator[Watching]:
    pipe = subprocess.PIPE
    # A group of its own, which gets the signal of Ctrl-C as in a terminal.
    with subprocess.Popen(
        [COMMAND, *arguments], cwd=folder, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        try:
            yield Watching(process)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def test_a_changed_file_is_decided_again_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    file = tmp_path / "one.rdma"
    file.write_text(ROBUST)
    with watching(tmp_path, "check", "--watch", "one.rdma") as running:
        assert "1 robust" in running.until("Ctrl-C ends it")
        (tmp_path / "two.rdma").write_text(NOT_ROBUST)
        file.write_text(NOT_ROBUST)
        assert "1 not robust" in running.until("Ctrl-C ends it")
        os.killpg(running.process.pid, signal.SIGINT)
        assert running.process.wait(60) == 0


@pytest.mark.ci
def test_nothing_of_the_folder_is_run(tmp_path: Path) -> None:
    shadow_modules(tmp_path)
    (tmp_path / "one.rdma").write_text(ROBUST)
    with watching(tmp_path, "check", "--watch", "one.rdma") as running:
        assert "1 robust" in running.until("Ctrl-C ends it")
    assert ran(tmp_path) == ""


@pytest.mark.ci
def test_claims_are_verified_again(tmp_path: Path) -> None:
    file = tmp_path / "one.rdma"
    file.write_text("node A { x }\nthread T on A { x = 1 }\noutcome A.x == 1 : allowed under sc\n")
    with watching(tmp_path, "verify", "--watch", "one.rdma") as running:
        assert "2 hold" in running.until("Ctrl-C ends it")
        file.write_text("node A { x }\nthread T on A { await x == 1 }\n")
        assert "VIOLATED" in running.until("Ctrl-C ends it")


@pytest.mark.ci
def test_sigterm_says_that_it_was_one(tmp_path: Path) -> None:
    (tmp_path / "one.rdma").write_text(ROBUST)
    with watching(tmp_path, "--watch", "one.rdma") as running:
        running.until("Ctrl-C ends it")
        running.process.terminate()
        assert running.process.wait(60) == 143


@pytest.mark.ci
def test_new_files_of_a_folder_and_of_a_pattern_count(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/one.rdma").write_text(ROBUST)
    with watching(tmp_path, "--watch", "in/*.rdma") as running:
        assert "1 program" in running.until("Ctrl-C ends it")
        (tmp_path / "in/two.rdma").write_text(NOT_ROBUST)
        assert "2 programs" in running.until("Ctrl-C ends it")


def test_a_change_ends_a_run_that_is_going(tmp_path: Path) -> None:
    file = tmp_path / "slow.rdma"
    puts = "\n".join(
        f"node N{i} {{ v }}\nthread T{i} on N{i} {{ loop {{ put N{(i + 1) % 9}.v = v; v = {i} }} }}" for i in range(9)
    )
    file.write_text(puts)
    with watching(
        tmp_path, "check", "--watch", "--instrumentation", "paper", "--reductions", "none", "slow.rdma"
    ) as running:
        running.until("file ")
        file.write_text(ROBUST)
        assert "1 robust" in running.until("Ctrl-C ends it")


def test_what_cannot_be_watched(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = cli("check", "--watch", "-", stdin=ROBUST)
    assert (answer.returncode, answer.stderr) == (2, "error: --watch needs files: - can be read only once [RR002]\n")
    monkeypatch.setattr("rdma_robust.cli.watching.find_spec", lambda _: None)
    answer = cli("check", "--watch", "one.rdma")
    assert answer.returncode == 2
    needed = "watchfiles, which is not installed here: pip install watchfiles"
    assert answer.stderr == f"error: --watch needs {needed} [RR002]\n"
