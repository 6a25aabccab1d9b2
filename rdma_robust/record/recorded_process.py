"""Runs a program that is recorded: one or several processes, within a time, of which none goes on afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rdma_robust.errors import UsageError

FOLDER: Final = "RDMA_ROBUST_RECORD"
"""The environment variable that names the folder in which a run is recorded; the hooks read it."""
PROCESS: Final = "RDMA_ROBUST_PROCESS"
"""The environment variable with the number of a process, from 0, if several are started."""
_FAILED: Final = "failed"
_STEP_S: Final = 0.02
_AFTER_S: Final = 5.0
"""How long processes that a program has left behind may go on, if the time allows it."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run has ended: the exit codes of its processes, and whether that was within the time."""

    codes: tuple[int, ...]
    in_time: bool


def run_recorded(command: Sequence[str], number: int, folder: Path, seconds: float) -> tuple[str, ...]:
    """Run a command as `number` processes that are recorded in a folder, and wait until they end; return remarks.

    Raises UsageError if the command cannot be run, if it crashes, if it does not end within the time, and for what the card
    does not answer.
    """
    end = run_to_the_end(command, number, folder, seconds)
    if not end.in_time:
        raise UsageError(f"`{command[0]}` has not ended after {seconds:g} s: it hangs, or needs longer (--run-timeout)")
    return tuple(_remarks(end, command[0]))


def run_to_the_end(command: Sequence[str], number: int, folder: Path, seconds: float) -> RunEnd:
    """Run a command as `number` processes that are recorded in a folder, until they end or the time is over.

    Raises UsageError if the command cannot be run, and for what a recorder refuses.
    """
    begin_recording(folder)
    in_time = True
    deadline, started = time.monotonic() + seconds, list[subprocess.Popen[bytes]]()
    try:
        for index in range(number):
            started.append(_started(command, index, folder))
        while any(map(_goes_on, started)) and not (folder / _FAILED).exists():
            if time.monotonic() > deadline:
                in_time = False
                break
            time.sleep(_STEP_S)
        until = min(deadline, time.monotonic() + _AFTER_S)
        while any(_alive(folder)) and not (folder / _FAILED).exists() and time.monotonic() < until:
            time.sleep(_STEP_S)
    finally:
        _end(started, folder)
    _refuse_failure(folder, command[0])
    return RunEnd(tuple([each.returncode for each in started]), in_time)


def begin_recording(folder: Path) -> None:
    """Make a folder ready for a recording."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shared").touch()


def _started(command: Sequence[str], index: int, folder: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, FOLDER: str(folder.resolve()), PROCESS: str(index)}
    try:
        return subprocess.Popen(list(command), env=environment, stdout=_standard_error(), start_new_session=True)
    except OSError as error:
        raise UsageError(f"`{command[0]}` cannot be run: {error.strerror or error}") from None


def _goes_on(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process has not ended. It is not reaped: until it is, its group has its number."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def _standard_error() -> int | None:
    """Return where a program that is recorded writes: reports go to standard output."""
    with contextlib.suppress(OSError, ValueError):
        return sys.stderr.fileno()
    return subprocess.DEVNULL


def _alive(folder: Path) -> Iterator[int]:
    """Yield the recorded processes that go on, of those that this one did not start: they wait for nobody to reap them."""
    for process in {int(path.name.split(".")[1]) for path in folder.glob("log.*.*")}:
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
            recorded = Path(f"/proc/{process}/environ").read_bytes()
            if state not in "ZX" and f"{FOLDER}={folder.resolve()}".encode() in recorded.split(b"\0"):
                yield process


def _end(started: list[subprocess.Popen[bytes]], folder: Path) -> None:
    for process in started:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for left in _alive(folder):
        with contextlib.suppress(OSError):
            os.kill(left, signal.SIGKILL)


def _refuse_failure(folder: Path, program: str) -> None:
    if (folder / _FAILED).exists():
        said = (folder / _FAILED).read_text(errors="replace").splitlines()
        raise UsageError(f"`{program}`: {said[0] if said else 'the recording failed'}")


def _remarks(end: RunEnd, program: str) -> Iterator[str]:
    for code in end.codes:
        if code < 0:
            name = signal.Signals(-code).name
            raise UsageError(f"`{program}` was ended by {name}, so that its run is not recorded to its end")
        if code:
            yield f"`{program}` ended with exit code {code}"
