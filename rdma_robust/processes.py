"""Processes that work for this one: forked, heard over a pipe, and gone when this one is gone, however it went.

The one layer below `cli.processes.pool`, where a process takes one program after another, and `petri.race`, where the first
search that has an answer ends the others. Why it is not a library's: docs/architecture.md.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final, TypeAlias

Pipe: TypeAlias = "Connection[Any, Any]"
Life = Callable[[Pipe], None]
"""What a process does, with its end of the pipe."""

_SIGNALS: Final = {signal.SIGINT, signal.SIGTERM}


class Gone(Exception):
    """A process has ended and says nothing more."""

    def __init__(self, exit_code: int | None) -> None:
        self.exit_code = exit_code
        super().__init__(self.how)

    @property
    def killed(self) -> bool:
        """Whether the system ended it without asking, most likely for want of memory."""
        return self.exit_code == -signal.SIGKILL

    @property
    def how(self) -> str:
        code = self.exit_code
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"


@dataclass(eq=False)
class Child:
    """One process; `since` is when it was given its work, as of time.monotonic()."""

    process: BaseProcess
    connection: Pipe
    since: float = field(default_factory=time.monotonic)

    @property
    def pid(self) -> int:
        return self.process.pid or 0

    def seconds(self) -> float:
        """How long it has been at work."""
        return round(time.monotonic() - self.since, 6)

    def give(self, task: object) -> None:
        """Send it work; that it has ended is noticed by :meth:`receive`."""
        self.since = time.monotonic()
        with contextlib.suppress(OSError):
            self.connection.send(task)

    def receive(self) -> object:
        """Return its next message. Raises Gone if there is none."""
        try:
            message: object = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            raise Gone(self.process.exitcode) from None
        return message


class Crew:
    """The processes of one piece of work. With `families` they may start processes, which end with them.

    Processes are forked: what they do is a function of this process with all that it knows, not a name and a pickle.
    """

    def __init__(self, *, families: bool = False) -> None:
        self.children: list[Child] = []
        self._families = families
        # Only this process keeps the writing end, so the reading end is at its end once this process is gone.
        self._lifeline = os.pipe()

    def start(self, life: Life) -> Child:
        """Start a process; it hears of no signal before it is ready for it, and ignores Ctrl-C."""
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        args = (life, theirs, self._lifeline, self._families)
        process = context.Process(target=_live, args=args, daemon=not self._families)
        held = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # a thread that only waits is no obstacle to a fork
                process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
        theirs.close()
        child = Child(process, ours)
        self.children.append(child)
        return child

    def dismiss(self, children: Iterable[Child]) -> None:
        """End processes, and those that they have started."""
        ended = list(children)
        for child in ended:
            self.children.remove(child)
            child.connection.close()
            if self._families and child.pid:
                _end_group(child.pid)
            child.process.kill()
        for child in ended:
            child.process.join()

    def close(self) -> None:
        """End every process."""
        self.dismiss(self.children)
        for end in self._lifeline:
            os.close(end)


def can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods()


def with_messages(children: Sequence[Child], seconds: float) -> list[Child]:
    """Wait until some process has a message or is gone, at most so long; return those."""
    ready = wait([child.connection for child in children], seconds)
    return [child for child in children if child.connection in ready]


def own_mebibytes(pid: int) -> int:
    """Return the memory of a process without what it shares with others; 0 if unknown."""
    resident, shared = _pages(pid)
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE") >> 20


def family_mebibytes(pid: int) -> int:
    """Return the memory of a process and those it started (pages that several share count once each); 0 if unknown."""
    return sum(_pages(each)[0] for each in _family(pid)) * os.sysconf("SC_PAGE_SIZE") >> 20


def _family(pid: int) -> list[int]:
    found = [pid]
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text(encoding="ascii").split():
                found += _family(int(child))
    return found


def _pages(pid: int) -> tuple[int, int]:
    """The pages of a process that are in memory, and how many of them it shares."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return 0, 0
    return int(resident), int(shared)


def _end_group(leader: int) -> None:
    """End the processes of the group that `leader` leads, if it has one."""
    with contextlib.suppress(OSError):
        os.killpg(leader, signal.SIGKILL)


def _live(life: Life, connection: Pipe, lifeline: tuple[int, int], families: bool) -> None:
    """A process from its fork to its end."""
    if families:
        os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)  # the signals of this process do not wake an event loop of the one that started it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    os.close(lifeline[1])
    threading.Thread(target=_follow, args=(lifeline[0], families), daemon=True).start()
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("500")  # when memory runs out, this process rather than the one that waits for it
    with contextlib.suppress(EOFError, OSError):
        life(connection)


def _follow(lifeline: int, families: bool) -> None:
    """End this process when the one that started it is gone."""
    os.read(lifeline, 1)
    if families:
        _end_group(os.getpid())
    os._exit(1)
