"""Programs in parallel processes, such that the death of a process costs one program and nothing else.

Each process of a `processes.Crew` takes a program at a time over its pipe, and a pipe that ends is a process that died.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeVar

from rdma_robust.frame.shell.stop import check
from rdma_robust.limits import Limits, peak_mebibytes
from rdma_robust.processes import Child, Crew, Gone, Pipe, with_messages

Reply = TypeVar("Reply")
Tick = Callable[[], None]
Watch = Callable[[int, int], None]
TICK_S = 0.1
RETIRE_MIB = 512


class Named(Protocol):
    """An item that a process can be given: anything that crosses a pipe and has a name for messages."""

    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Work(Generic[Reply]):
    """The work of the processes, and what is answered for an item whose process did not.

    `decide` answers an item, in its process. `lost` answers for an item by its name, why there is no other answer, whether
    that is a defect, and the seconds it took. `overdue` is asked now and then, with the process and the seconds since it
    was given its item, for a reason to end it. A process that has grown beyond `retire` mebibytes is replaced, so that the
    next item does not pay for it. With `families`, processes may start processes, which end with them. With `watch`, it
    is told now and then how far some item is, by what `decide` tells its second argument. With `kept`, `decide` is given a
    function `keep`, and what it tells that is known here at once: where its process then gives no other answer, the answer
    is what `kept` makes of that and the reason.
    """

    decide: Callable[..., Reply]
    lost: Callable[[str, str, bool, float], Reply]
    overdue: Callable[[int, float], str] | None = None
    families: bool = False
    watch: Watch | None = None
    retire: int = RETIRE_MIB
    kept: Callable[[Reply, str], Reply] | None = None


@dataclass(frozen=True, slots=True)
class _Kept(Generic[Reply]):
    """An answer that stands, whatever becomes of what is still done for its item."""

    reply: Reply


@dataclass(slots=True)
class _Given(Generic[Reply]):
    """The item that a process has, and what is known of its answer."""

    number: int
    name: str
    kept: _Kept[Reply] | None = None


@dataclass(frozen=True, slots=True)
class _Far:
    """How far an item is: stored states, and states left to expand."""

    states: int
    frontier: int


def retirement(limits: Limits) -> int:
    """Return when to replace a process whose items have these limits each: no item should begin near its limit."""
    return RETIRE_MIB if limits.memory is None else min(RETIRE_MIB, limits.memory // 2)


def in_processes(
    items: Sequence[tuple[int, Named]], work: Work[Reply], jobs: int, tick: Tick
) -> Generator[tuple[int, Reply]]:
    """Yield (number, reply) of each numbered item as it is done, `jobs` at a time. Closing ends every process."""
    crew = Crew(families=work.families)
    waiting = list(reversed(items))
    tasks: dict[Child, _Given[Reply]] = {}

    def give(child: Child) -> None:
        number, item = waiting.pop()
        tasks[child] = _Given(number, item.name)
        child.give(item)

    try:
        for _ in range(min(jobs, len(waiting))):
            give(crew.start(partial(_work, work)))
        while tasks:
            tick()
            check()
            ready = with_messages(list(tasks), TICK_S)
            for child, given in list(tasks.items()):
                answer = _answer(child, given, work) if child in ready else _overdue(child, given, work)
                if answer is None:
                    continue
                reply, reusable = answer
                del tasks[child]
                if not (waiting and reusable):
                    crew.dismiss([child])
                if waiting:
                    give(child if reusable else crew.start(partial(_work, work)))
                yield given.number, reply
    finally:
        crew.close()


def _answer(child: Child, given: _Given[Reply], work: Work[Reply]) -> tuple[Reply, bool] | None:
    """Return what a process has to say on its item, and whether it can take another; None while it is at work."""
    try:
        message = child.receive()
    except Gone as gone:
        if gone.killed:
            why = "its process was killed (signal 9), most likely for want of memory"
        else:
            why = f"its process died ({gone.how})"
        return _without_answer(child, given, work, why, defect=not gone.killed)
    if isinstance(message, _Kept):
        given.kept = message
        return None
    if isinstance(message, _Far):
        if work.watch is not None:
            work.watch(message.states, message.frontier)
        return None
    assert isinstance(message, tuple)
    reply, peak = message
    return reply, peak < work.retire


def _overdue(child: Child, given: _Given[Reply], work: Work[Reply]) -> tuple[Reply, bool] | None:
    """Return the answer for an item whose process is to be ended, if it is."""
    why = work.overdue(child.pid, child.seconds()) if work.overdue else ""
    return _without_answer(child, given, work, why, defect=False) if why else None


def _without_answer(child: Child, given: _Given[Reply], work: Work[Reply], why: str, *, defect: bool) -> tuple[Reply, bool]:
    """Return the answer for an item whose process gives none: what was known before, else that it is lost."""
    if given.kept is not None and work.kept is not None:
        return work.kept(given.kept.reply, why), False
    return work.lost(given.name, why, defect, child.seconds()), False


def _work(work: Work[Reply], connection: Pipe) -> None:
    """The life of a process: decide what comes over the pipe until there is nothing more."""
    told = 0.0

    def tell(states: int, frontier: int) -> None:
        nonlocal told
        if time.monotonic() - told > TICK_S:
            told = time.monotonic()
            connection.send(_Far(states, frontier))

    def keep(reply: Reply) -> None:
        connection.send(_Kept(reply))

    more = () if work.watch is None else (tell,)
    keeping = {} if work.kept is None else {"keep": keep}
    while True:
        answer = work.decide(connection.recv(), *more, **keeping)
        connection.send((answer, peak_mebibytes()))
