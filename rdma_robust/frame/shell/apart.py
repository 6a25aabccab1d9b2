"""Work in a process of its own, ended from outside where neither the passes nor the timer of the guard get through."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from rdma_robust.frame.exits import Exit
from rdma_robust.frame.shell.pool import Work, in_processes, retirement
from rdma_robust.frame.shell.stderr import death_message, warn
from rdma_robust.guard import OUTSIDE
from rdma_robust.limits import Limits
from rdma_robust.processes import can_fork, family_mebibytes
from rdma_robust.text import printable


def overdue(limits: Limits, process: int, seconds: float) -> str:
    """Return why a process that has worked for `seconds` within `limits` is to be ended from outside, or ''.

    The passes and the guard look at the limits themselves, but not in the middle of a call of a library.
    """
    late = OUTSIDE
    if limits.seconds is not None and seconds > limits.seconds * (1 + late.part) + late.seconds:
        return f"reached {limits.said('time')}, and was ended from outside"
    if limits.memory is not None and family_mebibytes(process) > limits.memory * (1 + late.part) + late.mebibytes:
        return f"reached {limits.said('memory')}, and was ended from outside"
    return ""


Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class _Task:
    """A task as it crosses the pipe: the process has been forked with all the rest."""

    name: str
    number: int


def each_apart(
    names: Sequence[str],
    limits: Limits,
    answer: Callable[[int], Found],
    lost: Callable[[str, str, bool], Found],
) -> list[Found]:
    """Return `answer` of 0, 1, ..., what is done for the programs of these `names`, each within `limits`.

    `answer` runs in another process, one number after the other; it may print, and what it returns crosses a pipe. Where
    that process has to be ended or dies, the answer is what `lost` makes of the name, the reason, and whether that is a
    defect, and another process does what is left. Without limits, where processes cannot be forked, and where nobody would
    get what they write, all is done here.
    Raises BrokenPipeError where `answer` does, and no other exception of it: it is to raise none.
    """
    if (limits.deadline is None and limits.memory is None) or not can_fork() or not _files_are_written():
        return [answer(number) for number in range(len(names))]

    def decide(task: _Task) -> tuple[Found] | None:
        try:
            return (answer(task.number),)
        except BrokenPipeError:
            return None

    def gone(name: str, why: str, defect: bool, _seconds: float) -> tuple[Found] | None:
        return (lost(name, why, defect),)

    work = Work(decide, gone, partial(overdue, limits), retire=retirement(limits))
    tasks = [(number, _Task(name, number)) for number, name in enumerate(names)]
    answers: list[Found] = []
    with closing(in_processes(tasks, work, 1, lambda: None)) as coming:
        for _, reply in coming:
            if reply is None:
                raise BrokenPipeError
            answers += reply
    return answers


def _files_are_written() -> bool:
    """Whether standard output and standard error are files or pipes, or nothing: another process shares those, but only
    has a copy of a text in memory."""
    try:
        return all(stream.fileno() >= 0 for stream in (sys.stdout, sys.stderr) if stream is not None)
    except OSError:
        return False


def warned(name: str, why: str, defect: bool) -> Exit:
    """Say on standard error why there is no answer for `name`, and return the exit code for it."""
    if defect:
        warn(death_message(name, why))
        return Exit.INTERNAL
    warn(f"{printable(name)}: unknown: {why}")
    return Exit.UNKNOWN
