"""Programs in parallel processes, such that the death of a process costs one program and nothing else.

The standard pools give up as a whole when one process dies, so this one is made of single processes: each takes a
program at a time over a pipe, and a pipe that ends is a process that died. Processes are forked (the state of the parent,
which has no threads, is all they need); where there is no fork, programs run one after the other.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from rdma_robust.cli.decide import Answer, decide_item
from rdma_robust.cli.inputs import Item
from rdma_robust.options import CheckOptions
from rdma_robust.reports.result import failure, gave_up

Tick = Callable[[], None]
TICK_S = 0.2
RETIRE_KIB = 512 * 1024
"""A process that has grown beyond this is replaced, so that the next program does not pay for it."""


def can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods()


def decide_parallel(
    items: Sequence[tuple[int, Item]], options: CheckOptions, jobs: int, tick: Tick
) -> Iterator[tuple[int, Answer]]:
    """Yield (number, answer) of each numbered item as it is done. Closing the generator ends every process."""
    from rdma_robust import pipeline  # noqa: F401, PLC0415 - loaded once, before the forks

    team = _Team(options)
    waiting = list(reversed(items))
    try:
        for _ in range(min(jobs, len(waiting))):
            team.start(waiting.pop())
        while team.workers:
            tick()
            for connection in wait([w.connection for w in team.workers], TICK_S):
                worker = next(w for w in team.workers if w.connection is connection)
                number = worker.task[0]
                answer, reusable = worker.answer()
                if waiting and reusable:
                    worker.give(waiting.pop())
                else:
                    team.dismiss(worker)
                    if waiting:
                        team.start(waiting.pop())
                yield number, answer
    finally:
        team.close()


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    connection: Connection[object, object]
    task: tuple[int, Item]
    since: float

    def give(self, task: tuple[int, Item]) -> None:
        self.task, self.since = task, time.monotonic()
        with contextlib.suppress(OSError):
            self.connection.send(task[1])

    def answer(self) -> tuple[Answer, bool]:
        """Return what the process has to say, and whether it can take another program."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            return self._died(), False
        assert isinstance(message, tuple)
        answer, peak = message
        assert isinstance(answer, Answer)
        return answer, peak < RETIRE_KIB

    def _died(self) -> Answer:
        self.process.join()
        name, code = self.task[1].name, self.process.exitcode
        if code == -signal.SIGKILL:
            why = "its process was killed (signal 9), most likely for want of memory"
            result = gave_up(name, why)
        else:
            end = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            why = f"internal error: its process died ({end})"
            result = failure(name, "internal", why)
        return Answer(replace(result, time_s=round(time.monotonic() - self.since, 6)), (f"{name}: {why}",))


@dataclass
class _Team:
    options: CheckOptions
    workers: list[_Worker] = field(default_factory=list)
    lifeline: tuple[int, int] = field(default_factory=os.pipe)
    """Only the parent keeps the writing end, so the reading end is at its end once the parent is gone, however it went."""

    def start(self, task: tuple[int, Item]) -> None:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, self.lifeline, self.options), daemon=True)
        held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
        theirs.close()
        worker = _Worker(process, ours, task, time.monotonic())
        self.workers.append(worker)
        worker.give(task)

    def dismiss(self, worker: _Worker) -> None:
        self.workers.remove(worker)
        worker.connection.close()
        worker.process.kill()
        worker.process.join()

    def close(self) -> None:
        for worker in list(self.workers):
            self.dismiss(worker)
        for end in self.lifeline:
            os.close(end)


def _work(connection: Connection[object, object], lifeline: tuple[int, int], options: CheckOptions) -> None:
    """The life of a process: decide what comes over the pipe until there is nothing more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    os.close(lifeline[1])
    threading.Thread(target=_follow, args=(lifeline[0],), daemon=True).start()
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("500")  # when memory runs out, this process rather than the parent
    with contextlib.suppress(EOFError, OSError):
        while True:
            item = connection.recv()
            answer = decide_item(item, options)  # type: ignore[arg-type]
            connection.send((answer, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))


def _follow(lifeline: int) -> None:
    """End this process when the parent is gone."""
    os.read(lifeline, 1)
    os._exit(1)
