"""Fixtures that more than one room uses."""

from __future__ import annotations

import functools
import gc
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
import typer
from hypothesis import settings

from rdma_robust.__main__ import main
from rdma_robust.cli.app import command_line
from tests.support.shares import LEFT_OUT
from tests.support.slow_tests import SLOW

for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
    os.environ.pop(name, None)  # what commands print depends on the test, not on the terminal of who runs it
    os.unsetenv(name)  # readline, which pytest imports, sets COLUMNS for the commands behind the back of `os.environ`

# Who is started in the background of a shell ignores the signal of Ctrl-C, and so does what it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("no deadline: the machine may be busy", deadline=None)
settings.load_profile("no deadline: the machine may be busy")


def pytest_configure(config: pytest.Config) -> None:
    """Tell tests/support/shares.py what need not be made, which takes seconds for thousands of chunks."""
    if re.search(r"\bnot long\b", config.option.markexpr):
        LEFT_OUT.add("long")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for each in items:
        if each.nodeid in SLOW:
            each.add_marker("ci")


def pytest_collection_finish() -> None:
    """Leave what was loaded and collected out of garbage collections: thousands of tests, and it stays to the end anyhow.

    That is a sixth of the processor time of the suite.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


ROOT = Path(__file__).resolve().parents[1]
COMMAND = str(Path(sys.executable).parent / "rdma-robust")

ROBUST = """program calm
node A { x }
node B { y }
thread T1 on A { x = 1 }
thread T2 on B { put A.x = y }
expect robust
"""

FLAG_BEHIND_DATA = """node A { }
node B { data, flag }
thread Sender on A {
  put B.data = 1
  put B.flag = 1
}
thread Receiver on B {
  reg f, d
  f = flag
  d = data
}
"""
NOT_ROBUST = """program sb
node A { x }
node B { y }
thread T1 on A { reg r; put B.y = 1; r = x }
thread T2 on B { reg r; put A.x = 1; r = y }
outcome T1.r == 0 && T2.r == 0 : forbidden under sc, allowed under rdma
expect not robust
"""

INVALID = """node A { x }
thread T1 on A { xx = 1 }
thread T2 on C { x = 1 }
"""

Answer = subprocess.CompletedProcess[str]
Cli = Callable[..., Answer]


@pytest.fixture
def installed(tmp_path: Path) -> Cli:
    """Run the installed command as a process in `tmp_path` and return what it answered."""

    def run(*arguments: str, stdin: str = "", env: dict[str, str] | None = None) -> Answer:
        done = subprocess.run(
            [COMMAND, *arguments],
            input=stdin.encode(),
            capture_output=True,
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            timeout=120,
            check=False,
        )
        answer = Answer(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in answer.stderr
        return answer

    return run


COMMAND_LINE = functools.cache(command_line)
PARSER = functools.cache(typer.main.get_command)


def keep_command_lines(patch: pytest.MonkeyPatch) -> None:
    """Make the options of each command once for all tests, as a process does, which is half of what many commands take."""
    patch.setattr("rdma_robust.cli.app.command_line", lambda wanted: COMMAND_LINE(tuple(wanted)))
    patch.setattr("typer.main.get_command", PARSER)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    """Run the command line in `tmp_path` without starting a process: the answer of `installed`, but sooner."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rdma_robust.cli.asked_files.processors", lambda: 1)
    keep_command_lines(monkeypatch)
    handlers = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}

    def run(*arguments: str, stdin: str = "") -> Answer:
        monkeypatch.setattr(sys, "argv", ["rdma-robust", *arguments])
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin.encode())))
        capfd.readouterr()
        code = main()
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return Answer(list(arguments), code, out, err)

    yield run
    for each, handler in handlers.items():
        signal.signal(each, handler)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder (the one `cli` and `installed` run in) with a robust, a not robust and an invalid program."""
    (tmp_path / "calm.rdma").write_text(ROBUST)
    (tmp_path / "sb.rdma").write_text(NOT_ROBUST)
    (tmp_path / "bad.rdma").write_text(INVALID)
    return tmp_path
