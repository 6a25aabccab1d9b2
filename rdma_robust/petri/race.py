"""Searches in processes of their own, of which the first that has an answer ends the others.

This process only watches: it reads what they tell, and ends what exceeds the limits, also in the middle of a linear program.
The processes are forked, so they begin with what is known so far.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from rdma_robust.errors import InternalError
from rdma_robust.limits import Limits, Progress
from rdma_robust.petri.net import CoverResult
from rdma_robust.processes import Child, Crew, Gone, Pipe, own_mebibytes, with_messages


class TaskResult(Protocol):
    """The result of a task; no tuple, since these tell of progress."""

    @property
    def cut(self) -> str: ...


Found = TypeVar("Found", bound=TaskResult)
Task = Callable[[Limits, Progress], Found]
_TICK_S = 0.05
_TELL_S = 0.2
_FOR_MEMORY = (0, 1, -signal.SIGKILL)
"""Exit codes of a process that had not enough memory: it says nothing more, or the system has ended it."""
_GRACE_S = 0.5
"""Left to a process after the time limit to say so itself."""


@dataclass(eq=False)
class _Runner(Generic[Found]):
    child: Child
    stored: int = 0
    frontier: int = 0
    answer: Found | None = None
    gone: bool = False

    def listen(self) -> None:
        try:
            message: Any = self.child.receive()
        except Gone as gone:
            self.gone = True
            if gone.exit_code not in _FOR_MEMORY:
                raise InternalError(f"a process of the search died ({gone.how})") from None
            return
        if isinstance(message, BaseException):
            self.gone = True
            raise message
        if isinstance(message, tuple):
            self.stored, self.frontier = message
        else:
            self.answer, self.gone = message, True


def _no_cover(limit: str, stored: int) -> CoverResult:
    return CoverResult("auto", cut=limit, stored=stored)


def race(tasks: Sequence[Task[CoverResult]], limits: Limits, progress: Progress) -> CoverResult:
    """Do every task in a process of its own; return the first run or invariant, else an answer that names the limit.

    As :func:`race_for`, for tasks about nets.
    """
    return race_for(tasks, limits, progress, _no_cover)


def race_for(
    tasks: Sequence[Task[Found]], limits: Limits, progress: Progress, without: Callable[[str, int], Found]
) -> Found:
    """Do every task in a process of its own; return the first answer that no limit cut, else one `without` any.

    That is made of the limit and of how much was stored. What a task raises is raised here. The tasks share the limits of
    memory and of stored elements in equal parts.
    """
    parts = len(tasks)
    share = replace(
        limits,
        memory=None if limits.memory is None else limits.memory // parts,
        states=None if limits.states is None else max(1, limits.states // parts),
    )
    crew = Crew()
    try:
        runners: list[_Runner[Found]] = [_Runner(crew.start(partial(_work, task, share))) for task in tasks]
        return _watch(runners, limits, progress, without)
    finally:
        crew.close()


def _watch(
    runners: Sequence[_Runner[Found]], limits: Limits, progress: Progress, without: Callable[[str, int], Found]
) -> Found:
    cut = ""
    while running := [runner for runner in runners if not runner.gone]:
        ready = with_messages([runner.child for runner in running], _TICK_S)
        for runner in running:
            if runner.child in ready:
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
    return without(limit, stored)


def _too_large(running: Sequence[_Runner[Found]], mebibytes: int) -> bool:
    """End the largest process if all of them together have more than that; return whether one was ended."""
    sizes = [(own_mebibytes(runner.child.pid), at) for at, runner in enumerate(running)]
    if sum(size for size, _ in sizes) < mebibytes:
        return False
    runner = running[max(sizes)[1]]
    runner.child.kill()
    runner.gone = True
    return True


def _work(task: Task[Found], limits: Limits, connection: Pipe) -> None:
    """The life of a process: work, tell now and then how far it is, tell the answer."""
    told = 0.0

    def tell(stored: int, frontier: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told > _TELL_S:
            told = now
            connection.send((stored, frontier))

    try:
        answer: Found | BaseException = task(limits, tell)
    except MemoryError:
        os._exit(1)
    except Exception as error:
        answer = error
    connection.send(answer)
