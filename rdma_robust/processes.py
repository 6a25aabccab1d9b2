"""Processes that work for this one: forked, heard over a pipe, and gone when this one is gone, however it went.

The one layer below `cli.processes.pool`, where a process takes one program after another, and `petri.race`, where the first
search that has an answer ends the others. Why it is not a library's: docs/architecture.md.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

_SIGNALS: Final = {signal.SIGINT, signal.SIGTERM}
_LENGTH: Final = 8
"""Bytes before a message that say how long it is."""
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Pipe:
    """One end of a line between two processes, by which whole objects go both ways."""

    reading: int
    writing: int

    def send(self, message: object) -> None:
        """Send an object that can be pickled. Raises OSError if the other end is gone."""
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        rest = memoryview(len(data).to_bytes(_LENGTH, "big") + data)
        while rest:
            rest = rest[os.write(self.writing, rest) :]

    def recv(self) -> Any:
        """Return the next object. Raises EOFError if there is none any more."""
        return pickle.loads(self._read(int.from_bytes(self._read(_LENGTH), "big")))

    def close(self) -> None:
        """Close this end."""
        os.close(self.reading)
        os.close(self.writing)

    def _read(self, length: int) -> bytes:
        parts = []
        while length:
            part = os.read(self.reading, min(length, _CHUNK))
            if not part:
                raise EOFError
            parts.append(part)
            length -= len(part)
        return b"".join(parts)


Life = Callable[[Pipe], None]
"""What a process does, with its end of the pipe."""


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

    pid: int
    connection: Pipe
    since: float = field(default_factory=time.monotonic)
    exit_code: int | None = None

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
            self.join()
            raise Gone(self.exit_code) from None
        return message

    def kill(self) -> None:
        """End it at once."""
        if self.exit_code is None:
            os.kill(self.pid, signal.SIGKILL)

    def join(self) -> None:
        """Wait until it has ended."""
        if self.exit_code is None:
            self.exit_code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


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
        (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
        ours, theirs = Pipe(ours_in, ours_out), Pipe(theirs_in, theirs_out)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        held = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # a thread that only waits is no obstacle to a fork
                pid = os.fork()
            if pid == 0:
                ours.close()
                _live(life, theirs, self._lifeline, self._families)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
        theirs.close()
        child = Child(pid, ours)
        self.children.append(child)
        return child

    def dismiss(self, children: Iterable[Child]) -> None:
        """End processes, and those that they have started."""
        ended = list(children)
        for child in ended:
            self.children.remove(child)
            child.connection.close()
            if self._families:
                _end_group(child.pid)
            child.kill()
        for child in ended:
            child.join()

    def close(self) -> None:
        """End every process."""
        self.dismiss(self.children)
        for end in self._lifeline:
            os.close(end)


def can_fork() -> bool:
    """Whether a process can be forked: in a browser there is only the function."""
    return hasattr(os, "fork") and sys.platform != "emscripten"


def with_messages(children: Sequence[Child], seconds: float) -> list[Child]:
    """Wait until some process has a message or is gone, at most so long; return those."""
    poll = select.poll()
    for child in children:
        poll.register(child.connection.reading, select.POLLIN)
    ready = {descriptor for descriptor, _ in poll.poll(seconds * 1000)}
    return [child for child in children if child.connection.reading in ready]


def own_mebibytes(pid: int) -> int:
    """Return the memory of a process without what it shares with others; 0 if unknown."""
    resident, shared = _pages(pid)
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE") >> 20


def family_mebibytes(pid: int) -> int:
    """Return the memory of a process and those it started (pages that several share count once each); 0 if unknown."""
    return sum(_pages(each)[0] for each in family(pid)) * os.sysconf("SC_PAGE_SIZE") >> 20


def family(pid: int) -> list[int]:
    """Return a process and those below it, itself first; ended ones too that nobody has waited for."""
    found = [pid]
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text(encoding="ascii").split():
                found += family(int(child))
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


def _live(life: Life, connection: Pipe, lifeline: tuple[int, int], families: bool) -> NoReturn:
    """A process from its fork to its end, which no exception and nothing that its parent has left to do comes after."""
    code = 1
    gc.freeze()  # looking through what it got of its parent would copy all of it, and a large one costs seconds
    try:
        if families:
            os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)  # the signals of this process do not wake an event loop of the one that started it
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        os.close(lifeline[1])
        _leave_stdin()
        threading.Thread(target=_follow, args=(lifeline[0], families), daemon=True).start()
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
            score.write("500")  # when memory runs out, this process rather than the one that waits for it
        with contextlib.suppress(EOFError, OSError):
            life(connection)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        if os.environ.get("RDMA_ROBUST_DEBUG") == "1":
            sys.excepthook(*sys.exc_info())
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(code)


def _leave_stdin() -> None:
    """Leave standard input to the process that waits: only one can read it."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdin.close()
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - until the process ends


def _follow(lifeline: int, families: bool) -> None:
    """End this process when the one that started it is gone."""
    os.read(lifeline, 1)
    if families:
        _end_group(os.getpid())
    os._exit(1)
