"""Fixtures that more than one room uses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COMMAND = str(Path(sys.executable).parent / "rdma-robust")

ROBUST = """program calm
node A { x }
node B { y }
thread T1 on A { x = 1 }
thread T2 on B { put A.x = y }
expect robust
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

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Run the installed command in `tmp_path` and return what it answered; nothing is decoded but valid UTF-8."""

    def run(*arguments: str, stdin: str | bytes = "", env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        raw = stdin if isinstance(stdin, bytes) else stdin.encode()
        done = subprocess.run(
            [COMMAND, *arguments],
            input=raw,
            capture_output=True,
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            timeout=120,
            check=False,
        )
        answer = subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in answer.stderr
        return answer

    return run


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder (the one `cli` runs in) with a robust, a not robust and an invalid program."""
    (tmp_path / "calm.rdma").write_text(ROBUST)
    (tmp_path / "sb.rdma").write_text(NOT_ROBUST)
    (tmp_path / "bad.rdma").write_text(INVALID)
    return tmp_path
