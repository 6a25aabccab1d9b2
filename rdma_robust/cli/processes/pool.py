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
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Protocol, TypeVar

from rdma_robust.cli.inputs import Item
from rdma_robust.cli.processes.decide_program import Answer, decide_item, limits_of
from rdma_robust.cli.processes.outside import overdue
from rdma_robust.cli.processes.stop import check
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.reports.check.result import failure, gave_up

Reply = TypeVar("Reply")
Tick = Callable[[], None]
TICK_S = 0.1
RETIRE_MIB = 512


class Named(Protocol):
    """What a process can be given: anything that crosses a pipe and has a name for messages."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Work(Generic[Reply]):
    """What the processes do, and what is answered for an item whose process did not.

    `decide` answers an item, in its process. `lost` answers for an item by its name, why there is no other answer, whether
    that is a defect, and the seconds it took. `overdue` is asked now and then, with the process and the seconds since it
    was given its item, for a reason to end it. A process that has grown beyond `retire` mebibytes is replaced, so that the
    next item does not pay for it. With `families`, processes may start processes, which end with them. With `watch`, it
    is told now and then how far some item is, by what `decide` tells its second argument.
    """

    decide: Callable[..., Reply]
    lost: Callable[[str, str, bool, float], Reply]
    overdue: Callable[[int, float], str] | None = None
    families: bool = False
    watch: Callable[[int, int], None] | None = None
    retire: int = RETIRE_MIB


@dataclass(frozen=True, slots=True)
class _Far:
    """How far an item is: stored states, and states left to expand."""

    states: int
    frontier: int


def retirement(limits: Limits) -> int:
    """Return when to replace a process whose items have these limits each: no item should begin near its limit."""
    return RETIRE_MIB if limits.memory is None else min(RETIRE_MIB, limits.memory // 2)


def can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods()


def decide_parallel(
    items: Sequence[tuple[int, Item]], options: CheckOptions, jobs: int, tick: Tick
) -> Iterator[tuple[int, Answer]]:
    """Yield (number, answer) of each numbered item as it is done. Closing the generator ends every process."""
    from rdma_robust import pipeline  # noqa: F401, PLC0415 - loaded once, before the forks

    limits = limits_of(options)
    work = Work(lambda item: decide_item(item, options), _lost, partial(overdue, limits), retire=retirement(limits))
    yield from in_processes(items, work, jobs, tick)


def _lost(name: str, why: str, defect: bool, time_s: float) -> Answer:
    why = f"internal error: {why}" if defect else why
    result = failure(name, "internal", why) if defect else gave_up(name, why)
    return Answer(replace(result, time_s=time_s), (f"{name}: {why}",))


def in_processes(
    items: Sequence[tuple[int, Named]], work: Work[Reply], jobs: int, tick: Tick
) -> Iterator[tuple[int, Reply]]:
    """Yield (number, reply) of each numbered item as it is done, `jobs` at a time. Closing ends every process."""
    team = _Team(work)
    waiting = list(reversed(items))
    try:
        for _ in range(min(jobs, len(waiting))):
            team.start(waiting.pop())
        while team.workers:
            tick()
            check()
            ready = wait([w.connection for w in team.workers], TICK_S)
            for worker in list(team.workers):
                if worker.connection in ready:
                    answer = worker.reply(work)
                    if answer is None:
                        continue
                    reply, reusable = answer
                elif work.overdue and (why := work.overdue(worker.process.pid or 0, worker.seconds())):
                    reply, reusable = work.lost(worker.task[1].name, why, False, worker.seconds()), False
                else:
                    continue
                number = worker.task[0]
                if waiting and reusable:
                    worker.give(waiting.pop())
                else:
                    team.dismiss(worker)
                    if waiting:
                        team.start(waiting.pop())
                yield number, reply
    finally:
        team.close()


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    connection: Connection[object, object]
    task: tuple[int, Named]
    since: float

    def give(self, task: tuple[int, Named]) -> None:
        self.task, self.since = task, time.monotonic()
        with contextlib.suppress(OSError):
            self.connection.send(task[1])

    def reply(self, work: Work[Reply]) -> tuple[Reply, bool] | None:
        """Return what the process has to say, and whether it can take another program; None while it is at work."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            return work.lost(self.task[1].name, *self._death(), self.seconds()), False
        if isinstance(message, _Far):
            if work.watch is not None:
                work.watch(message.states, message.frontier)
            return None
        assert isinstance(message, tuple)
        reply, peak = message
        return reply, peak < work.retire * 1024

    def seconds(self) -> float:
        return round(time.monotonic() - self.since, 6)

    def _death(self) -> tuple[str, bool]:
        """Return how the process ended, and whether that is a defect."""
        self.process.join()
        code = self.process.exitcode
        if code == -signal.SIGKILL:
            return "its process was killed (signal 9), most likely for want of memory", False
        end = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return f"its process died ({end})", True


@dataclass
class _Team:
    work: Work[Any]
    workers: list[_Worker] = field(default_factory=list)
    lifeline: tuple[int, int] = field(default_factory=os.pipe)
    """Only the parent keeps the writing end, so the reading end is at its end once the parent is gone, however it went."""

    def start(self, task: tuple[int, Named]) -> None:
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe()
        args = (theirs, self.lifeline, self.work)
        process = context.Process(target=_work, args=args, daemon=not self.work.families)
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
        if self.work.families and worker.process.pid:
            _end_family(worker.process.pid)
        worker.process.kill()
        worker.process.join()

    def close(self) -> None:
        for worker in list(self.workers):
            self.dismiss(worker)
        for end in self.lifeline:
            os.close(end)


def _end_family(leader: int) -> None:
    """End the processes of the group that `leader` leads, if it has one."""
    with contextlib.suppress(OSError):
        os.killpg(leader, signal.SIGKILL)


def _work(connection: Connection[object, object], lifeline: tuple[int, int], work: Work[Any]) -> None:
    """The life of a process: decide what comes over the pipe until there is nothing more."""
    if work.families:
        os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    os.close(lifeline[1])
    threading.Thread(target=_follow, args=(lifeline[0], work.families), daemon=True).start()
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("500")  # when memory runs out, this process rather than the parent
    told = 0.0

    def tell(states: int, frontier: int) -> None:
        nonlocal told
        if time.monotonic() - told > TICK_S:
            told = time.monotonic()
            connection.send(_Far(states, frontier))

    more = () if work.watch is None else (tell,)
    with contextlib.suppress(EOFError, OSError):
        while True:
            answer = work.decide(connection.recv(), *more)
            connection.send((answer, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))


def _follow(lifeline: int, families: bool) -> None:
    """End this process when the parent is gone."""
    os.read(lifeline, 1)
    if families:
        _end_family(os.getpid())
    os._exit(1)
