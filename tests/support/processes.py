"""Processes that tests start and talk with."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def started(command: Sequence[str | Path], **how: Any) -> Iterator[subprocess.Popen[str]]:
    """Yield the process of a command; it is killed if the test ends before it, since leaving `Popen` waits forever."""
    with subprocess.Popen(command, text=True, **how) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
