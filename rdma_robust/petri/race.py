"""Searches in processes of their own, of which the first that has an answer ends the others.

This process only watches: it reads what they tell, ends what exceeds the limits (also in the middle of a linear program),
and leaves no process behind, however it is left itself. The processes are forked, so they begin with what is known so far.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from rdma_robust.errors import InternalError
from rdma_robust.limits import Limits, Progress
from rdma_robust.petri.net import CoverResult

Task = Callable[[Limits, Progress], CoverResult]
_TICK_S = 0.05
_TELL_S = 0.2
_FOR_MEMORY = (0, 1, -signal.SIGKILL)
"""Exit codes of a process that had not enough memory: it says nothing more, or the system has ended it."""
_GRACE_S = 0.5
"""Left to a process after the time limit to say so itself."""


@dataclass(eq=False)
class _Runner:
    process: BaseProcess
    connection: Connection[object, object]
    stored: int = 0
    frontier: int = 0
    answer: CoverResult | None = None
    gone: bool = False

    def listen(self) -> None:
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            self.gone = True
            self.process.join()
            if self.process.exitcode not in _FOR_MEMORY:
                raise InternalError(f"a process of the search died (exit code {self.process.exitcode})") from None
            return
        if isinstance(message, CoverResult):
            self.answer, self.gone = message, True
        elif isinstance(message, BaseException):
            self.gone = True
            raise message
        else:
            assert isinstance(message, tuple)
            self.stored, self.frontier = message


def can_race() -> bool:
    return "fork" in multiprocessing.get_all_start_methods()


def race(tasks: Sequence[Task], limits: Limits, progress: Progress) -> CoverResult | None:
    """Do every task in a process of its own; return the first run or invariant, else an answer that names the limit.

    None if no process has told any. What a task raises is raised here. The tasks share the limits of memory and of stored
    elements in equal parts.
    """
    parts = len(tasks)
    share = replace(
        limits,
        memory=None if limits.memory is None else limits.memory // parts,
        states=None if limits.states is None else max(1, limits.states // parts),
    )
    runners: list[_Runner] = []
    try:
        for task in tasks:
            runners.append(_start(task, share))
        return _watch(runners, limits, progress)
    finally:
        for runner in runners:
            runner.process.kill()
        for runner in runners:
            runner.process.join()
            runner.connection.close()


def _watch(runners: Sequence[_Runner], limits: Limits, progress: Progress) -> CoverResult | None:
    cut = ""
    while running := [runner for runner in runners if not runner.gone]:
        ready = wait([runner.connection for runner in running], _TICK_S)
        for runner in running:
            if runner.connection in ready:
                runner.listen()
            if runner.answer is not None and not runner.answer.cut:
                return runner.answer
        progress(sum(r.stored for r in runners), sum(r.frontier for r in runners))
        if limits.deadline is not None and time.monotonic() > limits.deadline + _GRACE_S:
            cut = "time"
            break
        if limits.memory is not None and _too_large(running, limits.memory):
            cut = "memory"
    answers = [runner.answer for runner in runners if runner.answer is not None]
    stored = sum(runner.stored for runner in runners)
    known = sorted({cut, *(answer.cut for answer in answers)} - {"", "incomplete"})
    # A process that gave no answer was ended for its memory, here or by the system.
    limit = "time" if "time" in known else known[0] if known else "memory" if len(answers) < len(runners) else "incomplete"
    return CoverResult("auto", cut=limit, stored=stored)


def _too_large(running: Sequence[_Runner], mebibytes: int) -> bool:
    """End the largest process if all of them together have more than that; return whether one was ended."""
    sizes = [(_resident(runner.process.pid or 0), at) for at, runner in enumerate(running)]
    if sum(size for size, _ in sizes) < mebibytes:
        return False
    runner = running[max(sizes)[1]]
    runner.process.kill()
    runner.gone = True
    return True


def _resident(process: int) -> int:
    """The memory of a process in mebibytes, without what it shares with the others; 0 if unknown."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE") >> 20


def _start(task: Task, limits: Limits) -> _Runner:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(task, limits, theirs, os.getpid()))
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a thread that only waits is no obstacle to a fork
            process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    theirs.close()
    return _Runner(process, ours)


def _work(task: Task, limits: Limits, connection: Connection[object, object], parent: int) -> None:
    """The life of a process: work, tell now and then how far it is, tell the answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    told = 0.0

    def tell(stored: int, frontier: int) -> None:
        nonlocal told
        if os.getppid() != parent:
            os._exit(1)
        now = time.monotonic()
        if now - told > _TELL_S:
            told = now
            connection.send((stored, frontier))

    with contextlib.suppress(OSError):
        try:
            answer: CoverResult | BaseException = task(limits, tell)
        except MemoryError:
            os._exit(1)
        except Exception as error:
            answer = error
        connection.send(answer)
